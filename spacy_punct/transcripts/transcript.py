"""The one type that all formats are read into, and its restoration."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from spacy_punct.errors import Errors, PunctError
from spacy_punct.transcripts.speech import Line, Run, shared_out

Restore = Callable[[Iterable[list[str]]], Iterable[Sequence[str]]]
"""Texts as lists of words -> the same words with the marks that belong to them. A word
that is now written together with the one before (`twenty-one`) comes back empty."""

_CODE = re.compile(
    r"(?i:https?://|www\.)\S+"  # addresses
    r"|\S+@\S+\.\w+"
    r"|[#@][^\W\d]\w*"  # hashtags and handles
    r"|\S*[\\/_=<>{}]\S*\w"  # paths and code
    r"|\w\S*\.[A-Za-z]{2,5}"  # names of files and sites
    r"|[\d.,:%$€£+-]*\d[\d.,:%$€£+-]*"  # numbers
    r"|\w*[a-z]+[A-Z]\w*|\w*\d\w*[A-Za-z]\w*|\w*[A-Za-z]\w*\d\w*"
)
"""Words that have no capital to lose or to gain, and no mark inside."""
_NOTES = frozenset("♩♪♫♬")
_EDGES = re.compile(r"^[\"'“”‘’«»(\[{¿¡]+|[\"'“”‘’«»)\]}.,;:?!…]+$")
"""The marks around a word."""
_BEFORE = re.compile(r"^[^\w#@$€£+./\\-]*")
_AFTER = re.compile(r"[^\w%$€£/]*$")


@dataclass(frozen=True)
class Entry:
    """The smallest part of a source that has a place of its own in it: a word of a
    recogniser, a line of a cue, a line of text.

    text (str): As it stands in the source, markup and all.
    start, end (float | None): Its times in seconds.
    times (tuple): The start and end of each of its words, if they are known.
    joined (bool): Whether it is written together with the entry before.
    is_word (bool): See `Line`.
    """

    text: str
    start: float | None = None
    end: float | None = None
    times: tuple[tuple[float | None, float | None], ...] = ()
    joined: bool = False
    is_word: bool = False

    @cached_property
    def line(self) -> Line:
        return Line(self.text, self.is_word)


@dataclass(frozen=True)
class Segment:
    """What a source sets apart: a cue, a segment, an utterance, a line.

    entries (tuple[Entry, ...]): Its parts.
    speaker (str | None): Who speaks, if the source says so outside the text.
    start, end (float | None): Its times in seconds.
    starts_text (bool): Whether no sentence goes on from the segment before.
    is_paragraph (bool): Whether the source begins a paragraph here.
    """

    entries: tuple[Entry, ...]
    speaker: str | None = None
    start: float | None = None
    end: float | None = None
    starts_text: bool = False
    is_paragraph: bool = False


class Word(NamedTuple):
    """A word of a transcript as a reader sees it, or an aside such as `[music]`.

    text (str): What is written.
    start, end (float | None): Its times in seconds.
    speaker (str | None): Who says it.
    segment (int): The number of its segment.
    is_aside (bool): Whether it is not spoken.
    is_turn (bool): Whether somebody else begins to speak with it.
    is_paragraph (bool): Whether the source begins a paragraph with it.
    joined (bool): Whether no space goes before it.
    is_sung (bool): Whether it belongs to a song.
    """

    text: str
    start: float | None = None
    end: float | None = None
    speaker: str | None = None
    segment: int = 0
    is_aside: bool = False
    is_turn: bool = False
    is_paragraph: bool = False
    joined: bool = False
    is_sung: bool = False


@dataclass(frozen=True)
class Transcript:
    """What was said, by whom and when, and the document that says so.

    segments (tuple[Segment, ...]): The segments in order.
    format (str): The name of the format it was read from.
    source (Any): What that format needs to write it back.
    has_cues (bool): Whether its segments are meant to be shown one by one.
    in_channels (bool): Whether it has one channel after the other, so that what comes
        later may have been said before.
    """

    segments: tuple[Segment, ...]
    format: str = "txt"
    source: Any = None
    has_cues: bool = False
    in_channels: bool = False

    @property
    def entries(self) -> list[Entry]:
        """The entries of all segments."""
        return [entry for segment in self.segments for entry in segment.entries]

    def with_entries(self, entries: Iterable[Entry]) -> "Transcript":
        """The same with other entries, as many as there are."""
        rest = iter(entries)
        segments = tuple(
            replace(segment, entries=tuple(next(rest) for _ in segment.entries))
            for segment in self.segments
        )
        return replace(self, segments=segments)

    def words(self) -> list[Word]:
        """All words and asides, with the best times that are known.

        RETURNS (list[Word]): In order. Words without times of their own share the
            time of their entry or segment, by their length.
        """
        return list(_words(self))

    def texts(self) -> list[list[str]]:
        """The spoken words, one list for each turn."""
        return [[spoken.text for spoken in turn] for turn in _turns(self)]

    @property
    def n_words(self) -> int:
        return sum(len(entry.line.words) for entry in self.entries)


def restored(transcript: Transcript, restore: Restore) -> Transcript:
    """A transcript with new punctuation and capitals.

    A change of the speaker ends a sentence: each turn is a text of its own.

    transcript (Transcript): The transcript.
    restore (Restore): Restores texts.
    RETURNS (Transcript): The same words, times and all else, with marks.
    """
    return next(restored_each([transcript], restore))


def restored_each(
    transcripts: Iterable[Transcript], restore: Restore
) -> Iterator[Transcript]:
    """Transcripts with new punctuation and capitals, each as soon as it is done.

    transcripts (Iterable[Transcript]): Any number of them.
    restore (Restore): Restores texts.
    YIELDS (Transcript): Each of them; see `restored`.
    """
    ahead: deque[tuple[Transcript, list[list[_Spoken]]]] = deque()

    def texts() -> Iterator[list[str]]:
        for transcript in transcripts:
            turns = list(_turns(transcript))
            ahead.append((transcript, turns))
            for turn in turns:
                yield [spoken.text for spoken in turn]

    done: list[Sequence[str]] = []
    for words in restore(texts()):
        while not ahead[0][1]:
            yield ahead.popleft()[0]
        done.append(words)
        if len(done) == len(ahead[0][1]):
            yield _with_turns(*ahead.popleft(), done)
            done = []
    yield from (transcript for transcript, _ in ahead)


def _with_turns(
    transcript: Transcript,
    turns: Sequence[Sequence["_Spoken"]],
    found: Sequence[Sequence[str]],
) -> Transcript:
    entries = transcript.entries
    new = [list(entry.line.words) for entry in entries]
    joined = [entry.joined for entry in entries]
    for turn, words in zip(turns, found, strict=True):
        if len(words) != len(turn):
            raise PunctError(Errors.P062.format(expected=len(turn), n=len(words)))
        texts = list(map(whole, (spoken.text for spoken in turn), words))
        _part_again(turn, texts, joined)
        for spoken, text in zip(turn, texts, strict=True):
            parts = [new[entry][word] for entry, word in spoken.places]
            shares = shared_out(text, parts)
            for (entry, word), share in zip(spoken.places, shares, strict=True):
                new[entry][word] = share
    return transcript.with_entries(
        _rewritten(entry, words, is_joined)
        for entry, words, is_joined in zip(entries, new, joined, strict=True)
    )


def whole(word: str, text: str) -> str:
    """A restored word that is the same word, whatever a restorer made of it.

    word (str): The word.
    text (str): The word with marks.
    RETURNS (str): The same. Marks inside the word are as they were; numbers,
        addresses, hashtags, names of files and code keep their capitals, too.
    """
    core = _EDGES.sub("", word)
    if not text or not core:
        return text
    is_code = _CODE.fullmatch(core) is not None
    start = text.lower().find(core.lower())
    if start >= 0:
        if not is_code:
            return text
        return text[:start] + core + text[start + len(core) :]
    if not is_code:
        return text
    before, after = _BEFORE.match(text), _AFTER.search(text)
    return (before[0] if before else "") + word + (after[0] if after else "")


class _Step(NamedTuple):
    """A run of a transcript, and what is known where it stands.

    is_turn says whether somebody else begins to speak with this word or aside,
    is_start whether a text begins with it, and is_sung whether its segment is sung.
    """

    segment: int
    entry: int
    run: Run
    speaker: str | None
    is_turn: bool
    is_start: bool
    is_paragraph: bool
    is_sung: bool


def _walk(transcript: Transcript) -> Iterator[_Step]:
    """All runs in order. Who speaks goes on speaking until somebody else does."""
    speaker: str | None = None
    is_turn = is_paragraph = False
    is_start = True
    sang = False
    number = 0
    for k, segment in enumerate(transcript.segments):
        is_start = is_start or segment.starts_text
        is_paragraph = is_paragraph or segment.is_paragraph
        if segment.speaker is not None and segment.speaker != speaker:
            speaker, is_turn = segment.speaker, True
        sings = any(_NOTES & set(entry.text) for entry in segment.entries)
        if any(entry.line.words for entry in segment.entries):
            # No sentence goes on from speech to song, or back.
            is_start = is_start or sings != sang
            sang = sings
        for entry in segment.entries:
            named = False
            for run in entry.line.runs:
                is_voice = run.text.startswith("<")
                if run.kind == "turn":
                    is_turn = True
                    if segment.speaker is None and not named:
                        speaker = None
                elif run.kind == "speaker" and run.speaker is not None:
                    is_turn = is_turn or not is_voice or run.speaker != speaker
                    speaker, named = run.speaker, True
                is_start = is_start or is_turn
                place = (k, number, run, speaker)
                yield _Step(*place, is_turn, is_start, is_paragraph, sings)
                if run.kind in ("word", "aside"):
                    is_turn = is_paragraph = False
                if run.kind == "word":
                    is_start = named = False
            number += 1


class _Spoken(NamedTuple):
    """A word and its places: the numbers of the entry and of the word in it."""

    text: str
    places: list[tuple[int, int]]


def _turns(transcript: Transcript) -> Iterator[list[_Spoken]]:
    """The words of each text; there are no empty texts."""
    entries = transcript.entries
    turn: list[_Spoken] = []
    last: tuple[int, int] | None = None
    for step in _walk(transcript):
        if step.run.word is None:
            continue
        place = (step.entry, step.run.word)
        if place == last:  # markup stands inside the word
            continue
        last = place
        if step.is_start and turn:
            yield turn
            turn = []
        entry = entries[step.entry]
        word = entry.line.words[step.run.word]
        if step.run.word == 0 and entry.joined and turn:
            before = turn.pop()
            turn.append(_Spoken(before.text + word, [*before.places, place]))
        else:
            turn.append(_Spoken(word, [place]))
    if turn:
        yield turn


def _part_again(turn: Sequence[_Spoken], texts: list[str], joined: list[bool]) -> None:
    """Give entries their words back that a restorer wrote together (`twenty-one`)."""
    for k in range(len(turn) - 1, 0, -1):
        entry, word = turn[k].places[0]
        if texts[k] or word or not any(map(str.isalnum, turn[k].text)):
            continue
        before = next((j for j in range(k - 1, -1, -1) if texts[j]), None)
        if before is None:
            continue
        core = _EDGES.sub("", turn[k].text)
        cut = texts[before].lower().rfind(core.lower())
        if cut > 0:
            texts[before], texts[k] = texts[before][:cut], texts[before][cut:]
            joined[entry] = True


def _rewritten(entry: Entry, words: Sequence[str], joined: bool) -> Entry:
    text = entry.line.with_words(words).text
    if joined and not entry.joined:
        text = text.lstrip()
    return replace(entry, text=text, joined=joined)


# What a reader sees


def _words(transcript: Transcript) -> Iterator[Word]:
    entries = transcript.entries
    times = [t for segment in transcript.segments for t in _times(segment)]
    clock: float | None = None
    last: tuple[int, int] | None = None
    is_turn = is_paragraph = False
    for step in _walk(transcript):
        entry, run = entries[step.entry], step.run
        is_turn = is_turn or step.is_turn
        is_paragraph = is_paragraph or step.is_paragraph
        if run.kind == "stamp" and not run.text.startswith("<"):
            clock = run.time
        if run.kind == "aside":
            same = last is not None and last[0] == step.entry
            at = _at(times[step.entry], last[1] + 1 if last and same else 0)
            text = " ".join(run.text.split())
            start, end = clock if at is None else at, at
            if not entry.line.words:
                segment = transcript.segments[step.segment]
                start = segment.start if entry.start is None else entry.start
                end = segment.end if entry.end is None else entry.end
            joined = False
        elif run.word is not None and (step.entry, run.word) != last:
            text = entry.line.words[run.word]
            start, end = times[step.entry][run.word]
            start = clock if start is None else start
            joined = entry.joined and run.word == 0 and not is_turn
        else:
            continue
        if run.word is not None:
            last = (step.entry, run.word)
        if not text:
            continue
        is_aside = run.kind == "aside"
        begins = (is_turn, is_paragraph, joined)
        around = (step.speaker, step.segment, is_aside, *begins, step.is_sung)
        yield Word(text, start, end, *around)
        clock = None
        is_turn = is_paragraph = False


def _at(times: Sequence[tuple[float | None, float | None]], k: int) -> float | None:
    if k < len(times):
        return times[k][0]
    return times[-1][1] if times else None


Times = list[tuple[float | None, float | None]]


def _times(segment: Segment) -> list[Times]:
    """The times of the words of each entry of a segment."""
    own = [_own_times(entry) for entry in segment.entries]
    flat = [time for times in own for time in times]
    lengths = [len(w) + 1 for entry in segment.entries for w in entry.line.words]
    filled = interpolated(flat, lengths, segment.start, segment.end)
    rest = iter(filled)
    return [[next(rest) for _ in times] for times in own]


def _own_times(entry: Entry) -> Times:
    n = len(entry.line.words)
    if entry.times:
        return list(entry.times)
    if n == 1:
        return [(entry.start, entry.end)]
    known: list[float | None] = [None] * n
    clock: float | None = None
    for run in entry.line.runs:
        clock = run.time if run.kind == "stamp" and run.text[0] == "<" else clock
        if run.word is not None and clock is not None:
            known[run.word] = known[run.word] or clock
            clock = None
    lengths = [len(word) + 1 for word in entry.line.words]
    return interpolated([(t, None) for t in known], lengths, entry.start, entry.end)


def interpolated(
    times: Times, lengths: Sequence[int], start: float | None, end: float | None
) -> Times:
    """Fill in the times of words that have none, by their length.

    times (Times): The start and end of each word, as far as they are known.
    lengths (Sequence[int]): How long each word is.
    start, end (float | None): When the first word starts and the last one ends.
    RETURNS (Times): Complete, unless nothing is known before or after a word.
    """
    result = list(times)
    k = 0
    while k < len(result):
        if result[k][0] is not None and result[k][1] is not None:
            k += 1
            continue
        stop = k + 1  # the words from k to stop share the time between two known ones
        while stop < len(result) and result[stop][0] is None:
            stop += 1
        low = result[k][0]
        if low is None:
            low = result[k - 1][1] if k else start
        high = result[stop][0] if stop < len(result) else end
        last = result[stop - 1][1]
        high = last if last is not None else high
        if low is None or high is None:
            k = stop
            continue
        step = max(high - low, 0.0) / sum(lengths[k:stop])
        at = low
        for j in range(k, stop):
            after = at + step * lengths[j]
            own = result[j]
            result[j] = (
                round(at, 3) if own[0] is None else own[0],
                round(after, 3) if own[1] is None else own[1],
            )
            at = after
        k = stop
    return result
