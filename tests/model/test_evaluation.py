import itertools

import numpy as np
import pytest

from spacy_punct.errors import PunctError
from spacy_punct.model.evaluation import permutation_test, score, sentence_edits


def exact_p_value(a: list[float], b: list[float]) -> float:
    """The p-value over all ways to swap the two systems' losses."""
    differences = np.subtract(a, b)
    totals = [
        abs(np.dot(signs, differences))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return float(np.mean(np.array(totals) >= abs(differences.sum())))


def test_sentence_edits_sum_to_the_score():
    restored = [((), (",",), (".",)), ((), ("?",))]
    truth = [((), (), (".", "''")), ((), ("?",))]
    assert sentence_edits(restored, truth) == [2, 0]
    assert score(restored, truth).aed == pytest.approx(2 / 5)


@pytest.mark.parametrize("seed", range(5))
def test_permutation_test_estimates_the_exact_p_value(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.poisson(2, 9).tolist(), rng.poisson(1, 9).tolist()
    estimate = permutation_test(a, b, n=4000, seed=seed)
    assert estimate == pytest.approx(exact_p_value(a, b), abs=0.04)


def test_permutation_test_is_two_sided():
    a, b = [3, 2, 4, 1, 2, 3, 1, 2], [1, 1, 2, 1, 1, 1, 1, 1]
    assert permutation_test(a, b, n=500) == permutation_test(b, a, n=500)
    assert permutation_test(a, b, n=2000) < 0.1


def test_permutation_test_of_equal_systems():
    assert permutation_test([1, 0, 2], [1, 0, 2], n=100) == 1.0
    # As many edits each, of different sentences.
    assert permutation_test([1, 0] * 20, [0, 1] * 20, n=100) == 1.0


def test_permutation_test_of_different_systems():
    assert permutation_test([1] * 50, [0] * 50, n=999) == pytest.approx(1 / 1000)


def test_permutation_test_holds_its_level():
    rng = np.random.default_rng(0)
    p_values = [
        permutation_test(rng.poisson(1, 60), rng.poisson(1, 60), n=99, seed=k)
        for k in range(200)
    ]
    assert 0.01 < np.mean(np.array(p_values) <= 0.1) < 0.2


def test_permutation_test_refuses_other_sentences():
    with pytest.raises(PunctError, match=r"\[P036\]"):
        permutation_test([1, 2], [1])
    with pytest.raises(PunctError, match=r"\[P024\]"):
        permutation_test([1], [1], n=0)
