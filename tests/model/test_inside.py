"""log p(surface), posteriors and the best underlying tree against enumeration."""

import gc
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from spacy_punct.data.marks import BOS, UNK, is_one_sided
from spacy_punct.data.tree import ROOT, Puncteme, Tree
from spacy_punct.errors import PunctError
from spacy_punct.model.automaton import Automata, EditCounts
from spacy_punct.model.channel import DIRECTIONS
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inside import COMPLEX_STEP, Chart, Evidence
from spacy_punct.model.inventory import Backoff, Inventory, Pair
from spacy_punct.model.scores import NodeScores
from tests.model.conftest import (
    ENGLISH,
    Case,
    best_log_prob,
    english,
    expected_unmatched,
    make_case,
    make_channel,
    make_distribution,
    make_scores,
)
from tests.truth import (
    ABSORB_RIGHT,
    KEEP,
    LEFT_TO_RIGHT,
    Noise,
    Recipe,
    Surface,
    TooMany,
    Truth,
    random_noise,
    random_string,
    random_truth,
)


def close(expected: float) -> object:
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


def assert_posteriors(
    truth: Truth,
    found: Sequence[dict[Pair, float]],
    expected: Sequence[dict[Pair, float]],
) -> None:
    assert len(found) == len(expected) == len(truth.tree)
    for node in range(len(found)):
        pairs = truth.table(node)
        assert found[node].keys() <= set(pairs)
        for pair in pairs:
            assert found[node].get(pair, 0.0) == close(expected[node].get(pair, 0.0))


def assert_best(distribution: Distribution, truth: Truth, surface: Surface) -> None:
    best = truth.best(surface)
    pairs = distribution.viterbi(surface)
    assert best_log_prob(distribution, surface) == close(np.log(best))
    assert truth.joint(pairs, surface) == pytest.approx(best, rel=1e-9)


def test_figure_1() -> None:
    """`` Dale '' means `` river valley . '', of which there is one explanation."""
    silent, quoted = ((), ()), (("``",), ("''",))
    pairs = {
        "nsubj": {silent: 1, quoted: 1},
        "dobj": {silent: 1, quoted: 1},
        "root": {silent: 1, ((), (".",)): 1},
        "*": {silent: 1},
    }
    unigram = (0.0, *[1 / (len(ENGLISH) - 1)] * (len(ENGLISH) - 1))
    inventory = Inventory(ENGLISH, ("X",), pairs, Backoff(0.0, 0.0, unigram))
    tree = Tree(
        ("Dale", "means", "river", "valley"),
        ("X",) * 4,
        (1, -1, 3, 1),
        ("nsubj", "root", "compound", "dobj"),
    )
    sizes = [2, 2, 1, 2]
    scores = NodeScores(
        list(map(inventory.relation_id, tree.relations)),
        [np.zeros(size) for size in sizes],
        lambda node: np.zeros((len(ENGLISH), sizes[node])),
    )
    surface = ("``",), ("''",), ("``",), (), (".", "''")
    for direction in DIRECTIONS:
        automata = Automata(inventory, english(direction))
        distribution = Distribution(tree, scores, automata)
        assert distribution.log_prob(surface) == close(np.log(1 / 8))
        assert best_log_prob(distribution, surface) == close(np.log(1 / 8))
        best = distribution.viterbi(surface)
        assert best == (quoted, ((), (".",)), silent, quoted)
        assert expected_unmatched(distribution, surface) == 0.0
        assert distribution.log_prob((*surface[:-1], ("''", "."))) == -np.inf


def test_inside_is_enumeration(case: Case) -> None:
    distribution, surface, expected = case.distribution, case.surface, case.explanation
    assert distribution.log_prob(surface) == close(np.log(expected.probability))
    found = distribution.posteriors(surface)
    assert_posteriors(case.truth, found, expected.posteriors)
    edits = distribution.edits(surface)
    np.testing.assert_allclose(edits, expected.edits, rtol=1e-9, atol=1e-9)
    unmatched = expected_unmatched(distribution, surface)
    assert unmatched == close(expected.unmatched)
    assert_best(distribution, case.truth, surface)


