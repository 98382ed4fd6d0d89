import itertools

import numpy as np
import pytest

from scripts.baselines.surfaces import OTHER, Surfaces
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import UNK
from spacy_punct.data.tree import Tree
from spacy_punct.errors import PunctError
from spacy_punct.model.inventory import Inventory


def example(*slots: tuple[str, ...]) -> PunctuatedTree:
    n = len(slots) - 1
    heads = (-1, *range(n - 1))
    return PunctuatedTree(Tree(("w",) * n, ("X",) * n, heads, ("dep",) * n), slots)


EXAMPLES = [
    *[example((), (",",), (".",))] * 4,
    *[example((), (), ("?",))] * 4,
    example((), (",", "?"), (".", ".")),
    example((), ("*",), (".",)),
]


@pytest.fixture
def surfaces() -> Surfaces:
    return Surfaces.estimate(EXAMPLES, min_mark_count=3)


def all_strings(surfaces: Surfaces, longest: int):
    for length in range(longest + 1):
        yield from itertools.product(surfaces.marks, repeat=length)


def test_surfaces_frequent_strings_have_classes(surfaces):
    assert set(surfaces.frequent) == {(), (".",), ("?",), (",",)}
    assert surfaces.rare == {(",", "?"): 1, (".", "."): 1, (UNK,): 1}
    assert surfaces.final == (".",)
    classes = surfaces.classes(((), (",", "?"), ("*",), (".",)))
    assert classes[1] == classes[2] == OTHER
    assert len({classes[0], classes[3], OTHER}) == 3
    assert max(classes) < len(surfaces)


@pytest.mark.parametrize("min_count", [1, 3, 100])
def test_surfaces_probabilities_of_other_strings_sum_to_one(min_count):
    surfaces = Surfaces.estimate(EXAMPLES, min_mark_count=3, min_count=min_count)
    probs = [
        np.exp(surfaces.log_prob_of_others((string,)))
        for string in all_strings(surfaces, 7)
        if string not in surfaces.frequent
    ]
    # The tail of longer strings is all that is missing.
    assert 1 - surfaces._growth**8 / 0.2 < sum(probs) < 1 + 1e-9


def test_surfaces_any_string_has_a_probability(surfaces):
    slots = (("never", "seen"), (".",) * 30, ("^",))
    assert np.isfinite(surfaces.log_prob_of_others(slots))
    assert surfaces.log_prob_of_others(((), (".",))) == 0.0


def test_surfaces_marginal_sums_to_one_best_first(surfaces):
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(len(surfaces)))
    marginal = surfaces.marginal(probs)
    assert sum(marginal.values()) == pytest.approx(1)
    assert list(marginal.values()) == sorted(marginal.values(), reverse=True)
    assert set(marginal) == {*surfaces.frequent, *surfaces.rare}
    first, second = list(surfaces.frequent)[:2]
    assert marginal[first] / marginal[second] == pytest.approx(probs[1] / probs[2])


def test_surfaces_know_the_marks_of_an_inventory(examples):
    surfaces, inventory = Surfaces.estimate(examples), Inventory.estimate(examples)
    assert tuple(surfaces.marks) == inventory.marks[1:]
    slots = (("^",), (",", "*"), (UNK,), ("!", "?!"))
    assert surfaces.known(slots) == inventory.known(slots)


def test_surfaces_need_examples():
    with pytest.raises(PunctError, match=r"\[P020\]"):
        Surfaces.estimate([])
