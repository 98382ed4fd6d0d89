"""Trees for training as a parser would make them on text that is new to it.

A restorer that learns on a treebank's own trees is disappointed by a parser's. Those
that a parser makes of its own training data are too good. So the data is cut into
folds, and each is parsed by a pipeline that was trained on the others.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import spacy
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from spacy.util import load_config
from tqdm import tqdm
from wasabi import msg

from spacy_punct.errors import check_range
from spacy_punct.reading.corpus import (
    SUFFIXES,
    read_docs,
    treebank_files,
    unpunctuated,
    write_trees,
)


def jackknife(
    config: Path,
    path: Path,
    output: Path,
    *,
    folds: int = 4,
    overrides: dict[str, Any] | None = None,
) -> None:
    """Parse a treebank with pipelines that have not seen what they parse.

    config (Path): A training config of a pipeline with a parser, whose training data
        is at `paths.train`.
    path (Path): The treebank: a file or a folder, as for `spacy_punct.Corpus.v1`.
    output (Path): Where to write the DocBin.
    folds (int): How many.
    overrides (dict[str, Any] | None): Other settings of the config.
    """
    check_range("folds", folds, 2)
    vocab = spacy.blank(load_config(config)["nlp"]["lang"]).vocab
    docs = [
        d for file in treebank_files(path, SUFFIXES) for d in read_docs(file, vocab)
    ]
    parsed: list[Doc] = list(docs)
    for fold in range(folds):
        msg.divider(f"Fold {fold + 1} of {folds}")
        others = [doc for i, doc in enumerate(docs) if i % folds != fold]
        with TemporaryDirectory() as folder:
            data = Path(folder) / "train.spacy"
            DocBin(docs=others, store_user_data=True).to_disk(data)
            paths = {"paths.train": str(data)}
            train(config, folder, overrides={**(overrides or {}), **paths})
            best = Path(folder) / "model-best"
            parsed[fold::folds] = parse_docs(best, docs[fold::folds])
    write_trees(parsed, output)
    msg.good(f"{len(parsed)} sentences parsed", output)


def parse_docs(path: Path, docs: Sequence[Doc]) -> list[Doc]:
    """The words of Docs with the trees of a pipeline.

    path (Path): The pipeline.
    docs (Sequence[Doc]): Docs that know their sentences.
    RETURNS (list[Doc]): New Docs.
    """
    nlp = spacy.load(path)
    own = DocBin(docs=docs).get_docs(nlp.vocab)
    stream = nlp.pipe(unpunctuated(doc) for doc in own)
    return list(tqdm(stream, total=len(docs), unit="sent", leave=False, disable=None))
