"""Slot marginals and samples against all that a model may generate."""

from collections import Counter

import numpy as np
import pytest

from spacy_punct.data.marks import BOS, UNK
from spacy_punct.data.tree import Puncteme, Tree
from spacy_punct.model.automaton import Automata
from spacy_punct.model.channel import Channel
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inventory import ANY_RELATION, Backoff, Inventory, Pair
from spacy_punct.model.scores import NodeScores
from tests.model.conftest import make_distribution
from tests.truth import (
    Outcome,
    Recipe,
    Truth,
    p_value,
    random_noise,
    random_truth,
    slot_marginals,
    with_unused_marks,
)

RECIPES = {
    "tables": Recipe(words=(1, 4), marks=(1, 3), pairs=2),
    "rare-backoff": Recipe((1, 3), (1, 2), 2, (0.01, 0.2), (1e-7,), floor=0.01),
    "long-backoff": Recipe((1, 1), (1, 2), 2, (0.1, 0.5), (0.002,), floor=0.01),
}
LENGTH = {"tables": 0, "rare-backoff": 1, "long-backoff": 4}
"""Of back-off strings: the tail is then below 1e-11."""
SIZES = {"tables": 40, "rare-backoff": 15, "long-backoff": 10}


def generated(kind: str, seed: int) -> tuple[Truth, dict[Outcome, float]]:
    rng = np.random.default_rng([*kind.encode(), seed])
    truth = random_truth(rng, RECIPES[kind])
    assert truth.tail(LENGTH[kind]) < 1e-11
    return truth, truth.outcomes(LENGTH[kind])


def differences(
    found: list[dict[Puncteme, float]], expected: list[dict[Puncteme, float]]
) -> list[float]:
    """The largest difference in each slot."""
    return [
        max(abs(x.get(s, 0.0) - y.get(s, 0.0)) for s in x.keys() | y.keys())
        for x, y in zip(found, expected, strict=True)
    ]


@pytest.mark.parametrize(
    ("kind", "seed"), [(kind, seed) for kind in SIZES for seed in range(SIZES[kind])]
)
def test_exact_marginals(kind: str, seed: int) -> None:
    truth, outcomes = generated(kind, seed)
    assert sum(outcomes.values()) == pytest.approx(1.0, abs=1e-10)
    found = make_distribution(truth).marginals(prune=0.0, max_hypotheses=None)
    for slot in found:
        assert sum(slot.values()) == pytest.approx(1.0, abs=1e-9)
        assert list(slot.values()) == sorted(slot.values(), reverse=True)
    assert max(differences(found, slot_marginals(outcomes))) < 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_outcomes_agree_with_explanations(seed: int) -> None:
    """The truth with itself: generating and explaining are the same model."""
    truth, outcomes = generated("tables", seed)
    surfaces: Counter[tuple[Puncteme, ...]] = Counter()
    for (_, surface), probability in outcomes.items():
        surfaces[surface] += probability
    for surface, probability in surfaces.most_common(5):
        assert truth.explain(surface).probability == pytest.approx(probability)


SAMPLED = {
    "tables": (Recipe(words=(2, 4), marks=(2, 3), pairs=3), 0),
    "backoff": (Recipe((1, 2), (2, 2), 3, (0.3,), (0.1,), floor=0.01), 4),
}
"""What to sample from, and how long back-off strings are to be enumerated."""


def sampled(kind: str, seed: int) -> tuple[Truth, dict[Outcome, float]]:
    """A model with many outcomes."""
    recipe, longest = SAMPLED[kind]
    rng = np.random.default_rng([*kind.encode(), seed])
    while True:
        truth = random_truth(rng, recipe)
        outcomes = truth.outcomes(longest)
        if sum(p > 1e-3 for p in outcomes.values()) >= 10:
            return truth, outcomes


