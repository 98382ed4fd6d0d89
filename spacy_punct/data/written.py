"""Well punctuated English text -> words, the marks around them, and where sentences
start: what there is to learn from text without trees.

Marks are in the notation of treebanks, but there is one kind of dash (`—`) and one of
ellipsis (`…`).
"""

import html
import re
from dataclasses import dataclass
from itertools import pairwise

from spacy_punct.data.marks import (
    ABBREVIATION_DOT,
    BRACKETS,
    HYPHENS,
    is_dash,
    is_ellipsis,
)
from spacy_punct.data.tree import Slots

DASH, ELLIPSIS = "—", "…"

_OPENERS = {"“": "``", "„": "``", "«": "``", "(": "(", "[": "["}
_CLOSERS = {"”": "''", "»": "''", ")": ")", "]": "]"}
_STOPS = frozenset({*",.?!:;", DASH, ELLIPSIS})
_ENDS = frozenset(".?!")
_CLOSING = frozenset(BRACKETS[mark] for mark in ("``", "`", "(", "["))
_READ_OUT = frozenset("&%+")
"""Symbols that are words by themselves."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Abbreviations, by what tells that a dot after them is theirs.
_BEFORE_NAMES = _words(
    "adm capt col dr drs gen gov hon lt maj messrs mlle mme mr mrs ms mt prof rep reps "
    "rev sen sgt st"
)
_BEFORE_NUMBERS = _words(
    "apr art aug ch dec feb fig figs jan jul jun mar no nos nov oct p pp sec sep sept "
    "vol"
)
_ALWAYS = _words(
    "al approx ave blvd bros cf co corp dept ed eds esp etc inc jr ltd para paras ph.d "
    "qtd sr viz vs"
)
_LETTERS_WITH_DOTS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
_ELIDED = _words(
    "bout cause d em er fore im ll m n neath re round s tain til till tis twas twere "
    "twill ud ve way"
)
"""Words that begin with an apostrophe: it is no quote."""
STARTERS = _words(
    "a after all also an and are as at because before but by did do does first for "
    "from he her here his how however i if in is it its let many more most my no not "
    "now on one or other our she since so some such thank that the their then there "
    "these they this those to was we what when where while who why with yes you your"
)
"""Words that, with a capital, are likely to start a sentence."""
_COMMON = STARTERS | _words(
    "about be been can could had has have him me of out them up us were well which "
    "will would"
)
_COMMON_SHARE, _SHORT_LINE = 0.15, 6
_CODE_SHARE = 0.01

_CUE = (
    r"[\[({](?:[^\])}]{0,20}\b)?(?:laugh\w*|applause|inaudible|unintelligible|"
    r"cross-?talk|cheers|music|sic|bleep|chuckl\w*|silence|boo\w*|pause|"
    r"indiscernible|link removed|audience|figure|table)\b[^\])}]{0,25}[\])}]"
)
_SUBSTITUTIONS = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (
            r"^(?:THE PRESIDENT|(?:MR|MS|MRS)\.? [A-Z]+|"
            r"[A-Z]{5,}(?: [A-Z]{3,})?)[.:] ",
            "",
        ),
        (r"(?<=[a-z])–(?=[a-z])", f" {DASH} "),
        (r"\[?\b\d+:\d\d(?::\d\d)?(?:\.\d+)?\]|\[\d+:[\d:.]+\]", " "),  # times
        (r"<[^<>]*>", " "),
        # Bullets, numbers, headings; the language of a speech.
        (r"^\s*(?:[-*•−]+\s+|\d{1,2}[.)]\s+|\([a-z0-9]{1,2}\)\s+|#+\s+)", ""),
        (r"^\([A-Z]{2}\)\s+", ""),
        (r"\*+|`+|(?<!\w)_+|_+(?!\w)", ""),  # emphasis and code
        (r"\((?:s|es)\)", ""),
        (f"(?i){_CUE}", " "),
        (r"[\u00ad\u200b\u2060\ufeff]", ""),
        (r"[\u00a0\u2009\u200a\u202f]", " "),
        (r"(?<=\d)[–−](?=\d)", "-"),
        (r"\s*(?:[—⸺⸻―]|-{2,})+\s*", f" {DASH} "),
        (r"(?<=\s)[-–−]+(?=\s)|[–−]+(?=\s)|(?<=\s)[–−]+", f" {DASH} "),
        (r"(?:\s*\.){3,}|\.\.|…+\.?", f" {ELLIPSIS} "),
        # Spaces that were forgotten.
        (r"(?<=[a-z])([,;!?)\]])(?=[A-Za-z])", r"\1 "),
        (r"(?<=[\w.,])([(\[“])", r" \1"),
        (r"(?<=[)\]”])(?=\w)", " "),
    )
)
_QUESTION_LABEL = re.compile(r"^(Q[.:]?|A[.:])\s+(?=[A-Z\"“])")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^)]*\)?")
_NO_TEXT = ("Break", "{{", "```", "    ")
_CODE = re.compile(r"[{}<>=_\\|^~#]")
_REFERENCE = re.compile(
    r"https?:|www\.|\bdoi\b|\d ?\(\d+\): ?\d|University Press|____|"
    r"^[A-Z][\w’'-]+, [A-Z][^.]*\. ?(?:\(?\d{4}|n\.d)"
)
_COMPLETE = re.compile(r"[.?!…—:;-][\s\"”’')\]]*$")


def one_kind(mark: str) -> str:
    """A mark as text is read: there is one kind of dash and one of ellipsis."""
    if is_ellipsis(mark):
        return ELLIPSIS
    return DASH if is_dash(mark) and mark not in HYPHENS else mark


@dataclass(slots=True)
class WrittenWord:
    """A word of a text.

    form (str): The word as written, without the dot of an abbreviation.
    before (tuple[str, ...]): The openers before it.
    after (tuple[str, ...]): The marks after it. The dot of an abbreviation that ends
        a sentence is there as both: see `written_slots`.
    starts (bool): Whether a sentence starts with it.
    """

    form: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    starts: bool = False


def read_line(line: str) -> list[WrittenWord]:
    """The words of a paragraph, a speaker's turn or a sentence.

    line (str): A line of text, with whatever markup has stayed in it.
    RETURNS (list[WrittenWord]): None if the line is no good English text.
    """
    words = _LineReader().read(cleaned(line))
    _settle_dots(words)
    for i, word in enumerate(words):
        word.starts = _starts(words[i - 1], word) if i else not word.form[0].islower()
    return words


def written_slots(words: list[WrittenWord]) -> Slots:
    """The marks at each of the n+1 slots between and around n words, as written: one
    dot stands for an abbreviation and the end of a sentence."""
    edges = [WrittenWord(""), *words, WrittenWord("")]
    return tuple(
        _with_one_dot(left.after) + right.before for left, right in pairwise(edges)
    )


def _with_one_dot(marks: tuple[str, ...]) -> tuple[str, ...]:
    if marks[:2] == (ABBREVIATION_DOT, "."):
        return marks[:1] + marks[2:]
    return marks


def cleaned(line: str) -> str:
    """A line without markup, with one kind of dash and one of ellipsis.

    line (str): The line.
    RETURNS (str): Empty if it is code, a reference, a heading, no complete sentence or
        not English.
    """
    line = _LINK.sub(r"\1", line)
    if line.startswith(_NO_TEXT) or _REFERENCE.search(line) or line.isupper():
        return ""
    line = html.unescape(line)
    for pattern, new in _SUBSTITUTIONS:
        line = pattern.sub(new, line)
    line = _QUESTION_LABEL.sub(lambda label: label[0][0] + ": ", line.strip())
    is_code = len(_CODE.findall(line)) > _CODE_SHARE * len(line)
    if is_code or not _COMPLETE.search(line) or not is_english(line):
        return ""
    return line


def is_english(line: str) -> bool:
    """Whether enough of a line's words are common English ones; a few may be any."""
    words = re.findall(r"[a-zà-ÿ]+", line.lower())
    n_common = sum(word in _COMMON for word in words)
    return len(words) < _SHORT_LINE or n_common > _COMMON_SHARE * len(words)


