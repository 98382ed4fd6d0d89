"""ATTACH: scores of puncteme pairs at the nodes of a tree (section 2.1).

Any `AttachScorer`, a model that can give each node a score for each pair of its
relation, may take the place of the paper's log-linear one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, embedding_bag

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.features import (
    FeatureRows,
    Observer,
    TreeFeatures,
    frequent_pairs,
)
from spacy_punct.model.inventory import Inventory
from spacy_punct.model.scores import NodeScores, ObservedSlots


@dataclass(frozen=True)
class RelationScores:
    """Scores of the nodes of a batch that share a relation.

    relation (int): The relation's number.
    nodes (ndarray): The nodes, numbered through the batch.
    scores (Tensor): (nodes, pairs of W_d).
    """

    relation: int
    nodes: np.ndarray
    scores: Tensor


class AttachScorer(nn.Module):
    """What training and inference need of a scorer.

    `forward` gives differentiable scores of all nodes of a batch of prepared trees,
    as a list of `RelationScores`. L2 regularisation pulls the parameters to zero.
    """

    def prepare(self, tree: Tree, slots: ObservedSlots | None = None) -> Any:
        """Whatever of a tree (and of an observed surface) does not change in
        training; it is computed once and given back to `forward`."""
        raise NotImplementedError

    def node_scores(self, trees: Sequence[Tree]) -> list[NodeScores]:
        """Scores for inference, before the marks inside are known."""
        raise NotImplementedError

    def set_dropout(
        self, features: float, words: float = 0.0, *, seed: int | None = None
    ) -> None:
        """Which share of templates' features and of words' vectors training leaves
        out, and the seed of that choice if it is to start anew."""
        raise NotImplementedError

    def compact(self, min_weight: float) -> None:
        """Round weights to 16 bits, and log-linear ones close to zero to zero."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Forget what was derived from the weights: they have changed."""


