"""Linear-chain conditional random fields: exact likelihoods and slot marginals.

Probabilities are rescaled at every step instead of kept as logarithms, so a step is
a product with the matrix of transitions. All is in double precision, where scores
may differ by hundreds before one is lost.
"""

from typing import Any

import torch
from torch import nn


class ChainCRF(nn.Module):
    """A distribution of sequences of classes: a score for each class in each slot,
    for each pair of neighbours, and for the first and the last.

    n_classes (int): The number of classes.
    """

    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(n_classes, n_classes))
        self.start = nn.Parameter(torch.zeros(n_classes))
        self.end = nn.Parameter(torch.zeros(n_classes))

    def log_likelihood(
        self, scores: torch.Tensor, classes: torch.Tensor, is_slot: torch.Tensor
    ) -> torch.Tensor:
        """log p(classes) of each sentence.

        scores (Tensor): (sentences, slots, classes).
        classes (Tensor): (sentences, slots), of any value where there is no slot.
        is_slot (Tensor): (sentences, slots): the slots of a sentence come first.
        RETURNS (Tensor): One value per sentence.
        """
        scores = self._with_ends(scores, is_slot)
        transitions = self.transitions.double()
        own = scores.gather(-1, classes[..., None])[..., 0].where(is_slot, 0.0)
        pairs = transitions[classes[:, :-1], classes[:, 1:]].where(is_slot[:, 1:], 0.0)
        log_partition = _LogPartition.apply(scores, transitions, is_slot)
        return own.sum(-1) + pairs.sum(-1) - log_partition

    def log_marginals(
        self, scores: torch.Tensor, is_slot: torch.Tensor
    ) -> torch.Tensor:
        """log p(class) in each slot, in the shape of the scores.

        No gradient flows through it.
        """
        with torch.no_grad():
            scores = self._with_ends(scores, is_slot)
            chain = _Chain(scores, self.transitions.double(), is_slot)
            smallest = torch.finfo(torch.double).tiny
            return chain.posteriors().clamp_min(smallest).log()

    def _with_ends(self, scores: torch.Tensor, is_slot: torch.Tensor) -> torch.Tensor:
        """The scores in double precision, those of both ends added to them."""
        scores = scores.double()
        is_last = torch.arange(scores.shape[1]) == is_slot.sum(-1, keepdim=True) - 1
        is_first = torch.arange(scores.shape[1]) == 0
        return (
            scores
            + is_first[:, None] * self.start.double()
            + is_last[..., None] * self.end.double()
        )


class _Chain:
    """Forward and backward probabilities, slots first: (slots, sentences, classes).

    scores (Tensor): (sentences, slots, classes), in double precision.
    transitions (Tensor): (classes, classes): from the left class to the right one.
    is_slot (Tensor): (sentences, slots).
    """

    def __init__(
        self, scores: torch.Tensor, transitions: torch.Tensor, is_slot: torch.Tensor
    ) -> None:
        by_slot = scores.transpose(0, 1)
        highest = by_slot.amax(-1, keepdim=True)
        self.emissions = (by_slot - highest).exp()
        self.moves = (transitions - transitions.max()).exp()
        self.is_slot = is_slot.T[..., None]
        is_step = torch.arange(len(by_slot))[:, None, None] > 0
        self._offsets = highest + is_step * transitions.max()
        self.forward, self._scales = self._pass_forward()

    def _pass_forward(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Classes given all to their left, and the factors taken out of each step."""
        states: list[torch.Tensor] = []
        scales: list[torch.Tensor] = []
        for k, emissions in enumerate(self.emissions):
            state = emissions if k == 0 else (states[-1] @ self.moves) * emissions
            scales.append(state.sum(-1, keepdim=True))
            states.append(state / scales[-1])
        return torch.stack(states), torch.stack(scales)

    def _pass_backward(self) -> torch.Tensor:
        """What is to the right given each class, up to a factor a slot."""
        states = [torch.ones_like(self.emissions[0])]
        for emissions, is_slot in zip(
            self.emissions.flip(0)[:-1], self.is_slot.flip(0)[:-1], strict=True
        ):
            state = (emissions * states[-1]) @ self.moves.T
            state = state / state.sum(-1, keepdim=True)
            # Past its last slot a sentence has nothing to tell.
            states.append(torch.where(is_slot, state, 1.0))
        return torch.stack(states[::-1])

    def log_partition(self) -> torch.Tensor:
        steps = self._scales.log() + self._offsets
        return steps.where(self.is_slot, 0.0).sum((0, 2))

    def posteriors(self) -> torch.Tensor:
        """p(class) in each slot: (sentences, slots, classes)."""
        both = self.forward * self._pass_backward()
        return (both / both.sum(-1, keepdim=True)).transpose(0, 1)

    def gradients(self, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Expected counts of classes in slots, and of pairs of neighbours.

        weights (Tensor): Of each sentence.
        RETURNS (tuple[Tensor, Tensor]): (sentences, slots, classes), and (classes,
            classes) summed over sentences.
        """
        backward = self._pass_backward()
        both = self.forward * backward
        totals = both.sum(-1, keepdim=True)
        weights = weights[:, None] * self.is_slot
        classes = both * (weights / totals)
        right = backward * self.emissions * (weights / (totals * self._scales))
        left = self.forward[:-1].flatten(0, 1)
        pairs = self.moves * (left.T @ right[1:].flatten(0, 1))
        return classes.transpose(0, 1), pairs


class _LogPartition(torch.autograd.Function):
    """log of the sum over all sequences; its gradient by forward-backward is faster
    than through each step."""

    @staticmethod
    def forward(
        ctx: Any,
        scores: torch.Tensor,
        transitions: torch.Tensor,
        is_slot: torch.Tensor,
    ) -> torch.Tensor:
        ctx.chain = _Chain(scores, transitions, is_slot)
        return ctx.chain.log_partition()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return *ctx.chain.gradients(gradient), None
