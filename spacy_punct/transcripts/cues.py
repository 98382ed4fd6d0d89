"""Cues for subtitles: from the words of a transcript, or from the cues it had.

New cues are chosen by dynamic programming: the breaks between cues together should fall
at the ends of sentences, at marks, at pauses and before function words, while each cue
fits its lines and can be read while it is shown.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from spacy_punct.errors import Errors, PunctError
from spacy_punct.transcripts.sentences import ends_sentence, in_order, written
from spacy_punct.transcripts.speech import word_set
from spacy_punct.transcripts.transcript import Segment, Transcript, Word

LINE_LENGTH = 42
N_LINES = 2
LONGEST, SHORTEST = 7.0, 1.0
"""Seconds that a cue may be shown at most, and should be shown at least."""
READING_SPEED = 17
"""Characters per second that people read with ease."""
_FAST = 21
_PAUSE = 2.0
"""Seconds of silence that no cue spans."""
_MOST_WORDS = 24

_CLAUSES = word_set(
    "and but or so because that which who when where while if as than then until"
)
"""Words that a cue or a line may well begin with."""
_PREPOSITIONS = word_set("for with of in on at to from by about into after before like")
"""Words that a cue or a line may begin with, but should not end with."""
_DETERMINERS = word_set(
    "a an the my your his her its our their this these those very i you he she we "
    "they it is are was were has have had will would can could not"
)
_PLAIN_TAG = re.compile(r"</?[biu]>")


class Cue(NamedTuple):
    """What is shown at one time.

    start, end (float): When, in seconds.
    lines (tuple[str, ...]): Its lines, as plain text.
    speaker (str | None): Who begins to speak with it.
    is_turn (bool): Whether somebody begins to speak with it.
    """

    start: float
    end: float
    lines: tuple[str, ...]
    speaker: str | None = None
    is_turn: bool = False


def make_cues(transcript: Transcript, name: str) -> list[Cue]:
    """The cues of a transcript.

    transcript (Transcript): The transcript. If it has cues, they stay.
    name (str): How messages call it.
    RETURNS (list[Cue]): The cues in order, none of which begins before the one
        before it ends.
    """
    if transcript.has_cues:
        return [cue for segment in transcript.segments if (cue := _kept(segment))]
    words = timed(transcript, name)
    cues: list[Cue] = []
    start = 0
    for k in range(1, len(words) + 1):
        if k == len(words) or _parts(words[k - 1], words[k]):
            cues += _split(words[start:k])
            start = k
    return _shown_longer(cues)


def timed(transcript: Transcript, name: str) -> list[Word]:
    """The words of a transcript; an error if they have no times."""
    words = in_order(transcript)
    known = sum(word.start is not None for word in words)
    if words and known < len(words) / 2:
        raise PunctError(Errors.P184.format(name=name))
    result: list[Word] = []
    last = 0.0
    for word in words:
        begin = word.start if word.start is not None else last
        end = word.end if word.end is not None else begin
        result.append(word._replace(start=begin, end=max(end, begin)))
        last = max(end, begin)
    return result


def _kept(segment: Segment) -> Cue | None:
    """A cue of the source, as plain text."""
    if segment.start is None or segment.end is None:
        return None
    runs = [run for entry in segment.entries for run in entry.line.runs]
    named = [run for run in runs if run.kind == "speaker" and run.speaker]
    is_alone = len(named) == 1 and named[0] in segment.entries[0].line.runs
    lines = []
    for entry in segment.entries:
        text = ""
        for run in entry.line.runs:
            if run.kind == "speaker":
                text += "" if is_alone or not run.speaker else f"{run.speaker}: "
            elif run.kind == "stamp" and run.text.startswith("<"):
                continue
            elif run.kind != "markup" or _PLAIN_TAG.fullmatch(run.text):
                text += run.text
        if text.strip():
            lines.append(text.strip())
    speaker = named[0].speaker if is_alone else segment.speaker
    return Cue(segment.start, segment.end, tuple(lines), speaker, speaker is not None)


def _parts(before: Word, after: Word) -> bool:
    """Whether no cue has both of two words."""
    gap = _start(after) - _end(before)
    return after.is_turn or gap > _PAUSE


def _start(word: Word) -> float:
    return word.start or 0.0


def _end(word: Word) -> float:
    return word.end or 0.0


def _split(words: Sequence[Word]) -> list[Cue]:
    """The best cues for words that follow each other without a long pause."""
    stretch = _Stretch(words)
    n = len(words)
    best: list[tuple[float, int]] = [(0.0, 0)]
    for j in range(1, n + 1):
        options = []
        for i in range(j - 1, max(0, j - _MOST_WORDS) - 1, -1):
            cost = stretch.cost(i, j)
            if cost is None and i < j - 1:
                break  # a longer one cannot be, either
            options.append((best[i][0] + (100.0 if cost is None else cost), i))
        best.append(min(options))
    cues: list[Cue] = []
    j = n
    while j:
        i = best[j][1]
        some = words[i:j]
        lines = tuple(wrapped(some))
        first = some[0]
        start, end = _start(first), _end(some[-1])
        cues.append(Cue(start, end, lines, first.speaker, first.is_turn))
        j = i
    return cues[::-1]


class _Stretch:
    """Words that follow each other, and how bad cues made of them are."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.starts = list(map(_start, words))
        self.ends = list(map(_end, words))
        self.sizes = [0]  # characters up to each word, with a space after each
        for word in words:
            self.sizes.append(self.sizes[-1] + len(word.text) + (not word.joined))
        followers = [*(word.text for word in words[1:]), None]
        self.is_end = [
            word.is_aside or ends_sentence(word.text, after)
            for word, after in zip(words, followers, strict=True)
        ]
        self.breaks = [_break_cost(a, b) for a, b in pairwise(words)]

    def cost(self, i: int, j: int) -> float | None:
        """How bad a cue of the words from i to j is; None if it cannot be."""
        duration = self.ends[j - 1] - self.starts[i]
        size = self.sizes[j] - self.sizes[i] - 1
        if size > LINE_LENGTH * N_LINES or duration > LONGEST:
            return None
        if size > LINE_LENGTH and not self.fits(i, j):
            return None
        cost = 10.0
        for k in range(i, j - 1):
            if self.is_end[k]:
                least = min(
                    self.ends[k] - self.starts[i], self.ends[j - 1] - self.starts[k + 1]
                )
                cost += 3 if least < SHORTEST else 12
        pause = 0.0
        if j < len(self.starts):
            pause = max(self.starts[j] - self.ends[j - 1], 0.0)
            if not self.is_end[j - 1]:
                cost += max(self.breaks[j - 1] - 10 * pause, 0)
        shown = max(duration + min(pause, 1.0), 0.1)
        cost += 20 * max(size / shown - _FAST, 0) / _FAST
        if shown < SHORTEST:
            cost += 6
        if j - i == 1 and not self.is_end[i]:
            cost += 10
        return cost

    def fits(self, i: int, j: int) -> bool:
        """Whether the words from i to j fit two lines."""
        first = bisect_right(self.sizes, self.sizes[i] + LINE_LENGTH + 1) - 1
        return self.sizes[j] - self.sizes[first] - 1 <= LINE_LENGTH


