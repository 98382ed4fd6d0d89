"""Examples to learn from: the readers of treebanks, and the batcher that changes what
they read in each epoch."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_punct.data.corruption import NoiseRates, noisy_slots, with_noise
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import ABBREVIATION_DOT, TERMINALS
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.reading.corpus import (
    SUFFIXES,
    joined,
    read_docs,
    treebank_files,
    unpunctuated,
)
from spacy_punct.reading.gold import (
    first_opener,
    gold_examples,
    gold_slots,
    gold_spaces,
    has_gold,
    set_gold,
)
from spacy_punct.reading.pieces import joined_slots
from spacy_punct.reading.sentences import MARKS
from spacy_punct.text.writer import Spacing, Writer

Batcher = Callable[[Iterable[Example]], Iterable[list[Example]]]
Reader = Callable[[Language], Iterator[Example]]

_PLACE = "spacy_punct.place"
"""Key of the number of a sentence in its corpus."""

_HIDDEN = "_"
"""The norm of words that were misheard."""


def create_corpus(
    path: Path,
    gold_trees: bool = True,
    limit: int = 0,
    parsed: Path | None = None,
    sentences: bool = True,
    join: int = 1,
    lower: float = 0.0,
    seed: int = 0,
) -> Reader:
    """A reader of depunctuated treebanks, `spacy_punct.Corpus.v1`.

    Each pass gives the same examples. Training data is best read plainly, and joined,
    lower-cased and so on by the batcher: see `create_batcher`.

    path (Path): A CoNLL-U file, a DocBin made by `punct convert`, or a folder of
        such files.
    gold_trees (bool): Whether the predicted Docs have the treebank's trees and
        parts of speech, for pipelines without a parser.
    limit (int): How many sentences to read at most; 0 for all.
    parsed (Path | None): A DocBin made by `punct jackknife` of the same sentences:
        the predicted Docs have its trees and parts of speech.
    sentences (bool): Whether predicted Docs without trees know their sentences.
    join (int), lower (float): See `create_batcher`; for development data.
    seed (int): Seed of what is random.
    RETURNS (Reader): Called with the pipeline, it gives examples: words on both sides,
        punctuation on the reference.
    """
    plain = _Corpus(path, parsed, gold_trees, sentences, limit)
    return _drawing(plain, Draws(join=join, lower=lower), seed)


def create_correction_corpus(
    path: Path,
    gold_trees: bool = True,
    limit: int = 0,
    parsed: Path | None = None,
    rates: dict[str, float] | None = None,
    seed: int = 0,
) -> Reader:
    """A reader of treebanks that makes errors in their punctuation,
    `spacy_punct.CorrectionCorpus.v1`.

    Each pass has the same errors, as development data should. To train with other
    errors in each epoch, use `spacy_punct.Corpus.v1` and let the batcher make them.

    path (Path), gold_trees (bool), limit (int), parsed (Path | None): See
        `create_corpus`.
    rates (dict[str, float] | None): How often each error is made, where not by
        default: see `NoiseRates.from_settings`.
    seed (int): Seed of what is random.
    RETURNS (Reader): Called with the pipeline, it gives examples: Docs with errors, as
        tokens, on both sides, and the true punctuation on the reference.
    """
    plain = _Corpus(path, parsed, gold_trees, True, limit)
    return _drawing(plain, Draws(rates=NoiseRates.from_settings(rates)), seed)


def create_batcher(
    batcher: Batcher,
    gold_share: float = 0.0,
    join: int = 1,
    lower: float = 0.0,
    noise: float = 0.0,
    errors: bool = False,
    rates: dict[str, float] | None = None,
    seed: int = 0,
) -> Batcher:
    """A batcher that changes examples in another way in each epoch,
    `spacy_punct.drawing_batcher.v1`.

    batcher (Batcher): What makes batches of the changed examples.
    gold_share (float): The share of examples whose predicted trees are replaced by
        those of the reference.
    join (int): How many sentences that follow each other make a Doc at most; each
        Doc has a random number of them.
    lower (float): The share of predicted Docs that lose their capitals.
    noise (float): The share of predicted words whose norm is hidden, as if they had
        been misheard.
    errors (bool): Whether the Docs get marks as tokens, with errors, for a corrector.
    rates (dict[str, float] | None): How often each error is made, where not by
        default: see `NoiseRates.from_settings`.
    seed (int): Seed of what is random.
    RETURNS (Batcher): To be called with the examples of `create_corpus`, once for each
        epoch.
    """
    errors_made = NoiseRates.from_settings(rates) if errors else None
    draws = Draws(gold_share, join, lower, noise, errors_made)
    return _DrawingBatcher(batcher, draws, seed)


@dataclass(frozen=True)
class Draws:
    """What is random about examples: see `create_batcher`.

    rates (NoiseRates | None): How often errors are made; None for none at all.
    """

    gold_share: float = 0.0
    join: int = 1
    lower: float = 0.0
    noise: float = 0.0
    rates: NoiseRates | None = None

    def __post_init__(self) -> None:
        check_range("join", self.join, 1)
        for name in ("gold_share", "lower", "noise"):
            check_range(name, getattr(self, name), 0, 1, inclusive=True)

    def __call__(
        self, examples: Sequence[Example], rng: random.Random
    ) -> Iterator[Example]:
        """Draw once.

        examples (Sequence[Example]): Those of a plain corpus, in the order in which
            they are wanted. If sentences are joined, those that follow each other in
            the corpus are.
        rng (random.Random): What is random.
        YIELDS (Example): New examples.
        """
        if self.join == 1:
            for example in examples:
                yield self._drawn([example], rng)
            return
        ordered = sorted(examples, key=lambda example: _place(example.reference))
        groups: list[list[Example]] = []
        rest = iter(ordered)
        while group := list(islice(rest, rng.randint(1, self.join))):
            groups.append(group)
        if ordered != list(examples):
            rng.shuffle(groups)
        for group in groups:
            yield self._drawn(group, rng)

    def _drawn(self, group: Sequence[Example], rng: random.Random) -> Example:
        reference = joined([example.reference for example in group])
        docs = [example.predicted for example in group]
        source = None
        if docs[0].has_annotation("DEP"):
            is_gold = rng.random() < self.gold_share
            source = reference if is_gold else joined(docs)
        predicted = unpunctuated(
            reference,
            source,
            sentences=all(doc.has_annotation("SENT_START") for doc in docs),
            lower=rng.random() < self.lower,
        )
        for token in predicted:
            if self.noise and rng.random() < self.noise:
                token.norm_ = _HIDDEN
        if self.rates is None:
            return Example(predicted, reference)
        truth = gold_examples(Example(reference, reference), "the reader")
        written = [
            with_noise(
                tree.slots,
                noisy_slots(tree, self.rates, rng, goes_on=tree is not truth[-1]),
            )
            for tree in truth
        ]
        slots = tuple(joined_slots(written))
        writer = Writer(Spacing(reference.vocab.lang or ""))
        predicted = _run_together(predicted, list(_run_on(truth, written)), rng)
        return Example(
            with_marks(predicted, slots, writer), with_marks(reference, slots, writer)
        )


def _run_on(truth: Sequence[PunctuatedTree], written: Sequence[Slots]) -> Iterator[int]:
    """The words that begin a sentence although the one before has lost its end mark."""
    start = 0
    for tree, slots in zip(truth[:-1], written[:-1], strict=True):
        start += len(tree.tree)
        if TERMINALS.isdisjoint(slots[-1]) and not TERMINALS.isdisjoint(tree.slots[-1]):
            yield start


def _run_together(doc: Doc, starts: Sequence[int], rng: random.Random) -> Doc:
    """A Doc with sentences that are written as if they went on.

    Such a sentence begins without a capital, unless its first word is a name or `I`.
    In half of them nobody sees that it begins: its root hangs on the one before.

    doc (Doc): The words.
    starts (Sequence[int]): Where the sentences begin.
    rng (random.Random): Decides.
    RETURNS (Doc): The Doc.
    """
    if not starts:
        return doc
    hidden = {start for start in starts if rng.random() < 0.5}
    annotation: dict[str, Any] = {}
    if doc.has_annotation("DEP"):
        roots = {doc[i].sent.root.i: doc[i - 1].sent.root.i for i in hidden}
        annotation["heads"] = [roots.get(token.i, token.head.i) for token in doc]
        annotation["deps"] = [
            "parataxis" if token.i in roots else token.dep_ for token in doc
        ]
        annotation["pos"] = [token.pos_ for token in doc]
    else:
        annotation["sent_starts"] = [
            bool(token.is_sent_start) and token.i not in hidden for token in doc
        ]
    kept = {i for i in starts if doc[i].pos_ == "PROPN" or doc[i].text[:1] == "I"}
    small = set(starts) - kept
    together = Doc(
        doc.vocab,
        words=[token.lower_ if token.i in small else token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        user_data=doc.user_data,
        **annotation,
    )
    for token, other in zip(doc, together, strict=True):
        if token.norm != token.lex.norm:
            other.norm_ = token.norm_
    return together


class _DrawingBatcher:
    """See `create_batcher`. It counts epochs, so that each is random in its own way."""

    def __init__(self, batcher: Batcher, draws: Draws, seed: int) -> None:
        self._batcher, self._draws, self._seed = batcher, draws, seed
        self._epoch = 0

    def __call__(self, examples: Iterable[Example]) -> Iterable[list[Example]]:
        rng = random.Random(f"{self._seed} {self._epoch}")
        self._epoch += 1
        return self._batcher(self._draws(list(examples), rng))


def _drawing(corpus: "_Corpus", draws: Draws, seed: int) -> Reader:
    """A reader that draws the same at each pass."""
    if draws == Draws():
        return corpus
    return lambda nlp: draws(list(corpus(nlp)), random.Random(seed))


def _place(reference: Doc) -> int:
    return reference.user_data[_PLACE]


class _Corpus:
    """See `create_corpus`. Files are read once for each vocabulary."""

    def __init__(
        self,
        path: Path,
        parsed: Path | None,
        gold_trees: bool,
        sentences: bool,
        limit: int,
    ) -> None:
        check_range("limit", limit, 0)
        self._paths = treebank_files(Path(path), SUFFIXES)
        self._parsed_paths: list[Path] = []
        if parsed is not None:
            self._parsed_paths = treebank_files(Path(parsed), (".spacy",))
        self._gold_trees = gold_trees
        self._sentences = sentences
        self._limit = limit
        self._docs: list[Doc] = []
        self._sources: list[Doc] = []

    def __call__(self, nlp: Language) -> Iterator[Example]:
        if not self._docs or self._docs[0].vocab is not nlp.vocab:
            self._read(nlp.vocab)
        for i, reference in enumerate(self._docs):
            source = self._sources[i] if self._sources else None
            doc = unpunctuated(reference, source, sentences=self._sentences)
            yield Example(doc, reference)

    def _read(self, vocab: Vocab) -> None:
        self._docs = self._read_files(self._paths, vocab)
        if not self._docs:
            raise PunctError(Errors.P020)
        for i, doc in enumerate(self._docs):
            doc.user_data[_PLACE] = i
        self._sources = self._docs if self._gold_trees else []
        if not self._parsed_paths:
            return
        self._sources = self._read_files(self._parsed_paths, vocab)
        texts, expected = (
            [[token.lower_ for token in doc] for doc in docs]
            for docs in (self._sources, self._docs)
        )
        if texts != expected:
            raise PunctError(
                Errors.P066.format(
                    path=self._parsed_paths[0], n=len(texts), expected=len(expected)
                )
            )

    def _read_files(self, paths: Sequence[Path], vocab: Vocab) -> list[Doc]:
        docs = chain.from_iterable(read_docs(path, vocab) for path in paths)
        return list(islice(docs, self._limit or None))


class _Token(NamedTuple):
    """A token to be: its text, the space after it, the mark it is (empty for a word)
    and the word it is or hangs on."""

    text: str
    space: bool
    mark: str
    word: int


def with_marks(doc: Doc, slots: Slots, writer: Writer) -> Doc:
    """A Doc of words with marks between them, as tokens.

    Marks hang on the word before them, openers on the one after. The true marks of
    the Doc stay what they are.

    doc (Doc): The words, with or without a tree.
    slots (Slots): The marks to be written: `n + 1` strings for `n` words.
    writer (Writer): How they are written.
    RETURNS (Doc): A new Doc, which knows its marks.
    """
    tokens = _tokens([token.text for token in doc], slots, writer)
    place = {token.word: k for k, token in enumerate(tokens) if not token.mark}
    words = [doc[token.word] for token in tokens]
    annotation: dict[str, Any] = {}
    if doc.has_annotation("DEP"):
        annotation["heads"] = [
            place[token.word] if token.mark else place[word.head.i]
            for token, word in zip(tokens, words, strict=True)
        ]
        annotation["deps"] = [
            "punct" if token.mark else word.dep_
            for token, word in zip(tokens, words, strict=True)
        ]
    elif doc.has_annotation("SENT_START"):
        starts = {token.i for token in doc if token.is_sent_start}
        annotation["sent_starts"] = [
            token.word in starts and (k == 0 or tokens[k - 1].word != token.word)
            for k, token in enumerate(tokens)
        ]
    if doc.has_annotation("POS"):
        annotation["pos"] = [
            "PUNCT" if token.mark else word.pos_
            for token, word in zip(tokens, words, strict=True)
        ]
    marked = Doc(
        doc.vocab,
        words=[token.text for token in tokens],
        spaces=[token.space for token in tokens],
        user_data={MARKS: [token.mark for token in tokens]},
        **annotation,
    )
    for k, word in enumerate(words):
        if not tokens[k].mark and word.norm != word.lex.norm:
            marked[k].norm_ = word.norm_
    if has_gold(doc):
        set_gold(marked, gold_slots(doc), gold_spaces(doc))
    return marked


def _tokens(words: Sequence[str], slots: Slots, writer: Writer) -> list[_Token]:
    pieces = writer.write(words, slots)
    marks = [_owned(slot, i) for i, slot in enumerate(slots)]
    waiting = [mark for found in marks for mark in found]
    tokens: list[_Token] = []
    for piece in pieces:
        if piece.source is not None:
            tokens.append(_Token(piece.text, bool(piece.space), "", piece.source))
            continue
        mark, word = waiting.pop(0)
        if mark == ABBREVIATION_DOT:
            text = tokens[-1].text + piece.text
            tokens[-1] = tokens[-1]._replace(text=text, space=bool(piece.space))
        else:
            word = min(word, len(words) - 1)
            tokens.append(_Token(piece.text, bool(piece.space), mark, word))
    return tokens


def _owned(slot: Puncteme, i: int) -> list[tuple[str, int]]:
    """The marks of a slot, with the word that each hangs on."""
    first = first_opener(slot)
    return [(mark, i if k >= first or not i else i - 1) for k, mark in enumerate(slot)]
