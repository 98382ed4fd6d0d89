"""The training loop (section 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from tqdm import tqdm

from scripts.averaging import RunningAverage, copy_weights
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.attach import encode
from spacy_punct.model.channel import DIRECTIONS, ChannelKind, ChannelWeights, Direction
from spacy_punct.model.objective import Likelihood
from spacy_punct.model.punctuation import PunctuationModel


@dataclass(frozen=True)
class TrainingConfig:
    """How to train. The defaults are tuned on dev data of UD 1.4 English.

    direction (Direction | None): The channel's; None tries both, and dev decides.
    channel (ChannelKind): How the channel's weights are shared.
    learning_rate, channel_learning_rate (float): Of Adam, for ATTACH and the
        channel.
    batch_size (int): Sentences a step.
    max_epochs (int): Passes over the training data at most.
    evaluations (int): Dev evaluations an epoch.
    patience (int): Evaluations without improvement before stopping.
    dropout (float): Share of ATTACH's features left out of each step.
    l2 (float): ς, pulls ATTACH's weights to their starting values.
    averaging (float): Share of the running average of the weights kept at each
        step; it is the average that is evaluated and kept. 0 for none.
    unmatched_weight (float): ξ, discourages unmatched symmetric marks.
    squared (bool): Whether ξ weighs the square of their expected count.
    min_feature_count (int): How often a feature row must have been seen.
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
    evaluations: int = 1
    patience: int = 2
    dropout: float = 0.4
    l2: float = 1e-4
    averaging: float = 0.99
    unmatched_weight: float = 0.03
    squared: bool = True
    min_feature_count: int = 1
    min_weight: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("batch_size", "evaluations", "patience", "min_feature_count"):
            check_range(name, getattr(self, name), 1)
        for name in ("max_epochs", "l2", "unmatched_weight", "min_weight", "seed"):
            check_range(name, getattr(self, name), 0)
        for name in ("dropout", "averaging"):
            check_range(name, getattr(self, name), 0, 1)


@dataclass(frozen=True)
class Evaluation:
    """Where training stood at some point."""

    step: int
    epoch: float
    train_log_prob: float
    """Per slot, since the last evaluation."""
    unmatched: float
    """Expected unmatched nodes a sentence, since the last evaluation."""
    dev_perplexity: float


@dataclass(frozen=True)
class TrainingResult:
    """A trained model, at its best dev perplexity, and how it got there."""

    model: PunctuationModel
    dev_perplexity: float
    history: tuple[Evaluation, ...]


def train(
    examples: Sequence[PunctuatedTree],
    dev: Sequence[PunctuatedTree],
    config: TrainingConfig | None = None,
    *,
    channel_start: ChannelWeights | None = None,
    channel_l2: float = 0.0,
    show_progress: bool = True,
) -> TrainingResult:
    """Train a log-linear model.

    examples (Sequence[PunctuatedTree]): Projective training trees.
    dev (Sequence[PunctuatedTree]): Held-out trees that decide when to stop, and
        on the channel's direction if the config leaves it open.
    config (TrainingConfig | None): The settings.
    channel_start (ChannelWeights | None): Weights of another model's channel to
        start from, of the same kind and over the same marks.
    channel_l2 (float): Pulls the channel's weights to their starting values.
    show_progress (bool): Whether to show a progress bar and dev scores.
    RETURNS (TrainingResult): The model of best dev perplexity.
    """
    config = config or TrainingConfig()
    examples, dev = tuple(examples), tuple(dev)
    results = []
    for direction in [config.direction] if config.direction else DIRECTIONS:
        model = PunctuationModel.from_examples(
            examples,
            direction=direction,
            channel=config.channel,
            min_feature_count=config.min_feature_count,
            seed=config.seed,
        )
        model.scorer.set_dropout(config.dropout, seed=config.seed)
        if channel_start is not None:
            model.channel_weights.load_state_dict(channel_start.state_dict())
            model.refresh()
        result = train_model(
            model, examples, dev, config, show_progress, channel_l2=channel_l2
        )
        model.scorer.compact(config.min_weight)
        model.refresh()
        results.append(replace(result, dev_perplexity=model.perplexity(dev)))
    return min(results, key=lambda result: result.dev_perplexity)


