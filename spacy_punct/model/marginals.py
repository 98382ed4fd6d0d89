"""Slot marginals without randomness: `n_samples = 0`.

The same bottom-up pass as sampling, on a table of weighted hypotheses instead of
samples: (marks inside, underlying string at the left edge, at the right edge) ->
probability. Nothing else about a constituent matters to what is around it. With
no pruning the table is exact, but it grows without bounds: that is for toy models.
With pruning it stays small, and says less and less of what is improbable.

So the distribution of each edge is kept beside it, whole. Two neighbours are
independent, hence what is written between them follows from the right edge of one and
the left edge of the other. The table is only asked which marks are inside where an
edge has a certain string, since ATTACH sees these marks.

Strings too improbable to follow are left out of an edge, and of a slot. What is
missing to one, there and in the result, is the probability of all others.

If part of the surface is known, nodes at observed slots take their posterior pairs,
which the inside and outside passes give. These are drawn one by one here, though what
one node put into a slot another did not. That is of no account, since no two
constituents share both of their slots: in a free slot, no two strings come from nodes
that explain the same marks elsewhere. As in sampling, the posteriors see observed marks
only.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from spacy_punct.data.tree import Tree
from spacy_punct.errors import check_range
from spacy_punct.model.automaton import Automata
from spacy_punct.model.inside import Chart, Evidence, Posterior
from spacy_punct.model.inventory import Backoff, PairTable
from spacy_punct.model.scores import NodeScores, Ragged, mark_set, set_rows

Ids = tuple[int, ...]
Hypothesis = tuple[int, Ids, Ids]
"""Marks inside (see `mark_set`), left edge, right edge."""
Table = list[tuple[Hypothesis, float]]
"""Hypotheses and their probabilities, the most probable first."""
Edge = dict[Ids, float]
"""Strings at an edge, or in a slot; all others have what is missing to one."""


class Part(NamedTuple):
    """What is known of neighbouring words, or of the pair of a node.

    table (Table): Hypotheses.
    edges (tuple[Edge, Edge]): What stands at the left and at the right edge.
    """

    table: Table
    edges: tuple[Edge, Edge]


_NOTHING: Edge = {(): 1.0}
_WORD = Part([((0, (), ()), 1.0)], (_NOTHING, _NOTHING))
_FLOOR = 2e-3
"""Strings below this probability are not followed if there is pruning."""
_NEGLIGIBLE = 1e-13
"""Back-off strings below this probability are left out even without pruning."""


class Marginaliser:
    """Computes the slot marginals of one tree.

    prune (float): Hypotheses less probable than the best one by this factor are
        dropped.
    max_hypotheses (int | None): How many hypotheses a node keeps.
    evidence (Evidence | None): What is known of the surface.
    """

    def __init__(
        self,
        tree: Tree,
        scores: NodeScores,
        automata: Automata,
        *,
        prune: float = 1e-3,
        max_hypotheses: int | None = 32,
        evidence: Evidence | None = None,
    ) -> None:
        check_range("prune", prune, 0, 1)
        if max_hypotheses is not None:
            check_range("max_hypotheses", max_hypotheses, 1)
        self._tree = tree
        self._scores = scores
        self._inventory = automata.inventory
        self._in_table = 1.0 - self._inventory.backoff.mass
        self._prune = prune
        self._max = max_hypotheses
        self._floor = min(prune, _FLOOR)
        self._rewrites = automata.channel.rewrites(self._floor)
        self._slots: list[Edge] = [{} for _ in range(len(tree.words) + 1)]
        self._spell()
        self._observed: dict[int, Ids] = {}
        self._posteriors: dict[int, Part] = {}
        if evidence is not None:
            self._observe(evidence)

    def marginals(self) -> list[dict[tuple[str, ...], float]]:
        """For each slot, surface string -> probability, the most probable first.

        What is missing to one is the probability of all other strings.
        """
        own = self._unmarked()
        parts: dict[int, Part] = {}
        for head in reversed(self._tree.top_down):
            parts[head] = self._attached(head, self._inner(head, parts), own[head])
        # Heads take the parts of their children away: that of the root is left.
        ((_, (left, right)),) = parts.values()
        first = self._written({(0,): 1.0}, left)
        self._slots[0] = {surface[1:]: p for surface, p in first.items()}
        self._slots[-1] = self._written(right, _NOTHING)
        for slot, surface in self._observed.items():
            self._slots[slot] = {surface: 1.0}
        return [self._decoded(slot) for slot in self._slots]

    def _observe(self, evidence: Evidence) -> None:
        """Take note of what is known of the surface."""
        slots, spans = evidence.slots, self._tree.spans
        self._observed = {i: s for i, s in enumerate(slots) if s is not None}
        posteriors = Chart(evidence).posteriors()
        for node, (left, right) in enumerate(spans):
            if left in self._observed or right in self._observed:
                self._posteriors[node] = self._taken(node, posteriors[node])
        if 0 in self._observed:
            self._observed[0] = self._observed[0][1:]

    def _taken(self, node: int, posterior: Posterior) -> Part:
        """What a node puts into slots that were not observed, if one of its two was."""
        is_known = [slot in self._observed for slot in self._tree.spans[node]]
        encoded = self._pairs(node).encoded
        table: dict[Hypothesis, float] = defaultdict(float)
        edges: tuple[Edge, Edge] = defaultdict(float), defaultdict(float)
        silence = float(posterior.backoff.real) * (1 - self._inventory.backoff.growth)
        chosen = [encoded[k] for k in posterior.chosen.tolist()]
        pairs = zip(chosen, posterior.pairs.real.tolist(), strict=True)
        for pair, p in (*pairs, (((), ()), silence)):
            l, r = (() if known else s for s, known in zip(pair, is_known, strict=True))
            table[0, l, r] += p
            edges[0][l] += p
            edges[1][r] += p
        for edge, known in zip(edges, is_known, strict=True):
            if known:
                edge[()] = 1.0
        return Part(self._pruned(table), edges)

    def _unmarked(self) -> list[Part]:
        """What each node takes if no marks are inside its constituent."""
        n, size = len(self._tree.words), len(self._strings)
        rows = Ragged.log_softmax(self._scores.base)
        chances = self._in_table * np.exp(rows.flat)
        likely = chances >= self._prune * rows.spread(rows.reduce(np.maximum, chances))
        tables: list[dict[Hypothesis, float]] = [
            defaultdict(float, {(0, l, r): p for l, r, p in self._spelled})
            for _ in range(n)
        ]
        pairs = [self._pairs(node) for node in range(n)]
        for i, k, chance in rows.entries(likely, chances):
            l, r = pairs[i].encoded[k]
            tables[i][0, l, r] += chance
        start = rows.spread(size * np.arange(n))
        sides = [table.left for table in pairs], [table.right for table in pairs]
        places = [start + np.concatenate(side) for side in sides]
        places[1] += n * size
        found = np.bincount(
            np.concatenate(places), np.tile(chances, 2), 2 * n * size
        ).reshape(2 * n, size)
        found = found + self._spelled_edge
        edges: list[Edge] = [{} for _ in range(2 * n)]
        least = self._floor * found.max(axis=1, keepdims=True)
        which, strings = np.nonzero(found >= least)
        values = found[which, strings].tolist()
        for i, k, p in zip(which.tolist(), strings.tolist(), values, strict=True):
            edges[i][self._strings[k]] = p
        return [
            Part(self._ranked(tables[i]), (edges[i], edges[n + i])) for i in range(n)
        ]

    def _inner(self, head: int, parts: dict[int, Part]) -> Part:
        """A head between its children, before it takes a pair itself."""
        first, *others = sorted((*self._tree.children[head], head))
        whole = _WORD if first == head else parts.pop(first)
        for kid in others:
            if kid == head:
                whole = self._joined(whole, _WORD, head)
            else:
                whole = self._joined(whole, parts.pop(kid), self._tree.spans[kid][0])
        return whole

    def _joined(self, first: Part, second: Part, slot: int) -> Part:
        """Two neighbours side by side; the slot between them closes."""
        joined: dict[Hypothesis, float] = defaultdict(float)
        rewrites = self._rewrites
        seen = mark_set(self._observed.get(slot, ()))
        least = self._prune * first.table[0][1] * second.table[0][1]
        for (second_mask, inner_left, right), second_weight in second.table:
            for (mask, left, inner_right), weight in first.table:
                both = weight * second_weight
                if both < least:
                    break
                bits = mask | second_mask | seen
                if not (inner_right or inner_left):
                    joined[bits, left, right] += both
                    continue
                for surface, p in rewrites[inner_right + inner_left].items():
                    joined[bits | mark_set(surface), left, right] += both * p
        self._slots[slot] = self._written(first.edges[1], second.edges[0])
        return Part(self._pruned(joined), (first.edges[0], second.edges[1]))

    def _written(self, right: Edge, left: Edge) -> Edge:
        """What is written in the slot between two edges."""
        written: Edge = defaultdict(float)
        rewrites = self._rewrites
        least = self._floor * max(right.values()) * max(left.values())
        for before, p in right.items():
            for after, q in left.items():
                if (both := p * q) < least:
                    continue
                for surface, share in rewrites[before + after].items():
                    written[surface] += both * share
        return written

    def _attached(self, node: int, inner: Part, unmarked: Part) -> Part:
        """Every hypothesis with every pair the node may take (eq. 4)."""
        own = self._posteriors.get(node)
        if own is None:
            masks = dict.fromkeys([hypothesis[0] for hypothesis, _ in inner.table])
            if any(masks):
                return self._attached_outside(node, inner, list(masks))
            own = unmarked
        if inner is _WORD:
            return Part(self._kept(own.table), own.edges)
        attached: dict[Hypothesis, float] = defaultdict(float)
        least = self._prune * inner.table[0][1] * own.table[0][1]
        for (_, l, r), chance in own.table:
            for (mask, left, right), weight in inner.table:
                both = weight * chance
                if both < least:
                    break
                attached[mask, l + left, right + r] += both
        edges = (
            self._concatenated(own.edges[0], inner.edges[0]),
            self._concatenated(inner.edges[1], own.edges[1]),
        )
        return Part(self._pruned(attached), edges)

    def _concatenated(self, first: Edge, second: Edge) -> Edge:
        if second is _NOTHING:
            return first
        if first is _NOTHING:
            return second
        result: Edge = defaultdict(float)
        least = self._floor * max(first.values()) * max(second.values())
        for before, p in first.items():
            for after, q in second.items():
                if (both := p * q) >= least:
                    result[before + after] += both
        return result

    def _attached_outside(self, node: int, inner: Part, masks: list[int]) -> Part:
        """`_attached` if there may be marks inside, which ATTACH sees.

        masks (list[int]): The sets of marks that may be inside.
        """
        scores = self._scores.base[node][None]
        inside = set_rows(masks, len(self._inventory.marks))
        scores = scores + inside @ self._scores.inside(node)
        # The odds of the best pair are 1, which spares us looking for it again.
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances = odds * (self._in_table / odds.sum(axis=1, keepdims=True))
        by_mask: dict[int, list[tuple[Ids, Ids, float]]] = {m: [] for m in masks}
        for (mask, left, right), weight in inner.table:
            by_mask[mask].append((left, right, weight))
        heaviest = np.array([edges[0][2] for edges in by_mask.values()])[:, None]
        weights = chances * heaviest
        least = self._prune * float(weights.max())
        rows, columns = np.nonzero(weights >= least)
        pairs = self._pairs(node)
        taken = [
            (masks[row], pairs.encoded[k], chance)
            for row, k, chance in zip(
                rows.tolist(),
                columns.tolist(),
                chances[rows, columns].tolist(),
                strict=True,
            )
        ]
        taken += [(mask, (l, r), p) for mask in masks for l, r, p in self._spelled]
        attached: dict[Hypothesis, float] = defaultdict(float)
        for mask, (l, r), chance in taken:
            for left, right, weight in by_mask[mask]:
                both = weight * chance
                if both < least:
                    break
                attached[mask, l + left, right + r] += both
        edges = (
            self._edge(inner, 0, masks, chances, pairs.left),
            self._edge(inner, 1, masks, chances, pairs.right),
        )
        return Part(self._pruned(attached), edges)

    def _edge(
        self,
        inner: Part,
        side: int,
        masks: list[int],
        chances: np.ndarray,
        numbers: np.ndarray,
    ) -> Edge:
        """An edge of a constituent: its head's own string beside that inside.

        side (int): 0 for left, 1 for right.
        masks (list[int]): The sets of marks that may be inside.
        chances (ndarray): (masks, pairs), the probability of each pair.
        numbers (ndarray): The number of each pair's string on this side.
        """
        n, size = len(masks), len(self._strings)
        places = (size * np.arange(n)[:, None] + numbers).ravel()
        own = np.bincount(places, chances.ravel(), n * size).reshape(n, size)
        own = own + self._spelled_edge
        strings = list(inner.edges[side])
        both = (_shares(inner, side, masks) @ own).ravel()
        where = np.flatnonzero(both >= self._floor * both.max())
        result: Edge = defaultdict(float)
        for place, p in zip(where.tolist(), both[where].tolist(), strict=True):
            string, outer = strings[place // size], self._strings[place % size]
            result[string + outer if side else outer + string] += p
        return result

    def _pairs(self, node: int) -> PairTable:
        return self._inventory.pair_tables[self._scores.relations[node]]

    def _spell(self) -> None:
        """Spell the strings of the back-off out, if pruning would let them live."""
        self._strings: Sequence[Ids] = self._inventory.encoded_punctemes
        self._spelled: list[tuple[Ids, Ids, float]] = []
        self._spelled_edge: np.ndarray | float = 0.0
        backoff = self._inventory.backoff
        least = max(self._prune, _NEGLIGIBLE)
        if backoff.mass < least:
            return
        spelled = dict(_spellings(backoff, least / backoff.mass))
        self._spelled = [
            (l, r, backoff.mass * p * q)
            for l, p in spelled.items()
            for r, q in spelled.items()
            if backoff.mass * p * q >= least
        ]
        self._strings = list(dict.fromkeys([*self._strings, *spelled]))
        chances = [spelled.get(string, 0.0) for string in self._strings]
        self._spelled_edge = backoff.mass * np.array(chances)

    def _ranked(self, table: dict[Hypothesis, float]) -> Table:
        return sorted(table.items(), key=itemgetter(1), reverse=True)

    def _pruned(self, table: dict[Hypothesis, float]) -> Table:
        """The best of the hypotheses, which stand for all."""
        return self._kept(self._ranked(table))

    def _kept(self, table: Table) -> Table:
        ranked = table[: self._max]
        least = self._prune * ranked[0][1]
        kept = [item for item in ranked if item[1] >= least]
        if not self._prune:
            return kept
        total = sum([weight for _, weight in kept])
        return [(hypothesis, weight / total) for hypothesis, weight in kept]

    def _decoded(self, slot: Edge) -> dict[tuple[str, ...], float]:
        ranked = sorted(slot.items(), key=itemgetter(1), reverse=True)
        least = self._floor * ranked[0][1]
        kept = [item for item in ranked if item[1] >= least]
        name = self._inventory.marks.__getitem__
        return {tuple(map(name, s)): p for s, p in kept}


def _shares(part: Part, side: int, masks: Sequence[int]) -> np.ndarray:
    """(strings, masks): how probable each string at an edge is together with each set
    of marks inside.

    The edge says how probable a string is, and the table which marks are inside then.
    Of a string that is not in the table, this is not known: it gets the average.
    """
    edge = part.edges[side]
    probabilities = np.array([*edge.values()])[:, None]
    if len(masks) == 1:
        return probabilities
    row = {string: i for i, string in enumerate(edge)}
    column = {mask: k for k, mask in enumerate(masks)}
    shares = np.zeros((len(row), len(column)))
    average = np.zeros(len(column))
    for (mask, *strings), weight in part.table:
        k = column[mask]
        average[k] += weight
        i = row.get(strings[side])
        if i is not None:
            shares[i, k] += weight
    shares = np.where(shares.any(axis=1, keepdims=True), shares, average)
    return shares * (probabilities / shares.sum(axis=1, keepdims=True))


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