class LogLinearAttach(AttachScorer):
    """The paper's log-linear ATTACH, with every template of appendix A (eq. 4).

    Weights live in one table for each relation (contexts that name d), one for
    context g shared by all relations, and small ones for L, R and S. The score of
    a node's pairs is a sum of rows. Weights start at zero, except that N.l.r.d
    starts at the log-count of the pair. (The paper starts from N(0, 1) noise.) The
    parameters are the distances from there, which is what L2 keeps small.

    If training trees have `observed_pairs`, it has the templates of appendix C too,
    and is the paper's p(l, r | w_e): it then needs them of every tree.
    """

    def __init__(self, inventory: Inventory, rows: FeatureRows) -> None:
        super().__init__()
        self.inventory = inventory
        self.rows = rows
        self.observer = rows.observer
        tables = inventory.pair_tables
        number = {pair: k for k, pair in enumerate(inventory.all_pairs)}
        self.columns = [
            torch.tensor([number[pair] for pair in table.pairs]) for table in tables
        ]
        self.lefts = [torch.tensor(table.left) for table in tables]
        self.rights = [torch.tensor(table.right) for table in tables]
        self._symmetric = [
            torch.tensor(table.symmetric, dtype=torch.float32) for table in tables
        ]
        n, n_tags = len(tables), self.observer.n_tags
        self.by_relation = nn.ParameterList(
            torch.zeros(len(keys), len(table))
            for keys, table in zip(rows.keys, tables, strict=True)
        )
        self.shared = nn.Parameter(torch.zeros(len(rows.shared_keys), len(number)))
        n_punctemes = len(inventory.punctemes)
        self.left = nn.Parameter(torch.zeros(n_tags * n_tags, n_punctemes))
        self.right = nn.Parameter(torch.zeros(n_tags * n_tags, n_punctemes))
        # S.g.d̄, S.g.d, S.d̄, S.d and S.g.
        self.symmetry = nn.ParameterList(
            torch.zeros(shape)
            for shape in [(n_tags, n, 2), (n_tags, n), (n, 2), (n,), (n_tags,)]
        )
        self._start = [torch.log(torch.tensor(_counts(inventory, d))) for d in range(n)]
        self._inside_cache: dict[tuple[int, int, int], np.ndarray] = {}
        self.set_dropout(0.0, seed=0)

    def set_dropout(
        self, features: float, words: float = 0.0, *, seed: int | None = None
    ) -> None:
        """Which share of the features of N, W, A, C and c training leaves out.

        features (float): The share.
        words (float): Not used: this scorer does not read words.
        seed (int | None): Seed of the choice; None to go on with the last one.
        """
        self.dropout = features
        if seed is not None:
            self._rng = np.random.default_rng(seed)

    @torch.no_grad()
    def compact(self, min_weight: float) -> None:
        """Drop weights closer to zero than this, and round the others to 16 bits."""
        for weights in self.parameters():
            weights[weights.abs() < min_weight] = 0.0
            weights.copy_(weights.half())

    @classmethod
    def from_examples(
        cls,
        inventory: Inventory,
        examples: Sequence[PunctuatedTree],
        *,
        min_count: int = 1,
    ) -> "LogLinearAttach":
        """A scorer with a row for everything the templates see in training data.

        inventory (Inventory): The inventory.
        examples (Sequence[PunctuatedTree]): Training trees.
        min_count (int): How often a row must have been seen.
        RETURNS (LogLinearAttach): Untrained.
        """
        observer = Observer(inventory, frequent_pairs(ex.tree for ex in examples))
        observed = (observer(ex.tree, encode(inventory, ex)) for ex in examples)
        rows = FeatureRows.collect(observer, observed, min_count=min_count)
        return cls(inventory, rows)

    def prepare(self, tree: Tree, slots: ObservedSlots | None = None) -> TreeFeatures:
        return self.observer(tree, slots)

    def forward(self, batch: Sequence[TreeFeatures]) -> list[RelationScores]:
        part = TreeFeatures.concatenate(batch)
        rows, shared_rows = self.rows(part)
        size, n = len(part.relation), len(rows)
        values = self._dropped_out(np.tile(part.value, (n + len(shared_rows), 1)))
        # Nodes of the same relation side by side, so that each has a slice of all.
        order = np.argsort(part.relation, kind="stable")
        place = np.argsort(order)[part.node]
        bags = _Bags.of(rows, place, values[:n], size)
        shared = _Bags.of(shared_rows, place, values[n:], size)
        from_shared = shared.sums(self.shared)
        pack = np.array([self.observer.n_tags, 1])
        left = embedding(torch.from_numpy(part.left[order] @ pack), self.left)
        right = embedding(torch.from_numpy(part.right[order] @ pack), self.right)
        symmetry = self._symmetry(part)[order, None]
        relations, starts = np.unique(part.relation[order], return_index=True)
        ends = [*starts[1:], size]
        result = []
        for d, i, k in zip(relations, starts, ends, strict=True):
            scores = (
                bags.sums(self.by_relation[d], i, k)
                + self._start[d]
                + from_shared[i:k].index_select(1, self.columns[d])
                + left[i:k].index_select(1, self.lefts[d])
                + right[i:k].index_select(1, self.rights[d])
                + symmetry[i:k] * self._symmetric[d]
            )
            result.append(RelationScores(int(d), order[i:k], scores))
        return result

    def _dropped_out(self, values: np.ndarray) -> np.ndarray:
        """In training, leave out features at random, so that none is relied upon."""
        if not self.training or not self.dropout:
            return values
        kept = self._rng.random(values.shape) >= self.dropout
        return values * kept / (1.0 - self.dropout)

    def _symmetry(self, part: TreeFeatures) -> Tensor:
        """The sum of the S weights of each node."""
        g, d = torch.from_numpy(part.tag), torch.from_numpy(part.relation)
        side = torch.from_numpy(part.side)
        gds, gd, ds, only_d, only_g = self.symmetry
        return gds[g, d, side] + gd[g, d] + ds[d, side] + only_d[d] + only_g[g]

    @torch.no_grad()
    def node_scores(self, trees: Sequence[Tree]) -> list[NodeScores]:
        if not trees:
            return []
        self.eval()
        part = self.observer.together(trees, [None] * len(trees))
        return self.by_tree(self([part]), part, [len(tree.words) for tree in trees])

    def by_tree(
        self, groups: Sequence[RelationScores], part: TreeFeatures, sizes: Sequence[int]
    ) -> list[NodeScores]:
        """Scores of a batch, tree by tree, with this scorer's terms for marks inside.

        groups (Sequence[RelationScores]): The scores of all nodes.
        part (TreeFeatures): The trees as one.
        sizes (Sequence[int]): How many nodes each has.
        RETURNS (list[NodeScores]): What inference needs.
        """
        base: list[np.ndarray] = [np.zeros(0)] * sum(sizes)
        for group in groups:
            rows = group.scores.double().numpy()
            for node, row in zip(group.nodes.tolist(), rows, strict=True):
                base[node] = row
        columns = (part.relation.tolist(), part.tag.tolist(), part.side.tolist())
        kinds = list(zip(*columns, strict=True))
        result = []
        for start, end in pairwise(accumulate(sizes, initial=0)):
            inside = _InsideTerms(self, kinds[start:end])
            relations = part.relation[start:end].tolist()
            result.append(NodeScores(relations, base[start:end], inside))
        return result

    def inside_terms(self, relation: int, tag: int, side: int) -> np.ndarray:
        """(K, pairs): what each mark inside adds (template c)."""
        key = relation, tag, side
        if key not in self._inside_cache:
            self._inside_cache[key] = self._summed_terms(*key)
        return self._inside_cache[key]

    @torch.no_grad()
    def _summed_terms(self, relation: int, tag: int, side: int) -> np.ndarray:
        marks = np.arange(len(self.inventory.marks))
        one = np.zeros(1, dtype=np.int64)
        part = TreeFeatures(
            relation=one + relation,
            tag=one + tag,
            side=one + side,
            node=np.zeros_like(marks),
            observation=self.observer.inside + marks,
            value=np.ones(len(marks)),
            left=np.zeros((1, 2)),
            right=np.zeros((1, 2)),
        )
        table, columns = self.by_relation[relation], self.columns[relation]
        terms = np.zeros((len(marks), len(columns)))
        own, shared = self.rows(part)
        for rows in own:
            terms[rows >= 0] += table[rows[rows >= 0]].numpy()
        for rows in shared:
            terms[rows >= 0] += self.shared[rows[rows >= 0]][:, columns].numpy()
        return terms

    def refresh(self) -> None:
        self._inside_cache.clear()


