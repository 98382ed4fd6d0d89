"""What commands share: pipelines, texts in, texts out, and errors of one line."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any, TextIO, TypeVar

import spacy
import typer
from spacy.language import Language
from tqdm import tqdm
from wasabi import Printer

from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.errors import Errors, PunctError
from spacy_punct.files import replacing
from spacy_punct.pipe import bundled
from spacy_punct.pipe.base import PunctuationPipe
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.transcripts.formats import SUFFIXES

C = TypeVar("C", PunctuationRestorer, PunctuationCorrector)

_MISSING = {PunctuationRestorer: Errors.P052, PunctuationCorrector: Errors.P131}
_NEEDLESS = {
    PunctuationRestorer: bundled.NEEDLESS["punctuation_restorer"],
    PunctuationCorrector: bundled.NEEDLESS["punctuation_corrector"],
}
"""What a command does not load, to save time."""

_SUFFIXES = SUFFIXES | {".csv", ".ass", ".ssa", ".ttml", ".docx", ".pdf"}
"""Endings that tell the name of a file from a text."""

printer = Printer()
MODEL_HELP = "A bundled pipeline (en), an installed one, or a folder."
Model = Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP)]
Inputs = Annotated[
    list[str] | None,
    typer.Argument(help="Texts or files; '-' or nothing for standard input."),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File; default: the screen.")
]
Processes = Annotated[int, typer.Option("--n-process", min=1, help="Processes.")]
BatchSize = Annotated[int, typer.Option("--batch-size", min=1, help="Texts per batch.")]


def format_option(help: str) -> Any:
    """The option that says how answers are written."""
    return typer.Option("--format", "-f", help=help)


def check_file(path: Path) -> Path:
    """The path, if it leads to a file."""
    if not path.is_file():
        raise PunctError(Errors.P053.format(path=path))
    return path


# Pipelines


def loaded(model: str, *, exclude: Iterable[str] = ()) -> Language:
    """Load a pipeline.

    model (str): A bundled pipeline, an installed package or a folder. A bundled
        pipeline takes precedence over a folder of the same name; give that as `./en`.
    exclude (Iterable[str]): Components to leave out.
    RETURNS (Language): The pipeline.
    """
    names = bundled.names()
    load = bundled.load if model in names else spacy.load
    try:
        return load(model, exclude=list(exclude))
    except (OSError, ValueError) as error:
        if isinstance(error, PunctError):
            raise
        reason = str(error).splitlines()[0]
        message = Errors.P051.format(
            model=model, reason=reason, bundled=", ".join(names) or "none"
        )
        raise PunctError(message) from None


def load_pipeline(model: str, kind: type[C]) -> tuple[Language, C]:
    """Load a pipeline for the sake of one of its components.

    model (str): See `loaded`.
    kind (type): The class of the component: restorer or corrector.
    RETURNS (tuple): The pipeline and its first component of that class, which is
        enabled. Components of the other class do not run.
    """
    nlp = loaded(model, exclude=_NEEDLESS[kind])
    found = next((p for _, p in nlp.components if isinstance(p, kind)), None)
    if found is None:
        names = ", ".join(nlp.component_names) or "nothing"
        raise PunctError(_MISSING[kind].format(model=model, names=names))
    for name, pipe in nlp.components:
        if pipe is found:
            nlp.enable_pipe(name)
        elif isinstance(pipe, PunctuationPipe):
            nlp.disable_pipe(name)
    return nlp, found


# Reading


def check_inputs(inputs: list[str] | None, *, folders: bool = False) -> list[str]:
    """The inputs of a command, once it is known that their files exist.

    inputs (list[str] | None): Texts and names of files.
    folders (bool): Whether folders are welcome.
    RETURNS (list[str]): The inputs; '-' if there are none.
    """
    for source in inputs or []:
        if (
            source != "-"
            and is_name(source)
            and not (folders and Path(source).is_dir())
        ):
            check_file(Path(source))
    return inputs or ["-"]


def read_lines(source: str) -> Iterator[str]:
    """Read lines with their ends.

    source (str): A file, '-' for standard input, or a text, which is one line.
    YIELDS (str): A line.
    """
    if source == "-":
        yield from _decoded(sys.stdin.buffer, source)
    elif is_name(source):
        with check_file(Path(source)).open("rb") as file:
            yield from _decoded(file, source)
    else:
        yield f"{source}\n"


def _decoded(lines: Iterable[bytes], name: str) -> Iterator[str]:
    number = 0
    try:
        for number, line in enumerate(lines, start=1):
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        where = f"{name}, line {number}"
        message = Errors.P003.format(where=where, reason=error.reason)
        raise PunctError(message) from None


class WordBar:
    """Shows on a terminal how many words are done, how fast, and how long it takes.

    n_bytes (int | None): How much there is to read, if that is known: with the words
        of what has been read, it tells how many words there are.
    is_shown (bool): Whether to show anything.
    """

    def __init__(self, n_bytes: int | None = None, *, is_shown: bool = True) -> None:
        self.n_bytes = n_bytes
        self.n_found = self.n_read = 0
        self._bar = tqdm(
            unit=" words",
            unit_scale=True,
            disable=None if is_shown else True,
            leave=False,
        )

    def __enter__(self) -> "WordBar":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def found(self, n_words: int, n_bytes: int) -> None:
        """Tell that there are so many words in so many bytes."""
        self.n_found += n_words
        self.n_read += n_bytes
        if self.n_bytes is None:
            self._bar.total = self.n_found
        elif self.n_read:
            rest = max(self.n_bytes - self.n_read, 0)
            self._bar.total = round(self.n_found * (1 + rest / self.n_read))

    def done(self, n_words: int) -> None:
        """Tell that so many more words are done."""
        self._bar.update(n_words)


def watched(
    lines: Iterable[str], source: str, bar: WordBar | None = None
) -> Iterator[str]:
    """Show progress while lines are read.

    lines (Iterable[str]): The lines of a source.
    source (str): Its name.
    bar (WordBar | None): Where progress is shown; None for a bar of its own.
    YIELDS (str): Each line.
    """
    is_file = source != "-" and is_name(source)
    size = os.path.getsize(source) if is_file else None
    with WordBar(size) if bar is None else nullcontext(bar) as own:
        for line in lines:
            n = len(line.split())
            own.found(n, len(line.encode("utf-8", errors="ignore")))
            own.done(n)
            yield line


def is_name(source: str) -> bool:
    """Whether an argument is meant as a file, whether or not it exists."""
    try:
        if Path(source).exists():
            return True
    except OSError:  # a text too long to be a name
        return False
    looks_so = Path(source).suffix.lower() in _SUFFIXES or os.sep in source
    return looks_so and not any(char.isspace() for char in source)


def parted(line: str) -> tuple[str, str]:
    """A line without its end, and its end."""
    text = line.rstrip("\r\n")
    return text, line[len(text) :]


# Writing


@contextmanager
def target(path: Path | None) -> Iterator[TextIO]:
    """Open what a command writes to: standard output, or a file.

    The file takes its place when it is complete, so it may replace an input.

    path (Path | None): The file; None for standard output.
    YIELDS (TextIO): Takes text.
    """
    if path is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    path = path.resolve()
    if path.exists() and not path.is_file():  # a device or a pipe
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file
