"""From words to vectors: embeddings and recurrent layers that never see padding."""

import torch
from torch import nn

from scripts.baselines.words import END, FORM, UNKNOWN, Batch


class Embeddings(nn.Module):
    """A vector for each word, the sum of those of its columns.

    sizes (tuple[int, ...]): How many numbers each column needs.
    width (int): Of the vectors.
    word_dropout (float): Share of forms read as unknown in training.
    """

    def __init__(self, sizes: tuple[int, ...], width: int, word_dropout: float) -> None:
        super().__init__()
        self.word_dropout = word_dropout
        self.table = nn.EmbeddingBag(sum(sizes), width, mode="sum")
        nn.init.normal_(self.table.weight, std=len(sizes) ** -0.5)
        starts = torch.tensor((0, *sizes[:-1])).cumsum(0)
        self.register_buffer("starts", starts, persistent=False)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(sentences, longest + 2, width)."""
        columns = batch.columns[..., : len(self.starts)]
        columns = self._with_unknown(columns) + self.starts
        return self.table(columns.flatten(0, 1)).unflatten(0, columns.shape[:2])

    def _with_unknown(self, columns: torch.Tensor) -> torch.Tensor:
        """The columns, in training with some forms read as unknown."""
        if not self.training:
            return columns
        forms = columns[..., FORM]
        dropped = (torch.rand(forms.shape) < self.word_dropout) & (forms > END)
        columns = columns.clone()
        columns[..., FORM] = forms.masked_fill(dropped, UNKNOWN)
        return columns


class ObservedEmbeddings(nn.Module):
    """A vector for each observed string, the sum of those of its columns.

    sizes (tuple[int, ...]): How many numbers each column needs. Empty if no marks are
        read: then the vectors have no width.
    width (int): Of the vectors.
    """

    def __init__(self, sizes: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.width = width if sizes else 0
        self.tables = nn.ModuleList(nn.Embedding(n, width) for n in sizes)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(sentences, longest + 2, width): beside each word, the slot after it."""
        if not self.width:
            return torch.zeros(*batch.is_word.shape, 0)
        columns = batch.observed.unbind(-1)
        return sum(
            table(column) for table, column in zip(self.tables, columns, strict=True)
        )


class BothWays(nn.Module):
    """A recurrent layer in each direction.

    Backwards, each sentence is turned around within its own length, so that padding
    comes last in both directions and no state has read it. On CPUs this is somewhat
    faster than packed sequences.

    cell (type[nn.LSTM] | type[nn.GRU]): The kind of layer.
    n_inputs, width (int): Of the inputs, and of the states of one direction.
    """

    def __init__(
        self, cell: type[nn.LSTM] | type[nn.GRU], n_inputs: int, width: int
    ) -> None:
        super().__init__()
        self.forth = cell(n_inputs, width, batch_first=True)
        self.back = cell(n_inputs, width, batch_first=True)

    def forward(self, states: torch.Tensor, batch: Batch) -> torch.Tensor:
        """(sentences, longest + 2, 2 * width)."""
        forth, _ = self.forth(states)
        back, _ = self.back(_turned(states, batch))
        return torch.cat([forth, _turned(back, batch)], dim=-1)


def _turned(states: torch.Tensor, batch: Batch) -> torch.Tensor:
    positions = batch.turned[..., None].expand(states.shape)
    return states.gather(1, positions)


class LockedDropout(nn.Module):
    """Dropout of the same activations all through a sentence."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return states
        mask = torch.full_like(states[:, :1], 1 - self.share).bernoulli()
        return states * (mask / (1 - self.share))
