"""The most probable underlying tree of a punctuated sentence (section 3.1).

The paper takes Algorithm 1 to the derivation semiring, which maximises over the
underlying tree *and* over the automaton's state between any two punctemes. We
maximise over the underlying tree alone, with all edit sequences summed out: the
exact argmax of p(T' | T, surface). The best subtree then depends on the state
its message will meet, so a message is a set of vectors, one for each subtree
that no other beats in every state. Such sets stay small, and a slot that is
empty or closed has one state, hence one best subtree.

Pairs considered are those of W_d and, so that any surface has an analysis,
back-off pairs made of contiguous pieces of the two surface slots. Most of them can
be ruled out beforehand without losing exactness. Let a pair cost what its
log-probability is below that of its node's best pair. The channel writes no mark
that it has not read, so a slot costs at least what the cheapest pair that brings
its marks does (half of it, if that pair serves two slots), and a tree at least
what its slots do. Once some tree is found, a pair needs no look if that bound, for
trees that have the pair, passes the found tree's cost. Mostly one tree is left, or
a handful to try one by one. Ties go to the pair that comes first in the inventory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import exp, inf, isfinite, log, prod
from operator import itemgetter

import numpy as np

from spacy_punct.errors import Errors, ImpossibleSurfaceError
from spacy_punct.model.automaton import SlotAutomaton
from spacy_punct.model.inside import Evidence, Walk
from spacy_punct.model.inventory import EMPTY, Pair, PairView, Trie

Ids = tuple[int, ...]

Choice = dict[int, tuple[Ids, Ids]]
"""The pair of each node that touches a slot which is not empty."""
Options = dict[int, dict[tuple[Ids, Ids], float]]
"""The pairs that such nodes may take, and their probabilities."""

_FIRST_WIDTH = 5.0
"""How far pairs may pass the bound, unless the best tree may have another."""
_FEW = 32
"""As many trees are tried one by one."""
_ROUNDING = 1e-9
_TINY = np.finfo(np.float64).tiny


@dataclass
class _Trace:
    """How a vector came about: a node's pair, and the traces it rests on."""

    node: int
    left: Ids
    right: Ids
    parts: tuple["_Trace | None", ...]


@dataclass
class _Front:
    """Vectors none of which is below another in every state, and their traces."""

    vectors: np.ndarray
    traces: list[_Trace | None]


@dataclass
class _Candidates:
    """The pairs a node may take as a matrix of probabilities."""

    lefts: list[Ids]
    rights: list[Ids]
    weights: np.ndarray
    """(lefts, rights)"""

    @classmethod
    def of(cls, options: dict[tuple[Ids, Ids], float]) -> "_Candidates":
        rows = {l: i for i, l in enumerate(dict.fromkeys(l for l, _ in options))}
        columns = {r: i for i, r in enumerate(dict.fromkeys(r for _, r in options))}
        weights = np.zeros((len(rows), len(columns)))
        for (l, r), weight in options.items():
            weights[rows[l], columns[r]] = weight
        return cls(list(rows), list(columns), weights)


def viterbi(
    evidence: Evidence, beam: int | None = None
) -> tuple[tuple[Pair, ...], float]:
    """The most probable underlying tree.

    evidence (Evidence): The sentence.
    beam (int | None): How many ways to explain a constituent are followed, or one for
        each state of the slot if these are more. None for all: exact, but where dozens
        of constituents meet at a slot and the channel is hardly trained there may be
        very many.
    RETURNS (tuple): The pair of each word, and log p(underlying tree, surface | tree).
    """
    search = _Search(evidence)
    found = search.scored(search.guess())
    width = min(search.bound - found[0], _FIRST_WIDTH)
    while True:
        options = search.options(width)
        if prod(map(len, options.values())) <= _FEW:
            trees = [
                search.scored(dict(zip(options, pairs, strict=True)))
                for pairs in product(*options.values())
            ]
        else:
            best = _Viterbi(evidence, options, beam)
            trees = [search.scored(best.read_off()), found]
        found = max(trees, key=itemgetter(0))
        log_prob, choice = found
        slack = search.bound - log_prob
        if isfinite(slack) and slack <= width + _ROUNDING:
            name = evidence.automata.inventory.marks.__getitem__
            pairs = [(EMPTY, EMPTY)] * len(evidence.tree.words)
            for node, (left, right) in choice.items():
                pairs[node] = tuple(map(name, left)), tuple(map(name, right))
            return tuple(pairs), log_prob
        if width == inf:
            raise ImpossibleSurfaceError(Errors.P023)
        width = slack


