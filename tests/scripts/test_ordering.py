"""The model of word order beside one that enumerates."""

from collections import defaultdict
from itertools import pairwise, permutations
from math import exp, log

import numpy as np
import pytest
import torch

from scripts.ordering import (
    MAX_ITEMS,
    Family,
    OrderingModel,
    _Data,
    _features,
    _orders,
    _rank,
    families,
    log_sum,
    reordered,
)
from spacy_punct.data.tree import Tree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.rephrasing.underlying import UnderlyingTree
from tests.truth import HEADS

TAGS = ("NOUN", "VERB", "ADJ", "DET")
RELATIONS = ("nsubj", "obj", "amod")


def random_tree(rng: np.random.Generator, size: int = 5) -> Tree:
    heads = HEADS[size][rng.integers(len(HEADS[size]))]
    return Tree(
        tuple(f"w{i}" for i in range(size)),
        tuple(map(str, rng.choice(TAGS, size))),
        heads,
        tuple(map(str, rng.choice(RELATIONS, size))),
    )


def flat_tree(n: int, tag: str = "VERB") -> Tree:
    """A word and n dependents, half of them on either side."""
    heads = [n // 2] * (n + 1)
    heads[n // 2] = -1
    tags = ["NOUN"] * (n + 1)
    tags[n // 2] = tag
    return Tree(("w",) * (n + 1), tuple(tags), tuple(heads), ("obj",) * (n + 1))


def random_model(rng: np.random.Generator, trees: list[Tree]) -> OrderingModel:
    weights = {
        feature: float(rng.normal())
        for tree in trees
        for family, _ in families(tree).values()
        for row in _features(family)
        for feature in row
    }
    return OrderingModel(weights)


def literal_score(model: OrderingModel, tree: Tree, head: int, order: tuple) -> float:
    """θ · f, the way the paper of 2016 puts it."""
    kind = {"VERB": "verb", "NOUN": "noun"}[tree.tags[head]]

    def views(item: int | None) -> list[str]:
        if item is None:
            return ["| |", "|", "|"]
        if item == head:
            return ["@ @", "@", "@"]
        tag, relation = tree.tags[item], tree.relations[item]
        return [f"{tag} {relation}", tag, relation]

    asked = [("beside", a, b) for a, b in pairwise([None, *order, None])]
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            asked.append(("before", a, b))
            if head not in (a, b):
                place = order.index(head)
                is_left = order.index(b) < place
                is_right = place < i
                side = "left" if is_left else "right" if is_right else "around"
                asked.append((side, a, b))
    return sum(
        model.weights.get((kind, name, view, one, other), 0.0)
        for name, a, b in asked
        for view, one, other in zip(
            ("both", "tag", "relation"), views(a), views(b), strict=True
        )
    )


@pytest.mark.parametrize("seed", range(20))
def test_ordering_is_exact(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng)
    model = random_model(rng, [tree, random_tree(rng)])
    total = 0.0
    for head in families(tree):
        items = sorted((head, *tree.children[head]))
        scores = {o: literal_score(model, tree, head, o) for o in permutations(items)}
        z = sum(map(exp, scores.values()))
        found = model.orders(tree, head)
        assert found == pytest.approx({o: exp(s) / z for o, s in scores.items()}, 1e-4)
        total += log(exp(scores[tuple(items)]) / z)
    assert model.log_prob(tree) == pytest.approx(total, abs=1e-4)


def test_ordering_leaves_alone_what_is_no_noun_or_verb_or_has_too_many_items():
    most = MAX_ITEMS - 1
    assert list(families(flat_tree(most))) == [most // 2]
    assert not families(flat_tree(most + 1))
    assert not families(flat_tree(2, tag="ADJ"))
    assert not families(flat_tree(0))
    model = OrderingModel({})
    large = flat_tree(most + 1)
    assert model.orders(large, (most + 1) // 2) == {tuple(range(most + 2)): 1.0}
    assert model.sample([large], np.random.default_rng(0)) == [{}]
    assert model.log_prob(large) == 0


def test_ordering_gradient_is_that_of_the_likelihood():
    rng = np.random.default_rng(0)
    observed: dict = {}
    while len(observed) < 8:
        for family, items in families(random_tree(rng)).values():
            counts = observed.setdefault(family, {})
            rank = _rank(np.argsort(items).tolist())
            counts[rank] = counts.get(rank, 0) + 1
    index: dict = defaultdict(lambda: len(index) + 1)
    data = _Data(observed, index.__getitem__)
    theta = torch.randn(len(index) + 1, generator=torch.manual_seed(0))
    theta.requires_grad_()

    def loss(values: torch.Tensor) -> torch.Tensor:
        return sum(data.losses(values))

    loss(theta).backward()
    step = 1e-2
    for k in rng.choice(np.arange(1, len(theta)), 20, replace=False):
        shift = torch.zeros_like(theta)
        shift[k] = step
        with torch.no_grad():
            slope = (loss(theta + shift) - loss(theta - shift)) / (2 * step)
        assert float(theta.grad[k]) == pytest.approx(float(slope), abs=2e-4)


def test_ordering_trained_model_has_the_features_of_the_data():
    """At the optimum expected and observed features differ by the penalty alone."""
    rng = np.random.default_rng(1)
    trees = [random_tree(rng) for _ in range(60)]
    model = OrderingModel.train(trees, l2=1.0, max_iterations=200)
    differences = dict.fromkeys(model.weights, 0.0)
    for tree in trees:
        for head, (family, items) in families(tree).items():
            found = model.orders(tree, head)
            actual = tuple(sorted(items))
            for order, p in found.items():
                weight = (order == actual) - p
                ranked = [items.index(item) for item in order]
                for feature in _fired(family, ranked):
                    differences[feature] += weight
    for feature, difference in differences.items():
        assert difference == pytest.approx(model.weights[feature], abs=0.05)


def _fired(family: Family, order: list[int]):
    answers = _orders(len(family)).answers[_rank(order)]
    for row, answer in zip(_features(family), answers, strict=True):
        if answer:
            yield from row


def test_ordering_samples_are_of_the_distribution():
    rng = np.random.default_rng(3)
    tree = flat_tree(2)
    tree = Tree(tree.words, tree.tags, tree.heads, ("nsubj", "root", "obj"))
    model = random_model(rng, [tree])
    drawn = model.sample([tree] * 4000, np.random.default_rng(0))
    expected = model.orders(tree, 1)
    for order, p in expected.items():
        share = sum(orders[1] == order for orders in drawn) / len(drawn)
        assert share == pytest.approx(p, abs=0.03)


def test_ordering_learns_the_sample(sample):
    trees = [ex.tree for ex in read_treebank(sample / "train.conllu").examples]
    held_out = [ex.tree for ex in read_treebank(sample / "dev.conllu").examples]
    model = OrderingModel.train(trees, max_iterations=15)
    uniform = OrderingModel({})
    ours, theirs = (sum(map(m.log_prob, held_out)) for m in (model, uniform))
    assert ours > 0.3 * theirs
    tree = next(t for t in held_out if t.tags[t.root] == "VERB" and len(t) > 4)
    empty = UnderlyingTree(tree, (((), ()),) * len(tree))

    def drawn() -> list[UnderlyingTree]:
        rng = np.random.default_rng(5)
        return [reordered(empty, orders) for orders in model.sample([tree] * 20, rng)]

    found = drawn()
    assert len({tree.words for tree in found}) > 1
    for other in found:
        assert sorted(other.words) == sorted(tree.words)
        assert _arcs(other) == _arcs(empty)
    assert drawn() == found


def _arcs(tree: UnderlyingTree) -> set[tuple[int, int]]:
    heads = (*tree.sources, -1)
    return {
        (source, heads[head])
        for source, head in zip(tree.sources, tree.tree.heads, strict=True)
    }


def test_ordering_needs_something_to_order():
    with pytest.raises(PunctError, match="P020"):
        OrderingModel.train([flat_tree(0)])
    with pytest.raises(PunctError, match="P024"):
        OrderingModel.train([flat_tree(2)], l2=-1)


NAMES = ("before", "beside", "left", "around", "right")


def random_weights(rng: np.random.Generator, n: int, k: int) -> dict[str, np.ndarray]:
    sizes = {name: k + 2 * (name == "beside") for name in NAMES}
    return {name: rng.normal(size=(n, m, m)) for name, m in sizes.items()}


def literal_sum(weights: dict[str, np.ndarray], order: tuple[int, ...]) -> np.ndarray:
    k = len(order)
    total = sum(weights["beside"][:, a, b] for a, b in pairwise([k + 1, *order, k]))
    head = order.index(0)
    for i, a in enumerate(order):
        for j, b in enumerate(order[i + 1 :], start=i + 1):
            total = total + weights["before"][:, a, b]
            if head not in (i, j):
                side = "left" if j < head else "right" if i > head else "around"
                total = total + weights[side][:, a, b]
    return total


@pytest.mark.parametrize("k", range(2, 7))
def test_order_sums_are_those_of_all_orders(k):
    rng = np.random.default_rng(k)
    weights = random_weights(rng, 3, k)
    scores = [literal_sum(weights, order) for order in permutations(range(k))]
    found = log_sum(*(torch.from_numpy(weights[n]).float() for n in NAMES))
    assert found.numpy() == pytest.approx(np.logaddexp.reduce(scores), abs=1e-4)


def test_order_sums_lead_to_shares_of_orders():
    rng = np.random.default_rng(0)
    weights = random_weights(rng, 1, 4)
    tensors = {n: torch.from_numpy(weights[n]).float() for n in NAMES}
    tensors["before"].requires_grad_()
    log_sum(*(tensors[n] for n in NAMES)).sum().backward()
    orders = list(permutations(range(4)))
    p = np.exp([literal_sum(weights, order)[0] for order in orders])
    share = sum(
        q for q, o in zip(p, orders, strict=True) if o.index(2) < o.index(3)
    ) / sum(p)
    assert float(tensors["before"].grad[0, 2, 3]) == pytest.approx(share, abs=1e-4)
