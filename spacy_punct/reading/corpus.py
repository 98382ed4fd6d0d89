"""Treebanks as spaCy examples: words on both sides, punctuation on the reference."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_punct.data.corruption import NoiseRates, corrupt
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.reading.gold import gold_examples, has_gold, joined_gold, set_gold
from spacy_punct.reading.observed import with_marks
from spacy_punct.reading.sentences import WORDS_ONLY
from spacy_punct.text.spacing import NO_SPACES, Spacing
from spacy_punct.text.writer import Writer

SUFFIXES = (".conllu", ".spacy")

_HIDDEN = "_"
"""The norm of words that were misheard."""


def create_corpus(
    path: Path,
    gold_trees: bool = True,
    limit: int = 0,
    parsed: Path | None = None,
    gold_share: float = 0.0,
    join: int = 1,
    sentences: bool = True,
    lower: float = 0.0,
    noise: float = 0.0,
    seed: int = 0,
) -> Callable[[Language], Iterable[Example]]:
    """A reader of depunctuated treebanks, `spacy_punct.Corpus.v1`.

    path (Path): A CoNLL-U file, a DocBin made by `punct convert`, or a folder of
        such files.
    gold_trees (bool): Whether the predicted Docs have the treebank's trees and
        parts of speech, for pipelines without a parser.
    limit (int): How many sentences to read at most; 0 for all.
    parsed (Path | None): A DocBin made by `punct jackknife` of the same sentences:
        the predicted Docs have its trees and parts of speech.
    gold_share (float): The share of Docs that have the treebank's trees instead.
    join (int): How many sentences that follow each other make a Doc at most; each
        Doc has a random number of them.
    sentences (bool): Whether predicted Docs without trees know their sentences.
    lower (float): The share of Docs without capitals on the predicted side.
    noise (float): The share of words whose norm is hidden on the predicted side, as
        if they had been misheard.
    seed (int): Seed of what is random.
    RETURNS (Callable): Called with the pipeline it gives examples.
    """
    return PunctuationCorpus(
        path,
        Trees(gold_trees, Path(parsed) if parsed else None, gold_share, sentences),
        Augmentation(join, lower, noise, seed),
        limit,
    )


def create_correction_corpus(
    path: Path,
    parsed: Path | None = None,
    gold_share: float = 0.0,
    gold_trees: bool = True,
    limit: int = 0,
    lower: float = 0.0,
    noise: float = 0.0,
    rates: dict[str, float] | None = None,
    fresh: bool = True,
    seed: int = 0,
) -> Callable[[Language], Iterable[Example]]:
    """A reader of treebanks whose punctuation it makes errors in,
    `spacy_punct.CorrectionCorpus.v1`.

    path (Path), parsed (Path | None), gold_share (float), gold_trees (bool), limit
        (int), lower (float), noise (float): See `create_corpus`.
    rates (dict[str, float] | None): How often each error is made, where not by
        default: see `NoiseRates`.
    fresh (bool): Whether each pass makes other errors; development data should not.
    seed (int): Seed of what is random.
    RETURNS (Callable): Called with the pipeline it gives examples: Docs with errors,
        as tokens, on both sides, and the true punctuation on the reference.
    """
    corpus = PunctuationCorpus(
        path,
        Trees(gold_trees, Path(parsed) if parsed else None, gold_share, True),
        Augmentation(1, lower, noise, seed),
        limit,
    )
    return CorrectionCorpus(corpus, NoiseRates(**(rates or {})), fresh, seed)


@dataclass(frozen=True)
class Trees:
    """Which trees the predicted Docs of a corpus have; see `create_corpus`."""

    gold: bool
    parsed: Path | None
    gold_share: float
    sentences: bool

    def __post_init__(self) -> None:
        check_range("gold_share", self.gold_share, 0, 1, inclusive=True)


@dataclass(frozen=True)
class Augmentation:
    """What a corpus does to sentences; see `create_corpus`."""

    join: int
    lower: float
    noise: float
    seed: int

    def __post_init__(self) -> None:
        check_range("join", self.join, 1)
        for name in ("lower", "noise"):
            check_range(name, getattr(self, name), 0, 1, inclusive=True)


class PunctuationCorpus:
    """See `create_corpus`. Files are read once; each pass is random in its own way.

    passes (int): How many have begun: it seeds the next one.
    """

    def __init__(
        self, path: Path, trees: Trees, augmentation: Augmentation, limit: int
    ) -> None:
        check_range("limit", limit, 0)
        self._paths = treebank_files(Path(path), SUFFIXES)
        self._parsed_paths: list[Path] = []
        if trees.parsed is not None:
            self._parsed_paths = treebank_files(trees.parsed, (".spacy",))
        self._trees = trees
        self._augmentation = augmentation
        self._limit = limit
        self._docs: list[Doc] = []
        self._parsed: list[Doc] = []
        self.passes = 0

    def __call__(self, nlp: Language) -> Iterator[Example]:
        if not self._docs or self._docs[0].vocab is not nlp.vocab:
            self._read(nlp.vocab)
        trees, augmentation = self._trees, self._augmentation
        rng = random.Random(augmentation.seed + 1_000_003 * self.passes)
        self.passes += 1
        start = 0
        while start < len(self._docs):
            part = slice(start, start + rng.randint(1, augmentation.join))
            start = part.stop
            reference = joined(self._docs[part])
            source = reference if trees.gold else None
            if self._parsed:
                is_gold = rng.random() < trees.gold_share
                source = reference if is_gold else joined(self._parsed[part])
            predicted = unpunctuated(
                reference,
                source,
                sentences=trees.sentences,
                lower=rng.random() < augmentation.lower,
            )
            for token in predicted:
                if augmentation.noise and rng.random() < augmentation.noise:
                    token.norm_ = _HIDDEN
            yield Example(predicted, reference)

    def _read(self, vocab: Vocab) -> None:
        self._docs, self._parsed = (
            [d for path in paths for d in read_docs(path, vocab)][: self._limit or None]
            for paths in (self._paths, self._parsed_paths)
        )
        if not self._docs:
            raise PunctError(Errors.P020)
        if not self._parsed_paths:
            return
        texts = [[[t.lower_ for t in d] for d in x] for x in (self._docs, self._parsed)]
        if texts[0] != texts[1]:
            raise PunctError(
                Errors.P066.format(
                    path=self._trees.parsed, n=len(texts[1]), expected=len(texts[0])
                )
            )


class CorrectionCorpus:
    """See `create_correction_corpus`.

    fresh (bool): Whether each pass has errors of its own. `punct train` then makes one
        for each epoch; `spacy train` reads once and goes through that again and again.
    """

    def __init__(
        self, corpus: PunctuationCorpus, rates: NoiseRates, fresh: bool, seed: int
    ) -> None:
        self.fresh = fresh
        self._corpus = corpus
        self._rates = rates
        self._seed = seed

    @property
    def passes(self) -> int:
        """How many have begun."""
        return self._corpus.passes

    @passes.setter
    def passes(self, passes: int) -> None:
        self._corpus.passes = passes

    def __call__(self, nlp: Language) -> Iterator[Example]:
        if not self.fresh:
            self.passes = 0
        writer = Writer(Spacing(nlp.lang or ""))
        rng = random.Random(f"{self._seed} {self.passes}")
        for example in self._corpus(nlp):
            (truth,) = gold_examples(
                Example(example.reference, example.reference), "the reader"
            )
            observed = corrupt(truth, self._rates, rng)
            yield Example(
                with_marks(example.predicted, observed, writer),
                with_marks(example.reference, observed, writer),
            )


def joined(docs: Sequence[Doc]) -> Doc:
    """Sentences as one Doc, with all their annotation and true punctuation.

    docs (Sequence[Doc]): Docs of `read_docs`, or such Docs parsed.
    RETURNS (Doc): The Doc.
    """
    if len(docs) == 1:
        return docs[0]
    space = docs[0].vocab.lang not in NO_SPACES
    whole = Doc.from_docs(list(docs), ensure_whitespace=space, exclude=["user_data"])
    whole.user_data[WORDS_ONLY] = True
    if all(map(has_gold, docs)):
        set_gold(whole, *joined_gold(docs, space))
    return whole


def unpunctuated(
    reference: Doc,
    source: Doc | None = None,
    *,
    sentences: bool = True,
    lower: bool = False,
) -> Doc:
    """The words of a reference, but nothing of its punctuation.

    reference (Doc): A Doc of `read_docs`.
    source (Doc | None): A Doc of the same words whose tree and parts of speech the
        new one gets.
    sentences (bool): Whether it gets the sentences of the reference if it gets no
        tree. A parser will keep to them.
    lower (bool): Whether it loses its capitals.
    RETURNS (Doc): A new Doc.
    """
    annotation: dict[str, Any] = {}
    if source is not None:
        annotation = {
            "heads": [token.head.i for token in source],
            "deps": [token.dep_ for token in source],
            "pos": [token.pos_ for token in source],
        }
    elif sentences:
        starts = [bool(token.is_sent_start) for token in reference]
        annotation = {"sent_starts": starts}
    return Doc(
        reference.vocab,
        words=[token.lower_ if lower else token.text for token in reference],
        spaces=[bool(token.whitespace_) for token in reference],
        user_data={WORDS_ONLY: True},
        **annotation,
    )


def treebank_files(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """The file, or the files of a folder that end in one of the suffixes."""
    found = [path]
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.suffix in suffixes)
    if not found or not all(p.is_file() and p.suffix in suffixes for p in found):
        wanted = " or ".join(suffixes)
        raise PunctError(Errors.P050.format(path=path, wanted=wanted))
    return found


def read_docs(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """The sentences of a treebank as Docs without punctuation.

    path (Path): A CoNLL-U file or a DocBin made by `punct convert`.
    vocab (Vocab): The vocabulary.
    YIELDS (Doc): With trees, tags, lemmas and morphology, and the true punctuation
        in the user data.
    """
    if path.suffix == ".conllu":
        for example in read_treebank(path).examples:
            yield make_doc(example, vocab)
        return
    yield from DocBin().from_disk(path).get_docs(vocab)


def write_trees(docs: Iterable[Doc], path: Path) -> None:
    """Write the trees and parts of speech of parsed Docs, for the setting `parsed`."""
    attributes = ("ORTH", "SPACY", "HEAD", "DEP", "POS", "SENT_START")
    path.parent.mkdir(parents=True, exist_ok=True)
    DocBin(attrs=attributes, docs=docs).to_disk(path)


def make_doc(example: PunctuatedTree, vocab: Vocab) -> Doc:
    """A sentence as a Doc without punctuation, which it has in its user data.

    Two words are written together if nothing at all stood between them.

    example (PunctuatedTree): The sentence.
    vocab (Vocab): The vocabulary.
    RETURNS (Doc): The Doc.
    """
    tree = example.tree
    spaces = [vocab.lang not in NO_SPACES] * len(tree)
    for i, slot in enumerate(example.slots[1:-1], start=1):
        if not slot and example.spaces and not example.spaces[i][0]:
            spaces[i - 1] = False
    tokens = example.tokens
    annotation = {}
    if tokens:
        annotation = {
            "tags": [t.xpos if t.xpos != "_" else t.upos for t in tokens],
            "lemmas": [t.lemma for t in tokens],
            "morphs": ["" if t.feats == "_" else t.feats for t in tokens],
        }
    doc = Doc(
        vocab,
        words=list(tree.words),
        spaces=spaces,
        pos=list(tree.tags),
        heads=[i if head < 0 else head for i, head in enumerate(tree.heads)],
        deps=[
            "ROOT" if head < 0 else relation
            for head, relation in zip(tree.heads, tree.relations, strict=True)
        ],
        user_data={WORDS_ONLY: True},
        **annotation,
    )
    set_gold(doc, example.slots, example.spaces)
    return doc
