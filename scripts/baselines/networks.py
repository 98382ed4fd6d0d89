"""Networks from words to a distribution of the classes of their slots.

Any of them may also read what a writer put into the slots, right or wrong.
"""

from dataclasses import dataclass, replace

import torch
from torch import nn

from scripts.baselines.crf import ChainCRF
from scripts.baselines.words import END, FORM, UNKNOWN, Batch
from spacy_punct.errors import check_range


@dataclass(frozen=True)
class NetworkConfig:
    """The size of a network, and what it is kept from relying on in training.

    embedding_width (int): Of the embeddings of words.
    hidden_width (int): Of an LSTM or GRU that reads words, in each direction.
    n_layers (int): Of those on top of each other.
    slot_width (int): Of the layer between words and the classes of slots.
    dropout (float): Share of embeddings and activations left out.
    word_dropout (float): Share of forms read as unknown.
    observed_width (int): Of the embeddings of observed strings, where they are read.
    """

    embedding_width: int = 128
    hidden_width: int = 96
    n_layers: int = 2
    slot_width: int = 128
    dropout: float = 0.33
    word_dropout: float = 0.2
    observed_width: int = 32

    def __post_init__(self) -> None:
        for name in ("embedding_width", "hidden_width", "n_layers", "slot_width"):
            check_range(name, getattr(self, name), 1)
        check_range("observed_width", self.observed_width, 1)
        for name in ("dropout", "word_dropout"):
            check_range(name, getattr(self, name), 0, 1)


class Embeddings(nn.Module):
    """A vector for each word, the sum of those of its columns.

    sizes (tuple[int, ...]): How many numbers each column needs.
    width (int): Of the vectors.
    word_dropout (float): Share of forms read as unknown in training.
    """

    starts: torch.Tensor

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


class WordReader(nn.Module):
    """From words, and what is observed between them if that is read, to states.

    Each step reads a word and the string of the slot after it (section 5.2).

    cell (type[nn.LSTM] | type[nn.GRU]): The kind of layers.
    sizes, observed_sizes (tuple[int, ...]): How many numbers each column needs.
    config (NetworkConfig): The size.
    """

    def __init__(
        self,
        cell: type[nn.LSTM] | type[nn.GRU],
        sizes: tuple[int, ...],
        config: NetworkConfig,
        observed_sizes: tuple[int, ...],
    ) -> None:
        super().__init__()
        width, hidden = config.embedding_width, config.hidden_width
        self.embeddings = Embeddings(sizes, width, config.word_dropout)
        self.observed = ObservedEmbeddings(observed_sizes, config.observed_width)
        inputs = [width + self.observed.width] + [2 * hidden] * (config.n_layers - 1)
        self.layers = nn.ModuleList(BothWays(cell, n, hidden) for n in inputs)
        self.dropout = LockedDropout(config.dropout)

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """(sentences, longest + 2, 2 * hidden_width), and of each slot what is observed
        there: (sentences, longest + 1, width)."""
        observed = self.dropout(self.observed(batch))
        states = torch.cat([self.dropout(self.embeddings(batch)), observed], dim=-1)
        for layer in self.layers:
            states = self.dropout(layer(states, batch))
        return states, observed[:, :-1]


class ClassScores(nn.Linear):
    """A score for each class in each slot.

    Where observed marks are read, the class that a slot's observed string is gets a
    further score, that of leaving it as it is. The last class is any observed string
    without a class of its own, and impossible in slots that have none of those.

    width (int): Of the vectors of slots.
    n_classes (int): The number of classes.
    reads_observed (bool): Whether observed marks are read.
    """

    def __init__(self, width: int, n_classes: int, reads_observed: bool) -> None:
        super().__init__(width, n_classes)
        self.keep = nn.Linear(width, 1) if reads_observed else None

    def forward(  # type: ignore[override]
        self, slots: torch.Tensor, batch: Batch
    ) -> torch.Tensor:
        """(sentences, longest + 1, classes)."""
        scores = super().forward(slots)
        if self.keep is None:
            return scores
        observed = batch.observed_classes[..., None]
        scores = scores.scatter_add(-1, observed, self.keep(slots))
        last = self.out_features - 1
        is_impossible = (torch.arange(last + 1) == last) & (observed != last)
        return scores.masked_fill(is_impossible, -torch.inf)


