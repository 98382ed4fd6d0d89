"""A treebank's folder as what is trained on, what decides and what is scored."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.treebank import read_treebank, split_treebank

SPLITS = ("train", "dev", "test")
PARTIAL_SHARE = 0.87
"""How much of dev is trained on if there is no train file."""


@dataclass(frozen=True)
class Splits:
    """The usable sentences of a treebank."""

    train: Sequence[PunctuatedTree]
    dev: Sequence[PunctuatedTree]
    test: Sequence[PunctuatedTree]
    partial: bool
    """Whether there was no train file, so that train and dev are parts of dev."""


def split_file(folder: Path, split: str) -> Path:
    return folder / f"{split}.conllu"


def read_splits(folder: Path) -> Splits:
    """Read train.conllu, dev.conllu and test.conllu of a folder.

    Without a train file, the first 87% of dev are trained on and the rest decides.

    folder (Path): The treebank's folder.
    RETURNS (Splits): Its usable sentences.
    """
    partial = not split_file(folder, "train").is_file()
    dev = read_treebank(split_file(folder, "dev")).examples
    test = read_treebank(split_file(folder, "test")).examples
    if partial:
        train, dev = split_treebank(dev, PARTIAL_SHARE)
    else:
        train = read_treebank(split_file(folder, "train")).examples
    return Splits(train, dev, test, partial)
