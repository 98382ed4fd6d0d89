"""Algorithm 1, forwards and backwards: log p(surface | tree) and its posteriors.

In the paper's In(w), the matrix M' is a column times a row, so In(w) is
A · P · Bᵀ with A holding M(l)·a for each left puncteme l, B holding b·M(r) for
each right one and P the pair probabilities. A parent only ever applies In(child)
to a vector: a left child maps a column at its right slot to one at its left
slot, a right child maps a row the other way. All messages are thus vectors over
the states of one slot, and the pass is linear in the sentence.

A node whose two slots are empty can only have taken (ε, ε); it adds a number to
log p and is never visited.

Every operation here is a polynomial in the pair weights, hence complex
differentiable. Pair weights multiplied by 1 + ih for unmatched pairs turn the
imaginary part of log p, divided by h, into the expected count of unmatched pairs
of the objective (blue lines of Algorithm 1), and the imaginary part of the
posteriors into that count's gradient, exact to machine precision (the
"complex step").
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from spacy_punct.data.tree import Tree
from spacy_punct.errors import Errors, ImpossibleSurfaceError
from spacy_punct.model.automaton import Automata, EditCounts, SlotAutomaton, times
from spacy_punct.model.inventory import PairView, Trie
from spacy_punct.model.scores import ObservedSlots, PairProbabilities

COMPLEX_STEP = 1e-30
_ONE = np.ones(1)
_FIRST = np.zeros(1, dtype=int)
Message = TypeVar("Message")


@dataclass
class Posterior:
    """Posterior of a node's pair, given the surface.

    chosen (ndarray): Which pairs of the relation's table.
    pairs (ndarray): Their probabilities, back-off excluded.
    backoff (float): Probability that the pair came from the back-off.
    """

    chosen: np.ndarray
    pairs: np.ndarray
    backoff: complex | float


@dataclass
class _Site:
    """A node that touches a slot which is not empty, and the messages at it.

    left, right (SlotAutomaton): The automata of its two slots.
    view (PairView): The pairs it may have taken.
    weights (ndarray): Their probabilities.
    column (ndarray): a, what the words left of the head say at the left slot.
    row (ndarray): b, what the words right of the head say at the right slot.
    right_rows (ndarray): b · M(r) for each right puncteme r.
    incoming (ndarray): The vector its parent applied it to, once it has.
    left_rows (ndarray | None): incoming · M(l) for each left puncteme l, if the
        incoming vector is a row.
    """

    left: SlotAutomaton
    right: SlotAutomaton
    view: PairView
    weights: np.ndarray
    column: np.ndarray
    row: np.ndarray
    right_rows: np.ndarray
    incoming: np.ndarray = field(init=False)
    left_rows: np.ndarray | None = None


@dataclass(frozen=True)
class Evidence:
    """A punctuated sentence as inference sees it.

    tree (Tree): The tree.
    slots (ObservedSlots): Its surface, None where nothing was observed.
    probabilities (PairProbabilities): ATTACH at its nodes, given the surface.
    automata (Automata): The channel, ready for use, and the inventory.
    """

    tree: Tree
    slots: ObservedSlots
    probabilities: PairProbabilities
    automata: Automata


class Walk(Generic[Message]):
    """The order in which Algorithm 1 visits a tree, whatever its messages are.

    A subclass says what a message is: for a sum over underlying trees a vector,
    for the best one a set of vectors.

    log_prob (float): The scales taken out of messages, and in the end the result.
    """

    neutral: Message

    def __init__(self, evidence: Evidence) -> None:
        tree, automata = evidence.tree, evidence.automata
        probabilities = evidence.probabilities
        self._tree = tree
        self._automata = automata
        self._slots = [automata(slot) for slot in evidence.slots]
        self._probabilities = probabilities
        backoff = automata.inventory.backoff
        self._mass = backoff.mass
        self._backoff = backoff
        empty = [slot.is_empty for slot in self._slots]
        self._is_site = [
            not (empty[left] and empty[right]) for left, right in tree.spans
        ]
        initial = self._slots[0].initial
        self._initial = self._slots[0].expand(initial, automata.start)[1]
        silent = backoff.silent_log_prob(probabilities.silent)
        self.log_prob: complex | float = silent[~np.array(self._is_site)].sum()
        self._inside()

    def _kids(self, head: int) -> tuple[list[int], list[int]]:
        """The children that matter on the left and on the right, nearest first."""
        kids = [k for k in self._tree.children[head] if self._is_site[k]]
        return [k for k in reversed(kids) if k < head], [k for k in kids if k > head]

    def _inside(self) -> None:
        spans, slots = self._tree.spans, self._slots
        for head in reversed(self._tree.top_down):
            lefts, rights = self._kids(head)
            if not (self._is_site[head] or lefts or rights):
                continue
            column, at = self._message(slots[head].final), head
            for kid in lefts:
                column = column if at == spans[kid][1] else self.neutral
                column, at = self._apply_left(kid, column), spans[kid][0]
            row, at_right = self._message(slots[head + 1].initial), head + 1
            for kid in rights:
                row = row if at_right == spans[kid][0] else self.neutral
                row, at_right = self._apply_right(kid, row), spans[kid][1]
            if self._is_site[head]:
                left, right = spans[head]
                column = column if at == left else self.neutral
                row = row if at_right == right else self.neutral
                self._add_site(head, column, row)
        self._finish(self._apply_right(self._tree.root, self._message(self._initial)))

    def _message(self, vector: np.ndarray) -> Message:
        """An automaton's own vector as a message."""
        raise NotImplementedError

    def _add_site(self, head: int, column: Message, row: Message) -> None:
        """Take note of what a node's children say at its left and right slot."""
        raise NotImplementedError

    def _apply_left(self, node: int, incoming: Message) -> Message:
        """In(node) · column, for a left child."""
        raise NotImplementedError

    def _apply_right(self, node: int, incoming: Message) -> Message:
        """row · In(node), for a right child or the root."""
        raise NotImplementedError

    def _finish(self, row: Message) -> None:
        """Add what the root's message says at the last slot to log p."""
        raise NotImplementedError


