"""What in a line of a transcript is speech, and what is not.

A line is cut into runs. Words are speech. Markup, entities, sound tags, time stamps,
speaker labels and turn marks are not: they stay where they stand.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from itertools import count, groupby
from typing import Literal, NamedTuple

from spacy_punct.errors import Errors, PunctError


def word_set(words: str) -> frozenset[str]:
    """A set of words that are written as a text."""
    return frozenset(words.split())


Kind = Literal["word", "space", "markup", "aside", "stamp", "turn", "speaker"]

LINE_ENDS = "\r\n"

_SPACE = r"\s|&nbsp;|<br\s*/?>|\\[Nh]"
"""What parts words."""
_VOICE = r"</?v(?:[\s.][^<>]*)?>"
"""WebVTT's change of the speaker."""
_MARKUP = r"</?[A-Za-z][^<>]*>|\{\\[^{}]*\}|&(?:lrm|rlm);|[♩♪♫♬]+"
"""What is not text, and may stand inside a word: tags, positions, notes."""
_CLOCK = r"(?:\d+:)?[0-5]?\d:[0-5]\d(?:[.,]\d{1,3})?"
_LONG_CLOCK = r"\d+:[0-5]\d:[0-5]\d(?:[.,]\d{1,3})?"
_SPAN = rf"{_CLOCK}(?:\s*(?:-->|->|[-–])\s*{_CLOCK})?"
_STAMP = rf"<\d[\d:.]*>|\[{_SPAN}\]|\({_LONG_CLOCK}\)"
"""Times that stand in brackets, in any place."""
_SOUNDS = (
    r"applau\w*|background \w+|beep\w*|bleep\w*|cheer\w*|chuckl\w*|clears throat"
    r"|coughs?|coughing|cries|crosstalk|cross-talk|crying|gasps?|inaudible|indistinct"
    r"|laugh\w*|music|noise|pause|phone rings?|sighs?|silence|sings?|singing|sobs?"
    r"|speaks? \w+|speaking \w+|unintelligible"
)
_ASIDE = (
    r"(?<!\w)\[[^\[\]<>]{0,80}\]"
    rf"|[(*](?:[^()*<>]{{0,30}}\b)?(?i:{_SOUNDS})\b[^()*<>]{{0,30}}[)*]"
)
"""Sounds and remarks: all in square brackets, and what is known to be a sound."""
_TURN = r"(?<!\S)(?:>{2,3}|(?:&gt;){2,3})(?=\s|\w|$)"
_NOT_WORD = rf"{_SPACE}|{_VOICE}|{_STAMP}|{_MARKUP}|{_ASIDE}|{_TURN}"
_RUN = re.compile(
    rf"(?P<space>{_SPACE})|(?P<speaker>{_VOICE})|(?P<stamp>{_STAMP})"
    rf"|(?P<markup>{_MARKUP})|(?P<aside>{_ASIDE})|(?P<turn>{_TURN})"
    rf"|(?P<word>(?:(?!{_NOT_WORD}).)+)"
)

# How a line may begin: times and dashes without brackets, and who speaks.
_START = re.compile(
    rf"(?P<space>{_SPACE})|(?P<speaker>{_VOICE})"
    rf"|(?P<stamp>{_STAMP}|(?:{_CLOCK})(?=\s|$))"
    rf"|(?P<markup>{_MARKUP})"
    r"|(?P<turn>(?:>{2,3}|(?:&gt;){2,3})(?=\s|\w|$)|[-‐‑–—](?![-‐‑–—>\d]))"
)
_NAME = r"[^\s:<>()\[\]{}\"“”,;?!]{1,30}(?:[ _][^\s:<>()\[\]{}\"“”,;?!]{1,30}){0,3}"
_ENTITY = re.compile(r"(&(?:#?\w+);)")
_LABEL = re.compile(
    rf"\[(?P<boxed>[^\[\]<>:]{{1,40}})\](?::(?=\s|$|<)|(?=:))"
    rf"|(?P<name>{_NAME}):(?=\s|$|<)"
    rf"|(?P<dated>{_NAME})(?=\s+{_CLOCK}\s*$)"
)
_WHOLE_ASIDE = re.compile(r"\s*\([^()]{1,80}\)\s*")
_GENERIC = re.compile(r"(?i)(?:speaker|spk|voice|person|participant|guest)[ _]?\w{0,3}")
_NO_LABELS = word_set(
    "Also And Answer But Caution Conclusion Correction Example Finally First Fact "
    "Hint However Later Note Now Okay Postscript Question Reminder Remember Second "
    "Sidenote So Spoiler Subject Summary Then Third Tip Today Update Warning Well "
    "Yes No"
)
"""Words with a colon that begin a sentence, not a turn."""


_NUMBERED = re.compile(r"#\d+")
_SMALL = frozenset({"&", "&amp;", "and", "de", "of", "van", "von"})
"""Words inside names."""


class Run(NamedTuple):
    """A part of a line.

    text (str): The part, as it is.
    kind (Kind): What it is.
    word (int | None): The number of the word it is (a part) of.
    speaker (str | None): Who is named.
    time (float | None): The time that is named, in seconds.
    """

    text: str
    kind: Kind
    word: int | None = None
    speaker: str | None = None
    time: float | None = None


