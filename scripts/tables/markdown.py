"""Pages and tables in Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer

from spacy_punct.cli.shared import check_file

Results = Mapping[str, Any]
"""What a JSON file of a step holds."""
Files = Annotated[list[Path], typer.Argument(help="JSON files.")]
Page = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Where to write; else it is shown."),
]
DASH = "–"
SIGNIFICANT = 0.05


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table, the first column to the left and the others to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def percent(share: float) -> str:
    """A share in percent, with one decimal."""
    return f"{100 * share:.1f}"


def beside(ours: object, theirs: object | None) -> str:
    """A figure, and that of the paper in brackets."""
    return f"{ours} ({theirs})" if theirs else str(ours)


def write_page(
    report: Callable[[Sequence[Results]], str], files: Files, output: Page
) -> None:
    """Write what a report says of results.

    report (Callable): Results -> Markdown.
    files (list[Path]): The results.
    output (Path | None): Where to write; None to show it.
    """
    page = report([srsly.read_json(check_file(path)) for path in files])
    if output is None:
        typer.echo(page, nl=False)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(page, "utf-8")
