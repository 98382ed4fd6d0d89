"""`punct rephrase`: change the word order of sentences, and let punctuation follow."""

from functools import reduce
from typing import Annotated

import typer

from spacy_punct.cli.shared import Model, load_pipeline
from spacy_punct.rephrasing.edits import TreeEdit, delete, extract, move
from spacy_punct.rephrasing.rephrase import rephrase as rephrased
from spacy_punct.restorer.component import PunctuationRestorer


def rephrase(
    texts: Annotated[list[str], typer.Argument(help="Texts with punctuation.")],
    model: Model = "en",
    deleted: Annotated[
        list[str] | None,
        typer.Option("--delete", help="Delete the constituent of this word."),
    ] = None,
    first: Annotated[
        list[str] | None,
        typer.Option(
            "--first", help="Move it before its head and all others that belong to it."
        ),
    ] = None,
    last: Annotated[
        list[str] | None,
        typer.Option("--last", help="Move it after its head and all others."),
    ] = None,
    extracted: Annotated[
        str | None, typer.Option("--extract", help="Make it the whole sentence.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Draw the new punctuation at random instead of taking the most "
            "probable.",
        ),
    ] = None,
) -> None:
    """Delete or move parts of sentences, and let the punctuation follow.

    Name a part by its head word: "true" in "If true, the caper failed." An edit
    applies to every sentence that has the word. Edits are made in the order of the
    options below.

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
    edit = reduce(TreeEdit.then, edits, TreeEdit(()))
    for text in texts:
        typer.echo(rephrased(text, edit, nlp, seed=seed).text)
