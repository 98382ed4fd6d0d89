"""JSON of the Whisper family.

| written by | shape |
| --- | --- |
| openai-whisper | `text`, `segments[]` (`text`, `start`, `end`, `words[]`) |
| faster-whisper | no shape of its own: the same, or the list of segments alone |
| whisperX | the same with `speaker`, and `word_segments[]`, which repeats all words |
| OpenAI's service (`verbose_json`) | the same, with `words[]` beside `segments[]` |
| transformers | `text`, `chunks[]` (`text`, `timestamp`) |
| whisper.cpp | `transcription[]` (`text`, `offsets`, `tokens[]` with `-ojf`) |

Words have their leading spaces in some of these and none in others; they keep them.
The tokens that a model produced (`tokens`) are its evidence, and stay as they are.
"""

from collections.abc import Sequence
from typing import Any

from spacy_punct.transcripts.json_text import Path
from spacy_punct.transcripts.recognisers import (
    Field,
    Reading,
    TimedWord,
    add_text,
    aligned,
    number,
    records,
    timed_words,
    value_at,
    word_entries,
)
from spacy_punct.transcripts.speech import Line
from spacy_punct.transcripts.transcript import Entry

_MS = 0.001


def is_whisper(document: Any) -> bool:
    """Whether a document has the shape of openai-whisper and its relatives."""
    if isinstance(document, list):
        return bool(document) and all(map(_is_segment, document))
    if not isinstance(document, dict):
        return False
    if "segments" in document:
        segments = document["segments"]
        return isinstance(segments, list) and all(map(_is_segment, segments))
    words = records(document.get("words"))
    return isinstance(document.get("text"), str) and any("word" in w for w in words)


def _is_segment(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("text"), str)


def read_whisper(documents: Sequence[Any]) -> Reading:
    """Read what openai-whisper, faster-whisper, whisperX or OpenAI's service wrote."""
    reading = Reading(documents)
    document = documents[0]
    root: Path = (0,)
    top = document if isinstance(document, dict) else {}
    segments = top.get("segments", []) if top else document
    base = (*root, "segments") if top else root
    words = timed_words((*root, "words"), records(top.get("words")))
    if not segments:
        add_text(reading, (*root, "text"), top.get("text", ""), words)
        return reading
    shares = _shares(segments, words)
    for k, segment in enumerate(segments):
        path = (*base, k)
        own = timed_words((*path, "words"), records(segment.get("words")))
        start, end = number(segment.get("start")), number(segment.get("end"))
        speaker = segment.get("speaker")
        text = segment["text"]
        add_text(reading, (*path, "text"), text, own or shares[k], speaker, start, end)
    if isinstance(top.get("text"), str):
        reading.fields.append(Field((*root, "text"), range(reading.n_entries)))
    repeated = timed_words((*root, "word_segments"), records(top.get("word_segments")))
    entries = [entry for segment in reading.segments for entry in segment.entries]
    places = aligned([w.text for w in repeated], [entry.text for entry in entries])
    reading.fields += [Field(repeated[i].path, (j,)) for i, j in places.items()]
    return reading


def _shares(
    segments: Sequence[dict[str, Any]], words: Sequence[TimedWord]
) -> list[list[TimedWord]]:
    """Which of the words of a document belong to each of its segments."""
    shares: list[list[TimedWord]] = [[] for _ in segments]
    if not words:
        return shares
    owners = [k for k, s in enumerate(segments) for _ in Line(s["text"]).words]
    tokens = [word for segment in segments for word in Line(segment["text"]).words]
    for i, j in aligned([word.text for word in words], tokens).items():
        shares[owners[j]].append(words[i])
    return shares


def is_chunks(document: Any) -> bool:
    """Whether a document is what a pipeline of transformers returns."""
    chunks = document.get("chunks") if isinstance(document, dict) else None
    return bool(records(chunks)) and all("timestamp" in c for c in records(chunks))


def read_chunks(documents: Sequence[Any]) -> Reading:
    """Read what a pipeline of transformers returned."""
    reading = Reading(documents)
    words, chunks = [], records(documents[0]["chunks"])
    for k, chunk in enumerate(chunks):
        start, end = map(number, chunk["timestamp"])
        path: Path = (0, "chunks", k, "text")
        words.append(TimedWord(path, chunk["text"], start, end, chunk.get("speaker")))
    _add_segments(reading, words)
    if isinstance(documents[0].get("text"), str):
        reading.fields.append(Field((0, "text"), range(reading.n_entries)))
    return reading


def _add_segments(
    reading: Reading,
    segments: Sequence[TimedWord],
    times: Sequence[tuple[tuple[float | None, float | None], ...]] = (),
    starts: frozenset[int] = frozenset(),
) -> None:
    """Add segments that may be single words, as with `whisper-cli -ml 1`."""
    if all(len(Line(s.text, True).words) <= 1 for s in segments) and len(segments) > 2:
        entries = word_entries(segments)
        reading.add_by_speaker(entries, [segment.speaker for segment in segments])
    else:
        for k, (_, text, start, end, speaker) in enumerate(segments):
            entry = Entry(text, start, end, times[k] if times else ())
            reading.add([entry], speaker, start, end, starts_text=k in starts)
    reading.fields += [Field(segment.path, (k,)) for k, segment in enumerate(segments)]


def is_cpp(document: Any) -> bool:
    """Whether a document is whisper.cpp's."""
    parts = document.get("transcription") if isinstance(document, dict) else None
    return isinstance(parts, list) and all(map(_is_segment, parts))


def read_cpp(documents: Sequence[Any]) -> Reading:
    """Read what whisper.cpp wrote."""
    reading = Reading(documents)
    segments, times, starts = [], [], set()
    for k, part in enumerate(documents[0]["transcription"]):
        start, end = _offsets(part)
        path: Path = (0, "transcription", k, "text")
        speaker = part.get("speaker")
        segments.append(TimedWord(path, part["text"], start, end, speaker))
        times.append(_token_times(part))
        if part.get("speaker_turn_next"):
            starts.add(k + 1)
    _add_segments(reading, segments, times, frozenset(starts))
    return reading


def _offsets(part: dict[str, Any]) -> tuple[float | None, float | None]:
    start, end = (number(value_at(part, ("offsets", key))) for key in ("from", "to"))
    return (
        None if start is None else round(start * _MS, 3),
        None if end is None else round(end * _MS, 3),
    )


def _token_times(
    part: dict[str, Any],
) -> tuple[tuple[float | None, float | None], ...]:
    """The times of a segment's words, if its tokens have the letters of its text."""
    tokens = [
        (str(token.get("text", "")), _offsets(token))
        for token in records(part.get("tokens"))
    ]
    letters = [
        (char, times)
        for text, times in tokens
        if not text.startswith("[_")
        for char in text.lower()
        if char.isalnum()
    ]
    words = [list(filter(str.isalnum, w.lower())) for w in Line(part["text"]).words]
    if [char for char, _ in letters] != [char for word in words for char in word]:
        return ()
    rest = (times for _, times in letters)
    own = [[next(rest) for _ in word] for word in words]
    return tuple((t[0][0], t[-1][1]) if t else (None, None) for t in own)
