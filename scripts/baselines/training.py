"""The training loop of taggers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from scripts.averaging import RunningAverage, copy_weights
from scripts.baselines.checkpoints import Progress, fingerprint
from scripts.baselines.model import Tagger, collate_pairs
from scripts.baselines.networks import NetworkConfig, default_config
from scripts.baselines.words import Batch
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.errors import Errors, PunctError, check_range

Draw: TypeAlias = Callable[[int], Sequence[PunctuatedTree]]
"""The training data of an epoch, counted from 0; the same whenever it is called."""

_POOL = 100
"""Batches out of which sentences of like lengths are put together."""


@dataclass(frozen=True)
class TaggerTraining:
    """How to train a tagger.

    learning_rate (float): Of Adam.
    batch_size (int): Sentences a step.
    max_epochs (int): Passes over the training data at most.
    patience (int): Epochs without improvement before stopping.
    max_gradient (float): Longer gradients are cut to this norm.
    averaging (float): Share of the running average of the weights kept at each
        step; it is the average that is evaluated and kept. 0 for none.
    seed (int): Seed of all that is random.
    """

    learning_rate: float = 0.003
    batch_size: int = 32
    max_epochs: int = 20
    patience: int = 2
    max_gradient: float = 5.0
    averaging: float = 0.998
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("batch_size", "patience"):
            check_range(name, getattr(self, name), 1)
        for name in ("learning_rate", "max_epochs", "max_gradient", "seed"):
            check_range(name, getattr(self, name), 0)
        check_range("averaging", self.averaging, 0, 1)


@dataclass(frozen=True)
class TaggerResult:
    """A trained tagger, at its best dev perplexity, and that of each epoch."""

    tagger: Tagger
    dev_perplexity: float
    history: tuple[float, ...]


def train_tagger(
    examples: Sequence[PunctuatedTree] | Draw,
    dev: Sequence[PunctuatedTree],
    training: TaggerTraining | None = None,
    *,
    kind: str = "bilstm-softmax",
    network: NetworkConfig | None = None,
    reads_observed: bool = False,
    checkpoint: Path | None = None,
    show_progress: bool = True,
) -> TaggerResult:
    """Train a tagger; the same seed gives the same tagger.

    examples (Sequence[PunctuatedTree] | Draw): Training data, or what draws that of
        each epoch, such as sentences with fresh errors; words and strings are learnt
        from the first epoch's. Of the trees only words and observed marks are read.
    dev (Sequence[PunctuatedTree]): Held-out data that decides when to stop.
    training (TaggerTraining | None): How to train.
    kind (str): See `Tagger`.
    network (NetworkConfig | None): The network's size; None for that of its kind.
    reads_observed (bool): Whether the tagger is to correct, see `Tagger`.
    checkpoint (Path | None): A file that is written after each epoch. Training that
        was interrupted goes on from it and gives what it would have given; it is
        ignored if data or settings are others, and deleted in the end.
    show_progress (bool): Whether to show a progress bar and dev perplexities.
    RETURNS (TaggerResult): The tagger of best dev perplexity.
    """
    draw = lru_cache(maxsize=1)(examples if callable(examples) else lambda _: examples)
    first = draw(0)
    if not first or not dev:
        raise PunctError(Errors.P020)
    training = training or TaggerTraining()
    network = network or default_config(kind, reads_observed=reads_observed)
    settings = {
        **asdict(training),
        "reads_observed": reads_observed,
        "is_drawn": callable(examples),
    }
    name = fingerprint(first, dev, kind, network, settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(training.seed)
        tagger = Tagger.from_examples(
            first, kind, network, reads_observed=reads_observed
        )
        weights = list(tagger.network.parameters())
        progress = Progress(
            weights,
            torch.optim.Adam(weights, lr=training.learning_rate, fused=True),
            RunningAverage(weights, training.averaging),
            np.random.default_rng(training.seed),
        )
        if checkpoint is not None:
            progress.from_disk(checkpoint, name)
        for _ in _epochs(tagger, draw, dev, training, progress, show_progress):
            if checkpoint is not None:
                progress.to_disk(checkpoint, name)
    copy_weights(progress.best_weights, weights)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return TaggerResult(tagger, progress.best, tuple(progress.history))


def _epochs(
    tagger: Tagger,
    draw: Draw,
    dev: Sequence[PunctuatedTree],
    training: TaggerTraining,
    progress: Progress,
    show_progress: bool,
) -> Iterator[None]:
    """Train for the epochs that are left, with a pause after each."""
    examples: Sequence[PunctuatedTree] = ()
    with tqdm(
        total=training.max_epochs * -(-len(draw(0)) // training.batch_size),
        initial=progress.step,
        disable=not show_progress,
        desc=tagger.kind,
    ) as bar:
        while (
            len(progress.history) < training.max_epochs
            and progress.since_best < training.patience
        ):
            drawn = draw(len(progress.history))
            if drawn is not examples:
                examples = drawn
                encoded = [tagger.encode(example) for example in examples]
                lengths = np.array([len(example.slots) for example in examples])
            tagger.network.train()
            for chosen in like_lengths(lengths, training.batch_size, progress.rng):
                batch, classes = collate_pairs([encoded[i] for i in chosen])
                _update(tagger, batch, classes, training, progress)
                bar.update()
            tagger.network.eval()
            with progress.average.in_use():
                progress.add(tagger.perplexity(dev))
            dev_now, dev_best = progress.history[-1], progress.best
            bar.set_postfix(dev=f"{dev_now:.4f}", best=f"{dev_best:.4f}")
            yield


def _update(
    tagger: Tagger,
    batch: Batch,
    classes: torch.Tensor,
    training: TaggerTraining,
    progress: Progress,
) -> None:
    loss = -tagger.network.log_likelihood(batch, classes).sum()
    if not torch.isfinite(loss):
        raise PunctError(Errors.P026.format(loss=loss.item(), step=progress.step))
    progress.optimizer.zero_grad()
    (loss / batch.is_slot.sum()).backward()
    nn.utils.clip_grad_norm_(progress.weights, training.max_gradient)
    progress.optimizer.step()
    progress.step += 1
    progress.average.update(progress.step)


def like_lengths(
    lengths: np.ndarray, batch_size: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """All sentences once, in random batches of sentences about equally long."""
    order = rng.permutation(len(lengths))
    size = _POOL * batch_size
    batches: list[np.ndarray] = []
    for at in range(0, len(order), size):
        pool = order[at : at + size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[k : k + batch_size] for k in range(0, len(pool), batch_size)]
    for k in rng.permutation(len(batches)):
        yield batches[k]
