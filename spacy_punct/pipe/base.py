"""What the restorer and the corrector have in common: settings, a model of
punctuation, its training and its storage."""

import inspect
import os
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import srsly
import torch
from spacy import registry, util
from spacy.language import Language
from spacy.pipeline.trainable_pipe import TrainablePipe
from spacy.tokens import Doc, Span
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, set_dropout_rate

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import UNK
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import (
    Errors,
    PunctError,
    Warnings,
    check_range,
)
from spacy_punct.model.channel import DIRECTIONS, Channel, Direction
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inventory import Inventory, Pair
from spacy_punct.model.mbr import pooled
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.model.scores import Vectors
from spacy_punct.pipe.architectures import check_read
from spacy_punct.reading.borrowed import BorrowedReading
from spacy_punct.reading.gold import gold_examples, has_gold
from spacy_punct.reading.sentences import BareSentence, bare_sentences
from spacy_punct.text.writer import Spacing

T = TypeVar("T")
F = TypeVar("F", bound=Callable)
P = TypeVar("P", bound="StoredPipe")

Trees = Literal["auto", "doc", "own"]
TREES: tuple[Trees, ...] = ("auto", "doc", "own")

_CLEARNLP = frozenset({"acomp", "attr", "npadvmod", "pcomp", "pobj", "prep", "relcl"})
"""Labels of the common English pipelines that no version of UD has."""

_BATCH = 256
"""Sentences scored together: a text may have thousands."""

_READ_TOGETHER = 128
"""Docs that a tok2vec reads at once."""

_SAMPLE = 10
"""Docs that the shapes of a tok2vec are read off."""

_RIGHT_TO_LEFT = frozenset({"en"})
"""Languages whose channel the paper found to slide from right to left."""

UNTUNED: Mapping[str, Any] = {
    "guess_share": 0.5,
    "missing_cost": 1.0,
    "temperature": 1.0,
}
"""Settings that are tuned for weights, and their values for weights that are not."""


@dataclass(frozen=True, kw_only=True)
class PunctuationSettings:
    """The settings that the restorer and the corrector share.

    n_samples (int): Samples per sentence; 0 for marginals without randomness.
    prune (float): Without samples, hypotheses less probable than the best one by this
        factor are dropped.
    max_hypotheses (int): Without samples, how many of them a constituent keeps.
    seed (int): With the words of a sentence, what its samples depend on.
    trees (Trees): Whose sentences and trees are read, if the weights come with the
        package: "doc" for the Doc's, "own" for those that the bundled pipeline finds,
        "auto" for the Doc's if they have the labels of UD. A component that was
        trained otherwise reads the Doc's.
    guess_share (float | None): How much it counts, from 0 to 1, what is guessed of each
        slot on its own: by a `slot_tagger` before this component, or by the model
        itself (`guess_width`). The rest is what constituents say. None for what goes
        with the weights.
    direction (Direction | None): Which way the channel slides; None for right to
        left in English and left to right elsewhere. It is fixed by training.
    l2 (float): ς, pulls ATTACH's weights to where they started.
    unmatched_weight (float): ξ, discourages brackets without a partner.
    one_sided (bool): Whether it also discourages commas and dashes that set a
        constituent off on one side only.
    """

    n_samples: int = 0
    prune: float = 1e-3
    max_hypotheses: int = 32
    seed: int = 0
    trees: Trees = "auto"
    guess_share: float | None = None
    direction: Direction | None = None
    l2: float = 1e-4
    unmatched_weight: float = 0.0
    one_sided: bool = False

    def __post_init__(self) -> None:
        for setting in ("n_samples", "seed", "l2", "unmatched_weight"):
            check_range(setting, getattr(self, setting), 0)
        check_range("prune", self.prune, 0, 1)
        if self.guess_share is not None:
            check_range("guess_share", self.guess_share, 0, 1, inclusive=True)
        check_range("max_hypotheses", self.max_hypotheses, 1)
        self.check_choice("direction", (None, *DIRECTIONS))
        self.check_choice("trees", TREES)

    def check_choice(self, setting: str, choices: Sequence[str | None]) -> None:
        """Raise P046 unless a setting has one of some values."""
        if (value := getattr(self, setting)) not in choices:
            raise PunctError(
                Errors.P046.format(
                    name=setting, value=value, choices=", ".join(map(str, choices))
                )
            )


