"""`punct jackknife`: trees to learn on, as a parser makes them of new text."""

from pathlib import Path
from typing import Annotated

import typer
from thinc.api import ConfigValidationError

from spacy_punct.cli import fail
from spacy_punct.cli.shared import check_file
from spacy_punct.reading.corpus import SUFFIXES, treebank_files
from spacy_punct.reading.jackknife import jackknife as run


def jackknife(
    config: Annotated[
        Path, typer.Argument(help="Training config of a pipeline with a parser.")
    ],
    source: Annotated[
        Path, typer.Argument(help="The treebank: a file or a folder of files.")
    ],
    dev: Annotated[Path, typer.Argument(help="Development data for the trainings.")],
    output: Annotated[Path, typer.Argument(help="The .spacy file to write.")],
    folds: Annotated[int, typer.Option(min=2, help="How many parsers to train.")] = 4,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="Overrides the config's.")
    ] = None,
) -> None:
    """Parse a treebank, each part by a parser trained on the others.

    A restorer trained on such trees (setting `parsed` of spacy_punct.Corpus.v1) has
    met the errors it will meet.

    Example: python -m spacy punct jackknife configs/parser.cfg train.conllu \\
    dev.conllu corpus/parsed.spacy
    """
    treebank_files(dev, SUFFIXES)
    overrides: dict[str, str | int] = {"paths.dev": str(dev)}
    if max_steps is not None:
        overrides["training.max_steps"] = max_steps
    try:
        run(check_file(config), source, output, folds=folds, overrides=overrides)
    except ConfigValidationError as error:
        fail(f"{config}: {error.text}")
