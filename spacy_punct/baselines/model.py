"""Taggers: punctuation from the words alone, slot by slot, without trees."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch

from spacy_punct.baselines.networks import NETWORKS, NetworkConfig
from spacy_punct.baselines.surfaces import Surfaces
from spacy_punct.baselines.words import Batch, WordTable, collate
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.mbr import best_by_slot
from spacy_punct.model.model import batched


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
        return cls(surfaces, words, kind, config or NetworkConfig())

    def marginals(
        self, sentences: Iterable[Sequence[str]], *, batch_size: int = 64
    ) -> Iterator[list[dict[Puncteme, float]]]:
        """The distribution of the string in each slot.

        sentences (Iterable[Sequence[str]]): The words of each.
        batch_size (int): Sentences computed together; it does not change the result.
        YIELDS (list[dict[Puncteme, float]]): See `Surfaces.marginal`.
        """
        for group in batched(sentences, batch_size):
            batch = collate([self.words.encode(words) for words in group])
            with torch.no_grad():
                probs = self.network.log_marginals(batch).double().exp().numpy()
            for words, rows in zip(group, probs, strict=True):
                yield [self.surfaces.marginal(row) for row in rows[: len(words) + 1]]

    def restore(self, sentences: Iterable[Sequence[str]]) -> Iterator[Slots]:
        """The slots of minimum Bayes risk for the words of each sentence."""
        return map(best_by_slot, self.marginals(sentences))

    def log_probs(
        self, examples: Iterable[PunctuatedTree], *, batch_size: int = 64
    ) -> Iterator[float]:
        """log p(slots | words) of each example, unknown marks read as UNK."""
        for group in batched(examples, batch_size):
            batch, classes = self.encode(group)
            with torch.no_grad():
                found = self.network.log_likelihood(batch, classes).tolist()
            for example, log_prob in zip(group, found, strict=True):
                yield log_prob + self.surfaces.log_prob_of_others(example.slots)

    def perplexity(self, examples: Sequence[PunctuatedTree]) -> float:
        """Perplexity per slot: n + 1 slots for n words."""
        if not examples:
            raise PunctError(Errors.P020)
        n_slots = sum(len(example.slots) for example in examples)
        return float(np.exp(-sum(self.log_probs(examples)) / n_slots))

    def encode(self, examples: Sequence[PunctuatedTree]) -> tuple[Batch, torch.Tensor]:
        """The words of examples and the classes of their slots, as numbers."""
        batch = collate([self.words.encode(example.tree.words) for example in examples])
        classes = torch.zeros(batch.is_slot.shape, dtype=torch.long)
        classes[batch.is_slot] = torch.tensor(
            [k for example in examples for k in self.surfaces.classes(example.slots)]
        )
        return batch, classes
