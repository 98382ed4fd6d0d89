"""log p(surface), posteriors and the best underlying tree against enumeration."""

import numpy as np
import pytest

from tests.model.conftest import Case

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def test_log_prob(any_case: Case) -> None:
    with np.errstate(divide="ignore"):
        expected = np.log(any_case.explanation.probability)
    assert any_case.distribution.log_prob(any_case.surface) == pytest.approx(
        expected, rel=1e-9, abs=1e-9
    )


def test_posteriors(case: Case) -> None:
    found = case.distribution.posteriors(case.surface)
    assert len(found) == len(case.truth.tree)
    for node, expected in enumerate(case.explanation.posteriors):
        assert found[node].keys() <= set(case.truth.table(node))
        for pair in case.truth.table(node):
            assert found[node].get(pair, 0.0) == pytest.approx(
                expected.get(pair, 0.0), abs=1e-9
            )


def test_edits(case: Case) -> None:
    np.testing.assert_allclose(
        case.distribution.edits(case.surface), case.explanation.edits, **CLOSE
    )


def test_expected_unmatched(case: Case) -> None:
    assert case.distribution.expected_unmatched(case.surface) == pytest.approx(
        case.explanation.unmatched, abs=1e-9
    )


def test_viterbi(case: Case) -> None:
    best = case.distribution.viterbi(case.surface)
    log_prob = case.distribution.viterbi_log_prob(case.surface)
    assert log_prob == pytest.approx(np.log(case.best), rel=1e-9, abs=1e-9)
    assert case.truth.joint(best, case.surface) == pytest.approx(case.best, rel=1e-9)
