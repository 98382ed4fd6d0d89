"""`punct analyze`: what a model has learned of punctuation."""

from pathlib import Path
from typing import Annotated

import typer
from spacy_punct.cli.group import (
    MODEL_HELP,
    check_file,
    command,
    load_pipeline,
    printer,
)
from tqdm import tqdm

from scripts.analysis_report import tables, write_analysis
from scripts.learned import Analysis
from scripts.learned import analyze as run
from scripts.pictures import require_matplotlib
from spacy_punct.data.treebank import read_treebank
from spacy_punct.reading.corpus import make_doc
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.restorer.evaluation import gold_trees


@command
def analyze(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    data: Annotated[
        Path | None, typer.Argument(help="A CoNLL-U file to count in.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder to write to.")
    ] = None,
    min_count: Annotated[
        int, typer.Option(min=1, help="Rarer underlying bigrams are left out.")
    ] = 25,
    min_relation_count: Annotated[
        int, typer.Option(min=1, help="Rarer relations are left out.")
    ] = 100,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Read the first sentences only.")
    ] = None,
    pictures: Annotated[
        bool, typer.Option(help="Whether to draw the rewrites.")
    ] = True,
) -> None:
    """Show the learned grammar: how marks interact, and which relations they mark.

    The channel is compared with Nunberg's rules for English. With a treebank, what is
    underlying in it is reconstructed on its own trees: which marks meet how often,
    and by which punctemes relations are set off. The folder gets analysis.json,
    analysis.md and the pictures rewrites.png and rewrites.svg.

    Example: python -m spacy punct analyze training/model-best train.conllu \\
    --output analysis
    """
    if output is not None and pictures:
        require_matplotlib()
    treebank = None if data is None else read_treebank(check_file(data))
    nlp, restorer = load_pipeline(model, PunctuationRestorer)
    trees = None
    if treebank is not None:
        examples = treebank.examples[:limit]
        references = (make_doc(example, nlp.vocab) for example in examples)
        found = gold_trees(nlp, restorer, references)
        trees = tqdm(found, total=len(examples), unit="sent", leave=False, disable=None)
    analysis = run(
        restorer.punctuation,
        trees,
        min_count=min_count,
        min_relation_count=min_relation_count,
    )
    _print(analysis)
    if output is not None:
        write_analysis(analysis, output, name=Path(model).name, pictures=pictures)


def _print(analysis: Analysis) -> None:
    for table in tables(analysis):
        printer.divider(table.title)
        printer.text(table.note)
        printer.table(table.rows, header=table.header, divider=True)
