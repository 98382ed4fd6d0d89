"""The component `punctuation_restorer`."""

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np
import srsly
from spacy import registry, util
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, set_dropout_rate
from thinc.types import Floats2d

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import UNK
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError, Warnings, check_range
from spacy_punct.model.channel import DIRECTIONS, Channel, Direction
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inventory import EMPTY, Pair
from spacy_punct.model.mbr import best_by_slot, restricted
from spacy_punct.model.model import PunctuationModel, batched
from spacy_punct.pipeline.attributes import PIECES, register_attributes
from spacy_punct.pipeline.gold import gold_examples, has_gold, is_comparable
from spacy_punct.pipeline.processes import survive_forks
from spacy_punct.pipeline.trees import ParsedSentence, parsed_sentences
from spacy_punct.pipeline.writing import (
    RestoredSentence,
    without_second_dots,
    write_pieces,
)
from spacy_punct.text.casing import CASINGS, Casing
from spacy_punct.text.glyphs import QUOTES, Quotes
from spacy_punct.text.spacing import NO_SPACES, Spacing
from spacy_punct.text.writer import Writer

Existing = Literal["replace", "keep", "error"]
EXISTING: tuple[Existing, ...] = ("replace", "keep", "error")

_CLEARNLP = frozenset({"acomp", "attr", "npadvmod", "pcomp", "pobj", "prep", "relcl"})
"""Labels of the common English pipelines that no version of UD has."""

_BEAM = 32
"""Bounds the search for the underlying tree; ordinary sentences do not reach it."""

_BATCH = 256
"""Sentences scored together: a text may have thousands."""

_READ_TOGETHER = 128
"""Docs that a tok2vec reads at once."""

_RIGHT_TO_LEFT = frozenset({"en"})
"""Languages whose channel the paper found to slide from right to left."""


