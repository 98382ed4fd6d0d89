"""Random models and surfaces, in the words of the truth and of the package."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import pytest
import torch

from spacy_punct.data.marks import BOS
from spacy_punct.data.tree import Puncteme
from spacy_punct.data.treebank import read_treebank
from spacy_punct.model.automaton import Automata
from spacy_punct.model.channel import Channel
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inside import COMPLEX_STEP, Chart
from spacy_punct.model.mbr import Marginal, edit_distance
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.model.scores import NodeScores
from spacy_punct.model.viterbi import viterbi
from tests.truth import (
    ABSORB_LEFT,
    KEEP,
    TRANSPOSE,
    Explanation,
    Noise,
    Recipe,
    Truth,
    random_case,
)

RECIPES = {
    "tables": Recipe(words=(1, 4), marks=(1, 3), pairs=4),
    "many-words": Recipe(words=(5, 5), marks=(1, 3), pairs=2),
    "rare-backoff": Recipe(
        (1, 3), (1, 3), 3, mass=(0.01, 0.2), growth=(1e-5, 1e-4), floor=0.01
    ),
    "long-backoff": Recipe(
        (1, 2), (1, 2), 3, mass=(0.1, 0.5), growth=(0.003, 0.03), floor=0.02
    ),
}
"""Kinds of random models."""
MANY = {"tables": 60, "many-words": 40, "rare-backoff": 40, "long-backoff": 10}
FEW = {"tables": 16, "many-words": 4, "rare-backoff": 10, "long-backoff": 4}
"""How many cases of each kind to test."""


ENGLISH = (BOS, ",", ".", "``", "''", "'")
ENGLISH_RULES = {
    (",", ","): ABSORB_LEFT,
    (",", "."): ABSORB_LEFT,
    ("''", ","): TRANSPOSE,
    ("''", "."): TRANSPOSE,
    ("'", "."): TRANSPOSE,
}
"""Table 1, rules 1 and 2; all other windows are kept."""


def english(direction: str) -> Channel:
    """The channel of American English, free of doubt."""
    edits = Channel.identity(ENGLISH).edits.copy()
    for (a, b), edit in ENGLISH_RULES.items():
        place = ENGLISH.index(a), ENGLISH.index(b)
        edits[KEEP][place] = 0.0
        edits[edit][place] = 1.0
    return Channel(ENGLISH, edits, direction)


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """A random model, a surface, and what the truth says of it."""

    truth: Truth
    surface: tuple[Puncteme, ...]
    explanation: Explanation

    @cached_property
    def distribution(self) -> Distribution:
        return make_distribution(self.truth)

    def __repr__(self) -> str:
        return f"{self.truth.tree.heads} {self.surface}"


def make_channel(noise: Noise) -> Channel:
    return Channel(noise.marks, noise.edits, noise.direction)


def make_scores(truth: Truth) -> NodeScores:
    return NodeScores(
        list(map(truth.inventory.relation_id, truth.tree.relations)),
        truth.base,
        lambda node: truth.inside[node],
    )


def best_log_prob(found: Distribution, surface: Sequence[Puncteme]) -> float:
    """log p(the most probable underlying tree, surface | tree)."""
    return viterbi(found._evidence(surface))[1]


def expected_unmatched(found: Distribution, surface: Sequence[Puncteme]) -> float:
    """Posterior expected number of nodes with unmatched brackets (eq. 5)."""
    chart = Chart(found._evidence(surface), count_unmatched=True)
    return float(np.imag(chart.log_prob) / COMPLEX_STEP)


def make_distribution(truth: Truth) -> Distribution:
    automata = Automata(truth.inventory, make_channel(truth.noise))
    return Distribution(truth.tree, make_scores(truth), automata)


@cache
def make_case(kind: str, seed: int, possible: bool = True) -> Case:
    """The random case of a number."""
    rng = np.random.default_rng([*kind.encode(), possible, seed])
    return Case(*random_case(rng, RECIPES[kind], possible=possible))


def _numbers(sizes: dict[str, int]) -> list:
    return [
        pytest.param((kind, seed), id=f"{kind}-{seed}")
        for kind, size in sizes.items()
        for seed in range(size)
    ]


@pytest.fixture(scope="session")
def sample_model(sample: Path) -> PunctuationModel:
    """A model that knows what it has counted in the sample."""
    examples = read_treebank(sample / "train.conllu").examples
    return PunctuationModel.from_examples(examples, direction="right-to-left")


@pytest.fixture(params=_numbers(MANY))
def case(request: pytest.FixtureRequest) -> Case:
    return make_case(*request.param)


@pytest.fixture(params=_numbers(FEW))
def some_case(request: pytest.FixtureRequest) -> Case:
    """A case for tests that take longer."""
    return make_case(*request.param)


@pytest.fixture(params=range(20))
def impossible_case(request: pytest.FixtureRequest) -> Case:
    """A surface that the model cannot have written, for want of back-off."""
    return make_case("tables", request.param, possible=False)


def numeric_slope(
    objective: Callable[[], float], weights: torch.Tensor, k: int
) -> float:
    """The slope of an objective in one weight, by central differences."""
    step, value = 1e-5, weights[k].item()
    weights[k] = value + step
    above = objective()
    weights[k] = value - step
    below = objective()
    weights[k] = value
    return (above - below) / (2 * step)


def risk(surface: Puncteme, marginal: Marginal, missing: float = 1.0) -> float:
    """Expected edit distance between a string and a slot's unknown truth."""
    return sum(
        p * edit_distance(surface, truth, missing) for truth, p in marginal.items()
    )
