"""Marginals without samples beside 20,000 samples."""

import numpy as np
import pytest

from spacy_punct.model.mbr import Marginal

pytestmark = pytest.mark.benchmark

SLOTS, SAMPLES = 1000, 20_000


def variation(marginal: Marginal, sampled: Marginal) -> float:
    """The total variation; strings that the first does not mention count as one."""
    missing = 1 - sum(marginal.values())
    others = sum(p for string, p in sampled.items() if string not in marginal)
    known = sum(abs(p - sampled.get(string, 0.0)) for string, p in marginal.items())
    return (known + abs(missing - others)) / 2


@pytest.mark.parametrize(("prune", "hypotheses"), [(1e-3, 32), (0.02, 8)])
def test_marginals_agree_with_samples(trained, splits, prune, hypotheses):
    trees = [example.tree for example in splits[2]]
    found, noise = [], []
    for distribution in trained.model.distributions(trees):
        first, second = (distribution.marginals(SAMPLES, seed) for seed in (1, 2))
        exact = distribution.marginals(prune=prune, max_hypotheses=hypotheses)
        found += map(variation, exact, first)
        # The first is as far from the truth as the second.
        noise += [p / np.sqrt(2) for p in map(variation, first, second)]
        if len(found) >= SLOTS:
            break
    mean, own = np.mean(found), np.mean(noise)
    print(f"\n{len(found)} slots: total variation {mean:.4f}, of samples {own:.4f}")
    assert mean <= own + 0.02