def takes(settings: type) -> Callable[[F], F]:
    """Let a factory take the fields of a settings class as arguments.

    settings (type): A dataclass. Its fields replace the factory's `**settings` where
        spaCy looks for the names and types of what a config may say.
    RETURNS (Callable): The decorator.
    """

    def decorated(factory: F) -> F:
        own = inspect.signature(factory)
        named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        others = [
            inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, annotation=f.type)
            for f in fields(settings)
        ]
        signature = own.replace(parameters=[*named, *others])
        factory.__signature__ = signature  # type: ignore[attr-defined]
        return factory

    return decorated


class Start(NamedTuple):
    """A model to start with.

    model (Model): The model.
    architecture (dict[str, Any] | None): How to make one of the same kind without its
        weights, if the config of the pipeline does not say.
    untrained (dict[str, Any] | None): How to make one to be trained from the start, if
        the config does not say.
    spacing (Spacing | None): The spacing that was learned together with it.
    reading (BorrowedReading | None): What reads Docs for it; None for the pipeline
        that it is in.
    settings (Mapping[str, Any]): The settings that go with it, for those that are None.
    """

    model: Model
    architecture: dict[str, Any] | None = None
    untrained: dict[str, Any] | None = None
    spacing: Spacing | None = None
    reading: BorrowedReading | None = None
    settings: Mapping[str, Any] = UNTUNED


def starting_point(
    language: str, component: str, model: Model | None, untrained: dict[str, Any]
) -> Start:
    """What a component starts with.

    language (str): A two-letter code.
    component (str): The name of the component's factory.
    model (Model | None): What its config says.
    untrained (dict[str, Any]): The architecture for languages without weights.
    RETURNS (Start): The model of the config. If it leaves that open, the weights that
        come with the package, or else an untrained model.
    """
    if model is not None:
        return Start(model)
    found = registry.misc.get("spacy_punct.bundled_weights.v1")(language, component)
    if found is not None:
        return found._replace(untrained=untrained)
    return Start(registry.resolve({"model": untrained})["model"], untrained, untrained)