def test_symmetric_model(some_case: Case) -> None:
    """Pairs with a delimiter on one side cost more, but those of conjuncts do not."""
    truth, surface = some_case.truth, some_case.surface
    kinds = [("conj", "amod:x")[i % 2] for i in range(len(truth.tree))]
    costs = [
        [1.5 * (kind != "conj" and is_one_sided(*pair)) for pair in truth.table(i)]
        for i, kind in enumerate(kinds)
    ]
    expected = replace(
        truth, base=[row - cost for row, cost in zip(truth.base, costs, strict=True)]
    )
    tree = replace(truth.tree, relations=tuple(kinds))
    automata = Automata(truth.inventory, make_channel(truth.noise))
    found = Distribution(tree, make_scores(truth), automata).symmetric(1.5)
    probability = expected.explain(surface).probability
    assert found.log_prob(surface) == close(np.log(probability))
    assert_best(found, expected, surface)


def test_attach(some_case: Case) -> None:
    truth, surface = some_case.truth, some_case.surface
    for node in range(len(truth.tree)):
        found = some_case.distribution.attach(node, surface)
        assert found.keys() == set(truth.table(node))
        for pair, probability in found.items():
            assert probability == close(truth.total(node, pair, surface))


def test_impossible_surface(impossible_case: Case) -> None:
    distribution, surface = impossible_case.distribution, impossible_case.surface
    assert distribution.log_prob(surface) == -np.inf
    for method in ("posteriors", "edits", "viterbi"):
        with pytest.raises(PunctError, match="P023"):
            getattr(distribution, method)(surface)


def test_bad_arguments() -> None:
    case = make_case("tables", 0)
    distribution, surface = case.distribution, case.surface
    with pytest.raises(PunctError, match="P014"):
        distribution.log_prob(surface[:-1])
    with pytest.raises(PunctError, match="P015"):
        distribution.log_prob((("no such mark",), *surface[1:]))
    with pytest.raises(PunctError, match="P027"):
        distribution.attach(len(case.truth.tree), surface)


def some_unobserved(case: Case) -> tuple[Surface, float, list[dict[Pair, float]]]:
    """Part of a case's surface, its probability and posteriors."""
    rng = np.random.default_rng(len(case.surface))
    while True:
        hidden = rng.random(len(case.surface)) < rng.random()
        surface: Surface = tuple(
            None if hide else slot
            for hide, slot in zip(hidden, case.surface, strict=True)
        )
        if any(hidden):
            with suppress(TooMany):
                explanation = case.truth.explain(surface)
                return surface, explanation.probability, explanation.posteriors


def test_unobserved_slots(some_case: Case) -> None:
    distribution = some_case.distribution
    surface, probability, posteriors = some_unobserved(some_case)
    assert distribution.log_prob(surface) == close(np.log(probability))
    assert_posteriors(some_case.truth, distribution.posteriors(surface), posteriors)
    assert_best(distribution, some_case.truth, surface)


def reachable(truth: Truth) -> list[set[Puncteme]]:
    """All surface strings of each slot, if there is no back-off."""
    surfaces: list[set[Puncteme]] = [set() for _ in truth.written]
    tables = [truth.table(node) for node in range(len(truth.tree))]
    for pairs in itertools.product(*tables):
        for slot, string in enumerate(truth.underlying(pairs)):
            for surface in truth.noise.rewrite(string):
                surfaces[slot].add(surface[1:] if slot == 0 else surface)
    return surfaces


def log_sum(values: Sequence[float]) -> float:
    return float(np.logaddexp.reduce(values))


TINY = Recipe(words=(1, 2), marks=(1, 2), pairs=2)


@pytest.mark.parametrize("seed", range(10))
def test_surfaces_sum_to_one(seed: int) -> None:
    truth = random_truth(np.random.default_rng(seed), TINY)
    distribution = make_distribution(truth)
    surfaces = itertools.product(*reachable(truth))
    assert log_sum([distribution.log_prob(s) for s in surfaces]) == close(0.0)


@pytest.mark.parametrize("seed", range(20))
def test_unobserved_slot_is_sum_over_surfaces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = random_truth(rng, Recipe(words=(1, 4), marks=(1, 3), pairs=3))
    truth = replace(truth, inside=[0 * scores for scores in truth.inside])
    distribution = make_distribution(truth)
    strings = reachable(truth)
    hidden = rng.integers(len(strings))
    (_, sampled), *_ = truth.outcomes()
    before, after = sampled[:hidden], sampled[hidden + 1 :]
    whole = [distribution.log_prob((*before, s, *after)) for s in strings[hidden]]
    assert distribution.log_prob((*before, None, *after)) == close(log_sum(whole))


