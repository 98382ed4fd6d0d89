"""`punct restore`: punctuation for texts, files, streams and subtitles."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from html import unescape
from itertools import chain, groupby, islice
from typing import Annotated, NamedTuple

import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.cli.shared import (
    BatchSize,
    Inputs,
    Model,
    Output,
    Processes,
    annotated,
    check_inputs,
    format_option,
    load_pipeline,
    parted,
    read_lines,
    target,
)
from spacy_punct.data.subtitles import Block, is_subtitles, read_cues, write_blocks
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import Errors, PunctError
from spacy_punct.reading.attributes import PIECES
from spacy_punct.reading.windows import is_long
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.restorer.texts import RestoredWord, restore_units


class Format(str, Enum):
    text = "text"
    jsonl = "jsonl"


Formatted = Annotated[
    Format,
    format_option(
        "jsonl gives one record per line, with its restored text, its words, "
        "the marks around them (slots) and the probability of each slot.",
    ),
]
Joined = Annotated[
    bool,
    typer.Option(
        "--join/--lines",
        help="Read all lines as one text, so that sentences may go on from line to "
        "line. Words stay on their lines; of the marks between two lines, those "
        "that open quotes or brackets go to the second.",
    ),
]


def restore(
    inputs: Inputs = None,
    model: Model = "en",
    output: Output = None,
    format: Formatted = Format.text,
    join: Joined = False,
    n_process: Processes = 1,
    batch_size: BatchSize = 64,
) -> None:
    """Write the punctuation back into texts.

    Each line is a text of its own; with --join, each file is. Files may be of any
    size. Subtitles (.srt, .vtt) are always joined, and keep their times.

    Examples:

    python -m spacy punct restore "if it rains we stay"

    python -m spacy punct restore talk.srt -o talk.new.srt

    cat talk.txt | python -m spacy punct restore --join --format jsonl > talk.jsonl
    """
    sources = check_inputs(inputs)
    if format is not Format.text and any(map(is_subtitles, sources)):
        raise PunctError(Errors.P054)
    nlp, _ = load_pipeline(model, PunctuationRestorer)
    write = {Format.text: _text, Format.jsonl: _record}[format]
    with target(output) as out:
        for source in sources:
            lines = read_lines(source)
            if source == "-":
                first = list(islice(lines, 3))
                is_cued = any(map(_begins_cues, first))
                lines = chain(first, lines)
            else:
                is_cued = is_subtitles(source)
            if is_cued:
                if format is not Format.text:
                    raise PunctError(Errors.P054)
                out.writelines(_subtitles(nlp, lines, source))
            elif join:
                out.writelines(map(write, _joined(nlp, lines)))
            else:
                found = _line_by_line(nlp, lines, n_process, batch_size)
                out.writelines(map(write, found))


# Restoring


class RestoredLine(NamedTuple):
    """A restored line.

    text (str): The line with its punctuation.
    end (str): How the line ends.
    words (list[str]): The words that the model saw.
    slots (list[Puncteme]): The marks before, between and after these.
    confidence (list[float]): The probability of each slot.
    """

    text: str
    end: str
    words: list[str]
    slots: list[Puncteme]
    confidence: list[float]


def _line_by_line(
    nlp: Language, lines: Iterable[str], n_process: int, batch_size: int
) -> Iterator[RestoredLine]:
    """Restore each line by itself."""
    for long, group in groupby(lines, key=is_long):
        if long:
            for line in group:
                yield from _joined(nlp, [line])
        else:
            for doc, end in annotated(nlp, map(parted, group), n_process, batch_size):
                yield _of_doc(doc, end)


def _of_doc(doc: Doc, end: str) -> RestoredLine:
    slots = doc._.restored_slots
    words = [doc[i].text for *_, i in doc.user_data[PIECES] if i is not None]
    if len(slots) == 1:  # nothing but marks
        words = []
    text, confidence = doc._.restored_text, doc._.restored_confidence
    return RestoredLine(text, end, words, slots, confidence)


def _joined(nlp: Language, lines: Iterable[str]) -> Iterator[RestoredLine]:
    """Restore all lines as one text; each word stays on its line."""
    units = ((parted(line)[1], line.split()) for line in lines)
    for end, words in restore_units(nlp, units):
        text = " ".join(word.text for word in words if word.text)
        slots: list[Puncteme] = [()]
        confidence = [1.0]
        for word in (word for word in words if word.tokens):
            slots[-1] += word.slots[0]
            slots += word.slots[1:]
            confidence[-1:] = word.confidence
        tokens = [token for word in words for token in word.tokens]
        yield RestoredLine(text, end, tokens, slots, confidence)


def _begins_cues(line: str) -> bool:
    return line.startswith("WEBVTT") or " --> " in line


def _subtitles(nlp: Language, lines: Iterable[str], name: str) -> Iterator[str]:
    """Subtitles with the same cues and times."""
    units = (
        (block, [] if block.cue is None else list(map(unescape, block.cue.words())))
        for block in read_cues(lines, name=name)
    )
    return write_blocks(
        _with_words(block, words) for block, words in restore_units(nlp, units)
    )


def _with_words(block: Block, words: Sequence[RestoredWord]) -> Block:
    """A block with its words replaced; a cue that would be empty stays as it was."""
    if block.cue is None or not any(word.text for word in words):
        return block
    pairs = zip(block.cue.words(), words, strict=True)
    texts = [_with_entities(source, word.text) for source, word in pairs]
    return replace(block, cue=block.cue.with_words(texts))


def _with_entities(source: str, word: str) -> str:
    """A restored word, with the entities (`&amp;`) that its source was written with."""
    plain = unescape(source)
    start = word.lower().find(plain.lower())
    if plain == source or start < 0:
        return word
    return word[:start] + source + word[start + len(plain) :]


# Writing


def _text(line: RestoredLine) -> str:
    return line.text + line.end


def _record(line: RestoredLine) -> str:
    record = {
        "text": line.text,
        "words": line.words,
        "slots": line.slots,
        "confidence": [round(p, 4) for p in line.confidence],
    }
    return srsly.json_dumps(record) + "\n"
