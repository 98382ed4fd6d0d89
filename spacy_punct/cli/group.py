"""The group of commands, and what they share."""

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

import spacy
import typer
from spacy.language import Language
from wasabi import Printer

from spacy_punct import pipelines
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.errors import Errors, PunctError
from spacy_punct.pipe.base import PunctuationPipe, find_pipe
from spacy_punct.restorer.component import PunctuationRestorer

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", PunctuationRestorer, PunctuationCorrector)

punct = typer.Typer(
    name="punct",
    help="Punctuation for dependency trees: restore it, and work with treebanks.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
printer = Printer()
MODEL_HELP = "A bundled pipeline (en), an installed one or a folder."
Model = Annotated[str, typer.Option("--model", "-m", help=MODEL_HELP)]
_MISSING = {PunctuationRestorer: Errors.P052, PunctuationCorrector: Errors.P131}


def command(function: Callable[P, R]) -> Callable[P, R]:
    """Register a command whose errors are one line on standard error."""
    return punct.command()(with_short_errors(function))


def with_short_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Let the errors of a command be one line on standard error."""

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BrokenPipeError:  # the reader, `head` for one, has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (PunctError, OSError, UnicodeError) as error:
            fail(str(error))

    return checked


def fail(message: str) -> None:
    """Say what is wrong, in one line, and stop with exit code 1."""
    typer.secho(" ".join(message.split()), fg="red", err=True)
    raise typer.Exit(1)


def load_pipeline(model: str, kind: type[C]) -> tuple[Language, C]:
    """A pipeline and the component of it that a command is about.

    model (str): A bundled pipeline, an installed package or a folder. A bundled one
        goes before a folder of the same name, which can be given as `./en`.
    kind (type): The class of the component: restorer or corrector.
    RETURNS (tuple): The pipeline and its first component of that class. Those of the
        other class are disabled: nobody would read what they say.
    """
    nlp = loaded(model)
    found = find_pipe(nlp, kind)
    if found is None:
        names = ", ".join(nlp.pipe_names) or "nothing"
        raise PunctError(_MISSING[kind].format(model=model, names=names))
    for name, component in nlp.pipeline:
        if isinstance(component, PunctuationPipe) and not isinstance(component, kind):
            nlp.disable_pipe(name)
    return nlp, found


def loaded(model: str) -> Language:
    """A pipeline with all its components; see `load_pipeline`."""
    bundled = pipelines.names()
    try:
        return pipelines.load(model) if model in bundled else spacy.load(model)
    except (OSError, ValueError) as error:
        if isinstance(error, PunctError):
            raise
        reason = str(error).splitlines()[0]
        message = Errors.P051.format(
            model=model, reason=reason, bundled=", ".join(bundled) or "none"
        )
        raise PunctError(message) from None


def check_file(path: Path) -> Path:
    if not path.is_file():
        raise PunctError(Errors.P053.format(path=path))
    return path
