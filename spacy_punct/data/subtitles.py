"""SRT and WebVTT subtitles, read as plain data and written back as they were."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, groupby
from pathlib import Path
from typing import NamedTuple

from spacy_punct.errors import Errors, PunctError

_SUFFIXES = frozenset({".srt", ".vtt"})
_LINE_ENDS = "\r\n"
_BOM = "\ufeff"

_TIME = r"(?:\d+:)?[0-5]?\d:[0-5]\d[.,]\d{1,3}"
_TIMING = re.compile(rf"{_BOM}?\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_LONE_TIME = re.compile(rf"{_BOM}?\s*{_TIME}\s*")
_BROKEN_TIMING = re.compile(
    rf"{_BOM}?\s*-?(?:[\d:.,]*\d\s*-->|(?:\d+:)+\d+[.,]\d+\W+(?:\d+:)+\d)"
)
_VTT_HEADER = re.compile(rf"{_BOM}?WEBVTT(?:\s|$)")
_VTT_ASIDE = re.compile(rf"{_BOM}?(?:WEBVTT|NOTE|STYLE|REGION)(?:\s|$)")

_SPACE = r"\s|&nbsp;|<br\s*/?>|</?v(?:[\s.][^<>]*)?>|\\[Nh]"
"""What parts words, the change of the speaker included."""
_MARKUP = r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\}|&(?:lrm|rlm);|[♩♪♫♬]+"
"""What is not text: tags, times within a cue, positions, notes."""
_RUN = re.compile(
    rf"(?P<space>{_SPACE})|(?P<markup>{_MARKUP})"
    rf"|(?P<word>(?:(?!{_SPACE}|{_MARKUP}).)+)"
)
_DIALOGUE_DASH = re.compile(rf"(?:{_SPACE}|{_MARKUP})*[-‐‑–—](?![-‐‑–—>\d])")


class _Run(NamedTuple):
    """A piece of a line; `word` is the number of the word it is (a part) of."""

    text: str
    word: int | None


@dataclass(frozen=True)
class Cue:
    """What is shown at one time.

    head (tuple[str, ...]): The lines before the text, as they are: the number or
        identifier, if there is one, and the timing. Empty for text that a blank
        line cuts off from its own cue, as SRT files have it.
    lines (tuple[str, ...]): The lines of text, without line ends.
    """

    head: tuple[str, ...]
    lines: tuple[str, ...]

    @cached_property
    def _runs(self) -> tuple[tuple[_Run, ...], ...]:
        numbers = count()
        return tuple(tuple(_runs(line, numbers)) for line in self.lines)

    @cached_property
    def _parts(self) -> tuple[tuple[str, ...], ...]:
        """The parts of each word: more than one where markup stands inside it."""
        runs = (run for line in self._runs for run in line if run.word is not None)
        groups = groupby(runs, key=lambda run: run.word)
        return tuple(tuple(run.text for run in group) for _, group in groups)

    def words(self) -> tuple[str, ...]:
        """The words of all lines, without markup and the dashes of a dialogue.

        RETURNS (tuple[str, ...]): What stands between white space.
        """
        return tuple(map("".join, self._parts))

    def with_words(self, texts: Sequence[str]) -> "Cue":
        """The cue with each word replaced and all else as it was.

        texts (Sequence[str]): For each of `words()` what to write in its place,
            with the marks before and after it; if that is nothing, the space before
            it goes as well.
        RETURNS (Cue): The new cue.
        """
        if len(texts) != len(self._parts):
            raise PunctError(
                Errors.P062.format(expected=len(self._parts), n=len(texts))
            )
        for text in texts:
            if set(text) & set(_LINE_ENDS):
                raise PunctError(Errors.P063.format(text=repr(text)))
        new = (
            part
            for text, parts in zip(texts, self._parts, strict=True)
            for part in _shared_out(text, parts)
        )
        lines = (
            [run.text if run.word is None else next(new) for run in line]
            for line in self._runs
        )
        return Cue(self.head, tuple(map(_without_gaps, lines, self._runs)))


@dataclass(frozen=True)
class Block:
    """Some lines of a file: a cue and the blank lines after it, or none.

    cue (Cue | None): The cue; to change it, use `dataclasses.replace`.
    other (tuple[str, ...]): The lines after the cue, or all lines of a block that
        has none: a header, a comment, a style sheet, a region.
    ends (tuple[str, ...]): The line end of each line of the block.
    """

    cue: Cue | None
    other: tuple[str, ...]
    ends: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.lines) != len(self.ends):
            raise PunctError(
                Errors.P064.format(lines=len(self.lines), n=len(self.ends))
            )

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines, without line ends."""
        return (
            (*self.cue.head, *self.cue.lines, *self.other) if self.cue else self.other
        )


