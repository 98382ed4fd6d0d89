"""Taggers: punctuation from the words alone, slot by slot, without trees."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from spacy_punct.baselines.networks import DEFAULTS, NETWORKS, NetworkConfig
from spacy_punct.baselines.surfaces import Surfaces
from spacy_punct.baselines.words import Batch, WordTable, collate
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.mbr import best_by_slot
from spacy_punct.model.model import batched

T = TypeVar("T")
U = TypeVar("U")

Encoded: TypeAlias = tuple[torch.Tensor, torch.Tensor]
"""A sentence's rows of columns (see `WordTable.encode`) and its slots' classes."""

_POOL = 16
"""Batches out of which sentences of like lengths are put together."""


class Tagger:
    """A distribution of a sentence's slots, given its words.

    surfaces (Surfaces): The classes of strings.
    words (WordTable): What is read of words.
    kind (str): The network, one of NETWORKS.
    config (NetworkConfig): Its size.
    """

    def __init__(
        self, surfaces: Surfaces, words: WordTable, kind: str, config: NetworkConfig
    ) -> None:
        if kind not in NETWORKS:
            choices = ", ".join(NETWORKS)
            raise PunctError(Errors.P080.format(kind=kind, choices=choices))
        self.surfaces = surfaces
        self.words = words
        self.kind = kind
        self.config = config
        self.network = NETWORKS[kind](words.sizes, len(surfaces), config).eval()

    @classmethod
    def from_examples(
        cls,
        examples: Sequence[PunctuatedTree],
        kind: str = "bilstm-softmax",
        config: NetworkConfig | None = None,
    ) -> "Tagger":
        """An untrained tagger for the words and strings of training data."""
        surfaces = Surfaces.estimate(examples)
        words = WordTable.estimate(example.tree.words for example in examples)
        config = config or DEFAULTS.get(kind, NetworkConfig())
        return cls(surfaces, words, kind, config)

    def marginals(
        self, sentences: Iterable[Sequence[str]], *, batch_size: int = 64
    ) -> Iterator[list[dict[Puncteme, float]]]:
        """The distribution of the string in each slot.

        sentences (Iterable[Sequence[str]]): The words of each.
        batch_size (int): Sentences computed together; it does not change the result.
        YIELDS (list[dict[Puncteme, float]]): See `Surfaces.marginal`.
        """
        rows = map(self.words.encode, sentences)
        for probs in _by_length(rows, len, self._class_probs, batch_size):
            yield [self.surfaces.marginal(row) for row in probs]

    def _class_probs(self, rows: Sequence[torch.Tensor]) -> list[np.ndarray]:
        batch = collate(rows)
        with torch.no_grad():
            probs = self.network.log_marginals(batch).double().exp().numpy()
        return [
            sentence[: n - 1]
            for sentence, n in zip(probs, batch.lengths.tolist(), strict=True)
        ]

    def restore(self, sentences: Iterable[Sequence[str]]) -> Iterator[Slots]:
        """The slots of minimum Bayes risk for the words of each sentence."""
        return map(best_by_slot, self.marginals(sentences))

    def log_probs(
        self, examples: Iterable[PunctuatedTree], *, batch_size: int = 64
    ) -> Iterator[float]:
        """log p(slots | words) of each example, unknown marks read as UNK."""
        return _by_length(examples, _n_slots, self._log_probs, batch_size)

    def _log_probs(self, examples: Sequence[PunctuatedTree]) -> list[float]:
        batch, classes = collate_pairs([self.encode(example) for example in examples])
        with torch.no_grad():
            found = self.network.log_likelihood(batch, classes).tolist()
        return [
            log_prob + self.surfaces.log_prob_of_others(example.slots)
            for example, log_prob in zip(examples, found, strict=True)
        ]

    def perplexity(self, examples: Sequence[PunctuatedTree]) -> float:
        """Perplexity per slot: n + 1 slots for n words."""
        if not examples:
            raise PunctError(Errors.P020)
        n_slots = sum(len(example.slots) for example in examples)
        return float(np.exp(-sum(self.log_probs(examples)) / n_slots))

    def encode(self, example: PunctuatedTree) -> Encoded:
        """The words of an example and the classes of its slots, as numbers."""
        classes = torch.tensor(self.surfaces.classes(example.slots))
        return self.words.encode(example.tree.words), classes


def collate_pairs(encoded: Sequence[Encoded]) -> tuple[Batch, torch.Tensor]:
    """Encoded examples as one batch and its classes, in their order."""
    rows, classes = zip(*encoded, strict=True)
    return collate(rows), pad_sequence(list(classes), batch_first=True)


def _n_slots(example: PunctuatedTree) -> int:
    return len(example.slots)


def _by_length(
    items: Iterable[T],
    length: Callable[[T], int],
    compute: Callable[[Sequence[T]], Sequence[U]],
    batch_size: int,
) -> Iterator[U]:
    """Compute batches of items of like lengths, and yield the results in order."""
    for pool in batched(items, _POOL * batch_size):
        order = sorted(range(len(pool)), key=lambda k: length(pool[k]))
        found: dict[int, U] = {}
        for chosen in batched(order, batch_size):
            results = compute([pool[k] for k in chosen])
            found.update(zip(chosen, results, strict=True))
        for k in range(len(pool)):
            yield found.pop(k)
