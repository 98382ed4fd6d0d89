import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.tree import Slots
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.model.distribution import restore_from_trees
from spacy_punct.model.mbr import (
    best_slot,
    edit_distance,
    pooled,
    total_edit_distance,
)
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.model.sampling import Samples
from tests.model.conftest import risk

STRINGS = st.lists(st.sampled_from(",.?"), max_size=4).map(tuple)


MISSING = st.sampled_from([1.0, 0.5, 1.7, 3.0])


def slow_distance(written: tuple, truth: tuple, missing: float) -> float:
    if not written or not truth:
        return len(written) + missing * len(truth)
    wrong = (1 + missing) / 2 if written[0] != truth[0] else 0
    return min(
        slow_distance(written[1:], truth, missing) + 1,
        slow_distance(written, truth[1:], missing) + missing,
        slow_distance(written[1:], truth[1:], missing) + wrong,
    )


@given(STRINGS, STRINGS, MISSING)
def test_edit_distance(a, b, missing):
    assert edit_distance(a, b, missing) == pytest.approx(slow_distance(a, b, missing))


@given(st.dictionaries(STRINGS, st.integers(1, 20), min_size=1, max_size=8), MISSING)
def test_best_slot_has_least_risk(weights, missing):
    total = sum(weights.values())
    marginal = {string: n / total for string, n in weights.items()}
    least = min(risk(string, marginal, missing) for string in marginal)
    best = best_slot(marginal, missing)
    assert best in marginal
    assert risk(best, marginal, missing) == pytest.approx(least)


def test_dear_omissions_are_avoided():
    marginal = {(): 0.6, (",",): 0.4}
    assert best_slot(marginal) == ()
    assert best_slot(marginal, 1.4) == ()
    assert best_slot(marginal, 1.6) == (",",)


def test_best_slot_is_not_always_the_most_probable():
    marginal = {(): 0.4, (",",): 0.3, (",", ","): 0.3}
    assert best_slot(marginal) == (",",)


def test_pooled_opinions():
    first, second = {(): 0.75, (",",): 0.25}, {(",",): 0.5, (".",): 0.5}
    assert pooled(first, second, 0.25) == pytest.approx(
        {(): 0.5625, (",",): 0.3125, (".",): 0.125}
    )
    assert pooled(first, second, 0.0) == {**first, (".",): 0.0}


@pytest.fixture(scope="module")
def model(trained) -> PunctuationModel:
    return trained.model


@pytest.fixture(scope="module")
def distributions(model, sample):
    trees = [ex.tree for ex in read_treebank(sample / "test.conllu").examples[:12]]
    return model.distributions(trees)


def best_sequence(samples: Samples) -> Slots:
    """Eq. (10): among whole samples, the one that is closest to all."""
    drawn = [samples.slots(k) for k in range(len(samples))]
    marginals = samples.marginals()

    def expected(slots: Slots) -> float:
        return sum(risk(s, m) for s, m in zip(slots, marginals, strict=True))

    return min(dict.fromkeys(drawn), key=expected)


def test_best_sequence_is_equation_ten(distributions):
    """The least average loss among the samples, computed in O(m²) as written."""
    for distribution in distributions:
        samples = distribution.samples(60, seed=1)
        drawn = [samples.slots(k) for k in range(len(samples))]
        losses = {
            x: np.mean([total_edit_distance(x, truth) for truth in drawn])
            for x in set(drawn)
        }
        best = best_sequence(samples)
        assert losses[best] == pytest.approx(min(losses.values()))


def test_mbr_by_slot_is_at_least_as_good_as_over_sequences(distributions):
    """Both minimise the same risk; by slot the search is wider."""
    agreements = 0
    for distribution in distributions:
        samples = distribution.samples(500, seed=2)
        marginals = samples.marginals()
        by_slot = distribution.restore(500, seed=2)
        whole = best_sequence(samples)

        def total(slots, marginals=marginals):
            return sum(risk(s, m) for s, m in zip(slots, marginals, strict=True))

        assert total(by_slot) <= total(whole) + 1e-9
        agreements += by_slot == whole
    assert agreements >= len(distributions) // 2


@pytest.mark.parametrize("n_samples", [0, 200])
def test_mbr_pools_several_trees(model, sample, n_samples):
    trees = [ex.tree for ex in read_treebank(sample / "test.conllu").examples]
    tree = max(trees, key=len)
    one = model.distribution(tree)
    alone = restore_from_trees([one], n_samples, 3)
    twice = restore_from_trees([one, one], n_samples, 3)
    assert alone == twice == one.restore(n_samples, seed=3)
    other = next(t for t in trees if t.words != tree.words)
    with pytest.raises(PunctError, match=r"\[P025\]"):
        restore_from_trees([one, model.distribution(other)], n_samples)


def test_mbr_of_two_trees_minimises_their_average_risk(model, sample):
    example = max(
        read_treebank(sample / "test.conllu").examples, key=lambda e: len(e.tree)
    )
    tree = example.tree
    flat = type(tree)(
        tree.words,
        tree.tags,
        [-1 if i == tree.root else tree.root for i in range(len(tree))],
        tree.relations,
    )
    pair = [model.distribution(tree), model.distribution(flat)]
    best = restore_from_trees(pair, 0)
    first, second = (d.marginals() for d in pair)
    for chosen, a, b in zip(best, first, second, strict=True):
        mixed = {s: (a.get(s, 0) + b.get(s, 0)) / 2 for s in {*a, *b}}
        least = min(risk(s, mixed) for s in mixed)
        assert risk(chosen, mixed) == pytest.approx(least)


def test_restore_is_a_function_of_tree_and_seed(model, sample):
    trees = [ex.tree for ex in read_treebank(sample / "test.conllu").examples[:20]]
    alone = [next(iter(model.restore([tree], seed=5))) for tree in trees]
    together = list(model.restore(trees, seed=5))
    backwards = list(model.restore(trees[::-1], seed=5, batch_size=3))[::-1]
    assert alone == together == backwards
    words = itertools.chain.from_iterable(tree.words for tree in trees)
    assert all(words)
    assert all(len(s) == len(t) + 1 for s, t in zip(together, trees, strict=True))