class PunctuationRestorer(TrainablePipe):
    """Restores the punctuation of parsed Docs.

    vocab (Vocab): The shared vocabulary.
    model (Model): One of the project's architectures.
    name (str): The component's name in the pipeline.
    n_samples (int): Samples a sentence; 0 for marginals without randomness, except
        that what is restored beside kept marks is always sampled, 1,000 times then.
    prune (float): Without samples, hypotheses less probable than the best one by this
        factor are dropped.
    max_hypotheses (int): Without samples, how many of them a constituent keeps.
    seed (int): With the words of a sentence, what its samples depend on.
    direction (Direction | None): Which way the channel slides; None for right to
        left in English and left to right elsewhere. It is fixed by training.
    marks (list[str] | None): The marks that may be written; None for all.
    existing (Existing): What to do with punctuation that is there: take it away and
        restore, keep it and restore the rest given it, or raise an error.
    casing (Casing): Whether to capitalise sentences, and words as a truecaser before
        this component says; "auto" if there is no capital.
    quotes (Quotes): How quotes are written.
    l2 (float): ς, pulls ATTACH's weights to where they started.
    unmatched_weight (float): ξ, discourages brackets without a partner.
    squared (bool): Whether ξ weighs the square of their expected count.
    scorer (Callable | None): The scoring method.
    architecture (dict | None): How to make a model like this one, if the config of
        the pipeline does not say. It is stored with the weights.
    spacing (Spacing | None): What goes with a trained model; None for the language's.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "punctuation_restorer",
        *,
        n_samples: int = 1000,
        prune: float = 1e-3,
        max_hypotheses: int = 32,
        seed: int = 0,
        direction: Direction | None = None,
        marks: list[str] | None = None,
        existing: Existing = "replace",
        casing: Casing = "auto",
        quotes: Quotes = "straight",
        l2: float = 1e-4,
        unmatched_weight: float = 0.03,
        squared: bool = True,
        scorer: Callable | None = None,
        architecture: dict[str, Any] | None = None,
        spacing: Spacing | None = None,
    ) -> None:
        for setting, value in {
            "n_samples": n_samples,
            "seed": seed,
            "l2": l2,
            "unmatched_weight": unmatched_weight,
        }.items():
            check_range(setting, value, 0)
        check_range("prune", prune, 0, 1)
        check_range("max_hypotheses", max_hypotheses, 1)
        for setting, value, choices in (
            ("direction", direction, (None, *DIRECTIONS)),
            ("existing", existing, EXISTING),
            ("casing", casing, CASINGS),
            ("quotes", quotes, QUOTES),
        ):
            if value not in choices:
                raise PunctError(
                    Errors.P046.format(
                        name=setting,
                        value=value,
                        choices=", ".join(map(str, choices)),
                        component=name,
                    )
                )
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.cfg: dict[str, Any] = {
            "n_samples": n_samples,
            "prune": prune,
            "max_hypotheses": max_hypotheses,
            "seed": seed,
            "direction": direction,
            "marks": marks,
            "existing": existing,
            "casing": casing,
            "quotes": quotes,
        }
        self._training = {
            "l2": l2,
            "unmatched_weight": unmatched_weight,
            "squared": squared,
            "seed": seed,
        }
        model.attrs.update(self._training)
        self.architecture = architecture
        self.spacing = spacing or Spacing(vocab.lang or "")
        self._warned: set[str] = set()
        register_attributes()
        survive_forks()

    # What the model says

    @property
    def punctuation(self) -> PunctuationModel:
        """The trained model."""
        built = self.model.shims[0].model
        if built is None:
            raise PunctError(Errors.P044.format(name=self.name))
        return built

    @property
    def channel(self) -> Channel:
        """NOISYCHANNEL, to be asked how it rewrites marks."""
        return self.punctuation.channel

    @property
    def labels(self) -> tuple[str, ...]:
        """The marks the model knows."""
        built = self.model.shims[0].model
        if built is None:
            return ()
        return tuple(mark for mark in built.inventory.marks[1:] if mark != UNK)

    def distribution(self, doc: Doc | Span) -> Distribution:
        """The model of one sentence, as a probability distribution.

        doc (Doc | Span): A parsed sentence.
        RETURNS (Distribution): See `spacy_punct.model.Distribution`.
        """
        # The words of a sentence are read in the context of the whole Doc.
        (vectors,) = self._vectors([doc.doc])
        if isinstance(doc, Span):
            vectors = None if vectors is None else vectors[doc.start : doc.end]
            doc = doc.as_doc(copy_user_data=True)
        sentences = parsed_sentences(doc, self.name, vectors)
        if len(sentences) != 1:
            raise PunctError(Errors.P048.format(n=len(sentences)))
        return self.punctuation.distribution(sentences[0].tree)

    def examples(self, examples: Iterable[Example]) -> list[PunctuatedTree]:
        """The trees of examples as the model sees them, with true punctuation.

        examples (Iterable[Example]): Trees on the predicted side.
        RETURNS (list[PunctuatedTree]): One for each sentence, projective.
        """
        examples = list(examples)
        rows = self._vectors([example.predicted for example in examples])
        return [
            found
            for example, vectors in zip(examples, rows, strict=True)
            for found in gold_examples(example, self.name, vectors)
        ]

    def _read(self, docs: Sequence[Doc]) -> list[list[ParsedSentence]]:
        """The sentences of each Doc."""
        return [
            parsed_sentences(doc, self.name, vectors)
            for doc, vectors in zip(docs, self._vectors(docs), strict=True)
        ]

    def _vectors(self, docs: Sequence[Doc]) -> Sequence[Floats2d | None]:
        """The words of each Doc as vectors, if the model wants them."""
        if not self.model.has_ref("tok2vec"):
            return [None] * len(docs)
        self.punctuation  # noqa: B018 - it raises if there is none
        tok2vec = self.model.get_ref("tok2vec")
        rows: list[Floats2d | None] = []
        for batch in batched(docs, _READ_TOGETHER):
            # There are tok2vecs that cannot read nothing at all.
            read = tok2vec.predict(batch) if any(map(len, batch)) else None
            rows += map(tok2vec.ops.to_numpy, read) if read else [None] * len(batch)
        return rows

    # Restoring

    def __call__(self, doc: Doc) -> Doc:
        register_attributes()
        return super().__call__(doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        register_attributes()
        yield from super().pipe(stream, batch_size=batch_size)

    def predict(self, docs: Iterable[Doc]) -> list[list[RestoredSentence]]:
        """Restore the sentences of Docs, without changing them.

        docs (Iterable[Doc]): Parsed Docs.
        RETURNS (list[list[RestoredSentence]]): For each Doc its sentences.
        """
        docs = list(docs)
        by_doc = self._read(docs)
        sentences = list(chain.from_iterable(by_doc))
        if not sentences:
            return [[] for _ in docs]
        self._check(sentences)
        allowed = self._allowed()
        trees = [sentence.tree for sentence in sentences]
        distributions = chain.from_iterable(
            map(self.punctuation.distributions, batched(trees, _BATCH))
        )
        return [
            [self._restore(s, next(distributions), allowed) for s in found]
            for found in by_doc
        ]

    def _restore(
        self,
        sentence: ParsedSentence,
        distribution: Distribution,
        allowed: frozenset[str],
    ) -> RestoredSentence:
        words = sentence.texts
        inventory = self.punctuation.inventory
        fixed = self._fixed(sentence)
        observed = None
        if self.cfg["existing"] == "keep":
            observed = [
                None if slot is None else inventory.known((slot,))[0] for slot in fixed
            ]
        marginals = distribution.marginals(
            self.cfg["n_samples"],
            self._seed(words),
            observed=observed,
            prune=self.cfg["prune"],
            max_hypotheses=self.cfg["max_hypotheses"],
        )
        marginals = [restricted(marginal, allowed) for marginal in marginals]
        best = best_by_slot(marginals)
        confidence = tuple(
            1.0 if kept is not None else marginal.get(slot, 0.0)
            for kept, marginal, slot in zip(fixed, marginals, best, strict=True)
        )
        surface = inventory.known(_filled(fixed, best))
        pairs = _underlying(distribution, surface)
        slots = _filled(fixed, without_second_dots(words, best))
        kept = tuple(slot is not None for slot in fixed)
        return RestoredSentence(sentence, slots, kept, confidence, pairs)

    def _fixed(self, sentence: ParsedSentence) -> list[Puncteme | None]:
        """The slots that are not to be restored: parts of words, and what is kept."""
        keep = self.cfg["existing"] == "keep"
        has_spaces = self.spacing.language not in NO_SPACES
        return [
            marks
            if (keep and marks) or (has_spaces and sentence.is_spelling(i))
            else None
            for i, marks in enumerate(sentence.marks)
        ]

    def _seed(self, words: Sequence[str]) -> list[int]:
        """A seed that depends on nothing but the sentence and the setting."""
        return [self.cfg["seed"], zlib.crc32("\n".join(words).encode("utf8"))]

    def _allowed(self) -> frozenset[str]:
        wanted = self.cfg["marks"]
        if wanted is None:
            return frozenset(self.labels)
        unknown = sorted(set(wanted) - set(self.labels))
        if unknown:
            raise PunctError(
                Errors.P047.format(
                    component=self.name,
                    unknown=" ".join(unknown),
                    known=" ".join(self.labels),
                )
            )
        return frozenset(wanted)

    def _check(self, sentences: Sequence[ParsedSentence]) -> None:
        """Raise or warn about input that cannot or should not be restored."""
        if self.cfg["existing"] == "error":
            for sentence in sentences:
                for (slot, _), glyph in sentence.glyphs.items():
                    if not sentence.is_spelling(slot):
                        words = sentence.tree.words
                        where = f"after '{words[slot - 1]}'" if slot else "at the start"
                        raise PunctError(Errors.P045.format(mark=glyph, where=where))
        found = {d for sentence in sentences for d in sentence.tree.relations}
        foreign = (found & _CLEARNLP) - set(self.punctuation.inventory.relations)
        if foreign:
            self._warn(Warnings.W001.format(labels=", ".join(sorted(foreign))))
        if all(tag == "X" for sentence in sentences for tag in sentence.tree.tags):
            self._warn(Warnings.W002.format(name=self.name))

    def _warn(self, message: str) -> None:
        """Warn once of each kind of trouble."""
        code = message.partition("]")[0]
        if code not in self._warned:
            self._warned.add(code)
            warnings.warn(message, stacklevel=2)

    def set_annotations(
        self, docs: Iterable[Doc], scores: Iterable[Sequence[RestoredSentence]]
    ) -> None:
        """Write what `predict` found to the extension attributes."""
        writer = Writer(self.spacing, self.cfg["quotes"])
        for doc, sentences in zip(docs, scores, strict=True):
            pieces = write_pieces(doc, sentences, writer, self.cfg["casing"])
            doc.user_data[PIECES] = pieces
            doc._.restored_text = "".join(text + space for text, space, *_ in pieces)
            for key in [k for k in doc.user_data if _is_puncteme(k)]:
                del doc.user_data[key]
            slots, confidence = _joined(sentences)
            doc._.restored_slots = [list(slot) for slot in slots]
            doc._.restored_confidence = confidence
            for sentence in sentences:
                for i, (left, right) in zip(
                    sentence.source.positions, sentence.pairs, strict=True
                ):
                    if left:
                        doc[i]._.left_puncteme = list(left)
                    if right:
                        doc[i]._.right_puncteme = list(right)

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Any = None,
    ) -> None:
        """Read marks, punctemes, features and spacing off the training data.

        Weights that came with the package are given up: training starts anew.

        get_examples (Callable): Gives examples whose references have trees and
            punctuation, as the reader `spacy_punct.Corpus.v1` does.
        nlp (Language | None): The pipeline.
        labels: Not used: what the model needs is more than labels.
        """
        validate_get_examples(get_examples, "PunctuationRestorer.initialize")
        direction = self.cfg["direction"]
        if direction is None:
            is_reversed = self.vocab.lang in _RIGHT_TO_LEFT
            direction = "right-to-left" if is_reversed else "left-to-right"
        references = [example.reference for example in get_examples()]
        examples = [Example(reference, reference) for reference in references]
        known = [t for example in examples for t in gold_examples(example, self.name)]
        if not known:
            raise PunctError(Errors.P020)
        if self.architecture is not None:
            self._build(self.architecture)
        self.model.attrs["direction"] = direction
        self.spacing = Spacing.learn(self.vocab.lang or "", known)
        self.model.initialize(X=examples)

    def _build(self, architecture: dict[str, Any]) -> None:
        """Begin with a new model."""
        self.architecture = architecture
        self.model = registry.resolve({"model": architecture})["model"]
        self.model.attrs.update(self._training)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch of examples.

        examples (Iterable[Example]): Trees on the predicted side, punctuation on
            the reference.
        drop (float): Dropout of a tok2vec of its own. For the rest of the model the
            architecture has settings.
        sgd (Optimizer | None): The optimizer, if weights are to change now.
        losses (dict[str, float] | None): Where to add the loss.
        RETURNS (dict[str, float]): The losses.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "PunctuationRestorer.update")
        if all(token.is_space for example in examples for token in example.x):
            return losses
        self.punctuation  # noqa: B018 - it raises if there is none
        set_dropout_rate(self.model, drop)
        found, backprop = self.model.begin_update(examples)
        if not np.isfinite(found.objective):
            raise PunctError(Errors.P026.format(loss=found.objective, step="this"))
        backprop()
        if sgd is not None:
            self.finish_update(sgd)
        losses[self.name] -= found.objective
        return losses

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's scores, and those of the true punctuation on the trees given:
        `punct_ppl`, perplexity a slot, and `punct_prob`, its inverse (the more the
        better).

        examples (Iterable[Example]): Examples, restored.
        RETURNS (dict[str, Any]): The scores; none if there is no true punctuation.
        """
        examples = [example for example in examples if has_gold(example.reference)]
        if not examples:
            return {}
        scores = super().score(examples, **kwargs)
        same = [example for example in examples if is_comparable(example) and example.x]
        if same:
            perplexity = self.punctuation.perplexity(self.examples(same))
            scores |= {"punct_ppl": perplexity, "punct_prob": 1 / perplexity}
        return scores

    # Storage

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model and the spacing as bytes."""
        parts = {
            "model": self.model.to_bytes,
            "spacing": lambda: srsly.msgpack_dumps(self.spacing.to_data()),
        }
        if self.architecture is not None:
            parts["architecture"] = lambda: srsly.json_dumps(self.architecture)
        return util.to_bytes(parts, exclude)

    def from_bytes(
        self, data: bytes, *, exclude: Iterable[str] = ()
    ) -> "PunctuationRestorer":
        """Load what `to_bytes` gave."""
        parts = {
            "architecture": self._architecture_from_json,
            "model": self._model_from_bytes,
            "spacing": self._spacing_from_bytes,
        }
        util.from_bytes(data, parts, exclude)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model and the spacing to a folder."""
        parts = {
            "model": lambda p: p.write_bytes(self.model.to_bytes()),
            "spacing": lambda p: p.write_bytes(
                srsly.msgpack_dumps(self.spacing.to_data())
            ),
        }
        if self.architecture is not None:
            parts["architecture"] = lambda p: srsly.write_json(p, self.architecture)
        util.to_disk(util.ensure_path(path), parts, exclude)

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> "PunctuationRestorer":
        """Read what `to_disk` wrote."""
        parts = {
            "architecture": self._architecture_from_disk,
            "model": lambda p: self._model_from_bytes(p.read_bytes()),
            "spacing": lambda p: self._spacing_from_bytes(p.read_bytes()),
        }
        util.from_disk(util.ensure_path(path), parts, exclude)
        return self

    def _architecture_from_disk(self, path: Path) -> None:
        if path.exists():
            self._architecture_from_json(path.read_text("utf-8"))

    def _architecture_from_json(self, data: str) -> None:
        try:
            self._build(srsly.json_loads(data))
        except Exception as error:
            message = Errors.P031.format(path=self.name, reason=error)
            raise PunctError(message) from None

    def _model_from_bytes(self, data: bytes) -> None:
        # Settings come from the config, which may differ from what was stored.
        attrs = dict(self.model.attrs)
        try:
            self.model.from_bytes(data)
        except PunctError:
            raise
        except Exception as error:  # a damaged file may fail in any way
            message = Errors.P031.format(path=self.name, reason=error)
            raise PunctError(message) from None
        self.model.attrs.update(attrs)
        if (built := self.model.shims[0].model) is not None:
            self.cfg["direction"] = built.direction

    def _spacing_from_bytes(self, data: bytes) -> None:
        try:
            self.spacing = Spacing.from_data(srsly.msgpack_loads(data))
        except Exception as error:
            message = Errors.P031.format(path=self.name, reason=error)
            raise PunctError(message) from None


