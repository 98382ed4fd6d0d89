"""Written words -> words as recognisers write them: numbers said, acronyms spelt,
hyphens opened, fillers, errors.

Words keep the capitals that they have when written, and number words have none.
Marks stay with the words they stand at.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.written import WrittenWord
from spacy_punct.errors import Errors, PunctError

FILLERS = ("uh", "um", "uh", "um", "er", "ah", "hmm")
_LOST_FILLERS = frozenset({"uh", "um", "er"})
_SAID = {
    "&": "and",
    "%": "percent",
    "+": "plus",
    "approx.": "approximately",
    "apr.": "April",
    "aug.": "August",
    "ave.": "Avenue",
    "capt.": "Captain",
    "co.": "Company",
    "col.": "Colonel",
    "corp.": "Corporation",
    "dec.": "December",
    "dept.": "department",
    "dr": "Doctor",
    "dr.": "Doctor",
    "e.g.": "for example",
    "etc.": "et cetera",
    "eur": "euros",
    "feb.": "February",
    "gen.": "General",
    "gov.": "Governor",
    "i.e.": "that is",
    "inc.": "Inc",
    "jan.": "January",
    "jr.": "Junior",
    "jul.": "July",
    "jun.": "June",
    "lt.": "Lieutenant",
    "ltd.": "Limited",
    "mar.": "March",
    "mr": "Mister",
    "mr.": "Mister",
    "mrs": "Missus",
    "mrs.": "Missus",
    "mt.": "Mount",
    "no.": "number",
    "nov.": "November",
    "oct.": "October",
    "ok": "okay",
    "prof.": "Professor",
    "rep.": "Representative",
    "rev.": "Reverend",
    "sen.": "Senator",
    "sep.": "September",
    "sept.": "September",
    "sr.": "Senior",
    "st.": "Saint",
    "vs": "versus",
    "vs.": "versus",
    "w/": "with",
}
_CURRENCIES = {
    "$": ("dollar", "dollars"),
    "€": ("euro", "euros"),
    "£": ("pound", "pounds"),
}
_PLURALS = {name: forms[1] for forms in _CURRENCIES.values() for name in forms}
_SCALES = {
    "k": "thousand",
    "m": "million",
    "bn": "billion",
    "b": "billion",
    "t": "trillion",
}
_GREAT = frozenset({*_SCALES.values(), "crore", "crores", "lakh"})
_TENS = (
    "hundreds",
    *("tens", "twenties", "thirties", "forties", "fifties"),
    *("sixties", "seventies", "eighties", "nineties"),
)

_AMOUNT = re.compile(
    r"(?P<sign>[-+~])?(?P<money>[$€£])?(?P<number>\d[\d,]*(?:\.\d+)?|\.\d+)"
    r"(?P<scale>[kKmMbBtT]|bn)?(?P<percent>%)?\+?"
)
_ORDINAL = re.compile(r"(\d[\d,]*)(?:st|nd|rd|th)", re.IGNORECASE)
_DECADE = re.compile(r"'?(\d\d)?(\d)0'?s")
_TIME = re.compile(r"(\d{1,2}):(\d\d)(am|pm|AM|PM)?")
_RANGE = re.compile(r"(\d[\d,.]*%?)-(\d[\d,.]*%?)")
_LETTERS_DIGITS = re.compile(r"([A-Za-z]+)-?(\d{1,4})")
_DIGITS_LETTERS = re.compile(r"(\d{1,4})-?([A-Za-z]{1,3})")
_ACRONYM = re.compile(r"((?:[A-Z]\.){2,}|[A-Z](?:&?[A-Z]){1,4})('?s)?")
_DOMAIN = re.compile(
    r"[A-Za-z0-9@/-]+(?:\.[A-Za-z0-9/-]+)*"
    r"\.(?:com|org|net|gov|io|sh|dev|edu|js|py|rs|fm|co|app|ai)(?:/\S*)?"
)
_VOWELS = frozenset("AEIOU")
_SYMBOLS = {".": " dot ", "/": " slash ", "@": " at ", "-": " "}
_MOST_DIGITS = 12
_YEARS = range(1100, 2100)


@dataclass(frozen=True)
class Manner:
    """How a recogniser writes: drawn once for a text, which it writes consistently.

    keeps_digits (bool): Whether numbers stay figures.
    spells (bool): Whether acronyms are written letter by letter.
    opens_hyphens (bool): Whether long-term becomes long term.
    says_titles (bool): Whether Mr. becomes mister.
    says_and (bool): Whether it is a hundred and one.
    drops_fillers (bool): Whether "uh" and "um" are left out.
    filler_rate, repeat_rate, loss_rate, error_rate (float): How often a filler is
        added, and a word repeated, lost or misheard.
    """

    keeps_digits: bool = False
    spells: bool = True
    opens_hyphens: bool = True
    says_titles: bool = True
    says_and: bool = False
    drops_fillers: bool = False
    filler_rate: float = 0.0
    repeat_rate: float = 0.0
    loss_rate: float = 0.0
    error_rate: float = 0.0

    @classmethod
    def draw(cls, rng: random.Random) -> "Manner":
        """A manner at random: a third keep digits, and errors range from none to some
        eight in a hundred words."""
        noise = max(0.0, rng.uniform(-0.5, 1.5))
        return cls(
            keeps_digits=rng.random() < 0.3,
            spells=rng.random() < 0.6,
            opens_hyphens=rng.random() < 0.85,
            says_titles=rng.random() < 0.6,
            says_and=rng.random() < 0.3,
            drops_fillers=rng.random() < 0.5,
            filler_rate=0.008 * noise,
            repeat_rate=0.006 * noise,
            loss_rate=0.015 * noise,
            error_rate=0.025 * noise,
        )


class Vocabulary:
    """Words that others are misheard as.

    frequent (Sequence[str]): Frequent words, the most frequent first.
    """

    _MOST_FREQUENT = 300

    def __init__(self, frequent: Sequence[str]) -> None:
        self._frequent = list(frequent[: self._MOST_FREQUENT])
        self._similar: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in frequent:
            self._similar[word[0], len(word)].append(word)

    @classmethod
    def of(cls, lines: Iterable[str], n_words: int = 5000) -> "Vocabulary":
        """The most frequent words of some text."""
        counts: Counter[str] = Counter()
        for line in lines:
            counts.update(re.findall(r"\b[a-z]{2,12}\b|\b[ai]\b", line))
        return cls([word for word, _ in counts.most_common(n_words)])

    def misheard(self, form: str, rng: random.Random) -> str:
        """Another word, often of the same first letter and about as long."""
        words = self._frequent
        if rng.random() < 0.75:
            key = form[0].lower(), len(form) + rng.choice((-1, 0, 1))
            words = self._similar.get(key, words)
        word = rng.choice(words) if words else form
        return word.title() if form[0].isupper() else word


def spoken(
    words: Sequence[WrittenWord],
    manner: Manner,
    rng: random.Random,
    vocabulary: Vocabulary | None = None,
) -> list[WrittenWord]:
    """A text as a recogniser writes it, still with its marks and capitals.

    words (Sequence[WrittenWord]): The text.
    manner (Manner): How it is written.
    rng (random.Random): What is random.
    vocabulary (Vocabulary | None): What words are misheard as; None for nothing.
    RETURNS (list[WrittenWord]): New words.
    """
    speaker = _Speaker(manner, rng)
    said: list[WrittenWord] = []
    for word in words:
        said += speaker.said(word)
    return _with_noise(_money_last(said), manner, rng, vocabulary)


class _Speaker:
    """Says one word at a time."""

    def __init__(self, manner: Manner, rng: random.Random) -> None:
        self._manner, self._rng = manner, rng

    def said(self, word: WrittenWord) -> list[WrittenWord]:
        """A word as it is said. An abbreviation has its dot only while it is one."""
        form, after = word.form, word.after
        if after[:1] == (ABBREVIATION_DOT,):
            form, after = f"{form}.", after[1:]
        forms = self._forms(form)
        if forms[-1].endswith("."):
            forms[-1] = forms[-1].rstrip(".")
            after = (ABBREVIATION_DOT, *after)
        found = [WrittenWord(form) for form in forms]
        found[0].before, found[0].starts = word.before, word.starts
        found[-1].after = after
        return found

    def _forms(self, form: str) -> list[str]:
        """The words that a word is said as: at least one."""
        manner, rng = self._manner, self._rng
        lower = form.lower()
        if form.isalpha() and form[1:].islower() and lower not in _SAID:
            return [form]
        if lower in _SAID and form != "OK":
            if manner.says_titles or not form[0].isalpha():
                said = _SAID[lower]
                return (said.lower() if form[0].islower() else said).split()
            return [form]
        if any(map(str.isdigit, form)):
            if manner.keeps_digits and not (
                form[0] in _CURRENCIES and _chance(rng, 0.3)
            ):
                return [form]
            if found := self._number(form):
                return found
        if match := _ACRONYM.fullmatch(form):
            return self._acronym(form, match[1].replace(".", ""), match[2] or "")
        if _DOMAIN.fullmatch(form) and _chance(rng, 0.7):
            said = re.sub(r"[./@-]", lambda found: _SYMBOLS[found[0]], form)
            return said.split() or [form]
        if "-" in form.strip("-") and manner.opens_hyphens:
            return [
                part for half in form.split("-") if half for part in self._forms(half)
            ]
        if "/" in form.strip("/") and any(map(str.isalpha, form)):
            return form.replace("/", rng.choice((" ", " slash ", " or "))).split()
        return [form]

    def _acronym(self, form: str, letters: str, ending: str) -> list[str]:
        """Letter by letter, or as it is; what can be said as a word mostly is."""
        is_word = len(letters) > 3 and letters.isalpha() and _VOWELS & set(letters)
        if "." not in form and (is_word or not self._manner.spells):
            return [form]
        if "." in form and not self._manner.spells:
            return [self._rng.choice((form, letters + ending))]
        spelt = " ".join("and" if char == "&" else char for char in letters)
        return (spelt + ending).split()

    def _number(self, form: str) -> list[str]:
        """The words of anything with a digit in it; none if it cannot be said."""
        if match := _AMOUNT.fullmatch(form):
            return self._amount(match)
        if match := _ORDINAL.fullmatch(form):
            return self._say(match[1].replace(",", ""), "ordinal")
        if match := _DECADE.fullmatch(form):
            return [*(_say(match[1]) if match[1] else ()), _TENS[int(match[2])]]
        if match := _TIME.fullmatch(form):
            return self._time(*match.groups())
        if match := _RANGE.fullmatch(form):
            low, high = map(self._number, match.groups())
            return [*low, "to", *high] if low and high else []
        if match := _LETTERS_DIGITS.fullmatch(form):
            return [*self._forms(match[1]), *self._number(match[2])]
        if match := _DIGITS_LETTERS.fullmatch(form):
            return [*self._number(match[1]), *self._forms(match[2])]
        return []

    def _time(self, hours: str, minutes: str, half: str | None) -> list[str]:
        said = list(_say(hours))
        if int(minutes):
            said += [*(["oh"] if minutes[0] == "0" else []), *_say(minutes)]
        elif _chance(self._rng, 0.2):
            said.append("o'clock")
        return [*said, *([f"{half[0].lower()}.m."] if half else [])]

    def _amount(self, match: re.Match[str]) -> list[str]:
        """A plain number, a year, money or a percentage."""
        number = match["number"].replace(",", "")
        if len(number) > _MOST_DIGITS:
            return []
        money, scale = match["money"], match["scale"]
        is_plain = not (money or scale or match["percent"] or "," in match["number"])
        whole, _, decimals = number.partition(".")
        said = ["minus"] if match["sign"] == "-" else []
        if money and len(decimals) == 2 and not scale:
            said += [*self._say(whole or "0"), _CURRENCIES[money][whole != "1"]]
            return [*said, *([*_say(decimals), "cents"] if int(decimals) else [])]
        if decimals:
            said += [*(self._say(whole) if whole else ()), "point", *_digits(decimals)]
        elif is_plain and len(number) == 4 and int(number) in _YEARS:
            said += self._year(number) if _chance(self._rng, 0.9) else self._say(number)
        elif is_plain and len(number) > 1 and (number[0] == "0" or len(number) > 6):
            said += _digits(number)
        else:
            said += self._say(number)
        if scale:
            said.append(_SCALES[scale.lower()])
        if match["percent"]:
            said.append("percent")
        if money:
            said.append(_CURRENCIES[money][number != "1"])
        return said

    def _year(self, number: str) -> list[str]:
        """A year: mostly in pairs, those since 2000 also as a plain number."""
        in_full = number[0] == "2" and _chance(self._rng, 0.3)
        if number[1:3] == "00" or in_full:
            return self._say(number)
        century = list(_say(number[:2]))
        if number[2:] == "00":
            return [*century, "hundred"]
        oh = ["oh"] if number[2] == "0" else []
        return [*century, *oh, *_say(number[2:].lstrip("0"))]

    def _say(self, number: str, kind: str = "cardinal") -> list[str]:
        says_and = self._manner.says_and
        return [word for word in _say(number, kind) if says_and or word != "and"]


def _chance(rng: random.Random, share: float) -> bool:
    return rng.random() < share


def _digits(number: str) -> list[str]:
    return [word for digit in number for word in _say(digit)]


@lru_cache(maxsize=20_000)
def _say(number: str, kind: str = "cardinal") -> tuple[str, ...]:
    """A number in words, without hyphens and commas."""
    return tuple(re.sub("[-,]", " ", _num2words()(int(number), to=kind)).split())


@cache
def _num2words() -> Any:
    try:
        from num2words import num2words
    except ImportError as error:
        raise PunctError(Errors.P173) from error
    return num2words


def _money_last(words: list[WrittenWord]) -> list[WrittenWord]:
    """Five dollars million -> five million dollars."""
    for money, great in pairwise(words):
        is_apart = money.after or great.before
        if money.form in _PLURALS and great.form.lower() in _GREAT and not is_apart:
            money.form, great.form = great.form, _PLURALS[money.form]
    return words


def _with_noise(
    words: Sequence[WrittenWord],
    manner: Manner,
    rng: random.Random,
    vocabulary: Vocabulary | None,
) -> list[WrittenWord]:
    """Words with fillers lost or added, and some repeated, lost or misheard."""
    found: list[WrittenWord] = []
    kinds = ("loss", "error", "repeat", "filler", "")
    rates = manner.loss_rate, manner.error_rate, manner.repeat_rate, manner.filler_rate
    shares = [*rates, 1.0 - sum(rates)]
    inherits_start = False
    for i, word in enumerate(words):
        if inherits_start:
            word = replace(word, starts=True, form=word.form[0].upper() + word.form[1:])
            inherits_start = False
        is_filler = manner.drops_fillers and word.form.lower() in _LOST_FILLERS
        kind = rng.choices(kinds, shares)[0]
        if (is_filler or kind == "loss") and len(found) + len(words) - i > 1:
            _lose(found, word, is_filler)
            inherits_start = word.starts and i + 1 < len(words)
        elif kind == "error" and vocabulary is not None:
            other = vocabulary.misheard(word.form, rng)
            found.append(replace(word, form=other, after=_said_marks(word)))
        elif kind == "repeat":
            after = (",",) if _chance(rng, 0.5) else ()
            again = _amid_sentence(word)
            found += [
                replace(word, after=after),
                replace(word, before=(), starts=False, form=again),
            ]
        elif kind == "filler":
            found += _with_filler(found, word, rng.choice(FILLERS))
        else:
            found.append(word)
    return found


def _with_filler(
    before: list[WrittenWord], word: WrittenWord, filler: str
) -> list[WrittenWord]:
    if word.starts:
        first = WrittenWord(filler.title(), word.before, (",",), True)
        return [
            first,
            replace(word, form=_amid_sentence(word), before=(), starts=False),
        ]
    if before and not before[-1].after and not word.before:
        before[-1] = replace(before[-1], after=(",",))
    return [WrittenWord(filler, (), (",",)), word]


def _amid_sentence(word: WrittenWord) -> str:
    """The form of a sentence's first word when it is not the first."""
    is_capital_by_place = word.starts and word.form.istitle() and word.form != "I"
    return word.form.lower() if is_capital_by_place else word.form


def _lose(found: list[WrittenWord], word: WrittenWord, is_filler: bool) -> None:
    """Leave a word out; its marks go to the word before it. A filler takes the commas
    around it along."""
    if not found:
        return
    marks = found[-1].after + word.before
    after = _said_marks(word)
    if is_filler and after == (",",):
        after = ()
        if marks == (",",):
            marks = ()
    found[-1] = replace(found[-1], after=marks + after)


def _said_marks(word: WrittenWord) -> tuple[str, ...]:
    """The marks after a word without the dot that belongs to it."""
    return tuple(mark for mark in word.after if mark != ABBREVIATION_DOT)