def assert_sampled(truth: Truth, outcomes: dict[Outcome, float], seed: int) -> None:
    counts = Counter(make_distribution(truth).sample(20_000, seed=seed))
    assert counts.total() == 20_000
    if truth.inventory.backoff.mass == 0:
        assert counts.keys() <= outcomes.keys()
    # Samples that are too good to be true are not samples either.
    assert 1e-3 < p_value(counts, outcomes) < 1 - 1e-3


@pytest.mark.parametrize("kind", SAMPLED)
@pytest.mark.parametrize("seed", range(4))
def test_samples(kind: str, seed: int) -> None:
    assert_sampled(*sampled(kind, seed), seed)


@pytest.mark.parametrize("seed", range(2))
def test_samples_of_many_marks(seed: int) -> None:
    truth, outcomes = sampled("tables", seed)
    assert_sampled(with_unused_marks(truth, 61 + seed), outcomes, seed)


@pytest.mark.parametrize("seed", range(3))
def test_samples_of_long_punctemes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    marks = (BOS, ",", ".", "''")
    pairs: dict[Pair, int] = {((), ()): 1}
    for length in (4, 5, 7):
        left, right = rng.choice(marks[1:], (2, length)).tolist()
        pairs[tuple(left), tuple(right)] = 1
    backoff = Backoff(0.0, 0.0, (0.0, 0.2, 0.3, 0.5))
    truth = Truth(
        Tree(("w",), ("X",), (-1,), ("root",)),
        Inventory(marks, ("X",), {"*": pairs}, backoff),
        [rng.normal(size=4)],
        [np.zeros((4, 4))],
        random_noise(rng, marks, floor=0.05),
    )
    assert_sampled(truth, truth.outcomes(), seed)


@pytest.mark.parametrize("seed", range(4))
def test_sampled_marginals(seed: int) -> None:
    truth = random_truth(
        np.random.default_rng(seed), Recipe((1, 4), (1, 3), 2, (0.0, 0.1), (0.02,))
    )
    expected = slot_marginals(truth.outcomes(longest=2))
    distribution = make_distribution(truth)
    found = distribution.marginals(n_samples=20_000, seed=seed)
    # Five standard deviations of a share of 20,000 samples.
    assert max(differences(found, expected)) < 5 * 0.5 / 20_000**0.5
    assert found == distribution.marginals(n_samples=20_000, seed=seed)


@pytest.mark.parametrize("seed", range(8))
def test_pruned_marginals_are_close(seed: int) -> None:
    truth, outcomes = generated("tables", seed)
    found = make_distribution(truth).marginals()
    assert max(differences(found, slot_marginals(outcomes))) < 0.02


@pytest.mark.parametrize("seed", range(5))
def test_exact_marginals_of_many_marks(seed: int) -> None:
    truth, outcomes = generated("tables", seed)
    distribution = make_distribution(with_unused_marks(truth, 70))
    found = distribution.marginals(prune=0.0, max_hypotheses=None)
    assert max(differences(found, slot_marginals(outcomes))) < 1e-9


def test_marginals_survive_pruning_where_nothing_stands_out() -> None:
    """Many equally likely hypotheses, each below the pruning threshold."""
    marks = (BOS, *(f"m{k}" for k in range(40)), UNK)
    strings = [(), *((mark,) for mark in marks[1:])]
    pairs = {(l, r): 1 for l in strings for r in strings}
    inventory = Inventory(
        marks,
        ("X",),
        {ANY_RELATION: pairs},
        Backoff(1e-4, 0.3, (0.0, *[1 / 41] * 41)),
    )
    tree = Tree(["a", "b", "c"], ["X"] * 3, [1, -1, 1], ["x"] * 3)
    scores = NodeScores(
        [0] * 3,
        [np.zeros(len(pairs))] * 3,
        lambda node: np.zeros((len(marks), len(pairs))),
    )
    automata = Automata(inventory, Channel.identity(marks))
    for marginal in Distribution(tree, scores, automata).marginals():
        assert marginal
        assert sum(marginal.values()) <= 1.0 + 1e-9
