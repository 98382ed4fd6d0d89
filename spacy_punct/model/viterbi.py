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
be ruled out beforehand without losing exactness: no pair of the best tree has a
posterior below that tree's own, so once some tree with posterior q is found, pairs
below q need no look. Ties go to the pair that comes first in the inventory.
"""

from dataclasses import dataclass

import numpy as np

from spacy_punct.data.tree import Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.automaton import Automata, SlotAutomaton
from spacy_punct.model.inside import Chart, Posterior, Walk
from spacy_punct.model.inventory import EMPTY, Pair, Trie
from spacy_punct.model.scores import ObservedSlots, PairProbabilities

Ids = tuple[int, ...]

_FIRST_GUESS = 0.05
"""Pairs below this posterior are only looked at if the best tree may have one."""


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
    """The pairs a node may take: (left string, right string) -> probability."""

    lefts: list[Ids]
    rights: list[Ids]
    weights: np.ndarray
    """(lefts, rights)"""


def viterbi(
    tree: Tree,
    slots: ObservedSlots,
    probabilities: PairProbabilities,
    automata: Automata,
    beam: int | None = None,
) -> tuple[tuple[Pair, ...], float]:
    """The most probable underlying tree.

    tree (Tree): The tree.
    slots (ObservedSlots): Its surface.
    probabilities (PairProbabilities): ATTACH at its nodes.
    automata (Automata): The channel.
    beam (int | None): How many ways to explain a constituent are followed at most.
        None for all: exact, but where dozens of constituents meet at a slot and the
        channel is hardly trained there may be very many.
    RETURNS (tuple): The pair of each word, and log p(underlying tree, surface | tree).
    """
    chart = Chart(tree, slots, probabilities, automata)
    posteriors = chart.site_posteriors()
    least = _FIRST_GUESS
    while True:
        best = _Viterbi(tree, slots, probabilities, automata, posteriors, least, beam)
        found = np.exp(best.log_prob - chart.log_prob)
        if np.isfinite(best.log_prob) and (found >= least or beam is not None):
            return best.read_off(), float(best.log_prob)
        if not least:
            raise PunctError(Errors.P029)
        least = min(found * (1 - 1e-9), least / 10)


class _Viterbi(Walk[_Front]):
    """The maximising pass over one sentence.

    log_prob (float): log p(best underlying tree, surface | tree), among trees
        whose pairs all have a posterior of at least `least`.
    """

    neutral = _Front(np.ones((1, 1)), [None])

    def __init__(
        self,
        tree: Tree,
        slots: ObservedSlots,
        probabilities: PairProbabilities,
        automata: Automata,
        posteriors: dict[int, Posterior],
        least: float,
        beam: int | None,
    ) -> None:
        self._beam = beam
        self._surface = slots
        self._posteriors = posteriors
        self._least = least
        self._sites: dict[int, tuple[_Front, _Front, _Candidates]] = {}
        self._settled: list[_Trace | None] = []
        super().__init__(tree, slots, probabilities, automata)

    def _message(self, vector: np.ndarray) -> _Front:
        return _Front(vector[None], [None])

    def _add_site(self, head: int, column: _Front, row: _Front) -> None:
        self._sites[head] = column, row, self._candidates(head)

    def _finish(self, row: _Front) -> None:
        totals = row.vectors @ self._slots[-1].final
        best = int(totals.argmax())
        self._settled.append(row.traces[best])
        self.log_prob += np.log(totals[best]) if totals[best] > 0 else -np.inf

    def _apply_left(self, node: int, incoming: _Front) -> _Front:
        column, row, pairs = self._sites[node]
        left, right = (self._slots[s] for s in self._tree.spans[node])
        # Whatever the left puncteme does, the best right side serves it best.
        trie = Trie(pairs.rights)
        ends = [trie.node[s] for s in pairs.rights]
        scores = np.stack(
            [right.expand(b, trie)[ends] @ incoming.vectors.T for b in row.vectors]
        )
        best, chosen = _best(scores)
        weighted = pairs.weights * best
        partner = weighted.argmax(axis=1)
        scale = weighted[np.arange(len(partner)), partner]
        vectors, traces = [], []
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
        trie = Trie(pairs.lefts)
        ends = [trie.node[s] for s in pairs.lefts]
        scores = np.stack(
            [left.expand(v, trie)[ends] @ column.vectors.T for v in incoming.vectors]
        )
        best, chosen = _best(scores)
        weighted = pairs.weights * best[:, None]
        partner = weighted.argmax(axis=0)
        scale = weighted[partner, np.arange(len(partner))]
        trie = Trie(pairs.rights)
        ends = [trie.node[s] for s in pairs.rights]
        vectors, traces = [], []
        for k, b in enumerate(row.vectors):
            vectors.append(scale[:, None] * right.expand(b, trie)[ends])
            for i, l in enumerate(partner):
                v, a = chosen[l]
                parts = (column.traces[a], row.traces[k], incoming.traces[v])
                traces.append(_Trace(node, pairs.lefts[l], pairs.rights[i], parts))
        return self._pruned(np.concatenate(vectors), traces, right)

    def _candidates(self, node: int) -> _Candidates:
        inventory = self._automata.inventory
        left, right = self._tree.spans[node]
        table = inventory.pair_tables[self._probabilities.relations[node]]
        posterior = self._posteriors[node]
        # A pair of W_d may have come from the back-off as well.
        likely = posterior.pairs + posterior.backoff >= self._least
        likely[posterior.pairs.argmax()] = True
        chosen = posterior.chosen[likely]
        probabilities = np.exp(self._probabilities.log_probs[node][chosen])
        weights = {
            table.encoded[k]: (1 - self._mass) * p
            + inventory.backoff_prob(table.encoded[k])
            for k, p in zip(chosen, probabilities, strict=True)
        }
        if posterior.backoff >= self._least:
            for l in _pieces(self._surface[left]):
                for r in _pieces(self._surface[right]):
                    weights.setdefault((l, r), inventory.backoff_prob((l, r)))
        lefts = list(dict.fromkeys(l for l, _ in weights))
        rights = list(dict.fromkeys(r for _, r in weights))
        matrix = np.zeros((len(lefts), len(rights)))
        rows = {l: i for i, l in enumerate(lefts)}
        columns = {r: i for i, r in enumerate(rights)}
        for (l, r), weight in weights.items():
            matrix[rows[l], columns[r]] = weight
        return _Candidates(lefts, rights, matrix)

    def _pruned(
        self, vectors: np.ndarray, traces: list[_Trace], slot: SlotAutomaton
    ) -> _Front:
        """Drop what is beaten in every state; settle what has one state."""
        scale = vectors.max()
        if scale <= 0.0:
            self.log_prob = -np.inf
            return _Front(vectors[:1], traces[:1])
        self.log_prob += np.log(scale)
        vectors = vectors / scale
        alive = np.flatnonzero(vectors.any(axis=1))
        kept: list[int] = []
        while len(alive) and (self._beam is None or len(kept) < self._beam):
            top = alive[vectors[alive].sum(axis=1).argmax()]
            kept.append(int(top))
            alive = alive[(vectors[alive] > vectors[top]).any(axis=1)]
        if slot.is_empty:
            self._settled.append(traces[kept[0]])
            return self.neutral
        return _Front(vectors[kept], [traces[k] for k in kept])

    def read_off(self) -> tuple[Pair, ...]:
        """The pair of each word in the best tree."""
        pairs: list[Pair] = [(EMPTY, EMPTY)] * len(self._tree)
        stack = list(self._settled)
        decode = self._automata.inventory.decode
        while stack:
            trace = stack.pop()
            if trace is not None:
                pairs[trace.node] = decode(trace.left), decode(trace.right)
                stack.extend(trace.parts)
        return tuple(pairs)


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
