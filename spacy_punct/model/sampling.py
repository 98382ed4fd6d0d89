"""Joint samples of (underlying tree, surface), bottom-up (appendix A, at the end).

After a node's children are done, the slots between them close: the channel
rewrites them, and the marks it wrote are inside the node's constituent when the
node draws its own pair. All samples run at once: each node's draws and tests are
vectors over samples, and only the few samples in which something was written are
looked at one by one.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from spacy_punct.data.tree import Tree
from spacy_punct.model.automaton import Automata
from spacy_punct.model.inventory import Backoff, Inventory, Pair
from spacy_punct.model.scores import NodeScores, log_softmax, mark_set, set_rows

Ids = tuple[int, ...]
Written = dict[int, Ids]
"""Sample -> string of mark numbers, for the samples in which it is not empty."""

_MOST_BITS = 62
"""Sets of more marks do not fit into an integer of numpy's."""


class Samples:
    """Joint samples for one tree.

    size (int): How many.
    surfaces (list[Written]): The surface string of each slot.
    lefts, rights (list[Written]): The punctemes of each word.
    """

    def __init__(self, inventory: Inventory, n_words: int, size: int) -> None:
        self._inventory = inventory
        self.size = size
        self.surfaces: list[Written] = [{} for _ in range(n_words + 1)]
        self.lefts: list[Written] = [{} for _ in range(n_words)]
        self.rights: list[Written] = [{} for _ in range(n_words)]

    def __len__(self) -> int:
        return self.size

    def slots(self, k: int) -> tuple[tuple[str, ...], ...]:
        """The surface of sample k."""
        decode = self._inventory.decode
        return tuple(decode(written.get(k, ())) for written in self.surfaces)

    def pairs(self, k: int) -> tuple[Pair, ...]:
        """The underlying pair of every word in sample k."""
        decode = self._inventory.decode
        return tuple(
            (decode(left.get(k, ())), decode(right.get(k, ())))
            for left, right in zip(self.lefts, self.rights, strict=True)
        )

    def marginals(self) -> list[dict[tuple[str, ...], float]]:
        """For each slot, the share of the samples that have each surface string."""
        result = []
        for written in self.surfaces:
            counts = Counter(written.values())
            if len(written) < self.size:
                counts[()] = self.size - len(written)
            decode = self._inventory.decode
            result.append({decode(s): n / self.size for s, n in counts.most_common()})
        return result


@dataclass(frozen=True)
class Given:
    """What is known of samples before they are drawn.

    surfaces (dict[int, Ids]): The surface of the slots that were observed.
    pairs (dict[int, tuple[Written, Written]]): The pairs of some nodes, in each
        sample (see `conditional`).
    """

    surfaces: dict[int, Ids] = field(default_factory=dict)
    pairs: dict[int, tuple[Written, Written]] = field(default_factory=dict)


