"""Lines in and out: what the commands that work on text share."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, BinaryIO, TextIO, TypeVar

import typer
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from spacy_punct.cli.group import check_file
from spacy_punct.errors import Errors, PunctError

T = TypeVar("T")

Inputs = Annotated[
    list[str] | None,
    typer.Argument(help="Texts or files; '-' or nothing for standard input."),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File; default: the screen.")
]

LONG = 20_000
"""Lines with more characters than this go through the pipeline in windows."""
_SUFFIXES = frozenset({".txt", ".srt", ".vtt", ".md", ".csv", ".json", ".jsonl"})
"""Endings of what is a file's name rather than a text."""
_ZONE = 10_000
"""Texts after which the pipeline forgets the words it has met."""

# Few abbreviations have three letters and more.
_SENTENCE_END = re.compile(r"\w{3}[.!?…।۔؟]+[\"'”’»)\]]*\s+|[。！？]+[”’」』）]*\s*")
_WHITE = re.compile(r"\s+")


class Source:
    """The lines of a file, of standard input or of a text, with a progress bar.

    source (str): A file's name, '-' for standard input, or a text.
    """

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


@contextmanager
def target(path: Path | None) -> Iterator[TextIO]:
    """Where to write: standard output, or a file.

    The file takes its place when it is complete: it may replace an input.

    path (Path | None): The file; None for standard output.
    YIELDS (TextIO): Takes text.
    """
    if path is None:
        yield sys.stdout
        return
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


def parted(line: str) -> tuple[str, str]:
    """A line without its end, and its end."""
    text = line.rstrip("\r\n")
    return text, line[len(text) :]


def is_long(text: str) -> bool:
    """Whether a text is too long for the pipeline."""
    return len(text) > LONG


def windows(text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text that go through the pipeline, with all their characters.

    text (str): The text, of any length.
    YIELDS (tuple[str, bool]): A part, and whether a sentence seems to end with it. If
        none does for long, the part ends with white space or, without any, anywhere.
    """
    start = 0
    while len(text) - start > LONG:
        window = text[start : start + LONG]
        ends = [m.end() for m in _SENTENCE_END.finditer(window, LONG // 2)]
        cuts = ends or [m.end() for m in _WHITE.finditer(window)] or [LONG]
        yield window[: cuts[-1]], bool(ends)
        start += cuts[-1]
    yield text[start:], True


def annotated(
    nlp: Language, texts: Iterable[tuple[str, T]], n_process: int, batch_size: int
) -> Iterator[tuple[Doc, T]]:
    """Texts through the pipeline, without end.

    New words are forgotten again, so that memory does not grow with them: what is
    wanted of a Doc must be taken before the next one.

    nlp (Language): The pipeline.
    texts (Iterable): Texts, with anything that goes with them.
    n_process, batch_size (int): See `Language.pipe`.
    YIELDS (tuple): A Doc, with what went with its text.
    """
    texts = iter(texts)
    for first in texts:
        some = chain([first], islice(texts, _ZONE - 1))
        with nlp.memory_zone():
            yield from nlp.pipe(
                some, as_tuples=True, n_process=n_process, batch_size=batch_size
            )