def _underlying(distribution: Distribution, surface: Slots) -> Sequence[Pair]:
    """The best underlying pairs. None at all if the surface cannot come from strings
    of the inventory, as what people wrote and what is best slot by slot may not."""
    try:
        return distribution.viterbi(surface, beam=_BEAM)
    except PunctError as error:
        if str(error) != Errors.P029:
            raise
        return ((EMPTY, EMPTY),) * (len(surface) - 1)


def _is_puncteme(key: Any) -> bool:
    """Whether a key of `Doc.user_data` is of a token's puncteme."""
    return (
        isinstance(key, tuple)
        and key[:1] == ("._.",)
        and key[1] in ("left_puncteme", "right_puncteme")
    )


def _filled(fixed: Sequence[Puncteme | None], slots: Slots) -> Slots:
    """The slots, but for those that are fixed."""
    return tuple(
        slot if kept is None else kept for kept, slot in zip(fixed, slots, strict=True)
    )


def _joined(
    sentences: Sequence[RestoredSentence],
) -> tuple[list[Puncteme], list[float]]:
    """The slots of a text: where two sentences meet, those of both."""
    slots: list[Puncteme] = [()]
    confidence: list[float] = [1.0]
    for sentence in sentences:
        slots[-1] += sentence.slots[0]
        confidence[-1] *= sentence.confidence[0]
        slots += sentence.slots[1:]
        confidence += sentence.confidence[1:]
    return slots, confidence
