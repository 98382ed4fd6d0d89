"""Pages made of JSON files with results."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import srsly
import typer

from scripts.experiments.tables import Results
from spacy_punct.errors import Errors, PunctError
from spacy_punct.files import write_safely

Files = Annotated[list[Path], typer.Argument(help="JSON files.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Where to write; else it is shown."),
]


def write_page(
    report: Callable[[Sequence[Results]], str], files: Files, output: Output
) -> None:
    """Write what a report says of results.

    report (Callable): Results -> Markdown.
    files (list[Path]): The results.
    output (Path | None): Where to write; None to show it.
    """
    try:
        page = report([_read(path) for path in files])
    except PunctError as error:
        typer.secho(str(error), fg="red", err=True)
        raise typer.Exit(1) from None
    if output is None:
        typer.echo(page, nl=False)
    else:
        write_safely(output, page.encode("utf8"))


def _read(path: Path) -> Results:
    if not path.is_file():
        raise PunctError(Errors.P053.format(path=path))
    return srsly.read_json(path)