class _LineReader:
    """Takes one clean line apart, and remembers which quotes are open."""

    def __init__(self) -> None:
        self._words: list[WrittenWord] = []
        self._waiting: tuple[str, ...] = ()
        self._in_double = self._in_single = False

    def read(self, line: str) -> list[WrittenWord]:
        for chunk in line.split():
            self._read_chunk(chunk)
        if self._words:
            rest = tuple(mark for mark in self._waiting if mark not in BRACKETS)
            self._words[-1].after += rest
        return self._words

    def _read_chunk(self, chunk: str) -> None:
        while chunk and (mark := self._opener(chunk)):
            self._place(mark)
            chunk = chunk[1:]
        form, after = self._without_marks(chunk)
        form = _tidy(form)
        if _has_alnum(form) or form in _READ_OUT:
            self._words.append(WrittenWord(form, self._waiting, after))
            self._waiting = ()
        else:
            for mark in after:
                self._place(mark)

    def _place(self, mark: str) -> None:
        """Give a mark that is on no word to the word after it, or else before it."""
        if mark in BRACKETS or self._waiting or not self._words:
            self._waiting += (mark,)
        else:
            self._words[-1].after += (mark,)

    def _opener(self, chunk: str) -> str:
        """The mark that the first character is, if it stands before a word."""
        first, rest = chunk[0], chunk[1:]
        if first in _OPENERS:
            self._in_double |= _OPENERS[first] == "``"
            return _OPENERS[first]
        if first == '"':
            if self._in_double and not _has_alnum(rest):
                return ""
            self._in_double = True
            return "``"
        if first in "‘'":
            if not self._is_single_quote(first, rest):
                return ""
            self._in_single = True
            return "`"
        is_stray = first in _STOPS and _has_alnum(rest)
        return first if is_stray and not (first == "." and rest[0].isalnum()) else ""

    @staticmethod
    def _is_single_quote(first: str, rest: str) -> bool:
        """Whether it is no apostrophe, as in 'em and '90s."""
        if first == "‘" and rest[:1] in _OPENERS:
            return True
        body = re.match(r"\w+", rest)
        if not body or body[0].lower() in _ELIDED:
            return False
        return not re.match(r"\d0?s?\b|\d\d\b", rest)

    def _without_marks(self, chunk: str) -> tuple[str, tuple[str, ...]]:
        """A word without the marks after it, and these."""
        after: list[str] = []
        while chunk and not re.fullmatch(r"['’‘][nN]['’]", chunk):
            mark = self._closer(chunk[-1], chunk[:-1])
            if not mark:
                break
            after.append(mark)
            chunk = chunk[:-1]
        return chunk, tuple(reversed(after))

    def _closer(self, last: str, rest: str) -> str:
        """The mark that the last character of a word is, if any."""
        if last in _STOPS:
            return last
        if last in _CLOSERS and not (last == ")" and "(" in rest):
            self._in_double &= _CLOSERS[last] != "''"
            return _CLOSERS[last]
        if last == '"':
            self._in_double = False
            return "''"
        if last in "’'" and (self._in_single or rest[-1:] in _STOPS):
            if rest and not rest.strip("’'"):
                return ""
            self._in_single = False
            return "'"
        return ""