def _break_cost(before: Word, after: Word) -> float:
    """How bad it is to part two words of a sentence."""
    bare = before.text.lower().strip(".,;:?!\"'")
    if before.text[-1:] in ",;:—–":
        return 4.0
    if after.text.lower() in _CLAUSES and bare not in _CLAUSES:
        return 6.0
    cost = 10.0 if after.text.lower() in _PREPOSITIONS else 14.0
    if bare in _CLAUSES or bare in _PREPOSITIONS or bare in _DETERMINERS:
        cost += 8.0
    return cost


def wrapped(words: Sequence[Word]) -> list[str]:
    """Words in lines: one if they fit, else two of about the same length."""
    text = written(words)
    if len(text) <= LINE_LENGTH:
        return [text]
    options = []
    for k in range(1, len(words)):
        if words[k].joined:
            continue
        above, below = written(words[:k]), written(words[k:])
        if max(len(above), len(below)) <= LINE_LENGTH:
            cost = _break_cost(words[k - 1], words[k])
            if ends_sentence(words[k - 1].text, words[k].text):
                cost = 0
            options.append((cost + abs(len(above) - len(below)) / 3, above, below))
    if options:
        _, above, below = min(options)
        return [above, below]
    return _filled(text)


def _filled(text: str) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > LINE_LENGTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def _shown_longer(cues: Sequence[Cue]) -> list[Cue]:
    """Cues that stay until they can be read, if the next one leaves them the time."""
    result = []
    for k, cue in enumerate(cues):
        length = sum(map(len, cue.lines))
        wanted = cue.start + min(max(SHORTEST, length / READING_SPEED), LONGEST)
        end = max(cue.end, wanted)
        if k + 1 < len(cues):
            end = min(end, max(cues[k + 1].start, cue.start))
        result.append(cue._replace(end=round(end, 3)))
    return result


