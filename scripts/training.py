"""One training loop for all models that spaCy does not train: running averages of the
weights, and the best of them by a score on dev data."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch import nn
from tqdm import tqdm

from spacy_punct.errors import Errors, PunctError

B = TypeVar("B")
M = TypeVar("M")


@dataclass(frozen=True)
class Trained(Generic[M]):
    """A trained model, at its best dev perplexity, and that of each epoch."""

    model: M
    dev_perplexity: float
    history: tuple[float, ...]


def fit(
    optimizer: torch.optim.Optimizer,
    batches: Callable[[int], Iterable[B]],
    loss: Callable[[B], torch.Tensor],
    perplexity: Callable[[], float],
    *,
    max_epochs: int,
    patience: int,
    averaging: float,
    max_gradient: float | None = None,
    label: str = "",
    show_progress: bool = True,
) -> list[float]:
    """Train weights, and leave them as they were at the best perplexity.

    optimizer (Optimizer): Has the weights.
    batches (Callable): The batches of an epoch, counted from 0.
    loss (Callable): Of a batch.
    perplexity (Callable): On dev data, with the weights as they are.
    max_epochs (int): At most.
    patience (int): Epochs without improvement before stopping.
    averaging (float): Share of the running average of the weights kept at each step;
        it is the average that is evaluated and kept. 0 for none.
    max_gradient (float | None): Longer gradients are cut to this norm.
    label (str): What the progress bar says.
    show_progress (bool): Whether there is one.
    RETURNS (list[float]): The perplexity after each epoch.
    """
    weights = [w for group in optimizer.param_groups for w in group["params"]]
    average = RunningAverage(weights, averaging)
    best = average.copy()
    history: list[float] = []
    step = 0
    for epoch in range(max_epochs):
        shown = tqdm(
            batches(epoch),
            desc=f"{label} {epoch + 1}/{max_epochs}",
            disable=None if show_progress else True,
        )
        for batch in shown:
            found = loss(batch)
            step += 1
            _check(found.item(), step)
            optimizer.zero_grad()
            found.backward()
            if max_gradient is not None:
                nn.utils.clip_grad_norm_(weights, max_gradient)
            optimizer.step()
            average.update()
        with average.in_use():
            now = perplexity()
        _check(now, step)
        if now < min(history, default=float("inf")):
            best = average.copy()
        history.append(now)
        if len(history) - 1 - history.index(min(history)) >= patience:
            break
    copy_weights(best, weights)
    return history


def _check(value: float, step: int) -> None:
    if not math.isfinite(value):
        raise PunctError(Errors.P026.format(loss=value, step=step))


class RunningAverage:
    """The average of weights over the steps of training, which generalises better than
    the last ones.

    weights (Sequence[torch.Tensor]): The weights that are trained.
    kept (float): Share of the average kept at each step.
    """

    def __init__(self, weights: Sequence[torch.Tensor], kept: float) -> None:
        self._weights = weights
        self._kept = kept
        self._average = [w.detach().clone() for w in weights]
        self._steps = 0

    @torch.no_grad()
    def update(self) -> None:
        """Take in the weights after a step."""
        self._steps += 1
        # Early on, an average of all steps so far.
        new = max(1.0 - self._kept, 1.0 / self._steps)
        for average, weights in zip(self._average, self._weights, strict=True):
            average.lerp_(weights, new)

    def copy(self) -> list[torch.Tensor]:
        return [average.clone() for average in self._average]

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let the weights be the average for a while."""
        own = [w.detach().clone() for w in self._weights]
        copy_weights(self._average, self._weights)
        try:
            yield
        finally:
            copy_weights(own, self._weights)


@torch.no_grad()
def copy_weights(
    source: Sequence[torch.Tensor], target: Sequence[torch.Tensor]
) -> None:
    """Overwrite the target's values."""
    for a, b in zip(source, target, strict=True):
        b.copy_(a)
