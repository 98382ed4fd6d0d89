"""The order of a word's dependents: the model of Wang & Eisner (2016).

    p(order) ∝ exp Σ θ · f(a, b), for all a that stand before b

The items are the dependents of a noun or verb and the word itself. Their features are
which of two items comes first, whether they are next to each other, and on which side
of the head they are; each for part of speech, for relation, and for both. What is first
and last is next to a border. Weights are learned by maximum likelihood. To draw one,
all orders are enumerated: words with more than seven items are left as they are.

To learn, orders are summed without enumerating them. Given which dependents stand on
the left of the head, and which on the right, the two sides do not know of each other;
and on one side, what the next item adds depends on the set of those before it and on
the last of them. So sets are enumerated, and not orders: of seven items there are 5,040
orders, but six dependents have 64 sets.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations, permutations

import numpy as np
import torch
from torch import Tensor

from spacy_punct.data.tree import Tree
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.rephrasing.underlying import UnderlyingTree

MAX_ITEMS = 7
"""The head included: of seven items there are 5,040 orders."""

KINDS = {"NOUN": "noun", "PROPN": "noun", "PRON": "noun", "VERB": "verb"}
"""Part of speech -> what it is ordered as. The dependents of others stay."""

Label = tuple[str, str]
"""Part of speech and relation."""
Feature = tuple[str, str, str, str, str]
"""Kind of the head, what is asked, what of the labels is seen, and two items."""
Order = tuple[int, ...]

_HEAD = ("@", "@")
_BORDER = ("|", "|")
_VIEWS = ("both", "tag", "relation")
_CHUNK = 256
"""Families whose orders are summed, or enumerated, together."""


@dataclass(frozen=True)
class Family:
    """A word and its dependents, in an order that does not tell how they stand.

    kind (str): One of the values of KINDS.
    labels (tuple[Label, ...]): What is known of the dependents, sorted.
    """

    kind: str
    labels: tuple[Label, ...]

    def __len__(self) -> int:
        return len(self.labels) + 1


def families(tree: Tree) -> dict[int, tuple[Family, Order]]:
    """The words of a tree that have something to order.

    tree (Tree): A tree.
    RETURNS (dict[int, tuple[Family, Order]]): Word -> its family, and the words that
        its items are: first itself, then its dependents as the labels are sorted.
    """
    found: dict[int, tuple[Family, Order]] = {}
    for i, children in enumerate(tree.children):
        kind = KINDS.get(tree.tags[i])
        if kind is None or not 0 < len(children) < MAX_ITEMS:
            continue
        labelled = sorted(((tree.tags[k], tree.relations[k]), k) for k in children)
        labels = tuple(label for label, _ in labelled)
        found[i] = Family(kind, labels), (i, *(k for _, k in labelled))
    return found


@dataclass(frozen=True)
class _Orders:
    """All orders of k items, of which item 0 is the head.

    orders (ndarray): (k!, k) items from left to right.
    questions (list): What may be asked of an order: a name and two items; -1 and -2
        are the left and the right border.
    answers (Tensor): (k!, number of questions), 1 for yes.
    """

    orders: np.ndarray
    questions: list[tuple[str, int, int]]
    answers: Tensor


@cache
def _orders(k: int) -> _Orders:
    orders = np.array(list(permutations(range(k))))
    place = np.argsort(orders, axis=1)
    answers: dict[tuple[str, int, int], np.ndarray] = {}
    for a in range(k):
        answers["beside", -1, a] = place[:, a] == 0
        answers["beside", a, -2] = place[:, a] == k - 1
        for b in range(k):
            if a == b:
                continue
            first = place[:, a] < place[:, b]
            answers["before", a, b] = first
            answers["beside", a, b] = place[:, a] + 1 == place[:, b]
            if a and b:
                head = place[:, 0]
                answers["left", a, b] = first & (place[:, b] < head)
                answers["around", a, b] = (place[:, a] < head) & (head < place[:, b])
                answers["right", a, b] = first & (head < place[:, a])
    table = np.stack(list(answers.values()), axis=1).astype(np.float32)
    return _Orders(orders, list(answers), torch.from_numpy(table))


def _features(family: Family) -> list[list[Feature]]:
    """The features of each question, one for each view of the labels."""
    kind = family.kind
    seen = {-2: _seen(_BORDER), -1: _seen(_BORDER), 0: _seen(_HEAD)}
    seen |= {k: _seen(label) for k, label in enumerate(family.labels, start=1)}
    return [
        [
            (kind, name, view, one, other)
            for view, one, other in zip(_VIEWS, seen[a], seen[b], strict=True)
        ]
        for name, a, b in _orders(len(family)).questions
    ]


def _seen(label: Label) -> tuple[str, str, str]:
    """The views of a label."""
    return " ".join(label), *label


class OrderingModel:
    """A trained model of word order.

    weights (Mapping[Feature, float]): θ; what is missing is 0.
    """

    def __init__(self, weights: Mapping[Feature, float]) -> None:
        self.weights = dict(weights)
        self._index = {feature: k for k, feature in enumerate(self.weights, start=1)}
        values = [0.0, *self.weights.values()]
        self._theta = torch.tensor(values, dtype=torch.float32)

    @classmethod
    def train(
        cls,
        trees: Iterable[Tree],
        *,
        l2: float = 1.0,
        max_iterations: int = 40,
    ) -> "OrderingModel":
        """Learn the order of a language.

        trees (Iterable[Tree]): Its trees.
        l2 (float): Weight of half the squared length of θ, against the
            log-likelihood of all trees together.
        max_iterations (int): Bounds the search for the best weights (L-BFGS).
        RETURNS (OrderingModel): The model.
        """
        check_range("l2", l2, 0)
        observed: dict[Family, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for tree in trees:
            for family, items in families(tree).values():
                observed[family][_rank(np.argsort(items).tolist())] += 1
        if not observed:
            raise PunctError(Errors.P020)
        index: dict[Feature, int] = defaultdict(lambda: len(index) + 1)
        data = _Data(observed, index.__getitem__)
        theta = torch.zeros(len(index) + 1, requires_grad=True)
        optimizer = torch.optim.LBFGS(
            [theta], max_iter=max_iterations, line_search_fn="strong_wolfe"
        )

        def closure() -> Tensor:
            optimizer.zero_grad()
            # A chunk at a time, so that its orders are forgotten after it.
            total = l2 / 2 * theta.square().sum() / data.n
            total.backward()
            for loss in data.losses(theta):
                loss.backward()
                total = total.detach() + loss.detach()
            if theta.grad is not None:
                theta.grad[0] = 0
            return total

        optimizer.step(closure)
        values = theta.detach()[1:].tolist()
        return cls(dict(zip(index, values, strict=True)))

    def log_prob(self, tree: Tree) -> float:
        """The log-probability of the order of all items of a tree."""
        found = list(families(tree).values())
        scores = self._log_probs([family for family, _ in found])
        ranks = [_rank(np.argsort(items).tolist()) for _, items in found]
        return sum(float(row[k]) for row, k in zip(scores, ranks, strict=True))

    def orders(self, tree: Tree, i: int) -> dict[Order, float]:
        """How probable each order of a word and its dependents is.

        tree (Tree): A tree.
        i (int): The word.
        RETURNS (dict[Order, float]): The words from left to right -> probability. The
            order as it is, if it does not vary.
        """
        found = families(tree)
        if i not in found:
            return {tuple(sorted((i, *tree.children[i]))): 1.0}
        family, items = found[i]
        (scores,) = self._log_probs([family])
        return {
            tuple(items[k] for k in order): p
            for order, p in zip(
                _orders(len(family)).orders.tolist(), scores.exp().tolist(), strict=True
            )
        }

    def sample(
        self, trees: Sequence[Tree], rng: np.random.Generator
    ) -> list[dict[int, Order]]:
        """Draw an order for each word of trees that has something to order.

        trees (Sequence[Tree]): The trees.
        rng (Generator): The source of randomness.
        RETURNS (list[dict[int, Order]]): For each tree: word -> itself and its
            dependents in their new order.
        """
        found = [families(tree) for tree in trees]
        places: dict[Family, list[tuple[int, int, Order]]] = defaultdict(list)
        for n, by_word in enumerate(found):
            for i, (family, items) in by_word.items():
                places[family].append((n, i, items))
        result: list[dict[int, Order]] = [{} for _ in trees]
        kinds = sorted(places, key=len)
        for start in range(0, len(kinds), _CHUNK):
            chunk = kinds[start : start + _CHUNK]
            for family, scores in zip(chunk, self._log_probs(chunk), strict=True):
                orders = _orders(len(family)).orders
                p = scores.double().exp().numpy()
                drawn = rng.choice(len(p), size=len(places[family]), p=p / p.sum())
                for k, (n, i, items) in zip(drawn, places[family], strict=True):
                    result[n][i] = tuple(items[item] for item in orders[k])
        return result

    def _number(self, feature: Feature) -> int:
        """The number of a feature; 0 if it is not known."""
        return self._index.get(feature, 0)

    def _log_probs(self, chosen: Sequence[Family]) -> list[Tensor]:
        """For each family, the log-probability of all its orders."""
        by_size: dict[int, list[int]] = defaultdict(list)
        for n, family in enumerate(chosen):
            by_size[len(family)].append(n)
        result: list[Tensor] = [torch.empty(0)] * len(chosen)
        for size, numbers in by_size.items():
            ids = torch.stack([_ids(chosen[n], self._number) for n in numbers])
            scores = _scores(self._theta, ids, size).log_softmax(dim=1)
            for n, row in zip(numbers, scores, strict=True):
                result[n] = row
        return result


def reordered(
    tree: UnderlyingTree, orders: Mapping[int, Sequence[int]]
) -> UnderlyingTree:
    """A tree with some words and their dependents in another order.

    tree (UnderlyingTree): The tree.
    orders (Mapping[int, Sequence[int]]): See `OrderingModel.sample`.
    RETURNS (UnderlyingTree): The new tree.
    """
    return tree.rearranged(lambda i: orders.get(i) or tree.items(i))


class _Data:
    """What was observed, in chunks of families of the same size.

    observed (Mapping[Family, Mapping[int, int]]): Family -> rank of order -> count.
    number (Callable): Feature -> its number.
    """

    def __init__(
        self,
        observed: Mapping[Family, Mapping[int, int]],
        number: Callable[[Feature], int],
    ) -> None:
        self.n = sum(sum(counts.values()) for counts in observed.values())
        by_size: dict[int, list[Family]] = defaultdict(list)
        for family in observed:
            by_size[len(family)].append(family)
        self._chunks: list[tuple[int, Tensor, Tensor, Tensor]] = []
        for size, found in sorted(by_size.items()):
            answers = _orders(size).answers
            for start in range(0, len(found), _CHUNK):
                chunk = found[start : start + _CHUNK]
                ids = torch.stack([_ids(family, number) for family in chunk])
                wanted = torch.stack(
                    [
                        torch.stack(
                            [n * answers[rank] for rank, n in observed[family].items()]
                        ).sum(0)
                        for family in chunk
                    ]
                )
                counts = torch.tensor([float(sum(observed[f].values())) for f in chunk])
                self._chunks.append((size, ids, wanted, counts))

    def losses(self, theta: Tensor) -> Iterable[Tensor]:
        """Minus the log-likelihood of each chunk, as a share of all there is."""
        for size, ids, wanted, counts in self._chunks:
            weights = _weights(theta, ids)
            likelihood = (weights * wanted).sum() - counts @ _log_sums(weights, size)
            yield -likelihood / self.n


def _ids(family: Family, number: Callable[[Feature], int]) -> Tensor:
    """(questions, views) the numbers of features."""
    return torch.tensor([list(map(number, row)) for row in _features(family)])


def _weights(theta: Tensor, ids: Tensor) -> Tensor:
    """(families, questions) what a yes to each question adds to the score."""
    return theta[ids].sum(dim=2)


def _log_sums(weights: Tensor, size: int) -> Tensor:
    """(families) what the scores of all orders sum to."""
    nothing = weights.new_zeros(len(weights), 1)
    padded = torch.cat([weights, nothing], dim=1)
    return log_sum(*(padded[:, columns] for columns in _columns(size)))


@cache
def _columns(k: int) -> list[Tensor]:
    """For each name of a question, [a, b]: its number for the items a and b, and that
    of the last and one more if it is not asked. Borders come after items."""
    questions = _orders(k).questions
    tables = []
    for name in ("before", "beside", "left", "around", "right"):
        n = k + 2 * (name == "beside")
        table = torch.full((n, n), len(questions))
        for number, (asked, a, b) in enumerate(questions):
            if asked == name:
                table[a, b] = number
        tables.append(table)
    return tables


def _scores(theta: Tensor, ids: Tensor, size: int) -> Tensor:
    """(families, orders) the scores of all orders."""
    return _weights(theta, ids) @ _orders(size).answers.T


@cache
def _ranks(k: int) -> dict[Order, int]:
    return {tuple(order): n for n, order in enumerate(_orders(k).orders.tolist())}


def _rank(order: Sequence[int]) -> int:
    """The number of an order among all of its length."""
    return _ranks(len(order))[tuple(order)]


@dataclass(frozen=True)
class _Level:
    """The sets of one size; and all pairs of a set and the item of it that is last.

    members (Tensor): (sets, size) the items of each set.
    last (Tensor): (pairs) the last item.
    others (Tensor): (pairs, size - 1) the other items of the set.
    previous (Tensor): (pairs, size - 1) the pair of a smaller set that each of the
        others is last in.
    """

    members: Tensor
    last: Tensor
    others: Tensor
    previous: Tensor


@dataclass(frozen=True)
class _Sets:
    """All sets of some items, the empty one first, then by size.

    levels (list[_Level]): Those of one item, of two, and so on.
    inside (Tensor): (sets, items) 1 if an item is in a set.
    rest (Tensor): (sets) the number of the set of all other items.
    """

    levels: list[_Level]
    inside: Tensor
    rest: Tensor


@cache
def _sets(n: int) -> _Sets:
    items = range(n)
    by_size = [list(combinations(items, size)) for size in range(n + 1)]
    every = list(chain.from_iterable(by_size))
    number = {chosen: k for k, chosen in enumerate(every)}
    levels = []
    for size, level in enumerate(by_size[1:]):
        pairs = [(i, _without(chosen, [i])) for chosen in level for i in chosen]
        place = {chosen: size * k for k, chosen in enumerate(by_size[size])}
        levels.append(
            _Level(
                members=torch.tensor(level),
                last=torch.tensor([i for i, _ in pairs]),
                others=torch.tensor([others for _, others in pairs]),
                previous=torch.tensor(
                    [[place[others] + k for k in range(size)] for _, others in pairs]
                ),
            )
        )
    return _Sets(
        levels,
        torch.tensor([[float(i in chosen) for i in items] for chosen in every]),
        torch.tensor([number[_without(items, chosen)] for chosen in every]),
    )


def _without(items: Iterable[int], gone: Sequence[int]) -> tuple[int, ...]:
    return tuple(i for i in items if i not in gone)


def log_sum(
    before: Tensor, beside: Tensor, left: Tensor, around: Tensor, right: Tensor
) -> Tensor:
    """log Σ exp score over all orders of k items.

    Item 0 is the head. [:, a, b] is what is added if item a stands before item b; in
    `beside`, if it does so immediately, and rows and columns k and k + 1 are the right
    and the left border; in the last three, if both are on the left of the head, on
    different sides, or on the right.

    before, left, around, right (Tensor): (families, k, k).
    beside (Tensor): (families, k + 2, k + 2).
    RETURNS (Tensor): (families).
    """
    k = before.shape[1]
    sets = _sets(k - 1)
    among, end, start = before[:, 1:, 1:], k, k + 1
    inner = beside[:, 1:k, 1:k]
    lefts = _side(
        beside[:, start, 1:k],
        inner,
        beside[:, 1:k, 0],
        among + left[:, 1:, 1:],
        beside[:, start, 0],
    )
    rights = _side(
        beside[:, 0, 1:k],
        inner,
        beside[:, 1:k, end],
        among + right[:, 1:, 1:],
        beside[:, 0, end],
    )
    lefts = lefts + before[:, 1:, 0] @ sets.inside.T
    rights = rights + before[:, 0, 1:] @ sets.inside.T
    across = (sets.inside @ (among + around[:, 1:, 1:]) * (1 - sets.inside)).sum(dim=2)
    return (lefts + rights[:, sets.rest] + across).logsumexp(dim=1)


def _side(
    first: Tensor, beside: Tensor, last: Tensor, pairs: Tensor, empty: Tensor
) -> Tensor:
    """(families, sets): the sum over the orders of each set, on one side of the head.

    first, last (Tensor): (families, items) what an item adds that is first, or last.
    beside (Tensor): (families, items, items) what two add that are neighbours.
    pairs (Tensor): (families, items, items) what any two add.
    empty (Tensor): (families) the sum if there is none.
    """
    sets = _sets(first.shape[1])
    found = [empty[:, None]]
    # The sums by set and last item, for all sets of one size.
    sums = first
    for level in sets.levels:
        if level.others.numel():
            new = level.last[:, None]
            sums = (sums[:, level.previous] + beside[:, level.others, new]).logsumexp(2)
            sums = sums + pairs[:, level.others, new].sum(2)
        ends = last[:, level.members]
        found.append((sums.reshape(ends.shape) + ends).logsumexp(2))
    return torch.cat(found, dim=1)
