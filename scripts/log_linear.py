"""The paper's model trained by itself, without spaCy (section 3.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import nn

from scripts.training import Trained, fit
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.attach import encode
from spacy_punct.model.channel import DIRECTIONS, ChannelKind, ChannelWeights, Direction
from spacy_punct.model.punctuation import PunctuationModel


@dataclass(frozen=True)
class TrainingConfig:
    """How to train. The defaults are tuned on dev data of UD 1.4 English.

    direction (Direction | None): The channel's; None tries both, and dev decides.
    channel (ChannelKind): How the channel's weights are shared.
    learning_rate, channel_learning_rate (float): Of Adam, for ATTACH and the
        channel.
    batch_size (int): Sentences per step.
    max_epochs, patience, averaging: See `fit`.
    dropout (float): Share of ATTACH's features left out of each step.
    l2 (float): ς, pulls ATTACH's weights to their starting values.
    unmatched_weight (float): ξ, discourages unmatched symmetric marks.
    one_sided (bool): Whether commas on one side of a constituent are unmatched, too.
    min_weight (float): In the end, weights of ATTACH closer to zero than this are
        dropped and the others rounded to half precision, for small models.
    seed (int): Seed of the order of sentences and of initial noise.
    """

    direction: Direction | None = None
    channel: ChannelKind = "table"
    learning_rate: float = 0.004
    channel_learning_rate: float = 0.03
    batch_size: int = 64
    max_epochs: int = 12
    patience: int = 2
    dropout: float = 0.4
    l2: float = 1e-4
    averaging: float = 0.99
    unmatched_weight: float = 0.03
    one_sided: bool = False
    min_weight: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("batch_size", "patience"):
            check_range(name, getattr(self, name), 1)
        for name in ("max_epochs", "l2", "unmatched_weight", "min_weight", "seed"):
            check_range(name, getattr(self, name), 0)
        for name in ("dropout", "averaging"):
            check_range(name, getattr(self, name), 0, 1)


def train(
    examples: Sequence[PunctuatedTree],
    dev: Sequence[PunctuatedTree],
    config: TrainingConfig | None = None,
    *,
    channel_start: ChannelWeights | None = None,
    channel_l2: float = 0.0,
    show_progress: bool = True,
) -> Trained[PunctuationModel]:
    """Train a log-linear model.

    examples (Sequence[PunctuatedTree]): Projective training trees.
    dev (Sequence[PunctuatedTree]): Held-out trees that decide when to stop, and
        on the channel's direction if the config leaves it open.
    config (TrainingConfig | None): The settings.
    channel_start (ChannelWeights | None): Weights of another model's channel to
        start from, of the same kind and over the same marks.
    channel_l2 (float): Pulls the channel's weights to their starting values.
    show_progress (bool): Whether to show a progress bar.
    RETURNS (Trained[PunctuationModel]): The model of best dev perplexity.
    """
    config = config or TrainingConfig()
    examples, dev = tuple(examples), tuple(dev)
    results = []
    for direction in [config.direction] if config.direction else DIRECTIONS:
        model = PunctuationModel.from_examples(
            examples, direction=direction, channel=config.channel, seed=config.seed
        )
        model.scorer.set_dropout(config.dropout, seed=config.seed)
        if channel_start is not None:
            model.channel_weights.load_state_dict(channel_start.state_dict())
            model.refresh()
        history = train_model(
            model, examples, dev, config, show_progress, channel_l2=channel_l2
        )
        model.scorer.compact(config.min_weight)
        model.refresh()
        results.append(Trained(model, model.perplexity(dev), tuple(history)))
    return min(results, key=lambda result: result.dev_perplexity)


def train_model(
    model: PunctuationModel,
    examples: Sequence[PunctuatedTree],
    dev: Sequence[PunctuatedTree],
    config: TrainingConfig,
    show_progress: bool = True,
    *,
    channel_l2: float = 0.0,
) -> list[float]:
    """Train any model in place, and leave it at its best dev perplexity.

    The config's `direction`, `channel`, `dropout` and `min_weight` are about making a
    log-linear model (see `train`), not used here.

    RETURNS (list[float]): The dev perplexity of each epoch.
    """
    check_range("channel_l2", channel_l2, 0)
    if not examples or not dev:
        raise PunctError(Errors.P020)
    for example in (*examples, *dev):
        example.tree.check_projective()
    trees = [example.tree for example in examples]
    slots = [encode(model.inventory, example) for example in examples]
    prepared = [model.scorer.prepare(t, s) for t, s in zip(trees, slots, strict=True)]
    scorer = list(cast(nn.Module, model.scorer).parameters())
    channel = list(model.channel_weights.parameters())
    start = [w.detach().clone() for w in channel]
    rng = np.random.default_rng(config.seed)

    def batches(epoch: int) -> Iterator[np.ndarray]:
        order = rng.permutation(len(trees))
        for at in range(0, len(order), config.batch_size):
            yield order[at : at + config.batch_size]

    def loss(batch: np.ndarray) -> torch.Tensor:
        found = model.likelihood(
            [trees[i] for i in batch],
            [slots[i] for i in batch],
            [prepared[i] for i in batch],
            unmatched_weight=config.unmatched_weight,
            one_sided=config.one_sided,
        )
        if not np.isfinite(found.objective):
            return torch.tensor(found.objective)
        result = -found.surrogate / len(batch)
        if channel_l2:
            for w, before in zip(channel, start, strict=True):
                result = result + channel_l2 * (w - before).square().sum()
        return result

    def perplexity() -> float:
        model.refresh()
        return model.perplexity(dev)

    history = fit(
        torch.optim.Adam(
            [
                {
                    "params": scorer,
                    "lr": config.learning_rate,
                    "weight_decay": 2 * config.l2,
                },
                {"params": channel, "lr": config.channel_learning_rate},
            ],
            fused=True,
        ),
        batches,
        loss,
        perplexity,
        max_epochs=config.max_epochs,
        patience=config.patience,
        averaging=config.averaging,
        label=model.direction,
        show_progress=show_progress,
    )
    model.refresh()
    return history