class Sampler:
    """Draws joint samples for one tree.

    tree (Tree): The tree.
    scores (NodeScores): ATTACH's scores of its nodes.
    automata (Automata): The channel and the inventory.
    rng (Generator): The source of randomness.
    """

    def __init__(
        self,
        tree: Tree,
        scores: NodeScores,
        automata: Automata,
        rng: np.random.Generator,
    ) -> None:
        self._tree = tree
        self._scores = scores
        self._inventory = automata.inventory
        self._channel = automata.channel
        self._rng = rng
        fits = len(self._inventory.marks) <= _MOST_BITS
        self._set_type = np.dtype(np.int64 if fits else object)

    def sample(self, n: int, given: Given | None = None) -> Samples:
        """Draw n samples.

        n (int): How many.
        given (Given | None): What is known or drawn already.
        RETURNS (Samples): The samples.
        """
        given = given or Given()
        samples = Samples(self._inventory, len(self._tree.words), n)
        edges: dict[int, tuple[Written, Written]] = {}
        masks: dict[int, np.ndarray | None] = {}
        spans, root = self._tree.spans, self._tree.root
        for head in reversed(self._tree.top_down):
            left: Written = {}
            right: Written = {}
            mask = None
            for part in sorted((*self._tree.children[head], head)):
                inner_left, inner_right = edges.pop(part, ({}, {}))
                mask = _union(mask, masks.pop(part, None))
                start = part if part == head else spans[part][0]
                if start == spans[head][0]:
                    left = inner_left
                else:
                    underlying = _concatenated(right, inner_left)
                    surface = self._surface(start, underlying, given, n)
                    samples.surfaces[start] = surface
                    mask = self._with_marks(mask, surface, n)
                right = inner_right
            l, r = given.pairs.get(head) or self._draw(head, mask, n)
            samples.lefts[head], samples.rights[head] = l, r
            edges[head] = _concatenated(l, left), _concatenated(right, r)
            masks[head] = mask
        left, right = edges[root]
        samples.surfaces[0] = self._surface(0, left, given, n)
        samples.surfaces[-1] = self._surface(len(self._tree.words), right, given, n)
        return samples

    def _surface(self, slot: int, underlying: Written, given: Given, n: int) -> Written:
        """What is written in a slot: what was observed, or what the channel makes."""
        observed = given.surfaces.get(slot)
        if observed is not None:
            return dict.fromkeys(range(n), observed) if observed else {}
        return self._close(underlying, prefix=() if slot else (0,))

    def _close(self, underlying: Written, prefix: Ids = ()) -> Written:
        """Rewrite a slot. `prefix` goes in front of its string and comes off again."""
        strings = dict(underlying)
        if prefix:
            strings = {k: prefix + string for k, string in underlying.items()}
        windows = [k for k, string in strings.items() if len(string) > 1]
        if windows:
            drawn = self._channel.sample_ids([strings[k] for k in windows], self._rng)
            strings.update(zip(windows, drawn, strict=True))
        if not prefix:
            return strings
        return {k: s[len(prefix) :] for k, s in strings.items() if s != prefix}

    def _with_marks(
        self, mask: np.ndarray | None, surface: Written, n: int
    ) -> np.ndarray | None:
        """The set of marks inside in each sample (see `mark_set`), a slot's added."""
        if not surface:
            return mask
        if mask is None:
            mask = np.zeros(n, dtype=self._set_type)
        where = np.fromiter(surface, dtype=np.int64, count=len(surface))
        mask[where] |= np.array(
            [mark_set(s) for s in surface.values()], dtype=self._set_type
        )
        return mask

    def _draw(
        self, node: int, mask: np.ndarray | None, n: int
    ) -> tuple[Written, Written]:
        """Draw the node's pair in every sample, given the marks inside (eq. 4)."""
        scores = self._scores.base[node][None]
        group = None
        if mask is not None:
            distinct, group = _distinct(mask)
            inside = set_rows(distinct, len(self._inventory.marks))
            present = inside.any(axis=0)
            terms = self._scores.inside(node)[present]
            scores = scores + inside[:, present] @ terms
        backoff = self._inventory.backoff
        probabilities = np.exp(log_softmax(scores))
        silent = (1.0 - backoff.mass) * probabilities[:, 0]
        chance = self._rng.random(n)
        # (ε, ε) has the top of the unit interval, the back-off its bottom.
        bound = 1.0 - (silent[0] if group is None else silent[group])
        spoken = np.flatnonzero(chance < bound)
        if not len(spoken):
            return {}, {}
        chance = chance[spoken]
        target = (chance - backoff.mass) / (1.0 - backoff.mass)
        if group is None:
            steps = np.cumsum(probabilities[0, 1:])
            pair = np.searchsorted(steps, target, side="right")
        else:
            group = group[spoken]
            steps = np.cumsum(probabilities[:, 1:], axis=1)
            flat = (steps + np.arange(len(steps))[:, None]).ravel()
            pair = np.searchsorted(flat, target + group, side="right")
            pair -= group * steps.shape[-1]
        table = self._inventory.pair_tables[self._scores.relations[node]]
        pair = 1 + np.minimum(np.maximum(pair, 0), len(table) - 2)
        strings = self._inventory.encoded_punctemes
        left = _named(spoken, table.left[pair], strings)
        right = _named(spoken, table.right[pair], strings)
        for sample in spoken[chance < backoff.mass].tolist():
            for side in (left, right):
                side.pop(sample, None)
                if string := _spelled(backoff, self._rng):
                    side[sample] = string
        return left, right


def _concatenated(first: Written, second: Written) -> Written:
    if not first or not second:
        return second or first
    joined = {sample: s + second.get(sample, ()) for sample, s in first.items()}
    return second | joined


def _named(samples: np.ndarray, numbers: np.ndarray, strings: Sequence[Ids]) -> Written:
    """Which samples drew which strings, given by number; 0 is the empty one."""
    some = numbers > 0
    drawn = [strings[k] for k in numbers[some].tolist()]
    return dict(zip(samples[some].tolist(), drawn, strict=True))


def _union(first: np.ndarray | None, second: np.ndarray | None) -> np.ndarray | None:
    if first is None or second is None:
        return second if first is None else first
    return first | second


def _distinct(sets: np.ndarray) -> tuple[list[int], np.ndarray]:
    """The distinct sets of marks, and which of them each sample has.

    The first is always the empty set, which most samples have.
    """
    some = np.flatnonzero(sets)
    distinct = np.unique(sets[some])
    group = np.zeros(len(sets), dtype=np.int64)
    group[some] = np.searchsorted(distinct, sets[some]) + 1
    return [0, *distinct.tolist()], group


def _spelled(backoff: Backoff, rng: np.random.Generator) -> Ids:
    """A string from the back-off's q."""
    length = rng.geometric(1.0 - backoff.growth) - 1
    drawn = rng.choice(len(backoff.unigram), size=length, p=backoff.unigram)
    return tuple(drawn.tolist())


def pooled_marginals(
    marginals: Sequence[Sequence[dict[tuple[str, ...], float]]],
) -> list[dict[tuple[str, ...], float]]:
    """The average of several trees' slot marginals."""
    result: list[dict[tuple[str, ...], float]] = []
    for slot in zip(*marginals, strict=True):
        total: Counter[tuple[str, ...]] = Counter()
        for marginal in slot:
            for surface, probability in marginal.items():
                total[surface] += probability / len(marginals)
        result.append(dict(total.most_common()))
    return result