class Chart(Walk[np.ndarray]):
    """The inside pass over one sentence, and on demand the outside pass.

    count_unmatched (bool): Whether unmatched pairs are counted.
    one_sided (bool): Whether pairs with a delimiter on one side count as unmatched.
    log_prob (complex): log p(surface | tree); see the module on its imaginary part.
    """

    neutral = _ONE

    def __init__(
        self,
        evidence: Evidence,
        *,
        count_unmatched: bool = False,
        one_sided: bool = False,
    ) -> None:
        self._count_unmatched = count_unmatched
        self._one_sided = one_sided
        self._sites: dict[int, _Site] = {}
        super().__init__(evidence)

    def _message(self, vector: np.ndarray) -> np.ndarray:
        return vector

    def _finish(self, row: np.ndarray) -> None:
        total = row @ self._slots[-1].final
        self.log_prob += np.log(total) if total.real > 0 else -np.inf

    def _add_site(self, head: int, column: np.ndarray, row: np.ndarray) -> None:
        left, right = (self._slots[s] for s in self._tree.spans[head])
        relation = self._probabilities.relations[head]
        table = self._automata.inventory.pair_tables[relation]
        view = table.views[left.is_empty, right.is_empty]
        log_probs = self._probabilities.log_probs[head][view.chosen]
        weights = (1 - self._mass) * np.exp(log_probs)
        if self._count_unmatched:
            counted = table.unmatched
            if self._one_sided:
                counted = counted | table.one_sided
            weights = weights * (1 + 1j * COMPLEX_STEP * counted[view.chosen])
        right_rows = right.expand(row, view.right)
        self._sites[head] = _Site(left, right, view, weights, column, row, right_rows)

    def _apply_left(self, node: int, incoming: np.ndarray) -> np.ndarray:
        site = self._sites[node]
        site.incoming = incoming
        view = site.view
        right = site.right_rows @ incoming
        starred = self._mass * (times(site.row, site.right.star()) @ incoming)
        inner = _scatter(view.at_left, site.weights * right[view.at_right], view.left)
        column = site.left.fold(inner, site.column, view.left)[0]
        column = column + starred * times(site.column, site.left.star().T)
        return self._normalised(column)

    def _apply_right(self, node: int, incoming: np.ndarray) -> np.ndarray:
        site = self._sites[node]
        site.incoming = incoming
        view = site.view
        site.left_rows = site.left.expand(incoming, view.left)
        left = site.left_rows @ site.column
        starred = self._mass * (times(incoming, site.left.star()) @ site.column)
        inner = _scatter(view.at_right, site.weights * left[view.at_left], view.right)
        row = inner @ site.right_rows
        row = row + starred * times(site.row, site.right.star())
        return self._normalised(row)

    def _normalised(self, vector: np.ndarray) -> np.ndarray:
        """The vector scaled to a largest entry of 1, its scale moved to log p.

        A number, at a slot with one state, is moved there whole.
        """
        scale = vector[0] if len(vector) == 1 else vector.real.max()
        if scale.real <= 0.0:
            self.log_prob = -np.inf
            return vector
        self.log_prob += np.log(scale)
        return vector / scale

    def posteriors(self) -> dict[int, Posterior]:
        """The posterior pair of each node, given the surface."""
        silent = (i for i, is_site in enumerate(self._is_site) if not is_site)
        return self.site_posteriors() | {i: self._silent_posterior(i) for i in silent}

    def site_posteriors(
        self, edits: EditCounts | None = None, edit_weight: complex = 1.0
    ) -> dict[int, Posterior]:
        """The outside pass.

        edits (EditCounts | None): Where to count the channel's edits, if wanted.
        edit_weight (complex): What to multiply those counts by.
        RETURNS (dict[int, Posterior]): The posterior pair of each node that
            touches a slot which is not empty. The others took (ε, ε).
        """
        if not np.isfinite(self.log_prob):
            raise ImpossibleSurfaceError(Errors.P023)
        spans, root = self._tree.spans, self._tree.root
        counter = None if edits is None else (edits, edit_weight)
        visits = {
            root: self._visit(root, self._initial, self._slots[-1].final, counter)
        }
        if edits is not None:
            read = self._slots[0].expand(self._slots[0].initial, self._automata.start)
            completed = np.stack([read[0], visits[root].to_left])
            edits.add(
                self._slots[0], self._automata.start, read, completed * edit_weight
            )
        for head in self._tree.top_down:
            lefts, rights = self._kids(head)
            left, right = spans[head]
            row = column = _ONE
            if head in visits:
                row, column = visits[head].to_column, visits[head].to_row
            for kid in reversed(lefts):
                row = row if left == spans[kid][0] else _ONE
                visits[kid] = self._visit(kid, row, self._sites[kid].incoming, counter)
                row, left = visits[kid].to_right, spans[kid][1]
            for kid in reversed(rights):
                column = column if right == spans[kid][1] else _ONE
                visits[kid] = self._visit(
                    kid, self._sites[kid].incoming, column, counter
                )
                column, right = visits[kid].to_left, spans[kid][0]
        return {node: visit.posterior for node, visit in visits.items()}

    def _silent_posterior(self, node: int) -> Posterior:
        """A node between two empty slots took (ε, ε), from one source or the other."""
        share = self._backoff.table_share(self._probabilities.log_probs[node][0])
        return Posterior(_FIRST, np.array([share]), float(1 - share))

    def _visit(
        self,
        node: int,
        row: np.ndarray,
        column: np.ndarray,
        counter: tuple[EditCounts, complex] | None,
    ) -> "_Visit":
        """Everything about a node, once both its outer messages are there.

        row (ndarray): What is left of the constituent says at its left slot.
        column (ndarray): What is right of it says at its right slot.
        """
        site = self._sites[node]
        view, weights, mass = site.view, site.weights, self._mass
        left_star, right_star = site.left.star(), site.right.star()
        left_rows, right_rows = site.left_rows, site.right_rows
        if left_rows is None:
            left_rows = site.left.expand(row, view.left)
        by_left = left_rows @ site.column
        by_right = right_rows @ column
        any_left = times(row, left_star)
        any_right = times(site.row, right_star)
        pairs = weights * by_left[view.at_left] * by_right[view.at_right]
        backoff = mass * (any_left @ site.column) * (any_right @ column)
        total = pairs.sum() + backoff
        left_weights = _scatter(
            view.at_left, weights / total * by_right[view.at_right], view.left
        )
        right_weights = _scatter(
            view.at_right, weights / total * by_left[view.at_left], view.right
        )
        left_mass = mass * (any_right @ column) / total
        right_mass = mass * (any_left @ site.column) / total
        left_columns = site.left.fold(left_weights, site.column, view.left)
        right_columns = site.right.fold(right_weights, column, view.right)
        if counter is not None:
            edits, weight = counter
            edits.add(site.left, view.left, left_rows, left_columns * weight)
            edits.add(site.right, view.right, right_rows, right_columns * weight)
            edits.add_star(site.left, row * left_mass, site.column * weight)
            edits.add_star(site.right, site.row * right_mass, column * weight)
        return _Visit(
            Posterior(view.chosen, pairs / total, backoff / total),
            to_left=left_columns[0] + left_mass * times(site.column, left_star.T),
            to_column=left_weights @ left_rows + left_mass * any_left,
            to_row=right_columns[0] + right_mass * times(column, right_star.T),
            to_right=right_weights @ right_rows + right_mass * any_right,
        )


@dataclass
class _Visit:
    """A node's posterior, and the derivative of log p by each of its messages.

    to_left, to_right (ndarray): By what came from outside, at either slot.
    to_column, to_row (ndarray): By a and b, what came from its own children.
    """

    posterior: Posterior
    to_left: np.ndarray
    to_column: np.ndarray
    to_row: np.ndarray
    to_right: np.ndarray


def _scatter(places: np.ndarray, values: np.ndarray, trie: Trie) -> np.ndarray:
    """Sum values by trie node."""
    if len(trie) == 1:
        return values.sum(keepdims=True)
    sums = np.bincount(places, values.real, len(trie))
    if values.dtype == np.complex128:
        return sums + 1j * np.bincount(places, values.imag, len(trie))
    return sums