def chart_slopes(truth: Truth, surface: Surface) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of (log p, expected unmatched) by base scores and log edits."""
    inventory, tree = truth.inventory, truth.tree
    automata = Automata(inventory, make_channel(truth.noise))
    slots = [inventory.encode(slot or ()) for slot in truth.observed(surface)]
    given = make_scores(truth).given(tree, slots, len(inventory.marks))
    chart = Chart(Evidence(tree, slots, given, automata), count_unmatched=True)
    counts = EditCounts(automata)
    chart.site_posteriors(counts)
    by_score = []
    for node, posterior in sorted(chart.posteriors().items()):
        prior = np.array(list(truth.attach(node, surface).values()))
        slope = np.zeros(len(prior), dtype=complex)
        slope[posterior.chosen] = posterior.pairs
        by_score.append(slope - prior * slope.sum())
    both = np.concatenate(by_score), counts.total()
    return tuple(np.stack([x.real, x.imag / COMPLEX_STEP]) for x in both)


def numeric_slopes(truth: Truth, surface: Surface) -> tuple[np.ndarray, np.ndarray]:
    """The same by central differences."""
    step = 1e-5

    def difference(changed: Callable[[float], Truth]) -> np.ndarray:
        up, down = (make_distribution(changed(x)) for x in (step, -step))
        risen = up.log_prob(surface) - down.log_prob(surface)
        unmatched = expected_unmatched(up, surface) - expected_unmatched(down, surface)
        return np.array([risen, unmatched]) / (2 * step)

    def scored(node: int, pair: int) -> Callable[[float], Truth]:
        def changed(change: float) -> Truth:
            base = [scores.copy() for scores in truth.base]
            base[node][pair] += change
            return replace(truth, base=base)

        return changed

    def edited(place: tuple[int, ...]) -> Callable[[float], Truth]:
        def changed(change: float) -> Truth:
            edits = truth.noise.edits.copy()
            edits[place] *= np.exp(change)
            return replace(truth, noise=replace(truth.noise, edits=edits))

        return changed

    by_score = [
        difference(scored(node, pair))
        for node, scores in enumerate(truth.base)
        for pair in range(len(scores))
    ]
    by_edit = np.zeros((2, *truth.noise.edits.shape))
    for place in np.argwhere(truth.noise.edits):
        by_edit[(slice(None), *place)] = difference(edited(tuple(place)))
    return np.stack(by_score, axis=1), by_edit


def test_gradients(some_case: Case) -> None:
    found = chart_slopes(some_case.truth, some_case.surface)
    expected = numeric_slopes(some_case.truth, some_case.surface)
    for kind in range(2):
        np.testing.assert_allclose(found[kind], expected[kind], atol=1e-7)


def random_heads(rng: np.random.Generator, size: int) -> list[int]:
    """A random projective tree, its constituents split anywhere."""
    heads = [ROOT] * size
    stack = [(0, size, ROOT)]
    while stack:
        left, right, parent = stack.pop()
        if left < right:
            head = int(rng.integers(left, right))
            heads[head] = parent
            middles = sorted({left, int(rng.integers(left, head + 1)), head})
            stack += [(a, b, head) for a, b in itertools.pairwise(middles)]
            middles = sorted({head + 1, int(rng.integers(head + 1, right + 1)), right})
            stack += [(a, b, head) for a, b in itertools.pairwise(middles)]
    return heads


LONG = 400


@pytest.fixture(params=["random", "left-branching", "right-branching"])
def long_case(request: pytest.FixtureRequest) -> tuple[Truth, tuple[Puncteme, ...]]:
    """A sentence of many words and marks."""
    rng = np.random.default_rng(7)
    heads = {
        "random": random_heads(rng, LONG),
        "left-branching": [*range(1, LONG), ROOT],
        "right-branching": [ROOT, *range(LONG - 1)],
    }[request.param]
    marks = (",", ".", "``", "''", "(", ")", UNK)
    pairs: dict[Pair, int] = {((), ()): 1}
    for _ in range(40):
        pairs[random_string(rng, marks, 3), random_string(rng, marks, 3)] = 1
    backoff = Backoff(1e-3, 0.3, (0.0, *rng.dirichlet(np.ones(len(marks)))))
    inventory = Inventory((BOS, *marks), ("X",), {"a": pairs, "*": pairs}, backoff)
    tree = Tree(("w",) * LONG, ("X",) * LONG, tuple(heads), ("a",) * LONG)
    base = [rng.normal(size=len(pairs)) for _ in heads]
    for scores in base:
        scores[0] += 8.0
    inside = [rng.normal(size=(len(marks) + 1, len(pairs))) for _ in heads]
    truth = Truth(
        tree, inventory, base, inside, random_noise(rng, inventory.marks, 0.001)
    )
    surface = tuple(random_string(rng, marks, 4) for _ in range(LONG + 1))
    return truth, surface


def test_long_sentence(long_case: tuple[Truth, tuple[Puncteme, ...]]) -> None:
    truth, surface = long_case
    distribution = make_distribution(truth)
    log_prob = distribution.log_prob(surface)
    assert -np.inf < log_prob < -LONG
    posteriors = distribution.posteriors(surface)
    shares = [sum(node.values()) for node in posteriors]
    assert len(shares) == LONG
    assert all(-1e-9 < share < 1 + 1e-9 for share in shares)
    assert -np.inf < best_log_prob(distribution, surface) < log_prob
    assert 0 < expected_unmatched(distribution, surface) < LONG
    assert np.isfinite(distribution.edits(surface)).all()
    step = 1e-4
    for node in (0, LONG // 2, LONG - 1):
        base = list(truth.base)
        base[node] = base[node] + step * np.eye(len(base[node]))[0]
        risen = make_distribution(replace(truth, base=base)).log_prob(surface)
        prior = truth.attach(node, surface)[(), ()]
        slope = posteriors[node].get(((), ()), 0.0) - prior * shares[node]
        assert (risen - log_prob) / step == pytest.approx(slope, abs=1e-3)


def test_long_sentence_is_generated(
    long_case: tuple[Truth, tuple[Puncteme, ...]],
) -> None:
    truth, _ = long_case
    distribution = make_distribution(truth)
    for _, surface in distribution.sample(2, seed=0):
        assert np.isfinite(distribution.log_prob(surface))
    meeting = Counter(slot for span in truth.tree.spans for slot in span)
    for place, slot in enumerate(distribution.marginals()):
        # Where hundreds of edges meet, no single string is probable.
        least = 0.9 if meeting[place] < 10 else 0.0
        assert least < sum(slot.values()) < 1 + 1e-9


@pytest.mark.timeout(20)
def test_many_equally_good_explanations() -> None:
    """The best underlying tree may have a posterior below any float.

    Every word ends in a comma that has absorbed one of nine marks.
    """
    others = tuple("abcdefghi")
    marks = (BOS, ",", *others)
    edits = np.zeros((4, len(marks), len(marks)))
    edits[KEEP] = 1.0
    edits[KEEP, 1, 2:] = edits[ABSORB_RIGHT, 1, 2:] = 0.5
    silent: Pair = (), ()
    pairs = {silent: 1, **{((), (",", mark)): 1 for mark in others}}
    unigram = (0.0, *[0.1] * 10)
    truth = Truth(
        Tree(("w",) * LONG, ("X",) * LONG, (*range(1, LONG), ROOT), ("a",) * LONG),
        Inventory(marks, ("X",), {"*": pairs}, Backoff(0.0, 0.0, unigram)),
        [np.zeros(10)] * LONG,
        [np.zeros((11, 10))] * LONG,
        Noise(marks, edits, LEFT_TO_RIGHT),
    )
    distribution = make_distribution(truth)
    surface = ((), *[(",",)] * LONG)
    assert distribution.log_prob(surface) == close(LONG * np.log(9 * 0.1 * 0.5))
    best = best_log_prob(distribution, surface)
    assert best == close(LONG * np.log(0.1 * 0.5))
    assert set(distribution.viterbi(surface)) <= pairs.keys() - {silent}


def test_inside_caches_do_not_grow_with_use():
    """Viterbi makes tries for the occasion, which must not pile up."""
    cases = [make_case("tables", seed) for seed in range(5)]
    sizes = []
    for _ in range(3):
        for case in cases:
            case.distribution.viterbi(case.surface)
        gc.collect()
        tables = [case.distribution._automata._tables for case in cases]
        sizes.append([len(table._along) for table in tables])
    assert sizes[0] == sizes[1] == sizes[2]
