"""Random models, surfaces and what the truth says of them."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pytest

from spacy_punct.data.tree import Puncteme
from spacy_punct.model.automaton import Automata
from spacy_punct.model.channel import Channel
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.scores import NodeScores
from tests.truth import Explanation, Noise, Recipe, Truth, random_case

RECIPES = {
    "tables": (Recipe(words=(1, 4), marks=(1, 3), pairs=4), 150),
    "many-words": (Recipe(words=(5, 5), marks=(1, 3), pairs=2), 100),
    "rare-backoff": (
        Recipe((1, 3), (1, 3), 3, mass=(0.01, 0.2), growth=(1e-5, 1e-4), floor=0.01),
        120,
    ),
    "long-backoff": (
        Recipe((1, 2), (1, 2), 3, mass=(0.1, 0.5), growth=(0.003, 0.03), floor=0.02),
        40,
    ),
}
"""Kinds of random models, and how many of each."""


@dataclass(frozen=True, eq=False)
class Case:
    """A random model and surface.

    explanation (Explanation), best (float): What the truth says.
    """

    truth: Truth
    surface: tuple[Puncteme, ...]
    explanation: Explanation
    best: float

    @cached_property
    def distribution(self) -> Distribution:
        return make_distribution(self.truth)

    @property
    def is_possible(self) -> bool:
        return self.explanation.probability > 0


def make_channel(noise: Noise) -> Channel:
    return Channel(noise.marks, noise.edits, noise.direction)


def make_distribution(truth: Truth) -> Distribution:
    """The same model in the words of the package."""
    inventory = truth.inventory
    scores = NodeScores(
        inventory.relation_ids(truth.tree), truth.base, lambda node: truth.inside[node]
    )
    automata = Automata(inventory, make_channel(truth.noise))
    return Distribution(truth.tree, scores, automata)


@lru_cache(maxsize=None)
def make_case(kind: str, seed: int) -> Case:
    rng = np.random.default_rng([*kind.encode(), seed])
    return Case(*random_case(rng, RECIPES[kind][0]))


@pytest.fixture(
    params=[(kind, seed) for kind, (_, n) in RECIPES.items() for seed in range(n)],
    ids=lambda param: f"{param[0]}-{param[1]}",
)
def any_case(request: pytest.FixtureRequest) -> Case:
    return make_case(*request.param)


@pytest.fixture
def case(any_case: Case) -> Case:
    """A surface that the model can explain."""
    if not any_case.is_possible:
        pytest.skip("impossible surface")
    return any_case