def is_subtitles(path: str | Path) -> bool:
    """Whether a file is SRT or WebVTT by its name.

    path (str | Path): The file.
    RETURNS (bool): Whether it ends in .srt or .vtt.
    """
    return Path(path).suffix.lower() in _SUFFIXES


def read_cues(lines: Iterable[str], *, name: str = "<lines>") -> Iterator[Block]:
    """Yield the blocks of SRT or WebVTT, each as soon as the next one begins.

    lines (Iterable[str]): The lines, with their line ends: a file opened with
        `newline=""` keeps them as they are.
    name (str): How messages call the source.
    YIELDS (Block): All lines in order, with a cue or without.
    """
    is_vtt = has_cues = False
    for number, group in _grouped(lines):
        is_vtt = is_vtt or (not has_cues and bool(_VTT_HEADER.match(group[0])))
        head = _head_size(group)
        aside = is_vtt and _VTT_ASIDE.match(group[0])
        if not head and (aside or _is_blank(group[0])):
            yield _block(group, None)
            continue
        _check_timings(group, head, name, number)
        if not head and not has_cues:
            raise PunctError(Errors.P060.format(where=f"{name}, line {number}"))
        has_cues = True
        # Players show text after a blank line in SRT, and pass over it in WebVTT.
        yield _block(group, None if is_vtt and not head else head)


def write_blocks(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the lines of a file: read_cues' inverse.

    blocks (Iterable[Block]): The blocks.
    YIELDS (str): Each line with its line end.
    """
    for block in blocks:
        for line, end in zip(block.lines, block.ends, strict=True):
            yield line + end


def _grouped(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Lines that belong together, and the number of the first."""
    group: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        if cut := _cut(group, line):
            yield number - len(group), group[:cut]
            group = group[cut:]
        group.append(line)
    if group:
        yield number - len(group) + 1, group


def _cut(group: list[str], line: str) -> int:
    """How many lines of a group are complete, now that this line follows.

    A blank line ends a group. Where it is missing, a timing begins the next one, or
    the number before the timing.
    """
    if not group or _is_blank(line):
        return 0
    if _is_blank(group[-1]):
        return len(group)
    if _is_timing(line) and (len(group) > 1 or _is_timing(group[0])):
        return len(group) - group[-1].strip().isdecimal()
    return 0


def _is_blank(line: str) -> bool:
    return not line.lstrip(_BOM).strip()


def _is_timing(line: str) -> bool:
    return _TIMING.fullmatch(line.rstrip(_LINE_ENDS)) is not None


def _head_size(group: list[str]) -> int:
    """How many lines go up to the timing; 0 if there is none."""
    return next((k for k in (1, 2) if k <= len(group) and _is_timing(group[k - 1])), 0)


def _check_timings(group: list[str], head: int, name: str, number: int) -> None:
    """Raise if a line is meant to be a timing, but is none."""
    suspects = group[head:] if head else group[:2]
    for k, suspect in enumerate(suspects, start=number + head):
        line = suspect.rstrip(_LINE_ENDS)
        in_head = not head and ("-->" in line or _LONE_TIME.fullmatch(line))
        if in_head or _BROKEN_TIMING.match(line):
            raise PunctError(
                Errors.P061.format(where=f"{name}, line {k}", line=line.strip())
            )


def _block(group: list[str], head: int | None) -> Block:
    """The block of a group whose cue's head has this many lines; None: no cue."""
    lines = tuple(line.rstrip(_LINE_ENDS) for line in group)
    ends = tuple(raw[len(line) :] for raw, line in zip(group, lines, strict=True))
    if head is None:
        return Block(None, lines, ends)
    stop = next((k for k, line in enumerate(lines) if _is_blank(line)), len(lines))
    return Block(Cue(lines[:head], lines[head:stop]), lines[stop:], ends)


def _runs(line: str, numbers: Iterator[int]) -> Iterator[_Run]:
    """Cut a line into parts of words and what stands around them."""
    dash = _DIALOGUE_DASH.match(line)
    start = dash.end() if dash else 0
    yield _Run(line[:start], None)
    word: int | None = None
    for found in _RUN.finditer(line, start):
        if found["word"]:
            word = next(numbers) if word is None else word
            yield _Run(found[0], word)
        else:
            word = None if found["space"] else word
            yield _Run(found[0], None)


def _without_gaps(texts: list[str], runs: tuple[_Run, ...]) -> str:
    """A line, without the space before words that are no longer there."""
    for k, run in enumerate(runs):
        if run.word is not None and not texts[k] and k and texts[k - 1] == " ":
            texts[k - 1] = ""
    return "".join(texts)


def _shared_out(text: str, parts: Sequence[str]) -> Iterator[str]:
    """Cut a word's new text where markup cuts the old one."""
    start, end = 0, max(text.lower().find("".join(parts).lower()), 0)
    for part in parts[:-1]:
        end += len(part)
        yield text[start:end]
        start = end
    yield text[start:]
