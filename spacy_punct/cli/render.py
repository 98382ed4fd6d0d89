"""`punct render`: pictures of what the model sees in a text."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from spacy_punct.cli.group import Model, command, load_pipeline
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.draw.render import DRAWN, STYLES, render_svg
from spacy_punct.draw.render import render as draw
from spacy_punct.errors import Errors, PunctError
from spacy_punct.restorer.component import PunctuationRestorer

Style = Enum("Style", {name: name for name in STYLES}, type=str)


@command
def render(
    text: Annotated[str, typer.Argument(help="The text; '-' for standard input.")],
    style: Annotated[
        Style, typer.Option("--style", "-s", help="What to draw.")
    ] = Style.underlying,
    model: Model = "en",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="An .html or .svg file; default: the screen."
        ),
    ] = None,
) -> None:
    """Draw what the model sees in a text.

    underlying: trees with the punctemes of constituents, and what became of them. If
    the text has punctuation, this is explained, otherwise it is restored first.
    confidence: the restored text, with the probability of each mark. corrections: the
    text with what a corrector would change. rewrites: what the channel has learned to
    do to the marks that meet in the text.

    Example: python -m spacy punct render "if it rains we stay" --output tree.svg
    """
    is_svg = _check_ending(output, style.value)
    text = sys.stdin.read() if text == "-" else text
    if not text.strip():
        raise PunctError(Errors.P096.format(what="no text"))
    is_correction = style is Style.corrections
    kind = PunctuationCorrector if is_correction else PunctuationRestorer
    nlp, _ = load_pipeline(model, kind)
    doc = nlp(text)
    if is_svg:
        markup = render_svg(doc, style.value, nlp=nlp)
    else:
        markup = draw(doc, style.value, page=True, jupyter=False, nlp=nlp)
    if output is None:
        typer.echo(markup)
    else:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(markup, encoding="utf-8")


def _check_ending(output: Path | None, style: str) -> bool:
    """Whether an SVG file is to be written; an error if the style cannot be so."""
    ending = ".html" if output is None else output.suffix.lower()
    possible = [".html", ".svg"] if style in DRAWN else [".html"]
    if ending not in possible:
        raise PunctError(
            Errors.P148.format(
                name=f"The ending of a file of the style '{style}'",
                value=ending,
                choices=", ".join(possible),
            )
        )
    return ending == ".svg"