# Writing


def clock(time: float, mark: str = ".") -> str:
    """A time as `00:01:02.500`."""
    milliseconds = round(time * 1000)
    rest, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(rest, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{mark}{milliseconds:03}"


def _labelled(cue: Cue) -> list[str]:
    """The lines of a cue, the first of which says who speaks."""
    first, *others = cue.lines or ("",)
    if cue.is_turn:
        first = f"{cue.speaker}: {first}" if cue.speaker else f"- {first}"
    return [first, *others] if others else wrapped(list(map(Word, first.split(" "))))


def write_srt(cues: Sequence[Cue]) -> str:
    """Cues as SRT."""
    blocks = (
        f"{k}\n{clock(cue.start, ',')} --> {clock(cue.end, ',')}\n"
        + "".join(f"{line}\n" for line in _labelled(cue))
        for k, cue in enumerate(cues, start=1)
    )
    return "\n".join(blocks)


def write_vtt(cues: Sequence[Cue]) -> str:
    """Cues as WebVTT, with voices for speakers."""
    blocks = ["WEBVTT\n"]
    for cue in cues:
        lines = [_escaped(line) for line in cue.lines]
        if cue.speaker:
            lines[:1] = [f"<v {_escaped(cue.speaker)}>{line}" for line in lines[:1]]
        elif cue.is_turn:
            lines[:1] = [f"- {line}" for line in lines[:1]]
        text = "".join(f"{line}\n" for line in lines)
        blocks.append(f"{clock(cue.start)} --> {clock(cue.end)}\n{text}")
    return "\n".join(blocks)


def _escaped(line: str) -> str:
    parts = re.split(r"(</?[biu]>|&\w+;)", line)
    return "".join(p if k % 2 else escape(p, quote=False) for k, p in enumerate(parts))


def write_sbv(cues: Sequence[Cue]) -> str:
    """Cues as SBV."""
    blocks = (
        f"{_sbv_clock(cue.start)},{_sbv_clock(cue.end)}\n"
        + "".join(f"{line}\n" for line in _labelled(cue))
        for cue in cues
    )
    return "\n".join(blocks)


def _sbv_clock(time: float) -> str:
    return clock(time)[1:] if clock(time).startswith("0") else clock(time)


def write_tsv(cues: Sequence[Cue]) -> str:
    """Cues as a table with times in milliseconds, as Whisper writes it."""
    named = any(cue.speaker for cue in cues)
    rows = ["start\tend\tspeaker\ttext" if named else "start\tend\ttext"]
    for cue in cues:
        text = " ".join(cue.lines)
        cells = [f"{round(cue.start * 1000)}", f"{round(cue.end * 1000)}"]
        cells += [cue.speaker or ""] if named else []
        rows.append("\t".join([*cells, text]))
    return "\n".join(rows) + "\n"


def write_ctm(words: Sequence[Word], name: str) -> str:
    """Words as CTM.

    words (Sequence[Word]): The words, with times.
    name (str): The recording.
    RETURNS (str): The file.
    """
    recording = re.sub(r"\s", "_", name)
    return "".join(
        f"{recording} 1 {_start(w):.3f} {_end(w) - _start(w):.3f} "
        f"{''.join(w.text.split())}\n"
        for w in words
        if not w.is_aside
    )
