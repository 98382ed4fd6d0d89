"""Joint samples of (underlying tree, surface), bottom-up (appendix A, at the end).

After a node's children are done, the slots between them close: the channel
rewrites them, and the marks it wrote are inside the node's constituent when the
node draws its own pair. All samples run at once. Edges of constituents are
arrays of string numbers, one entry a sample, or None while every sample has the
empty string there, which is nearly always.
"""

from collections.abc import Sequence

import numpy as np

from spacy_punct.data.tree import Tree
from spacy_punct.model.channel import Channel
from spacy_punct.model.inventory import Backoff, Inventory, Pair
from spacy_punct.model.scores import NodeScores, log_softmax

Ids = tuple[int, ...]
Numbers = np.ndarray | None
"""For each sample, a string's number in a `_Strings`; None where all are empty."""

_WORD = 63
"""Marks in one integer of a bit mask."""


class _Strings:
    """Mark strings by number, the empty one being 0."""

    def __init__(self) -> None:
        self.strings: list[Ids] = [()]
        self._number: dict[Ids, int] = {(): 0}

    def number(self, string: Ids) -> int:
        if string not in self._number:
            self._number[string] = len(self.strings)
            self.strings.append(string)
        return self._number[string]

    def concatenated(self, first: Numbers, second: Numbers) -> Numbers:
        """The strings of two arrays, joined sample by sample."""
        if first is None or second is None:
            return second if first is None else first
        joined = first + second  # right wherever one of them is empty
        both = np.flatnonzero(first * second)
        if len(both):
            base = len(self.strings)
            keys, places = np.unique(
                first[both] * base + second[both], return_inverse=True
            )
            numbers = [
                self.number(self.strings[key // base] + self.strings[key % base])
                for key in keys
            ]
            joined[both] = np.array(numbers)[places]
        return joined


class Samples:
    """m joint samples for one tree.

    surfaces (list): For each slot, the surface string's number in each sample.
    lefts, rights (list): For each word, its left and right puncteme's number.
    """

    def __init__(self, inventory: Inventory, strings: _Strings, size: int) -> None:
        self._inventory = inventory
        self._strings = strings
        self.size = size
        self.surfaces: list[Numbers] = []
        self.lefts: list[Numbers] = []
        self.rights: list[Numbers] = []

    def __len__(self) -> int:
        return self.size

    def string(self, number: int) -> tuple[str, ...]:
        return self._inventory.decode(self._strings.strings[number])

    def slots(self, k: int) -> tuple[tuple[str, ...], ...]:
        """The surface of sample k."""
        return tuple(self._at(numbers, k) for numbers in self.surfaces)

    def pairs(self, k: int) -> tuple[Pair, ...]:
        """The underlying pair of every word in sample k."""
        return tuple(
            (self._at(left, k), self._at(right, k))
            for left, right in zip(self.lefts, self.rights, strict=True)
        )

    def _at(self, numbers: Numbers, k: int) -> tuple[str, ...]:
        return () if numbers is None else self.string(numbers[k])

    def marginals(self) -> list[dict[tuple[str, ...], float]]:
        """For each slot, the share of the samples that have each surface string."""
        result = []
        for numbers in self.surfaces:
            if numbers is None:
                result.append({(): 1.0})
                continue
            counts = np.bincount(numbers)
            ranked = sorted(np.flatnonzero(counts), key=lambda k: -counts[k])
            result.append({self.string(k): counts[k] / self.size for k in ranked})
        return result


class Sampler:
    """Draws joint samples for one tree."""

    def __init__(
        self,
        tree: Tree,
        scores: NodeScores,
        inventory: Inventory,
        channel: Channel,
    ) -> None:
        self._tree = tree
        self._scores = scores
        self._inventory = inventory
        self._channel = channel
        self._words = -(-len(inventory.marks) // _WORD)

    def sample(self, n: int, rng: np.random.Generator) -> Samples:
        """Draw n samples.

        n (int): How many.
        rng (Generator): The source of randomness.
        RETURNS (Samples): The samples.
        """
        strings = _Strings()
        samples = Samples(self._inventory, strings, n)
        samples.surfaces = [None] * (len(self._tree) + 1)
        samples.lefts = [None] * len(self._tree)
        samples.rights = [None] * len(self._tree)
        edges: dict[int, tuple[Numbers, Numbers]] = {}
        masks: dict[int, Numbers] = {}
        spans = self._tree.spans
        for head in reversed(self._tree.top_down):
            left = right = mask = None
            for part in _parts(self._tree, head):
                inner_left, inner_right = edges.pop(part, (None, None))
                inner_mask = masks.pop(part, None)
                start = part if part == head else spans[part][0]
                if start == spans[head][0]:
                    left, mask = inner_left, inner_mask
                else:
                    string = strings.concatenated(right, inner_left)
                    surface = self._close(string, (), strings, rng)
                    samples.surfaces[start] = surface
                    mask = _union(mask, inner_mask)
                    mask = _union(mask, self._bits(surface, strings))
                right = inner_right
            l, r = self._draw(head, mask, n, strings, rng)
            samples.lefts[head], samples.rights[head] = l, r
            edges[head] = strings.concatenated(l, left), strings.concatenated(right, r)
            masks[head] = mask
        left, right = edges[self._tree.root]
        samples.surfaces[0] = self._close(left, (0,), strings, rng)
        samples.surfaces[-1] = self._close(right, (), strings, rng)
        return samples

    def _close(
        self, underlying: Numbers, prefix: Ids, strings: _Strings, rng
    ) -> Numbers:
        """Rewrite a slot; `prefix` stays in front of the string and is taken off."""
        if underlying is None:
            return None
        surface = np.zeros_like(underlying)
        for number in np.unique(underlying):
            if number == 0:
                continue
            where = np.flatnonzero(underlying == number)
            string = prefix + strings.strings[number]
            drawn = self._channel.sample_ids(string, len(where), rng)
            surface[where] = [strings.number(s[len(prefix) :]) for s in drawn]
        return surface

    def _bits(self, surface: Numbers, strings: _Strings) -> Numbers:
        """The sets of marks of surface strings, as (words, m) bit masks."""
        if surface is None:
            return None
        table = np.zeros((self._words, len(strings.strings)), dtype=np.int64)
        for number in np.unique(surface):
            for mark in strings.strings[number]:
                table[mark // _WORD, number] |= 1 << (mark % _WORD)
        return table[:, surface]

    def _draw(
        self,
        node: int,
        mask: Numbers,
        n: int,
        strings: _Strings,
        rng: np.random.Generator,
    ) -> tuple[Numbers, Numbers]:
        """Draw the node's pair in every sample, given the marks inside (eq. 4)."""
        scores = self._scores.base[node][None]
        group = np.zeros(n, dtype=np.int64)
        if mask is not None:
            distinct, group = _distinct(mask)
            inside = _unpack(distinct, len(self._inventory.marks))
            scores = scores + inside @ self._scores.inside(node)
        backoff = self._inventory.backoff
        probabilities = np.exp(log_softmax(scores))
        chance = rng.random(n)
        spoken = np.flatnonzero(
            chance < 1.0 - (1.0 - backoff.mass) * probabilities[group, 0]
        )
        if not len(spoken):
            return None, None
        chance, group = chance[spoken], group[spoken]
        # (ε, ε) has the top of the unit interval, the back-off its bottom.
        steps = np.cumsum(probabilities[:, 1:], axis=1)
        flat = (steps + np.arange(len(steps))[:, None]).ravel()
        target = (chance - backoff.mass) / (1.0 - backoff.mass)
        width = steps.shape[1]
        pair = np.searchsorted(flat, target + group, side="right") - group * width
        pair = np.clip(pair, 0, width - 1) + 1
        table = self._inventory.pair_tables[self._scores.relations[node]]
        left, right = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for k in np.unique(pair):
            l, r = (strings.number(self._inventory.encode(s)) for s in table.pairs[k])
            left[spoken[pair == k]], right[spoken[pair == k]] = l, r
        for sample in spoken[chance < backoff.mass]:
            left[sample] = strings.number(_spell(backoff, rng))
            right[sample] = strings.number(_spell(backoff, rng))
        return (left if left.any() else None), (right if right.any() else None)


def _parts(tree: Tree, head: int) -> list[int]:
    """A head and its children, from left to right."""
    return sorted((*tree.children[head], head))


def _union(first: Numbers, second: Numbers) -> Numbers:
    if first is None or second is None:
        return second if first is None else first
    return first | second


def _distinct(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct columns of bit masks, and which of them each column is."""
    if len(masks) == 1:
        distinct, group = np.unique(masks[0], return_inverse=True)
        return distinct[None], group
    distinct, group = np.unique(masks, axis=1, return_inverse=True)
    return distinct, group.ravel()


def _unpack(masks: np.ndarray, size: int) -> np.ndarray:
    """Bit masks as a (masks, K) array of zeros and ones."""
    marks = np.arange(size)
    return (masks[marks // _WORD] >> (marks % _WORD)[:, None]).T & 1


def _spell(backoff: Backoff, rng: np.random.Generator) -> Ids:
    """A string from the back-off's q."""
    length = rng.geometric(1.0 - backoff.growth) - 1
    return tuple(rng.choice(len(backoff.unigram), size=length, p=backoff.unigram))


def pooled_marginals(
    marginals: Sequence[Sequence[dict[tuple[str, ...], float]]],
) -> list[dict[tuple[str, ...], float]]:
    """The average of several trees' slot marginals."""
    result: list[dict[tuple[str, ...], float]] = []
    for slot in zip(*marginals, strict=True):
        total: dict[tuple[str, ...], float] = {}
        for marginal in slot:
            for surface, probability in marginal.items():
                share = probability / len(marginals)
                total[surface] = total.get(surface, 0.0) + share
        result.append(dict(sorted(total.items(), key=lambda item: -item[1])))
    return result
