"""Commands under `python -m spacy punct`, one module per command.

A module of this package has a function of the same name: the command.
"""

import functools
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn, ParamSpec, TypeVar

import typer
from spacy.cli import app
from typer.core import TyperGroup

from spacy_punct.errors import PunctError

P = ParamSpec("P")
R = TypeVar("R")

COMMANDS = (
    "restore",
    "correct",
    "rephrase",
    "render",
    "serve",
    "convert",
    "evaluate",
    "jackknife",
)


def with_short_errors(function: Callable[P, R]) -> Callable[P, R]:
    """Make a command report errors in one line on standard error, with exit code 1."""

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except BrokenPipeError:  # the reader, such as `head`, has had enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (PunctError, OSError, UnicodeError) as error:
            fail(str(error))

    return checked


def fail(message: str) -> NoReturn:
    """Print a message as one line on standard error and exit with code 1."""
    typer.secho(" ".join(message.split()), fg="red", err=True)
    raise typer.Exit(1)


class _Commands(TyperGroup):
    """Imports a command when it is called: spaCy loads this package whatever command
    it is asked to run."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        if cmd_name not in self.commands:
            module = import_module(f"{__name__}.{cmd_name}")
            single = typer.Typer(add_completion=False, rich_markup_mode=None)
            single.command(cmd_name)(with_short_errors(getattr(module, cmd_name)))
            self.commands[cmd_name] = typer.main.get_command(single)
        return self.commands[cmd_name]


punct = typer.Typer(
    name="punct",
    cls=_Commands,
    help="Restore, correct and explain punctuation, and work with treebanks.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@punct.callback()
def _group() -> None:
    """Makes a group of what has no commands yet."""


app.add_typer(punct)