@dataclass(frozen=True)
class Line:
    """A line of text, or less: the text of a cue's line, or of a recogniser's word.

    text (str): The text as it is, without a line end.
    is_word (bool): Whether it is a word that is known to be one: it does not begin
        with a speaker's name, a dash or a time.
    """

    text: str
    is_word: bool = False

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """All parts of the line, in order; together they are its text."""
        return tuple(run for run in _runs(self.text, self.is_word) if run.text)

    @cached_property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The parts of each word: more than one where markup stands inside it."""
        words = (run for run in self.runs if run.word is not None)
        groups = groupby(words, key=lambda run: run.word)
        return tuple(tuple(run.text for run in group) for _, group in groups)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words as they are read: no markup, no entities, nothing unspoken."""
        return tuple(unescape("".join(parts)) for parts in self.parts)

    @cached_property
    def spoken(self) -> tuple[str | None, ...]:
        """The words, and None where somebody else begins to speak."""
        found: list[str | None] = []
        seen = -1
        for run in self.runs:
            if run.kind in ("turn", "speaker"):
                found.append(None)
            elif run.word is not None and run.word != seen:
                seen = run.word
                found.append(self.words[seen])
        return tuple(found)

    def with_words(self, texts: Sequence[str]) -> "Line":
        """The line with each word replaced and all else as it was.

        texts (Sequence[str]): For each of `words` what to write in its place, with
            the marks before and after it. If that is nothing, the space before it
            goes as well.
        RETURNS (Line): The new line.
        """
        if len(texts) != len(self.parts):
            raise PunctError(Errors.P062.format(expected=len(self.parts), n=len(texts)))
        for text in texts:
            if set(text) & set(LINE_ENDS):
                raise PunctError(Errors.P063.format(text=repr(text)))
        if tuple(texts) == self.words:
            return self
        return Line(self.begun(texts), self.is_word)

    def begun(self, texts: Sequence[str]) -> str:
        """The line as far as its words are known.

        texts (Sequence[str]): What to write for its first words; see `with_words`.
        RETURNS (str): The line up to the last of them; with all of them, to its end.
        """
        n = len(texts)
        known = [k for k, run in enumerate(self.runs, 1) if run.word in range(n)]
        end = len(self.runs) if n == len(self.parts) else max(known, default=0)
        new = (
            part
            for text, parts in zip(texts, self.parts, strict=False)
            for part in shared_out(_with_entities("".join(parts), text), parts)
        )
        runs = self.runs[:end]
        written = [run.text if run.word is None else next(new) for run in runs]
        for k, run in enumerate(runs):
            gone = run.word is not None and not written[k]
            if gone and k and written[k - 1] == " ":
                written[k - 1] = ""
        return "".join(written)


def shared_out(text: str, parts: Sequence[str]) -> Iterator[str]:
    """Cut a word's new text where the old one was cut.

    text (str): The new text.
    parts (Sequence[str]): The parts of the old one.
    YIELDS (str): As many parts of the new text.
    """
    start, end = 0, max(text.lower().find("".join(parts).lower()), 0)
    for part in parts[:-1]:
        end += len(part)
        yield text[start:end]
        start = end
    yield text[start:]


def seconds(clock: str) -> float:
    """A time as `1:02:03.5`, `02:03,500` or `<00:03.5>`, in seconds."""
    found = re.search(r"[\d:.,]*\d", clock)
    parts = (found[0] if found else "0").replace(",", ".").split(":")
    total = 0.0
    for part in parts:
        total = 60 * total + float(part.strip(".") or 0)
    return round(total, 3)


def _runs(line: str, is_word: bool) -> Iterator[Run]:
    if _WHOLE_ASIDE.fullmatch(line) and not is_word:
        yield Run(line, "aside")
        return
    start = 0
    labelled = False
    while not is_word:
        if not labelled and (label := _label(line, start)):
            labelled = True
            yield label
            start += len(label.text)
        elif (found := _START.match(line, start)) and found.end() > start:
            yield _run(found)
            start = found.end()
        else:
            break
    numbers = count()
    word: int | None = None
    for found in _RUN.finditer(line, start):
        if found["word"]:
            word = next(numbers) if word is None else word
            yield Run(found[0], "word", word)
        else:
            # Only markup, and times inside a cue, can stand within a word.
            inside = found["markup"] or (found["stamp"] and found[0].startswith("<"))
            word = word if inside else None
            yield _run(found)


def _run(found: re.Match[str]) -> Run:
    kind = found.lastgroup
    text = found[0]
    if kind == "speaker":
        name = re.sub(r"^<v(?:\.\S*)?\s*|>$", "", text)
        return Run(text, "speaker", speaker=None if text[1] == "/" else unescape(name))
    if kind == "stamp":
        return Run(text, "stamp", time=seconds(text.split("-->")[0]))
    return Run(text, kind)  # type: ignore[arg-type]


def _label(line: str, start: int) -> Run | None:
    """Who speaks, if a line says so at a place."""
    found = _LABEL.match(line, start)
    if not found:
        return None
    name = found["boxed"] or found["name"] or found["dated"]
    boxed = found["boxed"] is not None
    if not (boxed or _GENERIC.fullmatch(name) or _is_name(name)):
        return None
    return Run(found[0], "speaker", speaker=unescape(name.strip()))


def _is_name(text: str) -> bool:
    words = re.split("[ _]", text)
    return (
        text not in _NO_LABELS
        and not text[0].isdigit()
        and all(
            w[:1].isupper() or w[:1].isdigit() or w in _SMALL or _NUMBERED.fullmatch(w)
            for w in words
        )
    )


def _with_entities(source: str, word: str) -> str:
    """A restored word, with the entities (`&amp;`) that its source was written with."""
    plain = unescape(source)
    start = word.lower().find(plain.lower())
    if plain == source or start < 0:
        return word
    written, position = word[:start], start
    for part in _ENTITY.split(source):
        size = len(unescape(part))
        is_entity = _ENTITY.fullmatch(part) is not None
        written += part if is_entity else word[position : position + size]
        position += size
    return written + word[position:]
