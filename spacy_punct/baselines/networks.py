"""Networks from words to a distribution of the classes of their slots."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from spacy_punct.baselines.words import END, FORM, UNKNOWN, Batch
from spacy_punct.errors import check_range


@dataclass(frozen=True)
class NetworkConfig:
    """The size of a network, and what it is kept from relying on in training.

    form_width, column_width (int): Of the embeddings of forms, and of the other
        columns.
    hidden_width (int): Of an LSTM, in each direction.
    n_layers (int): LSTMs on top of each other.
    slot_width (int): Of the layer between the words around a slot and its classes.
    dropout (float): Share of embeddings and activations left out.
    word_dropout (float): Share of forms read as unknown.
    """

    form_width: int = 100
    column_width: int = 24
    hidden_width: int = 160
    n_layers: int = 2
    slot_width: int = 160
    dropout: float = 0.4
    word_dropout: float = 0.2

    def __post_init__(self) -> None:
        for name in (
            "form_width",
            "column_width",
            "hidden_width",
            "n_layers",
            "slot_width",
        ):
            check_range(name, getattr(self, name), 1)
        for name in ("dropout", "word_dropout"):
            check_range(name, getattr(self, name), 0, 1)


class SlotNetwork(Protocol):
    """What a `Tagger` needs of its network, which is an `nn.Module`."""

    def log_likelihood(self, batch: Batch, classes: torch.Tensor) -> torch.Tensor:
        """log p(classes | words) of each sentence.

        classes (Tensor): (sentences, longest + 1), of any value where `batch` has no
            slot.
        RETURNS (Tensor): One value a sentence.
        """
        ...

    def log_marginals(self, batch: Batch) -> torch.Tensor:
        """log p(class | words) in each slot: (sentences, longest + 1, classes)."""
        ...


class BiLSTMEncoder(nn.Module):
    """From words to a vector for each slot, from what is on both sides of it."""

    def __init__(self, sizes: tuple[int, ...], config: NetworkConfig) -> None:
        super().__init__()
        self.word_dropout = config.word_dropout
        widths = [
            config.form_width if k == FORM else config.column_width
            for k in range(len(sizes))
        ]
        self.embeddings = nn.ModuleList(
            nn.Embedding(n, width) for n, width in zip(sizes, widths, strict=True)
        )
        inputs = [sum(widths)] + [2 * config.hidden_width] * (config.n_layers - 1)
        self.layers = nn.ModuleList(
            nn.LSTM(width, config.hidden_width, batch_first=True, bidirectional=True)
            for width in inputs
        )
        self.slots = nn.Linear(4 * config.hidden_width, config.slot_width)
        self.dropout = LockedDropout(config.dropout)

    def forward(self, batch: Batch) -> torch.Tensor:
        columns = self._with_unknown(batch.columns).unbind(-1)
        states = torch.cat(
            [embed(k) for embed, k in zip(self.embeddings, columns, strict=True)], -1
        )
        for layer in self.layers:
            packed = pack_padded_sequence(
                self.dropout(states),
                batch.lengths,
                batch_first=True,
                enforce_sorted=False,
            )
            states, _ = pad_packed_sequence(layer(packed)[0], batch_first=True)
        states = self.dropout(states)
        around = torch.cat([states[:, :-1], states[:, 1:]], dim=-1)
        return self.dropout(torch.relu(self.slots(around)))

    def _with_unknown(self, columns: torch.Tensor) -> torch.Tensor:
        """The columns, in training with some forms read as unknown."""
        if not self.training:
            return columns
        forms = columns[..., FORM]
        dropped = (torch.rand(forms.shape) < self.word_dropout) & (forms > END)
        columns = columns.clone()
        columns[..., FORM] = forms.masked_fill(dropped, UNKNOWN)
        return columns


class LockedDropout(nn.Module):
    """Dropout of the same activations all through a sentence."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return states
        mask = torch.full_like(states[:, :1], 1 - self.share).bernoulli()
        return states * mask / (1 - self.share)


class BiLSTMSoftmax(nn.Module):
    """Each slot's class on its own, given what a BiLSTM makes of the words."""

    def __init__(
        self, sizes: tuple[int, ...], n_classes: int, config: NetworkConfig
    ) -> None:
        super().__init__()
        self.encoder = BiLSTMEncoder(sizes, config)
        self.output = nn.Linear(config.slot_width, n_classes)

    def log_likelihood(self, batch: Batch, classes: torch.Tensor) -> torch.Tensor:
        found = self.log_marginals(batch).gather(-1, classes[..., None])[..., 0]
        return found.where(batch.is_slot, 0.0).sum(-1)

    def log_marginals(self, batch: Batch) -> torch.Tensor:
        return self.output(self.encoder(batch)).log_softmax(-1)


NETWORKS: dict[str, Callable[[tuple[int, ...], int, NetworkConfig], SlotNetwork]] = {
    "bilstm-softmax": BiLSTMSoftmax
}
"""The kinds of taggers there are: networks, made of the sizes of the columns, the
number of classes and the config."""
