"""Slot marginals without randomness: `n_samples = 0`.

The same bottom-up pass as sampling, on a table of weighted hypotheses instead of
samples: (marks inside, underlying string at the left edge, at the right edge) ->
probability. Nothing else about a constituent matters to what is around it. With
no pruning the marginals are exact, but the table grows without bounds: that is for
toy models. With the default pruning the cost of a node is bounded.
"""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from spacy_punct.data.tree import Tree
from spacy_punct.errors import check_range
from spacy_punct.model.channel import Channel
from spacy_punct.model.inventory import Backoff, Inventory
from spacy_punct.model.scores import NodeScores, log_softmax

Ids = tuple[int, ...]
Hypothesis = tuple[int, Ids, Ids]
"""Marks inside as a bit mask, left edge, right edge."""
Table = dict[Hypothesis, float]

_NEGLIGIBLE = 1e-13
"""Back-off strings below this probability are left out even without pruning."""


class Marginaliser:
    """Computes the slot marginals of one tree.

    prune (float): Hypotheses less probable than the best one by this factor are
        dropped.
    max_hypotheses (int | None): How many hypotheses a node keeps.
    """

    def __init__(
        self,
        tree: Tree,
        scores: NodeScores,
        inventory: Inventory,
        channel: Channel,
        *,
        prune: float = 1e-3,
        max_hypotheses: int | None = 32,
    ) -> None:
        check_range("prune", prune, 0, 1)
        if max_hypotheses is not None:
            check_range("max_hypotheses", max_hypotheses, 1)
        self._tree = tree
        self._scores = scores
        self._inventory = inventory
        self._channel = channel
        self._prune = prune
        self._max = max_hypotheses
        self._floor = prune * 1e-1
        self._slots: list[dict[Ids, float]] = [{} for _ in range(len(tree) + 1)]

    def marginals(self) -> list[dict[tuple[str, ...], float]]:
        """For each slot, surface string -> probability, the most probable first."""
        tables: dict[int, Table] = {}
        spans = self._tree.spans
        for head in reversed(self._tree.top_down):
            table: Table = {}
            for part in sorted((*self._tree.children[head], head)):
                piece = tables.pop(part, {(0, (), ()): 1.0})
                start = part if part == head else spans[part][0]
                first = start == spans[head][0]
                table = piece if first else self._joined(table, piece, start)
            tables[head] = self._attached(head, table)
        for (_, left, right), weight in tables[self._tree.root].items():
            for surface, p in self._rewrites((0, *left)):
                self._record(0, surface[1:], weight * p)
            for surface, p in self._rewrites(right):
                self._record(len(self._tree), surface, weight * p)
        return [self._decoded(slot) for slot in self._slots]

    def _joined(self, table: Table, piece: Table, slot: int) -> Table:
        """Two neighbours side by side; the slot between them closes."""
        joined: Table = defaultdict(float)
        least = self._prune * max(table.values()) * max(piece.values())
        for (mask, left, inner_right), weight in table.items():
            for (piece_mask, inner_left, right), piece_weight in piece.items():
                both = weight * piece_weight
                if both < least:
                    continue
                for surface, p in self._rewrites(inner_right + inner_left):
                    bits = mask | piece_mask
                    for mark in surface:
                        bits |= 1 << mark
                    joined[bits, left, right] += both * p
                    self._record(slot, surface, both * p)
        return self._pruned(joined)

    def _attached(self, node: int, table: Table) -> Table:
        """Every hypothesis with every pair the node may take (eq. 4)."""
        by_mask: dict[int, list[tuple[Ids, Ids, float]]] = defaultdict(list)
        for (mask, left, right), weight in table.items():
            by_mask[mask].append((left, right, weight))
        base = self._scores.base[node]
        scores = np.broadcast_to(base, (len(by_mask), len(base)))
        if len(by_mask) > 1 or 0 not in by_mask:
            marks = range(len(self._inventory.marks))
            bits = np.array([[mask >> k & 1 for k in marks] for mask in by_mask])
            scores = scores + bits @ self._scores.inside(node)
        backoff = self._inventory.backoff
        probabilities = (1.0 - backoff.mass) * np.exp(log_softmax(scores))
        pairs = self._inventory.pair_tables[self._scores.relations[node]].encoded
        attached: Table = defaultdict(float)
        heaviest = np.array([max(w for _, _, w in edges) for edges in by_mask.values()])
        least = self._prune * (heaviest * probabilities.max(axis=1)).max()
        for (mask, edges), chances, heavy in zip(
            by_mask.items(), probabilities, heaviest, strict=True
        ):
            likely = np.flatnonzero(chances * heavy >= least).tolist()
            options = [(*pairs[k], float(chances[k])) for k in likely]
            options += self._spelled()
            for left, right, weight in edges:
                for l, r, chance in options:
                    if weight * chance >= least:
                        attached[mask, l + left, right + r] += weight * chance
        return self._pruned(attached)

    def _spelled(self) -> list[tuple[Ids, Ids, float]]:
        """The back-off's pairs, if pruning would let them live."""
        backoff = self._inventory.backoff
        least = max(self._prune, _NEGLIGIBLE)
        if backoff.mass < least:
            return []
        strings = list(_spellings(backoff, least / backoff.mass))
        return [
            (l, r, backoff.mass * p * q)
            for l, p in strings
            for r, q in strings
            if backoff.mass * p * q >= least
        ]

    def _pruned(self, table: Table) -> Table:
        least = self._prune * max(table.values())
        kept = [item for item in table.items() if item[1] >= least]
        if self._max is not None and len(kept) > self._max:
            kept = sorted(kept, key=lambda item: -item[1])[: self._max]
        total = sum(weight for _, weight in kept) if self._prune else 1.0
        return {hypothesis: weight / total for hypothesis, weight in kept}

    def _rewrites(self, string: Ids) -> Iterator[tuple[Ids, float]]:
        if not string:
            return iter([((), 1.0)])
        return iter(self._channel.rewrite_ids(string, self._floor).items())

    def _record(self, slot: int, surface: Ids, weight: float) -> None:
        self._slots[slot][surface] = self._slots[slot].get(surface, 0.0) + weight

    def _decoded(self, slot: dict[Ids, float]) -> dict[tuple[str, ...], float]:
        ranked = sorted(slot.items(), key=lambda item: -item[1])
        kept = [item for item in ranked if item[1] >= self._floor] or ranked[:1]
        total = sum(p for _, p in kept) if self._prune else 1.0
        return {self._inventory.decode(s): p / total for s, p in kept}


def _spellings(backoff: Backoff, least: float) -> Iterator[tuple[Ids, float]]:
    """Strings that the back-off's q gives at least some probability."""
    level = [((), 1.0 - backoff.growth)]
    while level:
        yield from level
        level = [
            ((*string, mark), p * backoff.growth * unigram)
            for string, p in level
            for mark, unigram in enumerate(backoff.unigram)
            if unigram and p * backoff.growth * unigram >= least
        ]
