"""`punct convert`: treebanks for `spacy train`."""

from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.tokens import DocBin

from spacy_punct.cli.shared import printer
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import Errors, PunctError
from spacy_punct.reading.corpus import make_doc, treebank_files


def convert(
    source: Annotated[
        Path, typer.Argument(help="A CoNLL-U file, or a folder of such files.")
    ],
    target: Annotated[Path, typer.Argument(help="Folder for the .spacy files.")],
    lang: Annotated[str, typer.Option("--lang", "-l", help="Language code.")] = "en",
) -> None:
    """Take the punctuation out of treebanks and write them as .spacy files.

    The Docs consist of the words. Their punctuation is kept in the user data, where
    the reader spacy_punct.Corpus.v1 finds it.

    Example: python -m spacy punct convert assets/sample corpus --lang en
    """
    try:
        vocab = spacy.blank(lang).vocab
    except ImportError as error:
        raise PunctError(Errors.P058.format(lang=lang, reason=error)) from None
    rows = []
    for path in treebank_files(source, (".conllu",)):
        treebank = read_treebank(path)
        docs = DocBin(store_user_data=True)
        for example in treebank.examples:
            docs.add(make_doc(example, vocab))
        target.mkdir(parents=True, exist_ok=True)
        docs.to_disk(target / f"{path.stem}.spacy")
        rows.append(
            (
                path.name,
                len(treebank),
                treebank.n_omitted,
                treebank.n_wordless,
                treebank.n_projectivised,
                treebank.n_tokens,
                f"{100 * treebank.n_punctuation / max(treebank.n_tokens, 1):.1f}",
                len(treebank.mark_counts),
            )
        )
    printer.table(
        rows,
        header=(
            "file",
            "sentences",
            "omitted",
            "wordless",
            "projectivised",
            "tokens",
            "% marks",
            "kinds",
        ),
        divider=True,
        aligns=("l", *"r" * 7),
    )
