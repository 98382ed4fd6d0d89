"""Slot marginals without randomness: `n_samples = 0`.

The same bottom-up pass as sampling, on a table of weighted hypotheses instead of
samples: (marks inside, underlying string at the left edge, at the right edge) ->
probability. Nothing else about a constituent matters to what is around it. With
no pruning the marginals are exact, but the table grows without bounds: that is for
toy models. With the default pruning the cost of a node is bounded.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import itemgetter

import numpy as np

from spacy_punct.data.tree import Tree
from spacy_punct.errors import check_range
from spacy_punct.model.automaton import Automata
from spacy_punct.model.inventory import Backoff
from spacy_punct.model.scores import NodeScores, Ragged, mark_set, set_rows

Ids = tuple[int, ...]
Hypothesis = tuple[int, Ids, Ids]
"""Marks inside (see `mark_set`), left edge, right edge."""
Table = list[tuple[Hypothesis, float]]
"""Hypotheses and their probabilities, the most probable first."""

_WORD: Table = [((0, (), ()), 1.0)]
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
        automata: Automata,
        *,
        prune: float = 1e-3,
        max_hypotheses: int | None = 32,
    ) -> None:
        check_range("prune", prune, 0, 1)
        if max_hypotheses is not None:
            check_range("max_hypotheses", max_hypotheses, 1)
        self._tree = tree
        self._scores = scores
        self._inventory = automata.inventory
        self._channel = automata.channel
        self._in_table = 1.0 - self._inventory.backoff.mass
        self._prune = prune
        self._max = max_hypotheses
        self._floor = prune * 1e-1
        self._spelled = self._spelled_pairs()
        self._slots: list[dict[Ids, float]] = [
            defaultdict(float) for _ in range(len(tree.words) + 1)
        ]

    def marginals(self) -> list[dict[tuple[str, ...], float]]:
        """For each slot, surface string -> probability, the most probable first."""
        tables = self._leaves()
        for head in reversed(self._tree.top_down):
            if head not in tables:
                tables[head] = self._attached(head, self._inner(head, tables))
        # Heads take the tables of their children away: that of the root is left.
        (whole,) = tables.values()
        edges: tuple[dict[Ids, float], ...] = defaultdict(float), defaultdict(float)
        for (_, left, right), weight in whole:
            edges[0][left] += weight
            edges[1][right] += weight
        for left, weight in edges[0].items():
            for surface, p in self._rewrites((0, *left)):
                self._slots[0][surface[1:]] += weight * p
        for right, weight in edges[1].items():
            for surface, p in self._rewrites(right):
                self._slots[-1][surface] += weight * p
        return [self._decoded(slot) for slot in self._slots]

    def _leaves(self) -> dict[int, Table]:
        """`_attached` of all words without children, in one go."""
        leaves = [i for i, below in enumerate(self._tree.children) if not below]
        rows = Ragged.log_softmax([self._scores.base[i] for i in leaves])
        chances = self._in_table * np.exp(rows.flat)
        likely = chances >= self._prune * rows.spread(rows.reduce(np.maximum, chances))
        spelled = {(0, l, r): chance for l, r, chance in self._spelled}
        tables = [defaultdict(float, spelled) for _ in leaves]
        pairs = [self._pairs(leaf) for leaf in leaves]
        for i, k, chance in rows.entries(likely, chances):
            l, r = pairs[i][k]
            tables[i][0, l, r] += chance
        return dict(zip(leaves, map(self._pruned, tables), strict=True))

    def _inner(self, head: int, tables: dict[int, Table]) -> Table:
        """A head between its children, before it takes a pair itself."""
        table: Table = []
        for part in sorted((*self._tree.children[head], head)):
            piece = _WORD if part == head else tables.pop(part)
            start = part if part == head else self._tree.spans[part][0]
            table = self._joined(table, piece, start) if table else piece
        return table

    def _joined(self, table: Table, piece: Table, slot: int) -> Table:
        """Two neighbours side by side; the slot between them closes."""
        joined: dict[Hypothesis, float] = defaultdict(float)
        written, rewrites = self._slots[slot], self._rewrites
        silent = 0.0
        least = self._prune * table[0][1] * piece[0][1]
        for (piece_mask, inner_left, right), piece_weight in piece:
            for (mask, left, inner_right), weight in table:
                both = weight * piece_weight
                if both < least:
                    break
                bits = mask | piece_mask
                if not (inner_right or inner_left):
                    joined[bits, left, right] += both
                    silent += both
                    continue
                for surface, p in rewrites(inner_right + inner_left):
                    joined[bits | mark_set(surface), left, right] += both * p
                    written[surface] += both * p
        if silent:
            written[()] += silent
        return self._pruned(joined)

    def _attached(self, node: int, table: Table) -> Table:
        """Every hypothesis with every pair the node may take (eq. 4)."""
        by_mask: dict[int, list[tuple[Ids, Ids, float]]] = defaultdict(list)
        for (mask, left, right), weight in table:
            by_mask[mask].append((left, right, weight))
        groups = list(by_mask.items())
        scores = self._scores.base[node][None]
        if any(by_mask):
            inside = set_rows(by_mask, len(self._inventory.marks))
            scores = scores + inside @ self._scores.inside(node)
        # The odds of the best pair are 1, which spares us looking for it again.
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        scales = self._in_table / odds.sum(axis=1)
        heaviest = scales * [edges[0][2] for _, edges in groups]
        least = self._prune * float(heaviest.max())
        rows, columns = np.nonzero(odds * heaviest[:, None] >= least)
        chances = odds[rows, columns] * scales[rows]
        pairs = self._pairs(node)
        taken = [
            (groups[row], pairs[k], chance)
            for row, k, chance in zip(
                rows.tolist(), columns.tolist(), chances.tolist(), strict=True
            )
        ]
        taken += [(group, (l, r), p) for group in groups for l, r, p in self._spelled]
        attached: dict[Hypothesis, float] = defaultdict(float)
        for (mask, edges), (l, r), chance in taken:
            for left, right, weight in edges:
                both = weight * chance
                if both < least:
                    break
                attached[mask, l + left, right + r] += both
        return self._pruned(attached)

    def _pairs(self, node: int) -> list[tuple[Ids, Ids]]:
        return self._inventory.pair_tables[self._scores.relations[node]].encoded

    def _spelled_pairs(self) -> list[tuple[Ids, Ids, float]]:
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

    def _pruned(self, table: dict[Hypothesis, float]) -> Table:
        ranked = sorted(table.items(), key=itemgetter(1), reverse=True)[: self._max]
        least = self._prune * ranked[0][1]
        kept = [item for item in ranked if item[1] >= least]
        if not self._prune:
            return kept
        total = sum([weight for _, weight in kept])
        return [(hypothesis, weight / total) for hypothesis, weight in kept]

    def _rewrites(self, string: Ids) -> Iterable[tuple[Ids, float]]:
        if len(string) < 2:
            return ((string, 1.0),)
        return self._channel.rewrite_ids(string, self._floor).items()

    def _decoded(self, slot: dict[Ids, float]) -> dict[tuple[str, ...], float]:
        ranked = sorted(slot.items(), key=itemgetter(1), reverse=True)
        kept = [item for item in ranked if item[1] >= self._floor] or ranked[:1]
        total = sum([p for _, p in kept]) if self._prune else 1.0
        name = self._inventory.marks.__getitem__
        return {tuple(map(name, s)): p / total for s, p in kept}


def _spellings(backoff: Backoff, least: float) -> Iterator[tuple[Ids, float]]:
    """Strings that the back-off's q gives at least some probability."""
    level: list[tuple[Ids, float]] = [((), 1.0 - backoff.growth)]
    while level:
        yield from level
        level = [
            ((*string, mark), p * backoff.growth * unigram)
            for string, p in level
            for mark, unigram in enumerate(backoff.unigram)
            if unigram and p * backoff.growth * unigram >= least
        ]
