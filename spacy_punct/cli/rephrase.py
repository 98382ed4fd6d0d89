"""`punct rephrase`: texts put otherwise, with the punctuation that this wants."""

from functools import reduce
from pathlib import Path
from typing import Annotated

import typer

from scripts.ordering import OrderingModel
from spacy_punct.cli.group import Model, check_file, command, load_pipeline
from spacy_punct.data.treebank import read_treebank
from spacy_punct.rephrasing.edits import Edit, delete, extract, move
from spacy_punct.rephrasing.rephrase import rephrase as run
from spacy_punct.restorer.component import PunctuationRestorer


@command
def rephrase(
    texts: Annotated[list[str], typer.Argument(help="Texts with punctuation.")],
    model: Model = "en",
    deleted: Annotated[
        list[str] | None,
        typer.Option("--delete", help="Delete the constituent of this word."),
    ] = None,
    first: Annotated[
        list[str] | None,
        typer.Option("--first", help="Move it before all others of its head."),
    ] = None,
    last: Annotated[
        list[str] | None, typer.Option("--last", help="Move it after all others.")
    ] = None,
    extracted: Annotated[
        str | None, typer.Option("--extract", help="Make it the sentence.")
    ] = None,
    permute: Annotated[
        Path | None,
        typer.Option(
            help="Draw an order of nouns, verbs and their dependents, as in the trees "
            "of this CoNLL-U file."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Draw the new punctuation. By default it is the most probable."
        ),
    ] = None,
) -> None:
    """Delete, move or reorder parts of sentences; punctuation follows.

    A part goes by its head: "true" in "If true, the caper failed." An edit is made in
    every sentence that has the word. Edits are made in the order of the options below.

    Examples:

    python -m spacy punct rephrase "If it rains, the race will end." --last rains

    python -m spacy punct rephrase "Anna, who sings, is here." --delete sings
    """
    nlp, _ = load_pipeline(model, PunctuationRestorer)
    edits = [
        *(delete(word) for word in deleted or []),
        *(move(word, 0) for word in first or []),
        *(move(word, -1) for word in last or []),
        *([extract(extracted)] if extracted is not None else []),
    ]
    if permute is not None:
        examples = read_treebank(check_file(permute)).examples
        ordering = OrderingModel.train(example.tree for example in examples)
        edits.append(ordering.edit(seed or 0))
    edit = reduce(Edit.then, edits, Edit(()))
    for text in texts:
        typer.echo(run(text, edit, nlp, seed=seed).text)
