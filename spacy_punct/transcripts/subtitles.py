"""SRT, WebVTT and SBV: read as plain data and written back as they were.

A file is cut into blocks. A block with a cue has a head (its number or identifier and
its timing) and lines of text; only words in these change. Headers, notes, style sheets,
regions, settings of cues, blank lines and line ends stay as they are.

Rolling captions, in which each cue repeats what the one before has shown, are told
apart: their words are read once, with the times that stand among them, and are written
as new cues.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from spacy_punct.errors import Errors, PunctError
from spacy_punct.transcripts.speech import LINE_ENDS, Line, seconds
from spacy_punct.transcripts.transcript import Entry, Segment, Transcript

_BOM = "\ufeff"

_TIME = r"(?:\d+:)?[0-5]?\d:[0-5]\d[.,]\d{1,3}"
_ARROW = rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?"
_COMMA = r"\s*\d+:[0-5]\d:[0-5]\d\.\d{3},\d+:[0-5]\d:[0-5]\d\.\d{3}\s*"
_TIMING = re.compile(rf"{_BOM}?(?:{_ARROW}|{_COMMA})")
_LONE_TIME = re.compile(rf"{_BOM}?\s*{_TIME}\s*")
_BROKEN_TIMING = re.compile(
    rf"{_BOM}?\s*-?(?:[\d:.,]*\d\s*-->|(?:\d+:)+\d+[.,]\d+\W+(?:\d+:)+\d)"
)
_VTT_HEADER = re.compile(rf"{_BOM}?WEBVTT(?:\s|$)")
_VTT_ASIDE = re.compile(rf"{_BOM}?(?:WEBVTT|NOTE|STYLE|REGION)(?:\s|$)")

_ROLLING_SHARE = 0.5
_FEWEST_ROLLING = 3
"""How many cues must repeat the one before for captions to be rolling."""


@dataclass(frozen=True)
class Block:
    """Some lines of a file: a cue and the blank lines after it, or no cue.

    head (tuple[str, ...]): The lines before the text: the number or identifier, if
        there is one, and the timing. Empty for text that a blank line cuts off from
        its own cue, as SRT files have it.
    lines (tuple[str, ...]): The lines of the cue's text.
    other (tuple[str, ...]): The lines after the cue, or all lines of a block that
        has none: a header, a comment, a style sheet, a region.
    ends (tuple[str, ...]): The line end of each of these lines.
    is_cue (bool): Whether there is a cue.
    """

    head: tuple[str, ...]
    lines: tuple[str, ...]
    other: tuple[str, ...]
    ends: tuple[str, ...]
    is_cue: bool

    @property
    def text(self) -> str:
        """The block as it stands in its file."""
        lines = (*self.head, *self.lines, *self.other)
        return "".join(a + b for a, b in zip(lines, self.ends, strict=True))

    @property
    def times(self) -> tuple[float | None, float | None]:
        """When the cue begins and ends, in seconds."""
        if not self.head:
            return None, None
        timing = self.head[-1]
        start, end = timing.split("-->") if "-->" in timing else _sbv_times(timing)
        return seconds(start), seconds(end.split()[0])


def _sbv_times(timing: str) -> tuple[str, str]:
    start, _, end = timing.strip(_BOM + " ").partition(",")
    return start, end


def begins_cues(lines: Sequence[str]) -> bool:
    """Whether the first lines of a file are those of subtitles."""
    written = [line for line in lines if not _is_blank(line)][:3]
    return bool(written) and (
        _VTT_HEADER.match(written[0]) is not None or any(map(_is_timing, written[:2]))
    )


def read_subtitles(text: str, name: str, format: str) -> Transcript:
    """Read SRT, WebVTT or SBV.

    text (str): The file.
    name (str): How messages call it.
    format (str): Which of them it is.
    RETURNS (Transcript): A segment for each cue, an entry for each of its lines.
    """
    blocks = list(read_blocks(text.splitlines(keepends=True), name=name))
    cues = [block for block in blocks if block.is_cue]
    if is_rolling(cues):
        return Transcript(tuple(_once(cues)), format)
    segments: list[Segment] = []
    for cue in cues:
        start, end = cue.times
        entries = tuple(map(Entry, cue.lines))
        segments.append(Segment(entries, None, start, end))
    return Transcript(tuple(segments), format, blocks, has_cues=True)


def rewrite_subtitles(transcript: Transcript) -> str:
    """The file that a transcript was read from, with its new words."""
    rest = iter(transcript.segments)
    texts = []
    for block in transcript.source:
        if block.is_cue:
            lines = [entry.text for entry in next(rest).entries]
            # A cue that would be empty stays as it was.
            if any(map(str.strip, lines)):
                block = replace(block, lines=tuple(lines))
        texts.append(block.text)
    return "".join(texts)


# Blocks


def read_blocks(lines: Iterable[str], *, name: str = "<lines>") -> Iterator[Block]:
    """Yield the blocks of subtitles, each as soon as the next one begins.

    lines (Iterable[str]): The lines, with their line ends.
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
        # The first line of a rolling caption may be a space.
        head = _head_size(group)
        waits = head and all(map(_is_space, group[head:])) and not _starts_cue(line)
        return 0 if waits else len(group)
    if _is_timing(line) and (len(group) > 1 or _is_timing(group[0])):
        return len(group) - group[-1].strip().isdecimal()
    return 0


