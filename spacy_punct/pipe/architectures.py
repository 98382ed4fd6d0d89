"""Models for the components' `model` setting, and how thinc trains and stores them."""

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import torch
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import (
    Model,
    Optimizer,
)
from thinc.shims.shim import Shim
from thinc.types import Floats2d

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.attach import encode
from spacy_punct.model.channel import ChannelKind
from spacy_punct.model.lexical import LexicalAttach, LexicalSettings
from spacy_punct.model.objective import Likelihood
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.model.storage import from_bytes, to_bytes
from spacy_punct.pipe.networks import word_vectors
from spacy_punct.reading.gold import gold_examples

Tok2Vec = Model[list[Doc], list[Floats2d]]

SMALL_TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 96,
    "depth": 2,
    "embed_size": 2000,
    "window_size": 1,
    "maxout_pieces": 3,
    "subword_features": True,
}
"""What reads words where a config leaves it open."""

SMALL_TAGGER = {"@architectures": "spacy.Tagger.v2", "tok2vec": SMALL_TOK2VEC}
"""The model of a `stream_senter` or `truecaser` whose config leaves it open."""


def build_log_linear_attach(
    channel: ChannelKind = "table",
    min_feature_count: int = 1,
    dropout: float = 0.4,
    scorer_rate: float = 1.0,
    channel_rate: float = 7.5,
) -> Model[Sequence[Example], Likelihood]:
    """The paper's model: log-linear ATTACH on tags and relations, and a channel.

    Registered as `spacy_punct.LogLinearAttach.v1`.

    channel (ChannelKind): How the channel's weights are shared: "table", "shared"
        or "identity" (no channel).
    min_feature_count (int): How often a feature must have been seen in training.
    dropout (float): Share of ATTACH's features left out of each training step.
    scorer_rate, channel_rate (float): Factors on the optimizer's learning rate, for
        ATTACH and for the channel.
    RETURNS (Model): In training, examples -> their likelihood.
    """
    rates = {"log_linear": scorer_rate, "channel": channel_rate}
    return _build("log_linear_attach", channel, min_feature_count, dropout, rates)


def build_lexical_attach(
    tok2vec: Tok2Vec,
    embedding_width: int = 32,
    encoder_width: int = 128,
    encoder_depth: int = 1,
    hidden_width: int = 256,
    hidden_depth: int = 1,
    observed_width: int = 0,
    guess_width: int = 0,
    dropout: float = 0.4,
    channel: ChannelKind = "table",
    min_feature_count: int = 1,
    feature_dropout: float = 0.4,
    lexical_rate: float = 1.0,
    scorer_rate: float = 1.0,
    channel_rate: float = 7.5,
) -> Model[Sequence[Example], Likelihood]:
    """The paper's model with an ATTACH that also reads the words.

    Registered as `spacy_punct.LexicalAttach.v1`; see `LexicalAttach` for the network.

    tok2vec (Model): Gives each word of a Doc a vector: its own, or a listener to
        one that is shared with tagger and parser, or to a transformer.
    embedding_width, encoder_width, encoder_depth, hidden_width, hidden_depth,
        observed_width, guess_width (int): See `LexicalSettings`. A corrector needs
        an `observed_width`, to read what is written.
    dropout (float): Share of the network's vectors left out of each training step.
    channel, min_feature_count: See `build_log_linear_attach`.
    feature_dropout (float): Share of the log-linear features left out of each step.
    lexical_rate, scorer_rate, channel_rate (float): Factors on the optimizer's
        learning rate, for the network, the log-linear part and the channel.
    RETURNS (Model): In training, examples -> their likelihood.
    """
    check_range("dropout", dropout, 0, 1)
    check_range("lexical_rate", lexical_rate, 0)
    rates = {
        "lexical": lexical_rate,
        "log_linear": scorer_rate,
        "channel": channel_rate,
    }
    model = _build(
        "lexical_attach", channel, min_feature_count, feature_dropout, rates, [tok2vec]
    )
    model.set_ref("tok2vec", tok2vec)
    model.attrs["word_dropout"] = dropout
    model.attrs["sizes"] = {
        "embedding_width": embedding_width,
        "encoder_width": encoder_width,
        "encoder_depth": encoder_depth,
        "hidden_width": hidden_width,
        "hidden_depth": hidden_depth,
        "observed_width": observed_width,
        "guess_width": guess_width,
    }
    return model


