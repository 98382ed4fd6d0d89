"""Models for the component's `model` setting."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from thinc.api import Model

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.errors import check_range
from spacy_punct.model.attach import encode
from spacy_punct.model.channel_weights import ChannelKind
from spacy_punct.model.model import PunctuationModel
from spacy_punct.model.objective import Likelihood
from spacy_punct.pipeline.shim import PunctuationShim


def build_log_linear_attach(
    channel: ChannelKind = "table",
    min_feature_count: int = 1,
    dropout: float = 0.4,
    scorer_rate: float = 1.0,
    channel_rate: float = 7.5,
) -> Model[Sequence[PunctuatedTree], Likelihood]:
    """The paper's model: log-linear ATTACH on tags and relations, and a channel.

    Registered as `spacy_punct.LogLinearAttach.v1`. The component sets the attributes
    "direction", "unmatched_weight", "squared", "l2" and "seed" before `initialize`.

    channel (ChannelKind): How the channel's weights are shared: "table", "shared"
        or "identity" (no channel).
    min_feature_count (int): How often a feature must have been seen in training.
    dropout (float): Share of ATTACH's features left out of each training step.
    scorer_rate, channel_rate (float): Factors on the optimizer's learning rate, for
        ATTACH and for the channel.
    RETURNS (Model): In training, punctuated trees -> the likelihood of a batch.
    """
    check_range("min_feature_count", min_feature_count, 1)
    check_range("dropout", dropout, 0, 1)
    check_range("scorer_rate", scorer_rate, 0)
    check_range("channel_rate", channel_rate, 0)
    return Model(
        "log_linear_attach",
        forward,
        init=init,
        shims=[PunctuationShim({"scorer": scorer_rate, "channel": channel_rate})],
        attrs={
            "channel": channel,
            "min_feature_count": min_feature_count,
            "dropout": dropout,
            "direction": "left-to-right",
            "unmatched_weight": 0.0,
            "squared": True,
            "l2": 0.0,
            "seed": 0,
        },
    )


def init(
    model: Model, X: Sequence[PunctuatedTree] | None = None, Y: Any = None
) -> None:
    """Read the inventory and the features off training data."""
    if X is None:
        return
    attrs = model.attrs
    built = PunctuationModel.from_examples(
        X,
        direction=attrs["direction"],
        channel=attrs["channel"],
        min_feature_count=attrs["min_feature_count"],
        seed=attrs["seed"],
    )
    built.scorer.set_dropout(attrs["dropout"], attrs["seed"])
    model.shims[0].model = built


def forward(
    model: Model, X: Sequence[PunctuatedTree], is_train: bool
) -> tuple[Likelihood, Callable[[float], None]]:
    """The likelihood of a batch, and how to add its gradient to the weights'."""
    attrs = model.attrs
    built: PunctuationModel = model.shims[0].model
    trees = [example.tree for example in X]
    slots = [encode(built.inventory, example) for example in X]
    prepared = [
        built.scorer.prepare(tree, surface)
        for tree, surface in zip(trees, slots, strict=True)
    ]
    built.scorer.dropout = attrs["dropout"]
    with torch.set_grad_enabled(is_train):
        found = built.likelihood(
            trees,
            slots,
            prepared,
            unmatched_weight=attrs["unmatched_weight"],
            squared=attrs["squared"],
        )

    def backprop(scale: float) -> None:
        (-scale * found.surrogate).backward()
        for weights in built.scorer.parameters():
            # The gradient of l2 |w|².
            if weights.grad is not None:
                weights.grad.add_(weights.detach(), alpha=2 * attrs["l2"])

    return found, backprop
