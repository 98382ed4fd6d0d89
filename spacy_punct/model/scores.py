"""What a scorer hands to inference: scores of pairs, as plain arrays."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from itertools import pairwise
from operator import or_

import numpy as np
from torch import Tensor

from spacy_punct.data.tree import Tree

ObservedSlots = Sequence[tuple[int, ...] | None]
"""Surface strings as mark numbers; None for an unobserved slot."""


Vectors = np.ndarray | Tensor
"""A row of numbers for each word, as a network reads it in its context."""


@dataclass(frozen=True)
class EncodedTree(Tree):
    """A tree whose words come as vectors too, for scorers that read words.

    It may be used wherever a `Tree` is. In training, the vectors are tensors whose
    gradient is wanted.

    vectors (Vectors): (n, width).
    """

    vectors: Vectors = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True)
class PairProbabilities:
    """ATTACH at each node of a tree whose inner marks are known.

    relations (Sequence[int]): Relation number of each node.
    log_probs (Sequence[ndarray]): For each node, the log-probabilities of the
        pairs of its relation's W_d, before back-off; they sum to one.
    """

    relations: Sequence[int]
    log_probs: Sequence[np.ndarray]

    @property
    def silent(self) -> np.ndarray:
        """The log-probability of each node's first pair, which is (ε, ε)."""
        return np.array([row[0] for row in self.log_probs])


@dataclass(frozen=True)
class NodeScores:
    """Unnormalised scores of ATTACH at each node of a tree.

    A score is what the tree alone says, plus a term for each mark that appears
    on the surface inside the constituent (template c). The marks inside are
    only known once the constituent's own slots are, hence the two parts.

    relations (Sequence[int]): Relation number of each node.
    base (Sequence[ndarray]): For each node, a score for each pair of its W_d.
    inside (Callable[[int], ndarray]): For a node, what each mark (row) adds to
        the score of each pair (column) if it is inside.
    guesses (ndarray | None): (slots, V): if the scorer guesses what should be written
        in each slot, the log-probabilities of the punctemes.
    """

    relations: Sequence[int]
    base: Sequence[np.ndarray]
    inside: Callable[[int], np.ndarray]
    guesses: np.ndarray | None = None

    def given(self, tree: Tree, slots: ObservedSlots, size: int) -> PairProbabilities:
        """Normalise the scores for an observed surface (eq. 4).

        Marks of unobserved slots are not seen: where some slots are unobserved
        this approximates ATTACH.

        tree (Tree): The tree.
        slots (ObservedSlots): Its slots.
        size (int): The number of marks.
        RETURNS (PairProbabilities): The probabilities.
        """
        inside = marks_inside(tree, slots, size)
        scores = list(self.base)
        for node in np.flatnonzero(inside.any(axis=1)).tolist():
            scores[node] = scores[node] + self.inside(node)[inside[node]].sum(axis=0)
        return PairProbabilities(self.relations, Ragged.log_softmax(scores).rows())


def marks_inside(tree: Tree, slots: ObservedSlots, size: int) -> np.ndarray:
    """Which marks appear at the inner slots of each constituent: (n, K) booleans."""
    seen = np.zeros((len(slots) + 1, size), dtype=np.int32)
    for i, slot in enumerate(slots):
        if slot:
            seen[i + 1, list(slot)] = 1
    if not seen.any():
        return np.zeros((len(tree.words), size), dtype=bool)
    before = seen.cumsum(axis=0)
    left, right = np.array(tree.spans).T
    return before[right] > before[left + 1]


@lru_cache(maxsize=1 << 16)
def mark_set(marks: tuple[int, ...]) -> int:
    """A set of marks as an integer whose bits are the marks."""
    return reduce(or_, (1 << mark for mark in marks), 0)


def set_rows(sets: Iterable[int], size: int) -> np.ndarray:
    """Sets of marks as rows of zeros and ones.

    sets (Iterable[int]): See `mark_set`.
    size (int): The number of marks.
    RETURNS (ndarray): (sets, K).
    """
    width = (size + 7) // 8
    packed = b"".join([marks.to_bytes(width, "little") for marks in sets])
    rows = np.frombuffer(packed, dtype=np.uint8).reshape(-1, width)
    return np.unpackbits(rows, axis=1, count=size, bitorder="little")


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """Along the last axis."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class Ragged:
    """Rows of any lengths, end to end, so that numpy is called once for them all.

    flat (ndarray): The rows.
    bounds (ndarray): Where each of them begins, and where the last one ends.
    """

    flat: np.ndarray
    bounds: np.ndarray

    @classmethod
    def log_softmax(cls, scores: Sequence[np.ndarray]) -> "Ragged":
        """`log_softmax` of each row."""
        bounds = np.cumsum([0, *map(len, scores)])
        rows = cls(np.concatenate(scores), bounds)
        flat = rows.flat - rows.spread(rows.reduce(np.maximum, rows.flat))
        totals = rows.reduce(np.add, np.exp(flat))
        return cls(flat - rows.spread(np.log(totals)), bounds)

    def reduce(self, operation: np.ufunc, flat: np.ndarray) -> np.ndarray:
        """One value a row."""
        return operation.reduceat(flat, self.bounds[:-1])

    def spread(self, values: np.ndarray) -> np.ndarray:
        """One value a row, repeated along it."""
        return np.repeat(values, self.bounds[1:] - self.bounds[:-1])

    def rows(self) -> list[np.ndarray]:
        return [self.flat[i:k] for i, k in pairwise(self.bounds.tolist())]

    def entries(
        self, chosen: np.ndarray, values: np.ndarray
    ) -> Iterator[tuple[int, int, float]]:
        """(row, column, value) of the chosen entries, row by row."""
        where = np.flatnonzero(chosen)
        row = np.searchsorted(self.bounds, where, side="right") - 1
        column = where - self.bounds[row]
        return zip(row.tolist(), column.tolist(), values[where].tolist(), strict=True)