def _build(
    name: str,
    channel: ChannelKind,
    min_feature_count: int,
    dropout: float,
    rates: dict[str, float],
    layers: Sequence[Model] = (),
) -> Model[Sequence[Example], Likelihood]:
    """A model whose attributes "direction", "unmatched_weight", "one_sided", "l2" and
    "seed" the component sets."""
    check_range("min_feature_count", min_feature_count, 1)
    check_range("dropout", dropout, 0, 1)
    check_range("scorer_rate", rates["log_linear"], 0)
    check_range("channel_rate", rates["channel"], 0)
    return Model(
        name,
        forward,
        init=init,
        layers=layers,
        shims=[PunctuationShim(rates)],
        attrs={
            "channel": channel,
            "min_feature_count": min_feature_count,
            "dropout": dropout,
            "word_dropout": 0.0,
            "direction": "left-to-right",
            "unmatched_weight": 0.0,
            "one_sided": False,
            "l2": 0.0,
            "seed": 0,
        },
        refs={"tok2vec": None},
    )


def init(
    model: Model, X: list[Doc] | None = None, Y: Sequence[PunctuatedTree] | None = None
) -> None:
    """Read the inventory and the features off training data.

    X (list[Doc] | None): Some Docs, for a tok2vec.
    Y (Sequence[PunctuatedTree] | None): The trees and their true punctuation.
    """
    if X is None or Y is None:
        return
    attrs = model.attrs
    lexical = None
    if model.has_ref("tok2vec"):
        width = initialized_width(model.get_ref("tok2vec"), X)
        lexical = LexicalSettings(width, **attrs["sizes"])
    built = PunctuationModel.from_examples(
        Y,
        direction=attrs["direction"],
        channel=attrs["channel"],
        min_feature_count=attrs["min_feature_count"],
        lexical=lexical,
        seed=attrs["seed"],
    )
    built.scorer.set_dropout(attrs["dropout"], seed=attrs["seed"])
    _shim(model).model = built


def initialized_width(tok2vec: Tok2Vec, docs: list[Doc]) -> int:
    """The length of a tok2vec's vectors, once it has seen some Docs."""
    tok2vec.initialize(X=docs)
    if tok2vec.has_dim("nO"):
        return tok2vec.get_dim("nO")
    return tok2vec.predict(docs)[0].shape[1]


def forward(
    model: Model, X: Sequence[Example], is_train: bool
) -> tuple[Likelihood, Callable[[], None]]:
    """The likelihood of a batch, and how to add its gradient to the weights'.

    The weights' gradient is that of the mean over sentences. What the tok2vec gets
    is a sum: so it is from taggers and parsers, with which it may be shared.
    """
    attrs = model.attrs
    built = cast(PunctuationModel, _shim(model).model)
    vectors, backprop_vectors = _read_words(model, [eg.predicted for eg in X], is_train)
    examples = [
        found
        for example, rows in zip(X, vectors, strict=True)
        for found in gold_examples(example, model.name, rows)
    ]
    trees = [example.tree for example in examples]
    slots = [encode(built.inventory, example) for example in examples]
    prepared = [
        built.scorer.prepare(tree, surface)
        for tree, surface in zip(trees, slots, strict=True)
    ]
    built.scorer.set_dropout(attrs["dropout"], attrs["word_dropout"])
    with torch.set_grad_enabled(is_train):
        found = built.likelihood(
            trees,
            slots,
            prepared,
            unmatched_weight=attrs["unmatched_weight"],
            one_sided=attrs["one_sided"],
        )

    def backprop() -> None:
        (-found.surrogate / max(len(trees), 1)).backward()
        for part, _, weights in _shim(model).weights():
            # The gradient of l2 |w|².
            if part == "log_linear" and weights.grad is not None:
                weights.grad.add_(weights.detach(), alpha=2 * attrs["l2"])
        backprop_vectors(len(trees))

    return found, backprop


