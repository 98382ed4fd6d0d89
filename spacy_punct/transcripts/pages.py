"""Pages that people read: plain text and Markdown in paragraphs. And records for
programs: JSON in Whisper's shape, whole or one segment per line."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from math import sqrt
from typing import Any, Literal

from spacy_punct.transcripts.cues import clock
from spacy_punct.transcripts.sentences import in_order, split_sentences, written
from spacy_punct.transcripts.speech import word_set
from spacy_punct.transcripts.transcript import Transcript, Word

Paragraphs = Literal["auto", "speaker", "none"]
PARAGRAPHS: tuple[Paragraphs, ...] = ("auto", "speaker", "none")

_SHORT, _LONG = 50, 140
"""Words that a paragraph has at least and at most, as far as sentences allow."""
_PAUSE = 4.0
"""Seconds of silence that always end a paragraph."""
_CONTEXT = 60
"""Words before and after a place that are compared to see whether the topic changes."""
_MARKERS = word_set("so now okay ok well anyway finally first second next today")
_COMMON = word_set(
    "about after again also been before being because could does doing done even "
    "ever every from going have here into just know like look made make many more "
    "most much only other over people really right said same should some something "
    "still such than that their them then there these they thing things think this "
    "those through very want well were what when where which while will with would "
    "your yeah"
)


def split_paragraphs(words: Sequence[Word], how: Paragraphs) -> list[list[Word]]:
    """Put the words of a transcript into paragraphs.

    words (Sequence[Word]): The words.
    how (Paragraphs): With "auto", the paragraphs of the source; if it has none, a
        paragraph ends when somebody else speaks, after a long pause, or where the
        topic seems to change once it has become long. With "speaker", only when
        somebody else speaks. With "none", never.
    RETURNS (list[list[Word]]): The paragraphs. They consist of whole sentences.
    """
    if how == "none":
        return [list(words)] if words else []
    given = how == "auto" and any(word.is_paragraph for word in words)
    paragraphs: list[list[Word]] = []
    for sentence in split_sentences(words):
        first = sentence[0]
        if not paragraphs or first.is_turn or (given and first.is_paragraph):
            paragraphs.append([])
        paragraphs[-1] += sentence
    if given or how == "speaker":
        return paragraphs
    return [part for paragraph in paragraphs for part in _by_topic(paragraph)]


def _by_topic(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Cut what one person says where a topic, or a pause, suggests it."""
    sentences = split_sentences(words)
    start = 0
    while start < len(sentences):
        size = 0
        best: tuple[float, int] = (-1.0, len(sentences))
        for k in range(start, len(sentences)):
            size += len(sentences[k])
            if k + 1 == len(sentences):
                # What is left over must be worth a paragraph.
                if size <= _LONG:
                    best = (0.0, k + 1)
                break
            if _gap(sentences, k) >= _PAUSE:
                best = (0.0, k + 1)
                break
            rest = sum(map(len, sentences[k + 1 : k + 1 + _SHORT]))
            if size > _LONG and best[0] >= 0:
                break
            if size >= _SHORT and rest >= _SHORT // 2:
                best = max(best, (_change(sentences, k), k + 1))
        stop = best[1]
        yield [word for sentence in sentences[start:stop] for word in sentence]
        start = stop


def _gap(sentences: Sequence[Sequence[Word]], k: int) -> float:
    """The silence after a sentence."""
    end, start = sentences[k][-1].end, sentences[k + 1][0].start
    return 0.0 if end is None or start is None else max(start - end, 0.0)


def _change(sentences: Sequence[Sequence[Word]], k: int) -> float:
    """How much a topic seems to change after a sentence."""
    before = [
        word for sentence in sentences[max(k - 9, 0) : k + 1] for word in sentence
    ]
    after = [word for sentence in sentences[k + 1 : k + 11] for word in sentence]
    unlike = 1 - _likeness(_stems(before[-_CONTEXT:]), _stems(after[:_CONTEXT]))
    opener = re.sub(r"\W", "", sentences[k + 1][0].text.lower())
    return unlike + min(_gap(sentences, k), 2.0) / 2 + 0.3 * (opener in _MARKERS)


def _stems(words: Sequence[Word]) -> Counter[str]:
    found = (re.sub(r"\W", "", word.text.lower()) for word in words)
    return Counter(w[:6] for w in found if len(w) > 3 and w not in _COMMON)