class StoredPipe(TrainablePipe):
    """A component that is stored as named parts, each made of bytes."""

    cfg: dict[str, Any]

    def _writers(self) -> dict[str, Callable[[], bytes]]:
        """What gives each part."""
        raise NotImplementedError

    def _readers(self) -> dict[str, Callable[[bytes], Any]]:
        """What takes each part, in this order; "architecture" may be missing."""
        raise NotImplementedError

    def _pack_model(self) -> bytes:
        return zlib.compress(self.model.to_bytes())

    def _unpack_model(self, data: bytes) -> None:
        self.model.from_bytes(zlib.decompress(data))

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """All that was learned, as bytes."""
        return util.to_bytes(self._writers(), exclude)

    def from_bytes(self: P, data: bytes, *, exclude: Iterable[str] = ()) -> P:
        """Load what `to_bytes` gave."""
        with intact(self.name):
            util.from_bytes(data, self._readers(), exclude)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write all that was learned to a folder."""

        def written(give: Callable[[], bytes]) -> Callable[[Path], Any]:
            return lambda file: file.write_bytes(give())

        parts = {name: written(give) for name, give in self._writers().items()}
        util.to_disk(Path(path), parts, exclude)

    def from_disk(self: P, path: str | Path, *, exclude: Iterable[str] = ()) -> P:
        """Read what `to_disk` wrote."""

        def read(take: Callable[[bytes], Any]) -> Callable[[Path], Any]:
            return lambda file: take(file.read_bytes())

        parts = {
            name: read(take)
            for name, take in self._readers().items()
            if name != "architecture" or (Path(path) / name).exists()
        }
        with intact(self.name):
            util.from_disk(Path(path), parts, exclude)
        return self


class PunctuationPipe(StoredPipe):
    """A component with a model of punctuation.

    vocab (Vocab): The shared vocabulary.
    start (Start): One of the project's architectures, and what goes with it. An
        architecture that the config does not tell is stored with the weights.
    name (str): The component's name in the pipeline.
    settings (PunctuationSettings): Its settings. They are in the dict `cfg`, where
        they may be changed at any time but for those of training.
    nlp (Language | None): The pipeline, for components that ask others of it.
    scorer (Callable | None): The scoring method.
    """

    def __init__(
        self,
        vocab: Vocab,
        start: Start,
        name: str,
        settings: PunctuationSettings,
        *,
        nlp: Language | None = None,
        scorer: Callable | None = None,
    ) -> None:
        super().__init__(vocab, start.model, name, **asdict(settings))
        self._nlp = nlp
        self.scorer = scorer
        for setting, value in start.settings.items():
            if self.cfg.get(setting, value) is None:
                self.cfg[setting] = value
        self.architecture = start.architecture
        self._untrained = start.untrained
        self._reading = start.reading
        self.spacing = start.spacing or Spacing(vocab.lang or "")
        self._warned: set[str] = set()
        self._set_attributes()
        _survive_forks()

    def _set_attributes(self) -> None:
        """Tell the model the settings of its training."""
        names = ("l2", "unmatched_weight", "one_sided", "seed")
        self.model.attrs.update({name: self.cfg[name] for name in names})

    @contextmanager
    def having(self, **settings: Any) -> Iterator[None]:
        """Use other settings for a while.

        settings (Any): Those that are to be different; see `cfg`.
        """
        before = self.cfg
        self.cfg = {**before, **settings}
        try:
            yield
        finally:
            self.cfg = before

    # What the model says

    @property
    def _built(self) -> PunctuationModel | None:
        shim: Any = self.model.shims[0]
        return shim.model

    @property
    def punctuation(self) -> PunctuationModel:
        """The trained model."""
        built = self._built
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
        built = self._built
        if built is None:
            return ()
        return tuple(mark for mark in built.inventory.marks[1:] if mark != UNK)

    def distribution(self, doc: Doc | Span) -> Distribution:
        """The model of one sentence, as a probability distribution.

        doc (Doc | Span): A parsed sentence.
        RETURNS (Distribution): See `spacy_punct.model.Distribution`.
        """
        # The words of a sentence are read in the context of the whole Doc.
        (sentences,) = self.read([doc.doc])
        if isinstance(doc, Span):
            inside = range(doc.start, doc.end)
            sentences = [s for s in sentences if s.positions[0] in inside]
        if len(sentences) != 1:
            raise PunctError(Errors.P048.format(n=len(sentences)))
        return self.punctuation.distribution(sentences[0].tree)

    def explain(self, doc: Doc) -> list[tuple[BareSentence, Sequence[Pair]]]:
        """The best underlying punctemes behind the punctuation that a Doc has.

        doc (Doc): A parsed Doc.
        RETURNS (list[tuple[BareSentence, Sequence[Pair]]]): Its sentences, and the
            left and right puncteme of each of their words.
        """
        (sentences,) = self.read([doc])
        if not sentences:
            return []
        found = self._distributions(self.punctuation, sentences)
        return [
            (sentence, distribution.underlying(sentence.observed))
            for sentence, distribution in zip(sentences, found, strict=True)
        ]

    def examples(self, examples: Iterable[Example]) -> list[PunctuatedTree]:
        """The trees of examples as the model sees them, with true punctuation.

        examples (Iterable[Example]): Trees on the predicted side.
        RETURNS (list[PunctuatedTree]): One for each sentence, projective.
        """
        examples = self._examples_as_read(examples)
        rows = self._vectors([example.predicted for example in examples])
        return [
            found
            for example, vectors in zip(examples, rows, strict=True)
            for found in gold_examples(example, self.name, vectors)
        ]

    def read(self, docs: Sequence[Doc]) -> list[list[BareSentence]]:
        """The sentences of each Doc, with the trees that the model is given."""
        docs = self._as_read(docs)
        return [
            self._sentences(doc, vectors)
            for doc, vectors in zip(docs, self._vectors(docs), strict=True)
        ]

    def _sentences(self, doc: Doc, vectors: Vectors | None) -> list[BareSentence]:
        """The sentences of a Doc that was read."""
        return bare_sentences(doc, self.name, vectors)

    def _as_read(self, docs: Sequence[Doc]) -> Sequence[Doc]:
        """The Docs with all that the model wants to know of them."""
        if self._reading is None:
            return docs
        return self._reading(docs, [self._keeps_parse(doc) for doc in docs])

    def _examples_as_read(self, examples: Iterable[Example]) -> list[Example]:
        examples = list(examples)
        docs = self._as_read([example.predicted for example in examples])
        return [
            Example(doc, example.reference)
            for doc, example in zip(docs, examples, strict=True)
        ]

    def _keeps_parse(self, doc: Doc) -> bool:
        """Whether the model is to see the parse that a Doc has."""
        if self.cfg["trees"] != "auto":
            return self.cfg["trees"] == "doc"
        components = [] if self._nlp is None else self._nlp.components
        labels = {d for _, pipe in components for d in getattr(pipe, "labels", ())}
        labels.update(token.dep_ for token in doc)
        return doc.has_annotation("DEP") and _CLEARNLP.isdisjoint(labels)

    def _distributions(
        self, model: PunctuationModel, sentences: Sequence[BareSentence]
    ) -> Iterator[Distribution]:
        """The model of each sentence."""
        self._warn_of(model, sentences)
        trees = [sentence.tree for sentence in sentences]
        for batch in util.minibatch(trees, _BATCH):
            yield from model.distributions(batch)

    def _vectors(self, docs: Sequence[Doc]) -> Sequence[Vectors | None]:
        """The words of each Doc as vectors, if the model wants them."""
        if not self.model.has_ref("tok2vec"):
            return [None] * len(docs)
        self.punctuation  # noqa: B018 - it raises if there is none
        tok2vec = self.model.get_ref("tok2vec")
        rows: list[Vectors | None] = []
        check_read(tok2vec, docs)
        for batch in util.minibatch(docs, _READ_TOGETHER):
            # There are tok2vecs that cannot read nothing at all.
            read = tok2vec.predict(batch) if any(map(len, batch)) else None
            rows += map(tok2vec.ops.to_numpy, read) if read else [None] * len(batch)
        return rows

    # Annotating

    def predict(self, docs: Iterable[Doc]) -> list[list[Any]]:
        """What the model says of the sentences of Docs, which stay as they are.

        docs (Iterable[Doc]): Parsed Docs.
        RETURNS (list[list[Any]]): For each Doc, an answer for each sentence.
        """
        by_doc = self.read(list(docs))
        sentences = list(chain.from_iterable(by_doc))
        if not sentences:
            return [[] for _ in by_doc]
        model = self.punctuation
        answers = (
            self._answer(sentence, distribution, model.inventory)
            for sentence, distribution in zip(
                sentences, self._distributions(model, sentences), strict=True
            )
        )
        return [list(islice(answers, len(found))) for found in by_doc]

    def _answer(
        self, sentence: BareSentence, distribution: Distribution, inventory: Inventory
    ) -> Any:
        """What to do with a sentence."""
        raise NotImplementedError

    def _marginals(
        self,
        sentence: BareSentence,
        distribution: Distribution,
        observed: Sequence[Puncteme | None] | None = None,
    ) -> list[dict[Puncteme, float]]:
        """What may stand in each slot, as the settings want it computed: what the
        constituents say, pooled with the guess."""
        marginals = distribution.marginals(
            self.cfg["n_samples"],
            self._seed(sentence.texts),
            observed=observed,
            prune=self.cfg["prune"],
            max_hypotheses=self.cfg["max_hypotheses"],
        )
        guesses = sentence.guesses or distribution.guesses()
        share = self.cfg["guess_share"]
        if guesses is None or not share:
            return marginals
        return [
            pooled(marginal, guess, share)
            for marginal, guess in zip(marginals, guesses, strict=True)
        ]

    def _seed(self, words: Sequence[str]) -> list[int]:
        """A seed that depends on nothing but the sentence and the setting."""
        return [self.cfg["seed"], zlib.crc32("\n".join(words).encode("utf8"))]

    def _warn_of(
        self, model: PunctuationModel, sentences: Sequence[BareSentence]
    ) -> None:
        """Warn about input that should not be given to the model."""
        found = {d for sentence in sentences for d in sentence.tree.relations}
        foreign = (found & _CLEARNLP) - set(model.inventory.relations)
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
        trees = [
            tree
            for reference in references
            for tree in gold_examples(Example(reference, reference), self.name)
        ]
        if not trees:
            raise PunctError(Errors.P020)
        self._reading = None
        if self._untrained is not None:
            self._build(self._untrained)
        self.model.attrs["direction"] = direction
        self.spacing = Spacing.learn(self.vocab.lang or "", trees)
        self.model.initialize(X=references[:_SAMPLE], Y=trees)

    def _build(self, architecture: dict[str, Any]) -> None:
        """Begin with a new model."""
        self.architecture = architecture
        self.model = registry.resolve({"model": architecture})["model"]
        self._set_attributes()

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
        examples = self._examples_as_read(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        if all(token.is_space for example in examples for token in example.x):
            return losses
        self.punctuation  # noqa: B018 - it raises if there is none
        set_dropout_rate(self.model, drop)
        found, backprop = self.model(examples, is_train=True)
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

    def _writers(self) -> dict[str, Callable[[], bytes]]:
        parts: dict[str, Callable[[], bytes]] = {
            "model": self._pack_model,
            "spacing": lambda: srsly.msgpack_dumps(self.spacing.to_data()),
        }
        if self.architecture is not None:
            parts["architecture"] = srsly.json_dumps(
                {
                    "model": self.architecture,
                    "reading": self._reading and self._reading.fingerprint,
                }
            ).encode
        return parts

    def _readers(self) -> dict[str, Callable[[bytes], Any]]:
        return {
            "architecture": self._architecture_from_bytes,
            "model": self._unpack_model,
            "spacing": self._spacing_from_bytes,
        }

    def _architecture_from_bytes(self, data: bytes) -> None:
        stored = srsly.json_loads(data)
        if stored["reading"] is None:
            self._reading = None
        elif not self._reading or stored["reading"] != self._reading.fingerprint:
            raise PunctError(Errors.P068.format(name=self.name))
        self._build(stored["model"])

    def _unpack_model(self, data: bytes) -> None:
        # Settings come from the config, which may differ from what was stored.
        attrs = dict(self.model.attrs)
        super()._unpack_model(data)
        self.model.attrs.update(attrs)
        if (built := self._built) is not None:
            self.cfg["direction"] = built.direction

    def _spacing_from_bytes(self, data: bytes) -> None:
        self.spacing = Spacing.from_data(srsly.msgpack_loads(data))


def factory_of(
    component: str,
    kind: type[PunctuationPipe],
    settings: type[PunctuationSettings],
    untrained: dict[str, Any],
) -> Callable[..., PunctuationPipe]:
    """The factory of a component, which takes its settings, `model` and `scorer`.

    component (str): Its name.
    kind (type), settings (type): The classes of the component and of its settings.
    untrained (dict[str, Any]): See `starting_point`.
    RETURNS (Callable): What `Language.factory` registers.
    """

    @takes(settings)
    def make(
        nlp: Language,
        name: str,
        model: Model | None,
        scorer: Callable | None,
        **values: Any,
    ) -> PunctuationPipe:
        start = starting_point(nlp.lang or "", component, model, untrained)
        if values["trees"] == "own" and start.reading is None:
            raise PunctError(Errors.P069.format(name=name, lang=nlp.lang))
        return kind(nlp.vocab, start, name, settings(**values), nlp=nlp, scorer=scorer)

    return make


@contextmanager
def intact(name: str) -> Iterator[None]:
    """Say that the files of a component are damaged, whatever error that leads to.

    name (str): The component.
    """
    try:
        yield
    except (PunctError, FileNotFoundError):
        raise
    except Exception as error:
        raise PunctError(Errors.P031.format(path=name, reason=error)) from None


def find_pipe(nlp: Language, kind: type[T]) -> T | None:
    """The first component of a class in a pipeline, if there is one.

    A component that the pipeline has but does not run, as the bundled corrector, is
    enabled.
    """
    for name, component in nlp.components:
        if isinstance(component, kind):
            if name in nlp.disabled:
                nlp.enable_pipe(name)
            return component
    return None


@cache
def _survive_forks() -> None:
    """Let `nlp.pipe(n_process=2)` work after torch was used in this process.

    A forked worker inherits torch's pool of threads, but not the threads, and would
    wait for them forever. One thread is what our small arrays want anyway.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))
