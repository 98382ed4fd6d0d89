"""Models for the component's `model` setting."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import (
    Dropout,
    Model,
    PyTorchLSTM,
    chain,
    with_array,
    with_padded,
)
from thinc.types import Floats2d

from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.attach import encode
from spacy_punct.model.channel_weights import ChannelKind
from spacy_punct.model.lexical import LexicalSettings
from spacy_punct.model.objective import Likelihood
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.pipe.packing import pack, unpack
from spacy_punct.pipe.shim import PunctuationShim
from spacy_punct.reading.gold import gold_examples

Tok2Vec = Model[list[Doc], list[Floats2d]]


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
    """A model whose attributes "direction", "unmatched_weight", "squared", "l2" and
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
            "squared": True,
            "l2": 0.0,
            "seed": 0,
        },
        refs={"tok2vec": None},
    )


def init(model: Model, X: Sequence[Example] | None = None, Y: Any = None) -> None:
    """Read the inventory and the features off the trees of training data."""
    if X is None:
        return
    attrs = model.attrs
    examples = [found for example in X for found in gold_examples(example, model.name)]
    lexical = None
    if model.has_ref("tok2vec"):
        sample = [example.predicted for example in X[:10]]
        width = _initialized_width(model.get_ref("tok2vec"), sample)
        lexical = LexicalSettings(width, **attrs["sizes"])
    built = PunctuationModel.from_examples(
        examples,
        direction=attrs["direction"],
        channel=attrs["channel"],
        min_feature_count=attrs["min_feature_count"],
        lexical=lexical,
        seed=attrs["seed"],
    )
    built.scorer.set_dropout(attrs["dropout"], seed=attrs["seed"])
    model.shims[0].model = built


def _initialized_width(tok2vec: Tok2Vec, docs: list[Doc]) -> int:
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
    built: PunctuationModel = model.shims[0].model
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
            squared=attrs["squared"],
        )

    def backprop() -> None:
        (-found.surrogate / max(len(trees), 1)).backward()
        for part, _, weights in model.shims[0].weights():
            # The gradient of l2 |w|².
            if part == "log_linear" and weights.grad is not None:
                weights.grad.add_(weights.detach(), alpha=2 * attrs["l2"])
        backprop_vectors(len(trees))

    return found, backprop


def _read_words(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[Sequence[torch.Tensor | None], Callable[[float], None]]:
    """The vectors of the words of Docs, if there is a tok2vec to give them, and how
    to hand on their gradient, scaled."""
    if not model.has_ref("tok2vec"):
        return [None] * len(docs), lambda scale: None
    tok2vec = model.get_ref("tok2vec")
    rows, backprop = tok2vec(docs, is_train)
    # A tok2vec may be on a GPU; the rest is not.
    vectors = [
        torch.tensor(tok2vec.ops.to_numpy(array), requires_grad=is_train)
        for array in rows
    ]

    def backprop_vectors(scale: float) -> None:
        gradients = [torch.zeros_like(v) if v.grad is None else v.grad for v in vectors]
        backprop([tok2vec.ops.asarray2f((scale * g).numpy()) for g in gradients])

    return vectors, backprop_vectors


def build_bilstm(
    tok2vec: Tok2Vec, width: int = 128, depth: int = 1, dropout: float = 0.0
) -> Tok2Vec:
    """A tok2vec that reads whole texts, on top of one that sees a few words.

    Registered as `spacy_punct.BiLSTM.v1`. Where a sentence ends or whether a word is
    a name may be told by words far away, which the windows of a CNN do not reach.

    tok2vec (Model): What it reads: for one, a listener.
    width (int): The length of its vectors, both directions together: an even number.
    depth (int): How many layers.
    dropout (float): Share left out between layers.
    RETURNS (Model): A tok2vec.
    """
    check_range("width", width, 2)
    check_range("depth", depth, 1)
    check_range("dropout", dropout, 0, 1)
    if width % 2:
        raise PunctError(
            Errors.P024.format(name="width", condition="even", value=width)
        )
    inner = tok2vec.maybe_get_dim("nO")
    if inner is None:
        raise PunctError(Errors.P067.format(name=tok2vec.name))
    lstm = PyTorchLSTM(width, inner, bi=True, depth=depth, dropout=dropout)
    for node in lstm.walk():
        if node.shims:
            node.attrs["convert_inputs"], node.attrs["convert_outputs"] = pack, unpack
    model = chain(tok2vec, with_padded(lstm), with_array(Dropout()))
    model.set_dim("nO", width, force=True)
    return model
