"""Samples given part of the surface, against the truth conditioned on that part."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from spacy_punct.data.marks import BOS
from spacy_punct.data.tree import Tree
from spacy_punct.errors import PunctError
from spacy_punct.model.inventory import Backoff, Inventory
from tests.model.conftest import Case, make_distribution
from tests.model.test_decoding import differences
from tests.truth import (
    KEEP,
    LEFT_TO_RIGHT,
    RIGHT_TO_LEFT,
    Noise,
    Outcome,
    Recipe,
    Surface,
    Truth,
    p_value,
    random_noise,
    random_truth,
    slot_marginals,
    with_unused_marks,
)

RECIPES = {
    "tables": (Recipe((2, 4), (2, 3), 3), 0),
    "many-words": (Recipe((5, 5), (1, 2), 2), 0),
    "backoff": (Recipe((3, 4), (1, 1), 2, (0.5,), (0.05,), floor=0.02), 4),
    "two-marks": (Recipe((2, 2), (2, 2), 2, (0.5,), (0.05,), floor=0.02), 4),
    "long-backoff": (Recipe((1, 2), (1, 1), 1, (0.7,), (0.2,), floor=0.02), 9),
}
"""Kinds of models, and how long back-off strings are to be enumerated."""
SIZES = {"tables": 4, "many-words": 4, "backoff": 2, "two-marks": 2, "long-backoff": 2}
SEEDS = [(kind, seed) for kind in SIZES for seed in range(SIZES[kind])]
DRAWN = 3_000

Conditional = tuple[Surface, dict[Outcome, float]]
"""What is observed, and the probability of each outcome given that."""


@cache
def generated(kind: str, seed: int, inside: bool) -> tuple[Truth, dict[Outcome, float]]:
    """A model whose surface leaves doubts. Seeds take turns in direction."""
    recipe, longest = RECIPES[kind]
    direction = (LEFT_TO_RIGHT, RIGHT_TO_LEFT)[seed % 2]
    rng = np.random.default_rng([*kind.encode(), inside, seed])
    while True:
        truth = random_truth(rng, recipe)
        if not inside:
            truth = replace(truth, inside=[0 * terms for terms in truth.inside])
        tables = map(truth.table, range(len(truth.tree)))
        length = sum(max(len(l) + len(r) for l, r in table) for table in tables)
        ignored = inside and not any(terms.any() for terms in truth.inside)
        if truth.noise.direction == direction and length <= 9 and not ignored:
            outcomes = truth.outcomes(longest)
            slots = range(len(truth.tree) + 1)
            if len(outcomes) < 25_000 and telling(outcomes, slots, truth.tail(longest)):
                return truth, outcomes


def subsets(size: int, rng: np.random.Generator) -> dict[str, list[int]]:
    """Some ways to observe some of the slots."""
    every = list(range(size))
    return {
        "none": [],
        "first": [0],
        "last": [size - 1],
        "ends": [0, size - 1],
        "inner": every[1:-1],
        "half": sorted(rng.choice(size, size // 2, replace=False).tolist()),
        "most": np.delete(every, rng.integers(size)).tolist(),
        "all": every,
    }


def conditioned(
    outcomes: dict[Outcome, float], places: Collection[int]
) -> Iterator[tuple[Surface, float, dict[Outcome, float]]]:
    """For all that some slots may show, its probability and what follows from it."""
    by_observed: dict[Surface, dict[Outcome, float]] = defaultdict(dict)
    for (pairs, surface), probability in outcomes.items():
        seen = tuple(s if i in places else None for i, s in enumerate(surface))
        by_observed[seen][pairs, surface] = probability
    for seen, joint in by_observed.items():
        total = sum(joint.values())
        yield seen, total, {outcome: p / total for outcome, p in joint.items()}


def telling(
    outcomes: dict[Outcome, float], places: Collection[int], tail: float
) -> list[Conditional]:
    """What some slots may show and that leaves doubts."""
    return [
        (seen, given)
        for seen, total, given in conditioned(outcomes, places)
        if tail < 3e-4 * total and sum(p > 0.01 for p in given.values()) >= 4
    ]


def conditionals(
    kind: str, seed: int, names: set[str] | None = None, *, inside: bool = False
) -> Iterator[Conditional]:
    """For each subset of the slots, up to three things to observe there."""
    truth, outcomes = generated(kind, seed, inside)
    tail = truth.tail(RECIPES[kind][1])
    rng = np.random.default_rng(seed)
    for name, places in subsets(len(truth.tree) + 1, rng).items():
        if names is not None and name not in names:
            continue
        found = telling(outcomes, places, tail)
        if found:
            yield found[rng.integers(len(found))]
            yield max(found, key=doubt)
        if silent := [x for x in found if has_silent_constituent(truth, x[0])]:
            yield max(silent, key=doubt)


def doubt(conditional: Conditional) -> float:
    """Entropy."""
    return -sum(p * math.log(p) for p in conditional[1].values() if p > 0)


def has_silent_constituent(truth: Truth, observed: Surface) -> bool:
    """Whether there are marks inside a constituent, but none around it."""
    return any(
        left > 0 and observed[left] == observed[right] == () and any(inner)
        for left, right in truth.spans
        if (inner := observed[left + 1 : right])
    )


def drawn(truth: Truth, observed: Surface, size: int, seed: int) -> Counter[Outcome]:
    samples = make_distribution(truth).samples(size, seed, observed)
    written = *samples.lefts, *samples.rights, *samples.surfaces
    alike: dict[tuple, list[int]] = defaultdict(list)
    for k in range(size):
        alike[tuple(strings.get(k) for strings in written)].append(k)
    return Counter(
        {(samples.pairs(ks[0]), samples.slots(ks[0])): len(ks) for ks in alike.values()}
    )


def assert_drawn(truth: Truth, conditional: Conditional, seed: int) -> None:
    observed, expected = conditional
    counts = drawn(truth, observed, DRAWN, seed)
    assert counts.total() == DRAWN
    for _, surface in counts:
        seen = zip(surface, observed, strict=True)
        assert all(slot == known for slot, known in seen if known is not None)
    if truth.inventory.backoff.mass == 0:
        assert counts.keys() <= expected.keys()
    assert 1e-4 < p_value(counts, expected) < 1 - 1e-4, observed


@pytest.mark.parametrize(("kind", "seed"), SEEDS)
def test_samples_given_some_slots(kind: str, seed: int) -> None:
    truth, _ = generated(kind, seed, inside=False)
    cases = list(conditionals(kind, seed))
    assert len(cases) >= 4
    for conditional in cases:
        assert_drawn(truth, conditional, seed)


@pytest.mark.parametrize("seed", range(2))
def test_samples_of_many_marks(seed: int) -> None:
    truth, _ = generated("tables", seed, inside=False)
    wide = with_unused_marks(truth, 61 + seed)
    wide = replace(wide, inside=[0 * terms for terms in wide.inside])
    for conditional in conditionals("tables", seed, {"half", "most"}):
        assert_drawn(wide, conditional, seed)


@pytest.mark.parametrize(("kind", "seed"), SEEDS)
def test_samples_given_all_that_is_inside(kind: str, seed: int) -> None:
    """Exact with template (c), too: the outermost slots are inside of nothing."""
    truth, _ = generated(kind, seed, inside=True)
    cases = list(conditionals(kind, seed, {"all", "inner"}, inside=True))
    assert cases
    for conditional in cases:
        assert_drawn(truth, conditional, seed)


@pytest.mark.parametrize(("kind", "seed"), SEEDS[::2])
def test_marginals_given_some_slots(kind: str, seed: int) -> None:
    truth, _ = generated(kind, seed, inside=False)
    distribution = make_distribution(truth)
    for observed, expected in conditionals(kind, seed, {"half", "most"}):
        found = distribution.marginals(10_000, seed, observed=observed)
        for slot, known in zip(found, observed, strict=True):
            assert sum(slot.values()) == pytest.approx(1.0)
            assert known is None or slot == {known: 1.0}
        # Five standard deviations of a share of 10,000 samples.
        exact = slot_marginals(expected)
        assert max(differences(found, exact)) < 5 * 0.5 / 10_000**0.5


MARKS = (BOS, ",", ".")
UNIGRAM = (0.0, 0.5, 0.5)
MEETINGS = {(4, 0, 3, 4, -1): 2, (-1, 0, 1, 4, 0): 3}
"""Heads, and a slot at which two siblings and a child of each meet."""


@pytest.mark.parametrize("heads", MEETINGS)
@pytest.mark.parametrize("seed", range(4))
def test_samples_where_constituents_meet(heads: tuple[int, ...], seed: int) -> None:
    """Nothing is written but at one slot, where the order of four strings counts."""
    rng = np.random.default_rng(seed)
    tree = Tree(("w",) * 5, ("X",) * 5, heads, ("x",) * 5)
    sides = [span.index(MEETINGS[heads]) for span in tree.spans if span != (0, 5)]
    relations = [["left", "right"][side] for side in sides]
    relations.insert(tree.root, "root")
    silent = {((), ()): 1}
    tables = {
        "*": silent,
        "left": silent | {((mark,), ()): 1 for mark in MARKS[1:]},
        "right": silent | {((), (mark,)): 1 for mark in MARKS[1:]},
    }
    truth = Truth(
        replace(tree, relations=relations),
        Inventory(MARKS, ("X",), tables, Backoff(0.0, 0.3, UNIGRAM)),
        [rng.normal(size=1 if name == "root" else 3) for name in relations],
        [np.zeros((3, 1 if name == "root" else 3)) for name in relations],
        random_noise(rng, MARKS, floor=0.02),
    )
    seen = conditioned(truth.outcomes(), range(6))
    cases = [(surface, given) for surface, _, given in seen]
    for conditional in sorted(cases, key=doubt)[-3:]:
        assert_drawn(truth, conditional, seed)


def certain(heads: tuple[int, ...], pairs: list, backoff: float = 0.0) -> Truth:
    """A model of marks that are never edited."""
    table = dict.fromkeys([((), ()), *pairs], 1)
    size = len(heads)
    edits = np.zeros((4, len(MARKS), len(MARKS)))
    edits[KEEP] = 1.0
    return Truth(
        Tree(("w",) * size, ("X",) * size, heads, ("a",) * size),
        Inventory(MARKS, ("X",), {"*": table}, Backoff(backoff, 0.3, UNIGRAM)),
        [np.zeros(len(table))] * size,
        [np.zeros((len(MARKS), len(table)))] * size,
        Noise(MARKS, edits, LEFT_TO_RIGHT),
    )


@pytest.mark.parametrize("side", [0, 1])
def test_marks_inside_a_silent_constituent(side: int) -> None:
    """The slots around the inner two words are empty, the one between them is not."""
    heads = (-1, 2, 0, 0) if side == 0 else (3, 3, 1, -1)
    comma = (((), (",",)), ((",",), ()))[side]
    truth = certain(heads, [comma])
    assert truth.spans[2 - side] == (1, 3)
    surface = ((), (), (",",), (), ())
    silent = ((), ())
    for last in (None, ()):
        counts = drawn(truth, (*surface[:-1], last), 50, seed=0)
        for pairs, slots in counts:
            assert slots[:-1] == surface[:-1]
            assert pairs[1:3] == ((comma, silent) if side == 0 else (silent, comma))


@pytest.mark.parametrize("heads", ["right", "left"])
def test_deep_trees(heads: str) -> None:
    size = 1_200
    chain = {"right": range(-1, size - 1), "left": [*range(1, size), -1]}
    truth = certain(tuple(chain[heads]), [((), (",",)), ((",",), ())], 0.01)
    observed = [(",",), None, (), None] * (size // 4) + [(".",)]
    restored = make_distribution(truth).restore(20, observed=observed)
    for slot, known in zip(restored, observed, strict=True):
        assert known is None or slot == known


def test_automata_do_not_grow() -> None:
    """A model lives long, and what was drawn from it is not to pile up in it."""
    truth, _ = generated("backoff", 0, inside=False)
    distribution = make_distribution(truth)
    observed, _ = next(conditionals("backoff", 0, {"all"}))
    sizes = []
    for seed in range(4):
        distribution.samples(100, seed, observed)
        automata = distribution._automata
        sizes.append(
            len(automata._tables._along)
            + sum(len(slot._from_initial) for slot in automata._surfaces.values())
        )
    assert sizes[1] == sizes[-1]


@pytest.mark.parametrize("n_samples", [0, 200])
def test_restoring_keeps_what_was_observed(some_case: Case, n_samples: int) -> None:
    rng = np.random.default_rng(len(some_case.surface))
    observed = [list(s) if rng.random() < 0.5 else None for s in some_case.surface]
    restored = some_case.distribution.restore(n_samples, observed=observed)
    assert len(restored) == len(observed)
    for slot, known in zip(restored, observed, strict=True):
        assert known is None or slot == tuple(known)
    whole = some_case.distribution.restore(n_samples, observed=some_case.surface)
    assert whole == some_case.surface


def test_samples_given_slots_are_a_function_of_the_seed(some_case: Case) -> None:
    observed = [s if i % 2 else None for i, s in enumerate(some_case.surface)]
    first, again, other = (
        some_case.distribution.samples(60, seed, observed) for seed in (1, 1, 2)
    )
    for k in range(60):
        assert first.pairs(k) == again.pairs(k)
        assert first.slots(k) == again.slots(k)
    marginals = some_case.distribution.marginals(60, 1, observed=observed)
    assert marginals == first.marginals()
    assert len(other) == 60


def test_nothing_observed_changes_nothing(some_case: Case) -> None:
    free = [None] * len(some_case.surface)
    found = some_case.distribution.marginals(300, 4, observed=free)
    assert found == some_case.distribution.marginals(300, 4)


def test_no_samples_at_all(some_case: Case) -> None:
    assert len(some_case.distribution.samples(0, observed=some_case.surface)) == 0


@pytest.mark.parametrize("call", ["samples", "marginals", "restore"])
def test_impossible_surfaces(impossible_case: Case, call: str) -> None:
    with pytest.raises(PunctError, match=r"\[P023\]"):
        getattr(impossible_case.distribution, call)(
            30, observed=impossible_case.surface
        )


@pytest.mark.parametrize(
    ("observed", "code"),
    [
        ([None, None, ["§"]], "P015"),
        ([["^"], None, None], "P015"),
        ([None, None], "P014"),
        ([None, None, "."], "P019"),
    ],
)
@pytest.mark.parametrize("call", ["samples", "marginals", "restore"])
def test_bad_observations(observed: list, code: str, call: str) -> None:
    distribution = make_distribution(certain((1, -1), [((), (",",))]))
    with pytest.raises(PunctError, match=rf"\[{code}\]"):
        getattr(distribution, call)(30, observed=observed)
