"""`punct restore`: punctuation for texts, files, streams and subtitles."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from html import unescape
from itertools import chain, groupby, islice
from typing import Annotated

import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.cli.group import Model, command, load_pipeline
from spacy_punct.cli.lines import (
    Inputs,
    Output,
    Source,
    annotated,
    is_long,
    parted,
    target,
    windows,
)
from spacy_punct.data.subtitles import Block, is_subtitles, read_cues, write_blocks
from spacy_punct.errors import Errors, PunctError
from spacy_punct.reading.attributes import PIECES
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.restorer.stream import restore_units, restore_words


class Format(str, Enum):
    text = "text"
    jsonl = "jsonl"


@command
def restore(
    inputs: Inputs = None,
    model: Model = "en",
    output: Output = None,
    format: Annotated[
        Format,
        typer.Option(
            "--format", "-f", help="jsonl gives words, slots and confidence as well."
        ),
    ] = Format.text,
    join: Annotated[
        bool,
        typer.Option(
            "--join/--lines", help="Whether sentences may go on from line to line."
        ),
    ] = False,
    n_process: Annotated[
        int, typer.Option(min=1, help="Processes, for lines that are texts.")
    ] = 1,
    batch_size: Annotated[int, typer.Option(min=1, help="Texts a batch.")] = 64,
) -> None:
    """Write the punctuation back into texts.

    Each line is a text of its own, or with --join a piece of one. Files may be of
    any size. Subtitles (.srt, .vtt) are always joined, and keep their times.

    Examples:

    python -m spacy punct restore "if it rains we stay"

    python -m spacy punct restore talk.srt -o talk.new.srt

    cat big.txt | python -m spacy punct restore -m training/model-best > new.txt
    """
    nlp, _ = load_pipeline(model, PunctuationRestorer)
    with target(output) as out:
        for source in inputs or ["-"]:
            with Source(source) as lines:
                lines, is_subtitle = _sniffed(source, lines)
                if (is_subtitle or join) and format is not Format.text:
                    raise PunctError(Errors.P054)
                if is_subtitle:
                    written = _subtitles(nlp, lines, source)
                elif join:
                    written = _joined(nlp, lines)
                else:
                    written = _lines(nlp, lines, format, n_process, batch_size)
                for piece in written:
                    out.write(piece)
                out.flush()


def _sniffed(source: str, lines: Iterator[str]) -> tuple[Iterator[str], bool]:
    """The lines, and whether they are subtitles, by name or by their beginning."""
    first = list(islice(lines, 3)) if source == "-" else []
    is_subtitle = is_subtitles(source) or any(
        line.startswith("WEBVTT") or " --> " in line for line in first
    )
    return chain(first, lines), is_subtitle


def _lines(
    nlp: Language,
    lines: Iterable[str],
    format: Format,
    n_process: int,
    batch_size: int,
) -> Iterator[str]:
    """Each line restored by itself."""
    for long, group in groupby(lines, key=is_long):
        if long and format is Format.text:
            for line in group:
                words = restore_words(nlp, line.split())
                yield " ".join(filter(None, words)) + parted(line)[1]
            continue
        texts = (text for line in group for text in _texts(line))
        for doc, end in annotated(nlp, texts, n_process, batch_size):
            text = doc._.restored_text + end
            yield text if format is Format.text else _record(doc) + "\n"


def _texts(line: str) -> Iterator[tuple[str, str]]:
    """A line, with its end; in several parts where it is too long for one record."""
    text, end = parted(line)
    if not is_long(text):
        yield text, end
        return
    for part, _ in windows(text):
        yield part.strip(), end


def _record(doc: Doc) -> str:
    words = [doc[i].text for *_, i in doc.user_data[PIECES] if i is not None]
    if len(doc._.restored_slots) == 1:  # nothing but marks
        words = []
    return srsly.json_dumps(
        {
            "text": doc._.restored_text,
            "words": words,
            "slots": doc._.restored_slots,
            "confidence": [round(p, 4) for p in doc._.restored_confidence],
        }
    )


def _joined(nlp: Language, lines: Iterable[str]) -> Iterator[str]:
    """All lines as one text; each word stays on its line."""
    units = ((parted(line)[1], line.split()) for line in lines)
    for end, words in restore_units(nlp, units):
        yield " ".join(filter(None, words)) + end


def _subtitles(nlp: Language, lines: Iterable[str], name: str) -> Iterator[str]:
    """Subtitles with the same cues and times."""
    units = (
        (block, [] if block.cue is None else list(map(unescape, block.cue.words())))
        for block in read_cues(lines, name=name)
    )
    return write_blocks(
        _with_words(block, words) for block, words in restore_units(nlp, units)
    )


def _with_words(block: Block, words: list[str]) -> Block:
    """A block with its words replaced; a cue that would be empty stays as it was."""
    if block.cue is None or not any(words):
        return block
    pairs = zip(block.cue.words(), words, strict=True)
    texts = [_with_entities(source, word) for source, word in pairs]
    return replace(block, cue=block.cue.with_words(texts))


def _with_entities(source: str, word: str) -> str:
    """A restored word, with the entities (`&amp;`) that its source was written with."""
    plain = unescape(source)
    start = word.lower().find(plain.lower())
    if plain == source or start < 0:
        return word
    return word[:start] + source + word[start + len(plain) :]