def _has_alnum(text: str) -> bool:
    return any(map(str.isalnum, text))


def _tidy(form: str) -> str:
    """A word with straight apostrophes, and without the hyphen of a word cut off."""
    if not _has_alnum(form):
        return form.strip("-‐'’‘*\"")
    form = re.sub("[’‘]", "'", form)
    form = re.sub("[‐‑]", "-", form).rstrip("-")
    return form.lstrip("-") if form[1:2].isalpha() else form


def _settle_dots(words: list[WrittenWord]) -> None:
    """Tell the dots of abbreviations, and those that end a sentence as well."""
    for i, word in enumerate(words):
        if word.after[:1] != (".",):
            continue
        following = words[i + 1].form if i + 1 < len(words) else ""
        if not _is_abbreviation(word.form, following):
            continue
        ends = not following or (
            word.form.lower() not in _BEFORE_NAMES
            and following[0].isupper()
            and following.lower() in STARTERS
            and following != "I"
        )
        is_last = all(mark in _CLOSING for mark in word.after[1:])
        kept = word.after if ends and is_last else word.after[1:]
        word.after = (ABBREVIATION_DOT, *kept)


def is_often_abbreviated(form: str) -> bool:
    """Whether a dot after a word is likely to be its own, whatever follows."""
    name = form.lower()
    return name in _ALWAYS or (name in _BEFORE_NUMBERS and name != "no")


def _is_abbreviation(form: str, following: str) -> bool:
    """Whether the dot after a word belongs to it, given the next word of the line."""
    name = form.lower().replace("'", "")
    is_capital = following[:1].isupper()
    if _LETTERS_WITH_DOTS.fullmatch(form) or name in _ALWAYS:
        return True
    if name in _BEFORE_NAMES:
        return is_capital and form[0].isupper()
    if name in _BEFORE_NUMBERS:
        return following[:1].isdigit()
    is_initial = len(form) == 1 and form.isupper() and form != "I"
    return is_initial and is_capital and following.lower() not in STARTERS


def _starts(before: WrittenWord, word: WrittenWord) -> bool:
    """Whether a sentence starts between two words of a line."""
    marks = before.after + word.before
    first = next(filter(str.isalnum, word.form), "a")
    if not (first.isupper() or first.isdigit()):
        return False
    if _ENDS & set(marks):
        # "Really?" I said.
        is_said = word.form == "I" and "''" in before.after
        return not is_said or "." in before.after
    return ELLIPSIS in marks and first.isupper()
