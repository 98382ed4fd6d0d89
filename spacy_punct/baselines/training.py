"""The training loop of taggers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from spacy_punct.baselines.model import Tagger, collate_pairs
from spacy_punct.baselines.networks import NetworkConfig
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.averaging import RunningAverage, copy_weights

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

    learning_rate: float = 0.002
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
    examples: Sequence[PunctuatedTree],
    dev: Sequence[PunctuatedTree],
    training: TaggerTraining | None = None,
    *,
    kind: str = "bilstm-softmax",
    network: NetworkConfig | None = None,
    show_progress: bool = True,
) -> TaggerResult:
    """Train a tagger; the same seed gives the same tagger.

    examples (Sequence[PunctuatedTree]): Training data; the trees are not read.
    dev (Sequence[PunctuatedTree]): Held-out data that decides when to stop.
    training (TaggerTraining | None): How to train.
    kind (str): See `Tagger`.
    network (NetworkConfig | None): The network's size.
    show_progress (bool): Whether to show a progress bar and dev perplexities.
    RETURNS (TaggerResult): The tagger of best dev perplexity.
    """
    if not examples or not dev:
        raise PunctError(Errors.P020)
    training = training or TaggerTraining()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(training.seed)
        tagger = Tagger.from_examples(examples, kind, network)
        return _train(tagger, examples, dev, training, show_progress)


def _train(
    tagger: Tagger,
    examples: Sequence[PunctuatedTree],
    dev: Sequence[PunctuatedTree],
    training: TaggerTraining,
    show_progress: bool,
) -> TaggerResult:
    weights = list(tagger.network.parameters())
    optimizer = torch.optim.Adam(weights, lr=training.learning_rate, fused=True)
    average = RunningAverage(weights, training.averaging)
    rng = np.random.default_rng(training.seed)
    encoded = [tagger.encode(example) for example in examples]
    lengths = np.array([len(example.slots) for example in examples])
    best, best_weights, since_best = np.inf, average.copy(), 0
    history: list[float] = []
    step = 0
    total = training.max_epochs * -(-len(examples) // training.batch_size)
    with tqdm(total=total, disable=not show_progress, desc=tagger.kind) as bar:
        for _ in range(training.max_epochs):
            tagger.network.train()
            for chosen in like_lengths(lengths, training.batch_size, rng):
                batch, classes = collate_pairs([encoded[i] for i in chosen])
                loss = -tagger.network.log_likelihood(batch, classes).sum()
                if not torch.isfinite(loss):
                    raise PunctError(Errors.P026.format(loss=loss.item(), step=step))
                optimizer.zero_grad()
                (loss / batch.is_slot.sum()).backward()
                nn.utils.clip_grad_norm_(weights, training.max_gradient)
                optimizer.step()
                step += 1
                average.update(step)
                bar.update()
            tagger.network.eval()
            with average.in_use():
                history.append(tagger.perplexity(dev))
            bar.set_postfix(dev=f"{history[-1]:.4f}", best=f"{min(history):.4f}")
            if history[-1] < best:
                best, best_weights, since_best = history[-1], average.copy(), 0
            else:
                since_best += 1
                if since_best >= training.patience:
                    break
    copy_weights(best_weights, weights)
    return TaggerResult(tagger, best, tuple(history))


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
