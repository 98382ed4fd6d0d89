"""`punct render`: pictures of what the model sees in a text."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from spacy_punct.cli.shared import Model, load_pipeline, target
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.draw.render import DRAWN, check_choice, render_svg
from spacy_punct.draw.render import render as render_html
from spacy_punct.errors import Errors, PunctError
from spacy_punct.restorer.component import PunctuationRestorer


class Style(str, Enum):
    underlying = "underlying"
    confidence = "confidence"
    corrections = "corrections"
    rewrites = "rewrites"


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

    underlying: trees with the punctemes of their constituents, and what became of
    them. If the text has punctuation, that is explained; if not, it is restored first.
    confidence: the restored text with the probability of each mark. corrections: the
    text with what a corrector would change. rewrites: what the channel has learned to
    do to the marks that meet in the text.

    Example: python -m spacy punct render "if it rains we stay" --output tree.svg
    """
    ending = ".html" if output is None else output.suffix.lower()
    endings = [".html", ".svg"] if style.value in DRAWN else [".html"]
    check_choice(f"The ending of a file of the style '{style.value}'", ending, endings)
    text = sys.stdin.read() if text == "-" else text
    if not text.strip():
        raise PunctError(Errors.P096.format(what="no text"))
    if style is Style.corrections:
        nlp, _ = load_pipeline(model, PunctuationCorrector)
    else:
        nlp, _ = load_pipeline(model, PunctuationRestorer)
    doc = nlp(text)
    if ending == ".svg":
        markup = render_svg(doc, style.value, nlp=nlp)
    else:
        markup = render_html(doc, style.value, page=True, jupyter=False, nlp=nlp) or ""
    with target(output) as out:
        out.write(markup if output is not None else f"{markup}\n")
