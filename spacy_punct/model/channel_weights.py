"""The channel's trainable weights: a module that gives edit log-probabilities."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.channel import EDITS, KEEP, Channel, Direction, allowed_edits

ChannelKind = Literal["table", "shared", "identity"]
CHANNEL_KINDS: tuple[ChannelKind, ...] = ("table", "shared", "identity")

_FORBIDDEN = -1e9


class ChannelWeights(nn.Module):
    """φ: the edit log-probabilities of every window ab.

    - "table": one weight for each window and edit, as in the paper.
    - "shared": the paper's footnote on sharing: each mark has, for each edit, a
      strength as left and as right member of a window and a small embedding on
      either side; a window's weight is the sum of the strengths and the product
      of the embeddings. O(K) weights instead of O(K²).
    - "identity": nothing is ever rewritten, and nothing is trained.

    marks (Sequence[str]): Σ.
    kind (ChannelKind): How the weights are shared.
    rank (int): Size of the embeddings of "shared".
    keep_bias (float): Head start of "no change" in untrained weights.
    seed (int): Seed of the embeddings' initial noise.
    """

    def __init__(
        self,
        marks: Sequence[str],
        kind: ChannelKind = "table",
        *,
        rank: int = 4,
        keep_bias: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__()
        if kind not in CHANNEL_KINDS:
            choices = ", ".join(CHANNEL_KINDS)
            raise PunctError(Errors.P022.format(kind=kind, choices=choices))
        self.marks = tuple(marks)
        self.kind = kind
        size, n = len(self.marks), len(EDITS)
        self.register_buffer(
            "_allowed", torch.tensor(allowed_edits(self.marks)), persistent=False
        )
        bias = torch.zeros(n)
        bias[KEEP] = keep_bias
        if kind == "table":
            self.table = nn.Parameter(bias[:, None, None].repeat(1, size, size))
        elif kind == "shared":
            generator = torch.Generator().manual_seed(seed)
            self.bias = nn.Parameter(bias)
            self.strength = nn.Parameter(torch.zeros(2, n, size))
            noise = torch.randn(2, n, size, rank, generator=generator)
            self.embedding = nn.Parameter(0.3 * noise)

    def forward(self) -> Tensor:
        """(4, K, K) edit log-probabilities; 0 where an edit is not allowed."""
        size = len(self.marks)
        if self.kind == "table":
            weights = self.table
        elif self.kind == "shared":
            left, right = self.strength
            products = torch.einsum("nar,nbr->nab", *self.embedding)
            weights = (
                self.bias[:, None, None] + left[:, :, None] + right[:, None] + products
            )
        else:
            weights = torch.full((len(EDITS), size, size), _FORBIDDEN)
            weights[KEEP] = 0.0
        weights = weights.double().masked_fill(~self._allowed, _FORBIDDEN)
        return torch.log_softmax(weights, dim=0).masked_fill(~self._allowed, 0.0)

    @torch.no_grad()
    def channel(self, direction: Direction) -> Channel:
        """The channel as plain numbers, for inference."""
        probabilities = (self().exp() * self._allowed).numpy()
        return Channel(self.marks, probabilities, direction)
