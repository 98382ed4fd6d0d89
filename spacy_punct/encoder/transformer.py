"""A plain torch BERT that also sees the shapes of words."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spacy_punct.encoder.wordpieces import N_SHAPES


@dataclass(frozen=True)
class TransformerSizes:
    """The sizes of a transformer; by default those of gte-small.

    n_layers (int): How many layers.
    width, hidden_width, n_heads (int): The sizes of each layer.
    n_pieces (int): How many word pieces are known.
    n_positions (int): The most pieces that it can read together.
    """

    n_layers: int = 12
    width: int = 384
    hidden_width: int = 1536
    n_heads: int = 12
    n_pieces: int = 30522
    n_positions: int = 512


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Scaled dot-product attention.

    Written out where torch's own is slow: in bfloat16 on a CPU it takes up to twice as
    long, and its gradient three to seven times.
    """
    if q.dtype != torch.bfloat16 or q.device.type != "cpu":
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    q = q * q.shape[-1] ** -0.5
    blocked = None
    if mask is not None:
        blocked = torch.zeros_like(mask, dtype=q.dtype).masked_fill_(~mask, -math.inf)
    # One window at a time: what it needs fits the processor's cache.
    found = []
    for i in range(len(q)):
        scores = q[i] @ k[i].transpose(-1, -2)
        if blocked is not None:
            scores = scores + blocked[i]
        found.append(scores.softmax(-1) @ v[i])
    return torch.stack(found)


class Layer(nn.Module):
    """Self-attention and a hidden layer, each normalised afterwards (Devlin et al.)."""

    def __init__(self, sizes: TransformerSizes) -> None:
        super().__init__()
        width = sizes.width
        self.n_heads = sizes.n_heads
        self.qkv = nn.Linear(width, 3 * width)
        self.mix = nn.Linear(width, width)
        self.mix_norm = nn.LayerNorm(width, eps=1e-12)
        self.wide = nn.Linear(width, sizes.hidden_width)
        self.narrow = nn.Linear(sizes.hidden_width, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        batch, length, width = x.shape
        heads = self.qkv(x).view(batch, length, 3, self.n_heads, -1)
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        mixed = attention(q, k, v, mask)
        mixed = mixed.transpose(1, 2).reshape(batch, length, width)
        x = self.mix_norm(x + self.mix(mixed))
        return self.norm(x + self.narrow(F.gelu(self.wide(x))))


class Transformer(nn.Module):
    """Word pieces and the shapes of their tokens -> a vector for each piece.

    The vectors of pieces are not trained. Those of shapes start at zero: the weights
    that we start from have never seen capitals.

    sizes (TransformerSizes): The sizes.
    """

    def __init__(self, sizes: TransformerSizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.pieces = nn.Embedding(sizes.n_pieces, sizes.width)
        self.pieces.weight.requires_grad_(False)
        self.positions = nn.Embedding(sizes.n_positions, sizes.width)
        self.shapes = nn.Embedding(N_SHAPES, sizes.width)
        nn.init.zeros_(self.shapes.weight)
        self.norm = nn.LayerNorm(sizes.width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.n_layers))

    def forward(self, ids: Tensor, shapes: Tensor, is_piece: Tensor) -> Tensor:
        """Read windows that were padded to one length.

        ids, shapes, is_piece (Tensor): See `Batch`.
        RETURNS (Tensor): (window, place, width).
        """
        x = self.pieces(ids) + self.positions.weight[: ids.shape[1]]
        x = self.norm(x + self.shapes(shapes))
        mask = None if bool(is_piece.all()) else is_piece[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        return x