def train_model(
    model: PunctuationModel,
    examples: Sequence[PunctuatedTree],
    dev: Sequence[PunctuatedTree],
    config: TrainingConfig,
    show_progress: bool = True,
    *,
    channel_l2: float = 0.0,
) -> TrainingResult:
    """Train any model in place, and leave it at its best dev perplexity.

    The config's `direction`, `channel`, `dropout`, `min_feature_count` and
    `min_weight` are about making a log-linear model (see `train`), not used here.
    """
    check_range("channel_l2", channel_l2, 0)
    if not examples or not dev:
        raise PunctError(Errors.P020)
    for example in (*examples, *dev):
        example.tree.check_projective()
    trees = [example.tree for example in examples]
    slots = [encode(model.inventory, example) for example in examples]
    prepared = [model.scorer.prepare(t, s) for t, s in zip(trees, slots, strict=True)]
    optimizer = torch.optim.Adam(
        [
            {
                "params": list(model.scorer.parameters()),
                "lr": config.learning_rate,
                "weight_decay": 2 * config.l2,
            },
            {
                "params": list(model.channel_weights.parameters()),
                "lr": config.channel_learning_rate,
            },
        ],
        fused=True,
    )
    rng = np.random.default_rng(config.seed)
    steps_an_epoch = -(-len(trees) // config.batch_size)
    history: list[Evaluation] = []
    weights = [*model.scorer.parameters(), *model.channel_weights.parameters()]
    channel_start = [w.detach().clone() for w in model.channel_weights.parameters()]
    average = RunningAverage(weights, config.averaging)
    best, best_weights, since_best = np.inf, average.copy(), 0
    recent: list[tuple[Likelihood, int, int]] = []
    step = 0
    with tqdm(
        total=config.max_epochs * steps_an_epoch,
        disable=not show_progress,
        desc=model.direction,
    ) as bar:
        while step < config.max_epochs * steps_an_epoch:
            if step % steps_an_epoch == 0:
                order = rng.permutation(len(trees))
            at = step % steps_an_epoch * config.batch_size
            batch = order[at : at + config.batch_size]
            found = model.likelihood(
                [trees[i] for i in batch],
                [slots[i] for i in batch],
                [prepared[i] for i in batch],
                unmatched_weight=config.unmatched_weight,
                squared=config.squared,
            )
            if not np.isfinite(found.objective):
                raise PunctError(Errors.P026.format(loss=found.objective, step=step))
            optimizer.zero_grad()
            loss = -found.surrogate / len(batch)
            if channel_l2:
                now = model.channel_weights.parameters()
                for w, start in zip(now, channel_start, strict=True):
                    loss = loss + channel_l2 * (w - start).square().sum()
            loss.backward()
            optimizer.step()
            step += 1
            average.update(step)
            bar.update()
            recent.append((found, len(batch), sum(len(slots[i]) for i in batch)))
            if step * config.evaluations % steps_an_epoch >= config.evaluations:
                continue
            with average.in_use():
                model.refresh()
                dev_perplexity = model.perplexity(dev)
            evaluation = Evaluation(
                step,
                step / steps_an_epoch,
                sum(f.log_prob for f, _, _ in recent) / sum(n for _, _, n in recent),
                sum(f.unmatched for f, _, _ in recent) / sum(n for _, n, _ in recent),
                dev_perplexity,
            )
            history.append(evaluation)
            recent = []
            bar.set_postfix(
                train=f"{np.exp(-evaluation.train_log_prob):.4f}",
                dev=f"{evaluation.dev_perplexity:.4f}",
                unmatched=f"{evaluation.unmatched:.3f}",
            )
            if not np.isfinite(dev_perplexity):
                raise PunctError(Errors.P026.format(loss=dev_perplexity, step=step))
            if dev_perplexity < best:
                best, best_weights = evaluation.dev_perplexity, average.copy()
                since_best = 0
            else:
                since_best += 1
                if since_best >= config.patience:
                    break
    copy_weights(best_weights, weights)
    model.refresh()
    return TrainingResult(model, best, tuple(history))
