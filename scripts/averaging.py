"""Running averages of weights, which generalise better than the last ones."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch


class RunningAverage:
    """The average of some weights over the steps of training.

    weights (Sequence[torch.Tensor]): The weights that are trained.
    kept (float): Share of the average kept at each step.
    """

    def __init__(self, weights: Sequence[torch.Tensor], kept: float) -> None:
        self._weights = weights
        self._kept = kept
        self._average = [w.detach().clone() for w in weights]

    @torch.no_grad()
    def update(self, step: int) -> None:
        # Early on, an average of all steps so far.
        new = max(1.0 - self._kept, 1.0 / step)
        for average, weights in zip(self._average, self._weights, strict=True):
            average.lerp_(weights, new)

    def copy(self) -> list[torch.Tensor]:
        return [average.clone() for average in self._average]

    def set(self, average: Sequence[torch.Tensor]) -> None:
        """Go on from an earlier copy."""
        copy_weights(average, self._average)

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
