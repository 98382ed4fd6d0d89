"""The feature templates of ATTACH (appendices A and C), as rows of weight tables.

Templates N, W, A, C and c have the form "an observation, with l, r and one of
five contexts": (g, d̄), (g, d), g, d̄ or d, where g is the word's part of speech,
d its relation and d̄ the relation with its direction. An observation is N; the
length class h of W; a relation d' on the path to the root (A) or below (C); or a
mark inside (c). Each (observation, context) seen in training is a row of
weights, with one column for each pair (l, r).

For correction, N and W are also observed together with the pair (l', r') that is
thought to be behind the marks a writer put there. These templates have the contexts
(g, d̄), d̄, g and none.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spacy_punct.data.tree import ROOT, Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.inventory import Inventory, Pair
from spacy_punct.model.scores import ObservedSlots, marks_inside

_LENGTHS = (2, 5)
"""Constituents of up to 2 words are short, of up to 5 medium (template W)."""

RELATION_CONTEXTS = ("g.d̄", "g.d", "d̄", "d")
"""The contexts that name the relation; g, and none at all, do not."""
_UNDIRECTED = np.array([RELATION_CONTEXTS.index(name) for name in ("g.d", "d")])
_NO_ROW = -1

MIN_PAIR_COUNT = 3
"""Pairs (l', r') seen less often in training have one number together."""


@dataclass(frozen=True)
class TreeFeatures:
    """What the templates see of a tree's nodes.

    relation, tag, side (ndarray): Numbers of d, g and the direction of d̄ (1 if
        the head is to the right) of each node.
    node, observation, value (ndarray): Observations made at nodes, and how often.
    left, right (ndarray): For each node, the numbers of the tags around its left
        and its right slot, (n, 2) each (templates L and R).
    """

    relation: np.ndarray
    tag: np.ndarray
    side: np.ndarray
    node: np.ndarray
    observation: np.ndarray
    value: np.ndarray
    left: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.relation)

    @classmethod
    def concatenate(cls, parts: Sequence["TreeFeatures"]) -> "TreeFeatures":
        """Several trees as one, their nodes numbered on."""
        starts = np.cumsum([0, *map(len, parts)])
        nodes = [p.node + start for p, start in zip(parts, starts, strict=False)]
        fields = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in cls.__dataclass_fields__
            if name != "node"
        }
        return cls(node=np.concatenate(nodes), **fields)


class Observer:
    """Extracts the templates' observations from trees.

    inventory (Inventory): The inventory.
    observed_pairs (Sequence[Pair] | None): The pairs (l', r') that correction tells
        apart; None for restoration, which does not look at them.
    """

    def __init__(
        self, inventory: Inventory, observed_pairs: Sequence[Pair] | None = None
    ) -> None:
        self.inventory = inventory
        self.observed_pairs = None if observed_pairs is None else tuple(observed_pairs)
        n = len(inventory.relations)
        self.path = 1 + len(_LENGTHS) + 1
        self.below = self.path + n
        self.inside = self.below + n
        self.paired = self.inside + len(inventory.marks)
        self.size = self.paired
        if self.observed_pairs is not None:
            self._pairs = {pair: k for k, pair in enumerate(self.observed_pairs)}
            # N and the classes of W once more for each pair, and for all others.
            self.size += (len(self._pairs) + 1) * self.path
        # Unknown tags share one number; the edges of the sentence have their own.
        self._tags = {tag: k for k, tag in enumerate(inventory.tags)}
        self.unknown_tag = len(inventory.tags)
        self.edge_tag = self.unknown_tag + 1
        self.n_tags = self.edge_tag + 1

    def __call__(self, tree: Tree, slots: ObservedSlots | None = None) -> TreeFeatures:
        """Observe a tree, and the marks inside its constituents if slots are given."""
        return self.together([tree], [slots])

    def together(
        self, trees: Sequence[Tree], slots: Sequence[ObservedSlots | None]
    ) -> TreeFeatures:
        """Observe several trees as one, their nodes numbered on."""
        relation_id, tag_id = self.inventory.relation_id, self._tags.get
        relation = np.array([relation_id(d) for tree in trees for d in tree.relations])
        tag = np.array([tag_id(g, self.unknown_tag) for t in trees for g in t.tags])
        nodes = Nodes.of(trees)
        every = np.arange(len(relation))
        inner = np.flatnonzero(nodes.head != ROOT)
        length = 1 + np.searchsorted(_LENGTHS, nodes.end - nodes.first)
        found = [
            (every, np.zeros_like(every)),
            (every, length),
            (nodes.head[inner], self.below + relation[inner]),
        ]
        if self.observed_pairs is not None:
            pair = self.paired + self.path * self._pair_numbers(trees)
            found += [(every, pair), (every, pair + length)]
        below, above = inner, nodes.head[inner]
        while len(below):
            found.append((below, self.path + relation[above]))
            further = nodes.head[above] != ROOT
            below, above = below[further], nodes.head[above[further]]
        for tree, observed, start in zip(trees, slots, nodes.starts, strict=True):
            if observed is not None:
                marks = marks_inside(tree, observed, len(self.inventory.marks))
                node, mark = np.nonzero(marks)
                found.append((node + start, self.inside + mark))
        keys, value = np.unique(
            np.concatenate([node * self.size + seen for node, seen in found]),
            return_counts=True,
        )
        # What is around a slot: two more places a tree, before and after its words.
        edges = nodes.starts + 2 * np.arange(len(trees))
        shift = np.repeat(edges - nodes.starts, [len(tree.words) for tree in trees])
        around = np.full(len(every) + 2 * len(trees), self.edge_tag)
        around[every + shift + 1] = tag
        left, right = nodes.first + shift, nodes.end + shift
        return TreeFeatures(
            relation=relation,
            tag=tag,
            side=(nodes.head > every).astype(np.int64),
            node=keys // self.size,
            observation=keys % self.size,
            value=value.astype(np.float32),
            left=np.stack([around[left], around[left + 1]], axis=1),
            right=np.stack([around[right], around[right + 1]], axis=1),
        )

    def _pair_numbers(self, trees: Sequence[Tree]) -> np.ndarray:
        """The number of (l', r') at each node; rare ones share the last."""
        other = len(self._pairs)
        numbers = []
        for tree in trees:
            if tree.observed_pairs is None:
                raise PunctError(Errors.P123.format(words=" ".join(tree.words)))
            numbers += [self._pairs.get(pair, other) for pair in tree.observed_pairs]
        return np.array(numbers)


@dataclass(frozen=True)
class Nodes:
    """The nodes of several trees, numbered on.

    starts (ndarray): Where each tree begins.
    head (ndarray): The head of each node, or ROOT.
    first, end (ndarray): The span of each node's constituent.
    """

    starts: np.ndarray
    head: np.ndarray
    first: np.ndarray
    end: np.ndarray

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> "Nodes":
        sizes = [len(tree.words) for tree in trees]
        starts = np.cumsum([0, *sizes[:-1]])
        shift = np.repeat(starts, sizes)
        head = np.array([head for tree in trees for head in tree.heads])
        first, end = np.array([span for tree in trees for span in tree.spans]).T
        return cls(
            starts,
            np.where(head == ROOT, ROOT, head + shift),
            first + shift,
            end + shift,
        )


class FeatureRows:
    """Which rows of weights exist, and where.

    keys (list[ndarray]): For each relation, its rows in order, each packed as
        (context, observation, tag, side) into an integer.
    shared_keys (ndarray): The rows of context g, packed as (observation, tag), and
        of no context, with a tag that no node has.
    """

    def __init__(
        self, observer: Observer, keys: list[np.ndarray], shared_keys: np.ndarray
    ) -> None:
        self.observer = observer
        self.keys = keys
        self.shared_keys = shared_keys

    @classmethod
    def collect(
        cls, observer: Observer, trees: Iterable[TreeFeatures], *, min_count: int = 1
    ) -> "FeatureRows":
        """The rows of everything observed at least `min_count` times."""
        n_relations = len(observer.inventory.relations)
        keys: list[list[np.ndarray]] = [[] for _ in range(n_relations)]
        shared: list[np.ndarray] = []
        for part in trees:
            relation = part.relation[part.node]
            packed = cls._packed(observer, part)
            for d in np.unique(relation):
                keys[d].append(packed[:, relation == d].ravel())
            shared.append(cls._packed_shared(observer, part).ravel())
        return cls(
            observer,
            [_frequent(parts, min_count) for parts in keys],
            _frequent(shared, min_count),
        )

    @staticmethod
    def _packed(observer: Observer, part: TreeFeatures) -> np.ndarray:
        """(4, observations) keys of the contexts that name the relation.

        A context leaves out the tag or the side by giving it a constant. -1 is
        for what is not observed in a context.
        """
        observation, tag = part.observation, part.tag[part.node]
        side = part.side[part.node]
        any_tag, any_side = observer.edge_tag, 2
        contexts = [(tag, side), (tag, any_side), (any_tag, side), (any_tag, any_side)]
        keys = np.stack(
            [(observation * observer.n_tags + g) * 3 + s for g, s in contexts]
        )
        if observer.observed_pairs is not None:
            paired = np.flatnonzero(observation >= observer.paired)
            keys[np.ix_(_UNDIRECTED, paired)] = _NO_ROW
        return keys

    @staticmethod
    def _packed_shared(observer: Observer, part: TreeFeatures) -> np.ndarray:
        """(1, observations) keys of context g; with pairs 2, the last of none."""
        first = part.observation * observer.n_tags
        with_tag = first + part.tag[part.node]
        if observer.observed_pairs is None:
            return with_tag[None]
        is_paired = part.observation >= observer.paired
        alone = np.where(is_paired, first + observer.edge_tag, _NO_ROW)
        return np.stack([with_tag, alone])

    @cached_property
    def _lookup(self) -> np.ndarray:
        """Relation and key -> row, or -1. The last place is for the key -1."""
        size = self.observer.size * self.observer.n_tags * 3 + 1
        table = np.full((len(self.keys), size), _NO_ROW, dtype=np.int32)
        for d, keys in enumerate(self.keys):
            table[d, keys] = np.arange(len(keys))
        return table

    @cached_property
    def _shared_lookup(self) -> np.ndarray:
        size = self.observer.size * self.observer.n_tags + 1
        table = np.full(size, _NO_ROW, dtype=np.int32)
        table[self.shared_keys] = np.arange(len(self.shared_keys))
        return table

    def __call__(self, part: TreeFeatures) -> tuple[np.ndarray, np.ndarray]:
        """The rows of observations, -1 for none: (4, observations) in the table of the
        node's relation, and (1 or 2, observations) in that of context g and none."""
        packed = self._packed(self.observer, part)
        shared = self._packed_shared(self.observer, part)
        own = self._lookup[part.relation[part.node], packed]
        return own, self._shared_lookup[shared]


def _frequent(parts: list[np.ndarray], min_count: int) -> np.ndarray:
    if not parts:
        return np.zeros(0, dtype=np.int64)
    keys, counts = np.unique(np.concatenate(parts), return_counts=True)
    return keys[(counts >= min_count) & (keys != _NO_ROW)]


def frequent_pairs(
    trees: Iterable[Tree], min_count: int = MIN_PAIR_COUNT
) -> tuple[Pair, ...] | None:
    """The pairs (l', r') that training tells apart, the most frequent first.

    trees (Iterable[Tree]): Training trees.
    min_count (int): How often a pair must have been seen.
    RETURNS (tuple[Pair, ...] | None): None if no tree has any, as in restoration.
    """
    observed = [tree.observed_pairs for tree in trees]
    if not any(observed):
        return None
    counts = Counter(pair for pairs in observed for pair in pairs or ())
    return tuple(pair for pair, n in counts.most_common() if n >= min_count)
