"""`punct restore`: punctuation for texts, files, streams and subtitles."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from enum import Enum
from html import unescape
from itertools import chain, groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, BinaryIO, TextIO

import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from spacy_punct.cli.group import MODEL_HELP, check_file, command, load_pipeline
from spacy_punct.data.subtitles import Block, is_subtitles, read_cues, write_blocks
from spacy_punct.errors import Errors, PunctError
from spacy_punct.pipeline.attributes import PIECES
from spacy_punct.pipeline.stream import restore_units, restore_words

_LONG = 20_000
"""Lines with more characters than this go through the pipeline in windows."""
_SUFFIXES = frozenset({".txt", ".srt", ".vtt", ".md", ".csv", ".json", ".jsonl"})
"""Endings of what is a file's name rather than a text."""
_ZONE = 10_000
"""Lines after which the pipeline forgets the words it has met."""


class Format(str, Enum):
    text = "text"
    jsonl = "jsonl"


@command
def restore(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(help="Texts or files; '-' or nothing for standard input."),
    ] = None,
    model: Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP)] = "en",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File; default: the screen.")
    ] = None,
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
    nlp, _ = load_pipeline(model)
    with ExitStack() as stack:
        out = sys.stdout if output is None else stack.enter_context(_new_file(output))
        for source in inputs or ["-"]:
            with _Source(source) as lines:
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


@contextmanager
def _new_file(path: Path) -> Iterator[TextIO]:
    """A file that takes its place when it is complete: it may replace an input."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # a device or a pipe
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    with TemporaryDirectory(dir=path.parent) as folder:
        part = Path(folder) / path.name
        with part.open("w", encoding="utf-8", newline="") as file:
            yield file
        part.replace(path)


class _Source:
    """The lines of a file, of standard input or of a text, with a progress bar."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._stack = ExitStack()

    def __enter__(self) -> Iterator[str]:
        path = Path(self._source)
        if self._source == "-":
            return self._decoded(sys.stdin.buffer, None)
        if _is_name(self._source):
            file = self._stack.enter_context(check_file(path).open("rb"))
            return self._decoded(file, path.stat().st_size)
        return iter([f"{self._source}\n"])

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _decoded(self, file: BinaryIO, size: int | None) -> Iterator[str]:
        bar = self._stack.enter_context(
            tqdm(total=size, unit="B", unit_scale=True, disable=None, leave=False)
        )
        for number, line in enumerate(file, start=1):
            bar.update(len(line))
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                where = f"{self._source}, line {number}"
                message = Errors.P003.format(where=where, reason=error.reason)
                raise PunctError(message) from None


def _is_name(source: str) -> bool:
    """Whether an argument is meant as a file, be it there or not."""
    try:
        if Path(source).exists():
            return True
    except OSError:  # a text too long to be a name
        return False
    looks_so = Path(source).suffix.lower() in _SUFFIXES or os.sep in source
    return looks_so and not any(char.isspace() for char in source)


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
    for is_long, group in groupby(lines, key=lambda line: len(line) > _LONG):
        if is_long and format is Format.text:
            for line in group:
                words = restore_words(nlp, line.split())
                yield " ".join(filter(None, words)) + _end(line)
            continue
        parts = ((part, _end(line)) for line in group for part in _parts(line))
        for part in parts:
            some = chain([part], islice(parts, _ZONE - 1))
            # New words are forgotten again, so that memory does not grow with them.
            with nlp.memory_zone():
                for doc, end in nlp.pipe(
                    some, as_tuples=True, n_process=n_process, batch_size=batch_size
                ):
                    text = doc._.restored_text + end
                    yield text if format is Format.text else _record(doc) + "\n"


def _parts(line: str) -> Iterator[str]:
    """A line without its end, cut at spaces where it is too long for one record."""
    rest = line.rstrip("\r\n")
    while len(rest) > _LONG:
        cut = rest.rfind(" ", 0, _LONG)
        cut = cut if cut > 0 else _LONG
        yield rest[:cut]
        rest = rest[cut:].lstrip()
    yield rest


def _end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


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
    units = ((_end(line), line.split()) for line in lines)
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
