"""Joint samples given part of the surface (`existing = "keep"`).

The inside pass sums over everything below a node. Going down again and drawing each
node's pair given what is already drawn around it gives exact joint samples of the
pairs that touch an observed slot. The channel sums to one over the surface of a free
slot, so such slots say nothing, and all other nodes are drawn bottom-up as without
observations (see `sampling`).

On the way down, left children are visited from the left and right ones from the
right. What is outside of a child is then drawn, and what is between it and the head
is summed out by the inside pass. So all that a node needs to know of its samples is
the string drawn so far at each of its two slots, and samples that agree in these are
drawn at once.

One approximation: the pairs at observed slots are drawn given the observed marks
inside their constituents only, since marks in free slots are not drawn yet
(template c).
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import numpy as np

from spacy_punct.model.automaton import SlotAutomaton
from spacy_punct.model.inside import Chart, Evidence
from spacy_punct.model.inventory import Trie
from spacy_punct.model.sampling import Ids, Written

_ONE = np.ones(1)


class ConditionalSampler(Chart):
    """Draws the pairs of all nodes that touch an observed slot.

    evidence (Evidence): The sentence.
    rng (Generator): The source of randomness.
    """

    def __init__(self, evidence: Evidence, rng: np.random.Generator) -> None:
        super().__init__(evidence)
        self._rng = rng
        self._is_observed = [slot is not None for slot in evidence.slots]
        self._single_marks = _single_marks(len(self._automata.inventory.marks))

    def draw(self, n: int) -> dict[int, tuple[Written, Written]]:
        """For each node at an observed slot, the pairs it takes in n samples."""
        drawn: dict[int, tuple[Written, Written]] = {}
        so_far: list[Written] = [{} for _ in self._slots]
        for node, row, column in self._outermost_first():
            left, right = self._tree.spans[node]
            if not (self._is_observed[left] or self._is_observed[right]):
                continue
            lefts: Written = {}
            rights: Written = {}
            drawn[node] = lefts, rights
            if not self._is_site[node]:
                continue
            for (before, after), group in _alike(so_far[left], so_far[right], n):
                outside = (
                    self._read(self._slots[left], row, before),
                    self._slots[right].columns([after], column)[0],
                )
                for pair, samples in self._draw_pairs(node, group, *outside):
                    for side, string in zip(drawn[node], pair, strict=True):
                        if string:
                            side.update(dict.fromkeys(samples, string))
            if self._is_observed[left]:
                for k, string in lefts.items():
                    so_far[left][k] = so_far[left].get(k, ()) + string
            if self._is_observed[right]:
                for k, string in rights.items():
                    so_far[right][k] = string + so_far[right].get(k, ())
        return drawn

    def _outermost_first(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """The nodes in the order of their visits.

        YIELDS (tuple): A node, the row vector that comes before all that is drawn
            at its left slot, and the column vector that comes after all that is
            drawn at its right slot.
        """
        spans, slots = self._tree.spans, self._slots
        waiting = [(self._tree.root, self._initial, slots[-1].final)]
        while waiting:
            head, row, column = waiting.pop()
            yield head, row, column
            left, right = spans[head]
            lefts: list[tuple[int, np.ndarray, np.ndarray]] = []
            rights: list[tuple[int, np.ndarray, np.ndarray]] = []
            for kid in self._tree.children[head]:
                start, stop = spans[kid]
                inner = self._sites[kid].incoming if self._is_site[kid] else _ONE
                if kid < head:
                    outer = row if start == left else slots[start].initial
                    lefts.append((kid, outer, inner))
                else:
                    outer = column if stop == right else slots[stop].final
                    rights.append((kid, inner, outer))
            waiting += rights + lefts[::-1]

    def _draw_pairs(
        self, node: int, samples: np.ndarray, row: np.ndarray, column: np.ndarray
    ) -> Iterator[tuple[tuple[Ids, Ids], list[int]]]:
        """Draw a node's pair for samples that agree around it.

        row, column (ndarray): What is outside says at the left and the right slot.
        YIELDS (tuple): A pair, and samples that have it.
        """
        site = self._sites[node]
        view, left_star, right_star = site.view, site.left.star(), site.right.star()
        by_left = site.left.expand(row, view.left) @ site.column
        by_right = site.right_rows @ column
        weights = site.weights * by_left[view.at_left] * by_right[view.at_right]
        rest = (row @ left_star @ site.column) * (site.row @ right_star @ column)
        weights = np.append(weights, self._mass * rest)
        numbers = self._rng.choice(
            len(weights), size=len(samples), p=weights / weights.sum()
        )
        relation = self._probabilities.relations[node]
        encoded = self._automata.inventory.pair_tables[relation].encoded
        for number in np.unique(numbers):
            alike = samples[numbers == number].tolist()
            if number < len(view.chosen):
                yield encoded[view.chosen[number]], alike
                continue
            lefts = self._spell(site.left, row, site.column, len(alike))
            rights = self._spell(site.right, site.row, column, len(alike))
            for left, right, k in zip(lefts, rights, alike, strict=True):
                yield (left, right), [k]

    def _spell(
        self, slot: SlotAutomaton, row: np.ndarray, column: np.ndarray, size: int
    ) -> list[Ids]:
        """Strings s from the back-off's q(s) · row M(s) column, mark by mark."""
        backoff = self._automata.inventory.backoff
        going_on = slot.star() @ column
        chances = backoff.growth * np.array(backoff.unigram)
        strings: list[Ids] = [()] * size
        waiting: list[tuple[Ids, np.ndarray, np.ndarray]] = [((), row, np.arange(size))]
        while waiting:
            string, row, samples = waiting.pop()
            rows = slot.expand(row, self._single_marks)
            stop = (1 - backoff.growth) * (row @ column)
            weights = np.append(stop, chances * (rows[1:] @ going_on))
            choices = self._rng.choice(
                len(weights), size=len(samples), p=weights / weights.sum()
            )
            for choice in np.unique(choices).tolist():
                alike = samples[choices == choice]
                if choice:
                    waiting.append(((*string, choice - 1), rows[choice], alike))
                else:
                    for k in alike.tolist():
                        strings[k] = string
        return strings

    def _read(self, slot: SlotAutomaton, row: np.ndarray, string: Ids) -> np.ndarray:
        """row · M(string)."""
        for mark in string:
            row = slot.expand(row, self._single_marks)[1 + mark]
        return row


@cache
def _single_marks(size: int) -> Trie:
    """All strings of one mark. Automata keep what they know of a trie: one for all."""
    return Trie([(mark,) for mark in range(size)])


def _alike(
    first: Written, second: Written, n: int
) -> Iterator[tuple[tuple[Ids, Ids], np.ndarray]]:
    """The samples by the strings they have at two slots."""
    groups: dict[tuple[Ids, Ids], list[int]] = defaultdict(list)
    silent = np.ones(n, dtype=bool)
    for k in first | second:
        groups[first.get(k, ()), second.get(k, ())].append(k)
        silent[k] = False
    if silent.any():
        yield ((), ()), np.flatnonzero(silent)
    for strings, group in groups.items():
        yield strings, np.array(group)