class _Site:
    """What the pairs of W_d cost a node that touches a slot which is not empty.

    left, right (int): Its slots.
    view (PairView): The pairs it may take.
    weights (ndarray): Their probabilities, back-off included.
    most (float): The largest of them.
    costs (ndarray): How far below it the others are, as logarithms.
    excess (ndarray): What they add to the bound.
    """

    def __init__(
        self, span: tuple[int, int], view: PairView, log_probs: np.ndarray, mass: float
    ) -> None:
        self.left, self.right = span
        self.view = view
        self.weights = (1 - mass) * np.exp(log_probs[view.chosen]) + view.backoff
        self.most = float(self.weights.max())
        self.costs = np.log(self.most / np.maximum(self.weights, _TINY))
        self.excess = self.costs

    def least_cost(self, side: int, mark: int) -> float:
        """What a slot pays at least for a mark on the left (0) or right (1)."""
        having = self.view.having[side, mark]
        return float((self.costs[having] / self.view.sides[having]).min(initial=inf))

    def subtract(self, left_bound: float, right_bound: float) -> None:
        """Take what is in the bound already off the costs of pairs that bring it."""
        has_left, has_right = self.view.at_left > 0, self.view.at_right > 0
        self.excess = self.costs - left_bound * has_left - right_bound * has_right