def _likeness(a: Counter[str], b: Counter[str]) -> float:
    """The cosine of two counts."""
    shared = sum(a[key] * b[key] for key in a.keys() & b.keys())
    sizes = sum(n * n for n in a.values()) * sum(n * n for n in b.values())
    return shared / sqrt(sizes) if sizes else 0.0


# Text


def write_text(transcript: Transcript, paragraphs: Paragraphs = "auto") -> str:
    """A transcript as plain text, a blank line between paragraphs."""
    blocks: list[str] = []
    speaker: str | None = None
    for words in split_paragraphs(in_order(transcript), paragraphs):
        text = _with_songs(words, written)
        who = words[0].speaker
        if who is not None and (who != speaker or words[0].is_turn):
            text = f"{who}: {text}"
        elif words[0].is_turn and who is None and blocks:
            text = f">> {text}"
        speaker = who
        blocks.append(text)
    return "\n\n".join(blocks) + ("\n" if blocks else "")


def write_markdown(transcript: Transcript, paragraphs: Paragraphs = "auto") -> str:
    """A transcript as Markdown: the time before each paragraph, speakers in bold."""
    blocks = []
    speaker: str | None = None
    for words in split_paragraphs(in_order(transcript), paragraphs):
        parts = []
        if words[0].start is not None:
            parts.append(f"`{clock(words[0].start)[:-4]}`")
        who = words[0].speaker
        if who is not None and (who != speaker or words[0].is_turn):
            parts.append(f"**{_escaped(who)}:**")
        speaker = who
        text = _with_songs(words, _marked_up)
        if not parts:
            text = re.sub(r"^([#+>-]|\d+[.)])(?=\s)", r"\\\1", text)
        blocks.append(" ".join([*parts, text]))
    return "\n\n".join(blocks) + ("\n" if blocks else "")


def _with_songs(words: Iterable[Word], write: Callable[[Iterable[Word]], str]) -> str:
    """Words as a text in which songs stand between notes."""
    parts = []
    for is_sung, group in groupby(words, key=lambda word: word.is_sung):
        text = write(group)
        parts.append(f"♪ {text} ♪" if is_sung else text)
    return " ".join(parts)


def _marked_up(words: Iterable[Word]) -> str:
    """Words as Markdown, asides in italics."""
    runs = []
    for is_aside, group in groupby(words, key=lambda word: word.is_aside):
        text = _escaped(written(group))
        runs.append(f"*{text}*" if is_aside else text)
    return " ".join(runs)


def _escaped(text: str) -> str:
    # An underscore inside a word is one.
    return re.sub(r"([\\`*<]|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", text)


# Records


def segment_records(transcript: Transcript) -> list[dict[str, Any]]:
    """The segments of a transcript in Whisper's shape.

    transcript (Transcript): The transcript.
    RETURNS (list[dict[str, Any]]): Its cues if it has any, else its sentences. Each
        has its text and words, and its times and speaker if they are known.
    """
    words = in_order(transcript)
    if transcript.has_cues:
        groups = [list(g) for _, g in groupby(words, key=lambda word: word.segment)]
    else:
        groups = split_sentences(words)
    return [_record(k, group) for k, group in enumerate(groups)]


def _record(k: int, words: Sequence[Word]) -> dict[str, Any]:
    record: dict[str, Any] = {"id": k}
    if words[0].start is not None:
        record |= {"start": words[0].start, "end": words[-1].end}
    if words[0].speaker is not None:
        record["speaker"] = words[0].speaker
    record["text"] = written(words)
    record["words"] = [
        {"word": word.text}
        if word.start is None
        else {"word": word.text, "start": word.start, "end": word.end}
        for word in words
        if not word.is_aside
    ]
    return record


def write_records(transcript: Transcript) -> str:
    """A transcript as JSON lines: one segment per line."""
    records = segment_records(transcript)
    return "".join(f"{json.dumps(r, ensure_ascii=False)}\n" for r in records)


def write_json(transcript: Transcript) -> str:
    """A transcript as JSON in Whisper's shape."""
    segments = segment_records(transcript)
    whole = {"text": " ".join(s["text"] for s in segments), "segments": segments}
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
