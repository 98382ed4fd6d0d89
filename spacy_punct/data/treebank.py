"""Treebank files as punctuated trees, and treebank folders as train, dev and test."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spacy_punct.data.conllu import Sentence, read_conllu
from spacy_punct.data.depunctuation import (
    PunctuatedTree,
    depunctuate,
    has_inner_punctuation,
    has_words,
)
from spacy_punct.errors import Errors, PunctError


@dataclass(frozen=True)
class Treebank:
    """The usable sentences of a treebank file, projective, in its order."""

    examples: tuple[PunctuatedTree, ...]
    n_omitted: int
    """Sentences in which a punctuation token has dependents."""
    n_wordless: int
    """Sentences of nothing but punctuation."""
    n_projectivised: int
    n_tokens: int
    """All tokens of the file, punctuation included."""
    n_punctuation: int
    """Punctuation tokens of the usable sentences."""

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def mark_counts(self) -> Counter[str]:
        return count_marks(self.examples)


def count_marks(examples: Iterable[PunctuatedTree]) -> Counter[str]:
    return Counter(mark for ex in examples for slot in ex.slots for mark in slot)


def read_treebank(path: str | Path) -> Treebank:
    """Read a CoNLL-U file into projective punctuated trees.

    path (str | Path): The file.
    RETURNS (Treebank): Its usable sentences, and how many were left out and why.
    """
    treebank = make_treebank(read_conllu(path))
    if not treebank.examples:
        raise PunctError(Errors.P006.format(path=path))
    return treebank


def make_treebank(sentences: Iterable[Sentence]) -> Treebank:
    """Depunctuate and projectivise sentences, counting what is left out."""
    examples: list[PunctuatedTree] = []
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts["tokens"] += len(sentence.tokens)
        if not has_words(sentence):
            counts["wordless"] += 1
            continue
        if has_inner_punctuation(sentence):
            counts["omitted"] += 1
            continue
        try:
            example = depunctuate(sentence)
        except PunctError as error:
            raise PunctError(f"{sentence.where}: {error}") from None
        counts["punctuation"] += len(sentence.tokens) - len(example.tree)
        if not example.tree.is_projective:
            counts["projectivised"] += 1
            example = replace(example, tree=example.tree.projective())
        examples.append(example)
    return Treebank(
        tuple(examples),
        n_omitted=counts["omitted"],
        n_wordless=counts["wordless"],
        n_projectivised=counts["projectivised"],
        n_tokens=counts["tokens"],
        n_punctuation=counts["punctuation"],
    )


def split_treebank(
    examples: Sequence[PunctuatedTree], share: float
) -> tuple[Sequence[PunctuatedTree], Sequence[PunctuatedTree]]:
    """The first `share` of the examples, and the rest."""
    cut = round(len(examples) * share)
    return examples[:cut], examples[cut:]


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
    dev = read_treebank(split_file(folder, "dev")).examples
    test = read_treebank(split_file(folder, "test")).examples
    if split_file(folder, "train").is_file():
        train = read_treebank(split_file(folder, "train")).examples
        return Splits(train, dev, test, partial=False)
    return Splits(*split_treebank(dev, PARTIAL_SHARE), test, partial=True)