class _Search:
    """The trees that are worth a look.

    bound (float): No tree's log-probability is above it.
    """

    def __init__(self, evidence: Evidence) -> None:
        tree, slots = evidence.tree, evidence.slots
        probabilities = evidence.probabilities
        self._slots = slots
        self._automata = evidence.automata
        self._inventory = self._automata.inventory
        backoff = self._inventory.backoff
        self._sites: dict[int, _Site] = {}
        # By slot, the nodes and sides whose punctemes make up its string, in order.
        self._parts: dict[int, list[tuple[int, int]]] = {
            s: [] for s, slot in enumerate(slots) if slot
        }
        for node in tree.top_down:
            left, right = tree.spans[node]
            is_empty = slots[left] == (), slots[right] == ()
            if all(is_empty):
                continue
            table = self._inventory.pair_tables[probabilities.relations[node]]
            log_probs = probabilities.log_probs[node]
            self._sites[node] = _Site(
                (left, right), table.views[is_empty], log_probs, backoff.mass
            )
            if slots[left]:
                self._parts[left].append((node, 0))
            if slots[right]:
                self._parts[right].insert(0, (node, 1))
        silent = backoff.silent_log_prob(probabilities.silent)
        silent[list(self._sites)] = 0.0
        self._silent = float(silent.sum())
        self._bounds = [0.0] * len(slots)
        # The marks that the punctemes of a slot must bring, and what the back-off
        # asks for each.
        self._marks = {slot: set(slots[slot] or ()) - {0} for slot in self._parts}
        spelled = {
            mark: self._inventory.backoff_prob(((mark,), ()))
            for mark in set().union(*self._marks.values())
        }
        for slot in self._parts:
            self._bounds[slot] = self._least_cost(slot, spelled)
        self.bound = self._silent - sum(self._bounds)
        for site in self._sites.values():
            site.subtract(self._bounds[site.left], self._bounds[site.right])
            self.bound += log(site.most)

    def _least_cost(self, slot: int, spelled: Mapping[int, float]) -> float:
        """What a slot's most expensive mark costs at least."""
        most = 0.0
        for mark in self._marks[slot]:
            least = inf
            for node, side in self._parts[slot]:
                site = self._sites[node]
                least = min(least, site.least_cost(side, mark))
                if spelled[mark]:
                    least = min(least, log(site.most / spelled[mark]) / 2)
            if least == inf:
                raise ImpossibleSurfaceError(Errors.P023)
            most = max(most, least)
        return most

    def guess(self) -> Choice:
        """A tree that is likely to be good: the best pairs, and for marks that they
        lack the cheapest."""
        choice = {
            node: site.view.pairs[site.costs.argmin()]
            for node, site in self._sites.items()
        }
        for slot in self._parts:
            for mark in self._marks[slot] - set(self._underlying(slot, choice)):
                least = inf
                for node, side in self._parts[slot]:
                    site = self._sites[node]
                    for k in site.view.having[side, mark]:
                        if site.excess[k] < least:
                            least = site.excess[k]
                            choice[node] = site.view.pairs[k]
        return choice

    def scored(self, choice: Choice) -> tuple[float, Choice]:
        """log p(underlying tree, surface | tree), and the tree."""
        factors = [self._weight(node, pair) for node, pair in choice.items()]
        surfaces = [self._slots[slot] for slot in self._parts]
        strings = [self._underlying(slot, choice) for slot in self._parts]
        factors += map(self._automata.prob, surfaces, strings)
        log_prob = self._silent + sum(map(log, factors)) if all(factors) else -inf
        return log_prob, choice

    def _weight(self, node: int, pair: tuple[Ids, Ids]) -> float:
        site = self._sites[node]
        k = site.view.number.get(pair)
        if k is None:
            return self._inventory.backoff_prob(pair)
        return float(site.weights[k])

    def _underlying(self, slot: int, choice: Choice) -> Ids:
        string: Ids = (0,) if slot == 0 else ()
        for node, side in self._parts[slot]:
            string += choice[node][side]
        return string

    def options(self, width: float) -> Options:
        """The pairs of all trees that pass the bound by no more than this."""
        options: Options = {}
        for node, site in self._sites.items():
            likely = np.flatnonzero(site.excess <= width + _ROUNDING)
            pairs = {site.view.pairs[k]: float(site.weights[k]) for k in likely}
            options[node] = pairs | self._spelled(site, width)
        return options

    def _spelled(self, site: _Site, width: float) -> dict[tuple[Ids, Ids], float]:
        """Back-off pairs that are not in W_d."""
        saved = self._bounds[site.left], self._bounds[site.right]
        least = site.most * exp(-width - sum(saved) - _ROUNDING)
        if self._inventory.backoff.silence < least:
            return {}
        pairs = product(
            _pieces(self._slots[site.left]), _pieces(self._slots[site.right])
        )
        weights = {pair: self._inventory.backoff_prob(pair) for pair in pairs}
        return {
            pair: weight
            for pair, weight in weights.items()
            if weight >= least and pair not in site.view.number
        }


