"""Taggers: punctuation slot by slot, without trees.

They restore it from the words alone, or correct what a writer put between them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from scripts.baselines.networks import NETWORKS, NetworkConfig, default_config
from scripts.baselines.surfaces import Surfaces
from scripts.baselines.words import N_OBSERVED, Batch, WordTable, collate
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.mbr import best_by_slot
from spacy_punct.model.punctuation import batched

T = TypeVar("T")
U = TypeVar("U")

Encoded: TypeAlias = tuple[torch.Tensor, torch.Tensor]
"""A sentence's rows of columns (see `Batch`) and its slots' classes."""
_Sentence: TypeAlias = tuple[Sequence[str], Slots | None]
"""Words, and the marks that were observed if they are read."""

_POOL = 16
"""Batches out of which sentences of like lengths are put together."""


class Tagger:
    """A distribution of a sentence's slots, given its words, and given what a writer
    put into the slots if the tagger is to correct that.

    surfaces (Surfaces): The classes of strings.
    words (WordTable): What is read of words.
    kind (str): The network, one of NETWORKS.
    config (NetworkConfig): Its size.
    reads_observed (bool): Whether it corrects: it then reads `observed` of examples'
        trees, and has one more class, see `Surfaces.classes`.
    """

    def __init__(
        self,
        surfaces: Surfaces,
        words: WordTable,
        kind: str,
        config: NetworkConfig,
        *,
        reads_observed: bool = False,
    ) -> None:
        if kind not in NETWORKS:
            choices = ", ".join(NETWORKS)
            raise PunctError(Errors.P080.format(kind=kind, choices=choices))
        self.surfaces = surfaces
        self.words = words
        self.kind = kind
        self.config = config
        self.reads_observed = reads_observed
        self.network = NETWORKS[kind](
            words.sizes,
            len(surfaces) + reads_observed,
            config,
            surfaces.observed_sizes if reads_observed else (),
        ).eval()

    @classmethod
    def from_examples(
        cls,
        examples: Sequence[PunctuatedTree],
        kind: str = "bilstm-softmax",
        config: NetworkConfig | None = None,
        *,
        reads_observed: bool = False,
    ) -> "Tagger":
        """An untrained tagger for the words and strings of training data."""
        surfaces = Surfaces.estimate(examples)
        words = WordTable.estimate(example.tree.words for example in examples)
        config = config or default_config(kind, reads_observed=reads_observed)
        return cls(surfaces, words, kind, config, reads_observed=reads_observed)

    def marginals(
        self,
        sentences: Iterable[Sequence[str]],
        observed: Iterable[Slots] | None = None,
        *,
        batch_size: int = 64,
    ) -> Iterator[list[dict[Puncteme, float]]]:
        """The distribution of the string in each slot.

        sentences (Iterable[Sequence[str]]): The words of each.
        observed (Iterable[Slots] | None): What a writer put into the slots of each,
            if the tagger reads it.
        batch_size (int): Sentences computed together; it does not change the result.
        YIELDS (list[dict[Puncteme, float]]): See `Surfaces.marginal`.
        """
        items: Iterable[_Sentence]
        if self.reads_observed and observed is not None:
            items = zip(sentences, observed, strict=True)
        else:
            items = ((words, None) for words in sentences)
        found = _by_length(items, _n_words, self._class_probs, batch_size)
        for probs, seen in found:
            if seen is None:
                yield [self.surfaces.marginal(row) for row in probs]
            else:
                yield list(map(self.surfaces.marginal_given, probs, seen))

    def _class_probs(
        self, sentences: Sequence[_Sentence]
    ) -> list[tuple[np.ndarray, Slots | None]]:
        batch = collate([self._encode_input(*sentence) for sentence in sentences])
        with torch.no_grad():
            probs = self.network.log_marginals(batch).double().exp().numpy()
        return [
            (rows[: len(words) + 1], seen)
            for rows, (words, seen) in zip(probs, sentences, strict=True)
        ]

    def restore(self, sentences: Iterable[Sequence[str]]) -> Iterator[Slots]:
        """The slots of minimum Bayes risk for the words of each sentence."""
        return map(best_by_slot, self.marginals(sentences))

    def correct(
        self, sentences: Iterable[Sequence[str]], observed: Iterable[Slots]
    ) -> Iterator[Slots]:
        """The slots of minimum Bayes risk, given what a writer put there.

        sentences (Iterable[Sequence[str]]): The words of each.
        observed (Iterable[Slots]): Their slots, right or wrong.
        YIELDS (Slots): What should be in them. Unknown marks are kept or left out.
        """
        if not self.reads_observed:
            raise PunctError(Errors.P083)
        return map(best_by_slot, self.marginals(sentences, observed))

    def log_probs(
        self, examples: Iterable[PunctuatedTree], *, batch_size: int = 64
    ) -> Iterator[float]:
        """log p(slots | words) of each example, unknown marks read as UNK.

        Given observed marks too, if the tagger reads them.
        """
        return _by_length(examples, _n_slots, self._log_probs, batch_size)

    def _log_probs(self, examples: Sequence[PunctuatedTree]) -> list[float]:
        batch, classes = collate_pairs([self.encode(example) for example in examples])
        with torch.no_grad():
            found = self.network.log_likelihood(batch, classes).tolist()
        return [
            log_prob
            + self.surfaces.log_prob_of_others(example.slots, self._seen(example))
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
        seen = self._seen(example)
        classes = torch.tensor(self.surfaces.classes(example.slots, seen))
        return self._encode_input(example.tree.words, seen), classes

    def _seen(self, example: PunctuatedTree) -> Slots | None:
        """The observed marks of an example, if they are to be read."""
        return example.tree.observed if self.reads_observed else None

    def _encode_input(
        self, words: Sequence[str], observed: Slots | None
    ) -> torch.Tensor:
        """What is read of a sentence: (words + 2, columns)."""
        rows = self.words.encode(words)
        if not self.reads_observed:
            return rows
        if observed is None:
            raise PunctError(Errors.P082)
        if len(observed) != len(words) + 1:
            n = len(words)
            raise PunctError(
                Errors.P014.format(words=n, expected=n + 1, n=len(observed))
            )
        strings = self.surfaces.describe(observed)
        nothing = (0,) * N_OBSERVED
        return torch.cat([rows, torch.tensor([*strings, nothing])], dim=-1)


def collate_pairs(encoded: Sequence[Encoded]) -> tuple[Batch, torch.Tensor]:
    """Encoded examples as one batch and its classes, in their order."""
    rows, classes = zip(*encoded, strict=True)
    return collate(rows), pad_sequence(list(classes), batch_first=True)


def _n_words(sentence: _Sentence) -> int:
    return len(sentence[0])


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
