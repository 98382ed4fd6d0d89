"""What the restorer and the corrector have in common: a model of punctuation, its
training and its storage."""

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

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
from spacy_punct.errors import (
    Errors,
    ImpossibleSurfaceError,
    PunctError,
    Warnings,
    check_range,
)
from spacy_punct.model.channel import DIRECTIONS, Channel
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inventory import EMPTY, Pair
from spacy_punct.model.punctuation import PunctuationModel, batched
from spacy_punct.pipe.processes import survive_forks
from spacy_punct.reading.attributes import register_attributes
from spacy_punct.reading.gold import gold_examples, has_gold
from spacy_punct.reading.sentences import ParsedSentence, parsed_sentences
from spacy_punct.text.spacing import Spacing

T = TypeVar("T")

_CLEARNLP = frozenset({"acomp", "attr", "npadvmod", "pcomp", "pobj", "prep", "relcl"})
"""Labels of the common English pipelines that no version of UD has."""

_BEAM = 32
"""Bounds the search for the underlying tree; ordinary sentences do not reach it."""

_LONGEST_SLOT = 16
"""Of slots with more marks nobody asks who put them there."""

_BATCH = 256
"""Sentences scored together: a text may have thousands."""

_READ_TOGETHER = 128
"""Docs that a tok2vec reads at once."""

_RIGHT_TO_LEFT = frozenset({"en"})
"""Languages whose channel the paper found to slide from right to left."""