class _Viterbi(Walk[_Front]):
    """The maximising pass over one sentence, for nodes that have many options."""

    neutral = _Front(np.ones((1, 1)), [None])

    def __init__(self, evidence: Evidence, options: Options, beam: int | None) -> None:
        self._beam = beam
        self._options = options
        self._sites: dict[int, tuple[_Front, _Front, _Candidates]] = {}
        self._settled: list[_Trace | None] = []
        super().__init__(evidence)

    def _message(self, vector: np.ndarray) -> _Front:
        return _Front(vector[None], [None])

    def _add_site(self, head: int, column: _Front, row: _Front) -> None:
        self._sites[head] = column, row, _Candidates.of(self._options[head])

    def _finish(self, row: _Front) -> None:
        totals = row.vectors @ self._slots[-1].final
        best = int(totals.argmax())
        self._settled.append(row.traces[best])
        self.log_prob += np.log(totals[best]) if totals[best] > 0 else -np.inf

    def _apply_left(self, node: int, incoming: _Front) -> _Front:
        column, row, pairs = self._sites[node]
        left, right = (self._slots[s] for s in self._tree.spans[node])
        # Whatever the left puncteme does, the best right side serves it best.
        read = _read(right, pairs.rights, row)
        scores = np.stack([rows @ incoming.vectors.T for rows in read])
        best, chosen = _best(scores)
        weighted = pairs.weights * best
        partner = weighted.argmax(axis=1)
        scale = weighted[np.arange(len(partner)), partner]
        vectors = []
        traces: list[_Trace | None] = []
        for k, a in enumerate(column.vectors):
            vectors.append(scale[:, None] * left.columns(pairs.lefts, a))
            for i, r in enumerate(partner):
                b, v = chosen[r]
                parts = (column.traces[k], row.traces[b], incoming.traces[v])
                traces.append(_Trace(node, pairs.lefts[i], pairs.rights[r], parts))
        return self._pruned(np.concatenate(vectors), traces, left)

    def _apply_right(self, node: int, incoming: _Front) -> _Front:
        column, row, pairs = self._sites[node]
        left, right = (self._slots[s] for s in self._tree.spans[node])
        read = _read(left, pairs.lefts, incoming)
        scores = np.stack([rows @ column.vectors.T for rows in read])
        best, chosen = _best(scores)
        weighted = pairs.weights * best[:, None]
        partner = weighted.argmax(axis=0)
        scale = weighted[partner, np.arange(len(partner))]
        vectors = []
        traces: list[_Trace | None] = []
        for k, rows in enumerate(_read(right, pairs.rights, row)):
            vectors.append(scale[:, None] * rows)
            for i, l in enumerate(partner):
                v, a = chosen[l]
                parts = (column.traces[a], row.traces[k], incoming.traces[v])
                traces.append(_Trace(node, pairs.lefts[l], pairs.rights[i], parts))
        return self._pruned(np.concatenate(vectors), traces, right)

    def _pruned(
        self, vectors: np.ndarray, traces: list[_Trace | None], slot: SlotAutomaton
    ) -> _Front:
        """Drop what is beaten in every state; settle what has one state.

        Of more vectors than the beam takes, those of least total weight are dropped
        too. But for each state that some vector is in, one is kept, even if the beam
        then is wider: what comes next depends on the state alone, so whatever tree
        there is, one is found.
        """
        scale = vectors.max()
        if scale <= 0.0:
            self.log_prob = -np.inf
            return _Front(vectors[:1], traces[:1])
        self.log_prob += np.log(scale)
        vectors = vectors / scale
        alive = np.flatnonzero(vectors.any(axis=1))
        kept: list[int] = []
        while len(alive):
            weights = vectors[alive]
            if self._beam is not None and len(kept) >= self._beam:
                weights = weights[:, ~vectors[kept].any(axis=0)]
                if not weights.any():
                    break
            top = alive[weights.sum(axis=1).argmax()]
            kept.append(int(top))
            alive = alive[(vectors[alive] > vectors[top]).any(axis=1)]
        if slot.is_empty:
            self._settled.append(traces[kept[0]])
            return self.neutral
        return _Front(vectors[kept], [traces[k] for k in kept])

    def read_off(self) -> Choice:
        """The best tree."""
        choice: Choice = dict.fromkeys(self._options, ((), ()))
        stack = list(self._settled)
        while stack:
            trace = stack.pop()
            if trace is not None:
                choice[trace.node] = trace.left, trace.right
                stack.extend(trace.parts)
        return choice


def _read(slot: SlotAutomaton, strings: list[Ids], front: _Front) -> list[np.ndarray]:
    """For each vector v of a front, v · M(s) for each string s, one a line."""
    trie = Trie(strings)
    ends = [trie.node[s] for s in strings]
    return [slot.expand(vector, trie)[ends] for vector in front.vectors]


def _best(scores: np.ndarray) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """The best (first, last) choice for each entry of the middle axis."""
    first, middle, last = scores.shape
    flat = scores.transpose(1, 0, 2).reshape(middle, first * last)
    where = flat.argmax(axis=1)
    chosen = [divmod(int(k), last) for k in where]
    return flat[np.arange(middle), where], chosen


def _pieces(surface: Ids | None) -> list[Ids]:
    """All contiguous pieces of a surface string, the sentence-initial mark apart."""
    string = surface or ()
    pieces = {
        string[i:k] for i in range(len(string)) for k in range(i + 1, len(string) + 1)
    }
    return [(), *sorted(piece for piece in pieces if 0 not in piece)]