class LateFusion(nn.Module):
    """What attention found, let through a gate and added to a state.

    n_found, width (int): Of what was found, and of the state.
    """

    def __init__(self, n_found: int, width: int) -> None:
        super().__init__()
        self.found = nn.Linear(n_found, width, bias=False)
        self.gate_of_found = nn.Linear(width, width, bias=False)
        self.gate_of_state = nn.Linear(width, width)

    def forward(self, found: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        found = self.found(found)
        gate = torch.sigmoid(self.gate_of_found(found) + self.gate_of_state(state))
        return found * gate + state


@dataclass(frozen=True)
class NetworkShape:
    """What a network reads, and how large it is.

    sizes (tuple[int, ...]): How many numbers each column of words needs.
    n_classes (int): The number of classes.
    config (NetworkConfig): The size.
    observed_sizes (tuple[int, ...]): The same as sizes for observed strings, if these
        are read.
    """

    sizes: tuple[int, ...]
    n_classes: int
    config: NetworkConfig
    observed_sizes: tuple[int, ...] = ()

    def reader(self, cell: type[nn.LSTM] | type[nn.GRU]) -> WordReader:
        return WordReader(cell, self.sizes, self.config, self.observed_sizes)

    def output(self, width: int) -> ClassScores:
        return ClassScores(width, self.n_classes, bool(self.observed_sizes))


class SlotNetwork(nn.Module):
    """A distribution of the classes of slots, given words."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.dropout = LockedDropout(shape.config.dropout)

    def log_marginals(self, batch: Batch) -> torch.Tensor:
        """log p(class | words) in each slot: (sentences, longest + 1, classes)."""
        raise NotImplementedError

    def log_likelihood(self, batch: Batch, classes: torch.Tensor) -> torch.Tensor:
        """log p(classes | words) of each sentence, here if slots are independent.

        classes (Tensor): (sentences, longest + 1), of any value where `batch` has no
            slot.
        RETURNS (Tensor): One value per sentence.
        """
        found = self.log_marginals(batch).gather(-1, classes[..., None])[..., 0]
        return found.where(batch.is_slot, 0.0).sum(-1)


class BiLSTMSoftmax(SlotNetwork):
    """Each slot's class on its own, given what a BiLSTM makes of the words on both
    sides of it and, directly, of the string observed there."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__(shape)
        config = shape.config
        self.reader = shape.reader(nn.LSTM)
        n_inputs = 4 * config.hidden_width + self.reader.observed.width
        self.slots = nn.Linear(n_inputs, config.slot_width)
        self.output = shape.output(config.slot_width)

    def scores(self, batch: Batch) -> torch.Tensor:
        """(sentences, longest + 1, classes)."""
        states, observed = self.reader(batch)
        around = torch.cat([states[:, :-1], states[:, 1:], observed], dim=-1)
        slots = self.dropout(torch.relu(self.slots(around)))
        return self.output(slots, batch)

    def log_marginals(self, batch: Batch) -> torch.Tensor:
        return self.scores(batch).log_softmax(-1)


class BiLSTMCRF(BiLSTMSoftmax):
    """The classes of all slots together: a CRF on top of the BiLSTM."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__(shape)
        self.crf = ChainCRF(shape.n_classes)

    def log_likelihood(self, batch: Batch, classes: torch.Tensor) -> torch.Tensor:
        return self.crf.log_likelihood(self.scores(batch), classes, batch.is_slot)

    def log_marginals(self, batch: Batch) -> torch.Tensor:
        return self.crf.log_marginals(self.scores(batch), batch.is_slot)


class BiGRUAttention(SlotNetwork):
    """Each slot's class on its own, after Tilk & Alumäe (2016).

    A BiGRU reads the words, and a second GRU its states from left to right. Before
    each step that GRU's state looks for other words that matter, and what it finds is
    fused with the state after the step. Words are compared by inner products, which
    is faster than the paper's additive attention.
    """

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__(shape)
        hidden, width = shape.config.hidden_width, shape.config.slot_width
        self.reader = shape.reader(nn.GRU)
        self.decoder = nn.GRU(2 * hidden, width, batch_first=True)
        self.queries = nn.Linear(width, hidden)
        self.keys = nn.Linear(2 * hidden, hidden)
        self.fusion = LateFusion(2 * hidden, width)
        self.output = shape.output(width + self.reader.observed.width)

    def log_marginals(self, batch: Batch) -> torch.Tensor:
        states, observed = self.reader(batch)
        decoded = self.dropout(self.decoder(states)[0])
        # The slot before a word is that word's step.
        found = nn.functional.scaled_dot_product_attention(
            self.queries(decoded[:, :-1]),
            self.keys(states),
            states,
            attn_mask=batch.is_word[:, None],
        )
        fused = self.dropout(self.fusion(found, decoded[:, 1:]))
        slots = torch.cat([fused, observed], dim=-1)
        return self.output(slots, batch).log_softmax(-1)


NETWORKS: dict[str, type[SlotNetwork]] = {
    "bilstm-softmax": BiLSTMSoftmax,
    "bilstm-crf": BiLSTMCRF,
    "bigru-attention": BiGRUAttention,
}
"""The kinds of taggers there are."""

DEFAULTS: dict[str, NetworkConfig] = {
    "bigru-attention": NetworkConfig(hidden_width=128, n_layers=1)
}
"""Configs of kinds for which that of `NetworkConfig()` is not meant."""


def default_config(kind: str, *, reads_observed: bool = False) -> NetworkConfig:
    """The config of a kind of tagger, if none is given.

    One that reads observed marks, with new errors in each epoch, needs less dropout.
    """
    config = DEFAULTS.get(kind, NetworkConfig())
    if reads_observed:
        return replace(config, dropout=0.2, word_dropout=0.3)
    return config