class PunctuationPipe(TrainablePipe):
    """A component with a model of punctuation.

    vocab (Vocab): The shared vocabulary.
    model (Model): One of the project's architectures.
    name (str): The component's name in the pipeline.
    cfg (dict[str, Any]): The settings that may change at any time. Among them are
        `n_samples`, `prune`, `max_hypotheses`, `seed` and `direction`.
    training (dict[str, Any]): The settings of training: `l2`, `unmatched_weight` and
        `squared`.
    scorer (Callable | None): The scoring method.
    architecture (dict | None): How to make a model like this one, if the config of
        the pipeline does not say. It is stored with the weights.
    spacing (Spacing | None): What goes with a trained model; None for the language's.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str,
        cfg: dict[str, Any],
        training: dict[str, Any],
        *,
        scorer: Callable | None,
        architecture: dict[str, Any] | None,
        spacing: Spacing | None,
    ) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.cfg: dict[str, Any] = cfg
        for setting in ("n_samples", "seed"):
            check_range(setting, cfg[setting], 0)
        for setting in ("l2", "unmatched_weight"):
            check_range(setting, training[setting], 0)
        check_range("prune", cfg["prune"], 0, 1)
        check_range("max_hypotheses", cfg["max_hypotheses"], 1)
        self._check_choice("direction", (None, *DIRECTIONS))
        self._training = {**training, "seed": cfg["seed"]}
        model.attrs.update(self._training)
        self.architecture = architecture
        self.spacing = spacing or Spacing(vocab.lang or "")
        self._warned: set[str] = set()
        register_attributes()
        survive_forks()

    def _check_choice(self, setting: str, choices: Sequence[str | None]) -> None:
        if (value := self.cfg[setting]) not in choices:
            raise PunctError(
                Errors.P046.format(
                    name=setting,
                    value=value,
                    choices=", ".join(map(str, choices)),
                    component=self.name,
                )
            )

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

    def explain(
        self, doc: Doc, *, symmetry: float = 0.0
    ) -> list[tuple[ParsedSentence, Sequence[Pair]]]:
        """The best underlying punctemes behind the punctuation that a Doc has.

        doc (Doc): A parsed Doc.
        symmetry (float): See `spacy_punct.model.Distribution.symmetric`.
        RETURNS (list[tuple[ParsedSentence, Sequence[Pair]]]): Its sentences, and the
            left and right puncteme of each of their words.
        """
        (sentences,) = self.read([doc])
        known = self.punctuation.inventory.known
        return [
            (
                sentence,
                underlying(found.symmetric(symmetry), known(sentence.tree.observed)),
            )
            for sentence, found in zip(
                sentences, self._distributions(sentences), strict=True
            )
        ]

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

    def read(self, docs: Sequence[Doc]) -> list[list[ParsedSentence]]:
        """The sentences of each Doc, with the trees that the model is given."""
        return [
            parsed_sentences(doc, self.name, vectors)
            for doc, vectors in zip(docs, self._vectors(docs), strict=True)
        ]

    def _distributions(
        self, sentences: Sequence[ParsedSentence]
    ) -> Iterator[Distribution]:
        """The model of each sentence."""
        if not sentences:
            return
        self._check(sentences)
        trees = [sentence.tree for sentence in sentences]
        for batch in batched(trees, _BATCH):
            yield from self.punctuation.distributions(batch)

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

    # Annotating

    def __call__(self, doc: Doc) -> Doc:
        register_attributes()
        return super().__call__(doc)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        register_attributes()
        yield from super().pipe(stream, batch_size=batch_size)

    def predict(self, docs: Iterable[Doc]) -> list[list[Any]]:
        """What the model says of the sentences of Docs, which stay as they are.

        docs (Iterable[Doc]): Parsed Docs.
        RETURNS (list[list[Any]]): For each Doc, an answer for each sentence.
        """
        docs = list(docs)
        by_doc = self.read(docs)
        sentences = list(chain.from_iterable(by_doc))
        distributions = self._distributions(sentences)
        return [
            [self._answer(sentence, next(distributions)) for sentence in found]
            for found in by_doc
        ]

    def _answer(self, sentence: ParsedSentence, distribution: Distribution) -> Any:
        """What to do with a sentence."""
        raise NotImplementedError

    def _marginals(
        self,
        sentence: ParsedSentence,
        distribution: Distribution,
        observed: Sequence[Puncteme | None] | None = None,
    ) -> list[dict[Puncteme, float]]:
        """What may stand in each slot, as the settings want it computed."""
        return distribution.marginals(
            self.cfg["n_samples"],
            self._seed(sentence.texts),
            observed=observed,
            prune=self.cfg["prune"],
            max_hypotheses=self.cfg["max_hypotheses"],
        )

    def _seed(self, words: Sequence[str]) -> list[int]:
        """A seed that depends on nothing but the sentence and the setting."""
        return [self.cfg["seed"], zlib.crc32("\n".join(words).encode("utf8"))]

    def _check(self, sentences: Sequence[ParsedSentence]) -> None:
        """Warn about input that should not be given to the model."""
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
        validate_get_examples(get_examples, f"{type(self).__name__}.initialize")
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
        validate_examples(examples, f"{type(self).__name__}.update")
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

    def _with_gold(self, examples: Iterable[Example]) -> list[Example]:
        """The examples whose true punctuation is known."""
        return [example for example in examples if has_gold(example.reference)]

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
    ) -> "PunctuationPipe":
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
            "model": lambda p: p.write_bytes(zlib.compress(self.model.to_bytes())),
            "spacing": lambda p: p.write_bytes(
                srsly.msgpack_dumps(self.spacing.to_data())
            ),
        }
        if self.architecture is not None:
            parts["architecture"] = lambda p: srsly.write_json(p, self.architecture)
        util.to_disk(util.ensure_path(path), parts, exclude)

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> "PunctuationPipe":
        """Read what `to_disk` wrote."""
        parts = {
            "architecture": self._architecture_from_disk,
            "model": lambda p: self._model_from_bytes(_decompressed(p.read_bytes())),
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


def _decompressed(data: bytes) -> bytes:
    """A file's content; those of older versions are not compressed."""
    try:
        return zlib.decompress(data)
    except zlib.error:
        return data


def find_pipe(nlp: Language, kind: type[T]) -> T | None:
    """The first component of a class in a pipeline, if there is one."""
    components = (component for _, component in nlp.pipeline)
    return next((c for c in components if isinstance(c, kind)), None)


def underlying(distribution: Distribution, surface: Slots) -> Sequence[Pair]:
    """The best underlying pairs behind a surface.

    If the model cannot have written the surface, or if a slot is so long that the
    search would take minutes, all pairs are empty and a warning says why.
    """
    try:
        if max(map(len, surface)) <= _LONGEST_SLOT:
            return distribution.viterbi(surface, beam=_BEAM)
        reason = f"a slot has more than {_LONGEST_SLOT} marks"
    except ImpossibleSurfaceError as error:
        reason = str(error)
    words = " ".join(distribution.tree.words[:5])
    warnings.warn(Warnings.W003.format(words=words, reason=reason), stacklevel=2)
    return ((EMPTY, EMPTY),) * len(distribution.tree)