def _is_space(line: str) -> bool:
    """Whether a line is blank, but not empty."""
    return bool(line.strip(LINE_ENDS)) and _is_blank(line)


def _starts_cue(line: str) -> bool:
    return _is_timing(line) or line.strip().isdecimal()


def _is_blank(line: str) -> bool:
    return not line.lstrip(_BOM).strip()


def _is_timing(line: str) -> bool:
    return _TIMING.fullmatch(line.rstrip(LINE_ENDS)) is not None


def _head_size(group: list[str]) -> int:
    """How many lines go up to the timing; 0 if there is none."""
    return next((k for k in (1, 2) if k <= len(group) and _is_timing(group[k - 1])), 0)


def _check_timings(group: list[str], head: int, name: str, number: int) -> None:
    """Raise if a line is meant to be a timing, but is none."""
    suspects = group[head:] if head else group[:2]
    for k, suspect in enumerate(suspects, start=number + head):
        line = suspect.rstrip(LINE_ENDS)
        in_head = not head and ("-->" in line or _LONE_TIME.fullmatch(line))
        if in_head or _BROKEN_TIMING.match(line):
            raise PunctError(
                Errors.P061.format(where=f"{name}, line {k}", line=line.strip())
            )


def _block(group: list[str], head: int | None) -> Block:
    """The block of a group whose cue's head has this many lines; None: no cue."""
    lines = tuple(line.rstrip(LINE_ENDS) for line in group)
    ends = tuple(raw[len(line) :] for raw, line in zip(group, lines, strict=True))
    if head is None:
        return Block((), (), lines, ends, False)
    written = [k for k in range(head, len(lines)) if not _is_blank(lines[k])]
    stop = written[-1] + 1 if written else head
    return Block(lines[:head], lines[head:stop], lines[stop:], ends, True)


# Rolling captions


def is_rolling(cues: Sequence[Block]) -> bool:
    """Whether most cues begin with what the cue before has shown."""
    texts = [cue_words(cue) for cue in cues]
    pairs = [(a, b) for a, b in pairwise(texts) if a and b]
    rolling = sum(overlap(a, b) >= min(len(a), len(b), 3) for a, b in pairs)
    return rolling >= max(_FEWEST_ROLLING, _ROLLING_SHARE * len(pairs))


def cue_words(cue: Block) -> list[str]:
    """The words and asides of a cue, as they are read."""
    return [text for line in cue.lines for text, _ in _shown(Line(line))]


def _shown(line: Line) -> list[tuple[str, int]]:
    """The words and asides of a line, and the number of the run each begins with."""
    found: list[tuple[str, int]] = []
    last: int | None = None
    for k, run in enumerate(line.runs):
        if run.kind == "aside":
            found.append((run.text, k))
        elif run.word is not None and run.word != last:
            last = run.word
            found.append((line.words[last], k))
    return found


def overlap(before: Sequence[str], after: Sequence[str]) -> int:
    """How many words at the end of one text are those at the start of the next."""
    for n in range(min(len(before), len(after)), 0, -1):
        if list(before[-n:]) == list(after[:n]):
            return n
    return 0


def _once(cues: Sequence[Block]) -> Iterator[Segment]:
    """What each of some rolling captions adds to the one before."""
    shown: list[str] = []
    for cue in cues:
        words = cue_words(cue)
        known = overlap(shown, words)
        shown = words or shown
        if known == len(words):
            continue
        start, end = cue.times
        entries = []
        for text in cue.lines:
            line = Line(text)
            shown_here = _shown(line)
            if len(shown_here) > known:
                first = shown_here[known][1]
                entries.append(Entry(_from(line, first), start, end))
            known = max(known - len(shown_here), 0)
        yield Segment(tuple(entries), None, start, end)


def _from(line: Line, first: int) -> str:
    """A line from one of its runs on, without markup."""
    kept = (run.text for run in line.runs[first:] if run.kind != "markup")
    before = line.runs[first - 1 : first]
    is_timed = before and before[0].kind == "stamp"
    return (before[0].text if is_timed else "") + "".join(kept)
