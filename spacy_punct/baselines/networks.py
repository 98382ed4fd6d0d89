"""Networks from words to a distribution of the classes of their slots."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import nn

from spacy_punct.baselines.crf import ChainCRF
from spacy_punct.baselines.encoders import BothWays, Embeddings, LockedDropout
from spacy_punct.baselines.words import Batch
from spacy_punct.errors import check_range


@dataclass(frozen=True)
class NetworkConfig:
    """The size of a network, and what it is kept from relying on in training.

    embedding_width (int): Of the embeddings of words.
    hidden_width (int): Of an LSTM, in each direction.
    n_layers (int): LSTMs on top of each other.
    slot_width (int): Of the layer between the words around a slot and its classes.
    dropout (float): Share of embeddings and activations left out.
    word_dropout (float): Share of forms read as unknown.
    """

    embedding_width: int = 128
    hidden_width: int = 96
    n_layers: int = 2
    slot_width: int = 128
    dropout: float = 0.33
    word_dropout: float = 0.2

    def __post_init__(self) -> None:
        for name in ("embedding_width", "hidden_width", "n_layers", "slot_width"):
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
        width, hidden = config.embedding_width, config.hidden_width
        self.embeddings = Embeddings(sizes, width, config.word_dropout)
        inputs = [width] + [2 * hidden] * (config.n_layers - 1)
        self.layers = nn.ModuleList(BothWays(nn.LSTM, n, hidden) for n in inputs)
        self.slots = nn.Linear(4 * hidden, config.slot_width)
        self.dropout = LockedDropout(config.dropout)

    def forward(self, batch: Batch) -> torch.Tensor:
        """(sentences, longest + 1, slot_width)."""
        states = self.dropout(self.embeddings(batch))
        for layer in self.layers:
            states = self.dropout(layer(states, batch))
        around = torch.cat([states[:, :-1], states[:, 1:]], dim=-1)
        return self.dropout(torch.relu(self.slots(around)))


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


class BiLSTMCRF(nn.Module):
    """The classes of all slots together: a CRF on top of what a BiLSTM makes of the
    words."""

    def __init__(
        self, sizes: tuple[int, ...], n_classes: int, config: NetworkConfig
    ) -> None:
        super().__init__()
        self.encoder = BiLSTMEncoder(sizes, config)
        self.output = nn.Linear(config.slot_width, n_classes)
        self.crf = ChainCRF(n_classes)

    def log_likelihood(self, batch: Batch, classes: torch.Tensor) -> torch.Tensor:
        scores = self.output(self.encoder(batch))
        return self.crf.log_likelihood(scores, classes, batch.is_slot)

    def log_marginals(self, batch: Batch) -> torch.Tensor:
        scores = self.output(self.encoder(batch))
        return self.crf.log_marginals(scores, batch.is_slot)


NETWORKS: dict[str, Callable[[tuple[int, ...], int, NetworkConfig], SlotNetwork]] = {
    "bilstm-softmax": BiLSTMSoftmax,
    "bilstm-crf": BiLSTMCRF,
}
"""The kinds of taggers there are: networks, made of the sizes of the columns, the
number of classes and the config."""