class _InsideTerms:
    """`NodeScores.inside` of one tree, whose nodes are known by relation, tag, side."""

    def __init__(
        self, scorer: LogLinearAttach, nodes: list[tuple[int, int, int]]
    ) -> None:
        self._scorer = scorer
        self._nodes = nodes

    def __call__(self, node: int) -> np.ndarray:
        return self._scorer.inside_terms(*self._nodes[node])


def encode(inventory: Inventory, example: PunctuatedTree) -> list[tuple[int, ...]]:
    """An example's slots as mark numbers, unknown marks as UNK, ^ in front."""
    slots = [inventory.encode(slot) for slot in inventory.known(example.slots)]
    slots[0] = (0, *slots[0])
    return slots


def check_scores(inventory: Inventory, group: RelationScores) -> None:
    """Raise unless a scorer gave a score for each pair of a relation."""
    pairs = len(inventory.pair_tables[group.relation])
    if group.scores.shape != (len(group.nodes), pairs):
        raise PunctError(
            Errors.P028.format(
                shape=tuple(group.scores.shape),
                relation=inventory.relations[group.relation],
                pairs=pairs,
            )
        )


def _counts(inventory: Inventory, relation: int) -> list[float]:
    return list(map(float, inventory.pairs[inventory.relations[relation]].values()))


@dataclass(frozen=True)
class _Bags:
    """Which rows of a table each node sums up.

    rows, values (Tensor): The rows, node by node, and how often each counts.
    starts (Tensor): Where each node's begin, and where the last one's end.
    """

    rows: Tensor
    values: Tensor
    starts: Tensor

    @classmethod
    def of(
        cls, rows: np.ndarray, nodes: np.ndarray, values: np.ndarray, n: int
    ) -> "_Bags":
        """From (contexts, observations) rows, of which those of -1 count nothing."""
        by_node = np.argsort(nodes, kind="stable")
        rows, values = rows[:, by_node].T, values[:, by_node].T
        known = (rows >= 0) & (values != 0)
        before = np.append(0, known.sum(axis=1).cumsum())
        starts = before[np.searchsorted(nodes[by_node], np.arange(n + 1))]
        return cls(
            torch.from_numpy(rows[known]).long(),
            torch.from_numpy(values[known]),
            torch.from_numpy(starts),
        )

    def sums(self, table: Tensor, first: int = 0, end: int | None = None) -> Tensor:
        """The sum of the rows of each node from the first to the one before the end."""
        starts = self.starts[first : None if end is None else end + 1]
        here = slice(starts[0], starts[-1])
        return embedding_bag(
            self.rows[here],
            table,
            starts[:-1] - starts[0],
            mode="sum",
            per_sample_weights=self.values[here].to(table.dtype),
        )
