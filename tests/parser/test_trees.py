"""The best trees of arc scores, against all trees there are."""

from itertools import product

import numpy as np
import pytest

from spacy_punct.data.tree import ROOT, Tree
from spacy_punct.errors import PunctError
from spacy_punct.parser.trees import best_projective_tree, best_tree


def all_trees(n):
    """Every tree of n words with one root: heads (0 is the root), and projectivity."""
    names = ("x",) * n
    for heads in product(range(n + 1), repeat=n):
        try:
            tree = Tree(names, names, tuple(h - 1 for h in heads), names)
        except PunctError:
            continue
        if tree.heads.count(ROOT) == 1:
            yield heads, tree.is_projective


TREES = {n: list(all_trees(n)) for n in range(1, 6)}


def score(scores, heads):
    return sum(scores[i, head] for i, head in enumerate(heads))


@pytest.mark.parametrize("n", sorted(TREES))
def test_trees_best_is_the_best_of_all(n):
    random = np.random.default_rng(n)
    for _ in range(60):
        scores = random.normal(size=(n, n + 1)).round(2)
        for find, trees in (
            (best_tree, TREES[n]),
            (best_projective_tree, [t for t in TREES[n] if t[1]]),
        ):
            found = tuple(find(scores))
            assert found in {heads for heads, _ in trees}
            best = max(score(scores, heads) for heads, _ in trees)
            assert score(scores, found) == pytest.approx(best)


def test_trees_number_of_trees():
    """n^(n-1) trees with one root."""
    assert [len(trees) for trees in TREES.values()] == [1, 2, 9, 64, 625]


def test_trees_long_sentences():
    """A chain of 200 words, with noise: both find it."""
    random = np.random.default_rng(0)
    scores = random.normal(size=(200, 201))
    scores[np.arange(200), np.arange(200)] += 20
    assert best_tree(scores) == best_projective_tree(scores) == list(range(200))