def check_read(tok2vec: Model, docs: Iterable[Doc]) -> None:
    """Raise P250 if a tok2vec listens to another one that has not read the Docs.

    spaCy would go on, with zeros or with what some other tok2vec has read.
    """
    if isinstance(tok2vec, Tok2VecListener):
        width = tok2vec.get_dim("nO")
        if any(doc.tensor.shape != (len(doc), width) for doc in docs if len(doc)):
            raise PunctError(Errors.P250)


def _read_words(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[Sequence[torch.Tensor | None], Callable[[float], Any]]:
    """The vectors of the words of Docs, if there is a tok2vec to give them, and how
    to hand on their gradient, scaled."""
    if not model.has_ref("tok2vec"):
        return [None] * len(docs), lambda scale: None
    return word_vectors(model.get_ref("tok2vec"), docs, is_train)


def _shim(model: Model) -> "PunctuationShim":
    return cast(PunctuationShim, model.shims[0])


class PunctuationShim(Shim):
    """Holds a `PunctuationModel`, None until its inventory is known.

    Unlike thinc's own shim for torch it stores without pickle, lets parts of the
    model learn at different rates, and knows the optimizer's averaged weights.

    rates (Mapping[str, float]): "log_linear", "lexical" and "channel" -> factor on
        the learning rate.
    min_weight (float): If positive, ATTACH is stored without weights closer to zero
        than this and the others in half precision.
    """

    def __init__(self, rates: Mapping[str, float]) -> None:
        super().__init__(None, config={"rates": dict(rates)})
        self._stale = False
        self.min_weight = 0.0

    @property
    def model(self) -> PunctuationModel | None:
        """The model, with all that is derived from its weights up to date."""
        if self._stale and self._model is not None:
            self._model.refresh()
        self._stale = False
        return self._model

    @model.setter
    def model(self, model: PunctuationModel | None) -> None:
        self._model = model

    def weights(self) -> Iterator[tuple[str, str, torch.nn.Parameter]]:
        """The part, the name and the values of each trainable array."""
        if self._model is None:
            return
        scorer, channel = self._model.scorer, self._model.channel_weights
        theirs = set(scorer.parameters())
        if isinstance(scorer, LexicalAttach):
            theirs = set(scorer.log_linear.parameters())
        for name, weights in scorer.named_parameters():
            part = "log_linear" if weights in theirs else "lexical"
            yield part, f"scorer.{name}", weights
        for name, weights in channel.named_parameters():
            yield "channel", f"channel.{name}", weights

    def finish_update(self, optimizer: Optimizer) -> None:
        for part, name, weights in self.weights():
            if weights.grad is None:
                continue
            arrays: list[Any] = [weights.data.numpy(), weights.grad.numpy()]
            rate = self.cfg["rates"][part]
            values, _ = optimizer((self.id, name), *arrays, lr_scale=rate)
            # Copied: arrays and tensors that share memory would keep those of all
            # earlier steps alive.
            weights.data.copy_(torch.from_numpy(values).view_as(weights))
            weights.grad = None
        self._stale = True

    @contextlib.contextmanager
    def use_params(self, params: Mapping[Any, Any]) -> Iterator[None]:
        """Let the weights be others for a while, such as the optimizer's averages."""
        own = {
            name: (weights, weights.data)
            for _, name, weights in self.weights()
            if (self.id, name) in params
        }
        for name, (weights, _) in own.items():
            # A copy: what happens to the weights must not happen to the averages.
            other = torch.tensor(params[self.id, name])
            weights.data = other.view_as(weights)
        self._stale = True
        try:
            yield
        finally:
            for weights, values in own.values():
                weights.data = values
            self._stale = True

    def to_device(self, device_type: str, device_id: int) -> None:
        """Everything stays on the CPU: the arrays are too small for anything else."""

    def to_bytes(self) -> bytes:
        if self._model is None:
            return b""
        if not self.min_weight:
            return to_bytes(self._model)
        compacted = copy.deepcopy(self._model)
        compacted.scorer.compact(self.min_weight)
        return to_bytes(compacted)

    def from_bytes(self, data: bytes) -> "PunctuationShim":
        self._model = from_bytes(data) if data else None
        return self
