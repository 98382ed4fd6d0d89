import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_punct.data.edits import slot_edits
from spacy_punct.errors import PunctError
from spacy_punct.model.evaluation import (
    count_changes,
    permutation_test,
    score,
    score_edits,
    sentence_edits,
)


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


WORD = "<word>"
STRINGS = st.lists(st.sampled_from(",."), max_size=2).map(tuple)


def slots(text: str) -> tuple[tuple[str, ...], ...]:
    """Slots apart by bars."""
    return tuple(tuple(slot.split()) for slot in text.split("|"))


def tokens(sentence) -> list[str]:
    """The sentence with its words, each of which is like no other."""
    result = [*sentence[0]]
    for i, slot in enumerate(sentence[1:]):
        result += [f"{WORD}{i}", *slot]
    return result


def cost(token: str) -> int:
    """Of a change: words align with themselves."""
    return 1000 if token.startswith(WORD) else 1


def distance(a: list[str], b: list[str], replacing: int) -> int:
    if not a or not b:
        return sum(map(cost, (*a, *b)))
    if a[0] == b[0]:
        return distance(a[1:], b[1:], replacing)
    return min(
        distance(a[1:], b, replacing) + cost(a[0]),
        distance(a, b[1:], replacing) + cost(b[0]),
        distance(a[1:], b[1:], replacing) + replacing * max(cost(a[0]), cost(b[0])),
    )


def is_optimal(a, b, here, there, replacing) -> bool:
    (i, k), (j, m) = here, there
    step = distance(a[i:j], b[k:m], replacing)
    around = distance(a[:i], b[:k], replacing) + distance(a[j:], b[m:], replacing)
    return step + around == distance(a, b, replacing)


def all_paths(a, b, i=0, k=0) -> Iterator[list[tuple]]:
    """All alignments of tokens as steps ((i, k), (j, m)) of the lattice."""
    if i == len(a) and k == len(b):
        yield []
    for step in ((i + 1, k + 1), (i + 1, k), (i, k + 1)):
        inside = step[0] <= len(a) and step[1] <= len(b)
        if inside and any(is_optimal(a, b, (i, k), step, cost) for cost in (1, 2)):
            for rest in all_paths(a, b, *step):
                yield [((i, k), step), *rest]


def all_merges(path: list[tuple]) -> Iterator[list[list[tuple]]]:
    """All ways to cut a path into pieces."""
    if not path:
        yield []
    for n in range(1, len(path) + 1):
        for rest in all_merges(path[n:]):
            yield [path[:n], *rest]


def brute_force(before, after, truth, max_unchanged=2) -> tuple[int, int, int]:
    """Edits right, found and true by enumeration of alignments and merges."""
    a, b = tokens(before), tokens(after)
    gold = []
    starts = [0]
    for slot in before:
        starts.append(starts[-1] + len(slot) + 1)
    for edit in slot_edits(before, truth):
        start = starts[edit.slot]
        gold.append((start + edit.start, start + edit.end, [*edit.replacement]))

    def keeps(step):
        (i, k), (j, m) = step
        return j - i == m - k == 1 and a[i] == b[k]

    best = None
    for path in all_paths(a, b):
        for pieces in all_merges(path):
            edits = [p for p in pieces if not (len(p) == 1 and keeps(p[0]))]
            if any(all(map(keeps, p)) for p in edits):
                continue
            if any(sum(map(keeps, p)) > max_unchanged for p in edits):
                continue
            left = list(gold)
            right, steps = 0, sum(map(len, pieces))
            for piece in edits:
                (i, k), (j, m) = piece[0][0], piece[-1][1]
                if (i, j, b[k:m]) in left:
                    left.remove((i, j, b[k:m]))
                    right += 1
                    steps -= len(piece)
            label = (-right, steps, len(edits))
            best = label if best is None else min(best, label)
    return -best[0], best[2], len(gold)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(2, 3), st.integers(0, 3))
def test_scores_equal_brute_force(data, n, max_unchanged):
    draw = st.lists(STRINGS, min_size=n, max_size=n).map(tuple)
    before, after, truth = data.draw(draw), data.draw(draw), data.draw(draw)
    scores = score_edits([before], [after], [truth], max_unchanged=max_unchanged)
    found = (scores.n_right, scores.n_found, scores.n_true)
    assert found == brute_force(before, after, truth, max_unchanged)


@pytest.mark.parametrize(
    ("before", "after", "truth", "counts"),
    [
        ("|,|.", "|,|.", "|,|.", (0, 0, 0)),
        ("|,|.", "||.", "|,|.", (0, 1, 0)),
        ("|,|.", "||.", "||.", (1, 1, 1)),
        ("|,|.", "||!", "||?", (1, 2, 2)),
        # One wrong edit for two that are not far apart.
        ("|||||", "|,|,|||", "|||||", (0, 1, 0)),
        ("|||||", "|,|||,|", "|||||", (0, 2, 0)),
        # The truth decides how a change is told.
        ("|. ''", "|'' .", "|'' .", (1, 1, 1)),
        ("|. .", "|.", "|.", (1, 1, 1)),
        # What is to be inserted once is right once.
        ("||", "|, ,|", "|,|", (1, 2, 1)),
    ],
)
def test_counts(before, after, truth, counts):
    scores = score_edits([slots(before)], [slots(after)], [slots(truth)])
    assert (scores.n_right, scores.n_found, scores.n_true) == counts


def test_precision_recall_and_f():
    observed = [slots("|,|."), slots("||"), slots("|?")]
    corrected = [slots("||."), slots("|,|"), slots("|?")]
    truths = [slots("||."), slots("||."), slots("|.")]
    scores = score_edits(observed, corrected, truths)
    assert (scores.n_right, scores.n_found, scores.n_true) == (1, 2, 3)
    assert (scores.p, scores.r) == (1 / 2, 1 / 3)
    assert scores.f05 == pytest.approx(1.25 * (1 / 6) / (0.25 / 2 + 1 / 3))
    assert scores.to_dict()["n_true"] == 3


def test_nothing_to_find_and_nothing_found():
    right, wrong = slots("|."), slots("|,")
    nothing = score_edits([right], [right], [right])
    assert (nothing.p, nothing.r, nothing.f05) == (1, 1, 1)
    silent = score_edits([wrong], [wrong], [right])
    assert (silent.p, silent.r, silent.f05) == (1, 0, 0)
    eager = score_edits([right], [wrong], [right])
    assert (eager.p, eager.r, eager.f05) == (0, 1, 0)
    bad = score_edits([wrong], [slots("|;")], [right])
    assert (bad.p, bad.r, bad.f05) == (0, 0, 0)


def test_of_several_opinions_the_best_counts():
    before, after = slots("|,|"), slots("||")
    opinions = [slots("|;|"), slots("||"), slots("|,|")]
    scores = score_edits([before], [after], [opinions])
    assert (scores.n_right, scores.n_found, scores.n_true) == (1, 1, 1)
    # One true edit of two and none of three are both F = 0 so far for silence, then
    # the fewer true edits are better.
    silent = score_edits([before], [before], [[slots(".|;|."), slots("|;|")]])
    assert (silent.n_right, silent.n_found, silent.n_true) == (0, 0, 1)


@given(st.data())
def test_the_choice_of_opinions_is_greedy(data):
    draw = st.lists(STRINGS, min_size=2, max_size=2).map(tuple)
    sentence = st.tuples(draw, draw, st.lists(draw, min_size=1, max_size=3))
    corpus = data.draw(st.lists(sentence, min_size=1, max_size=4))
    total = (0, 0, 0)
    for before, after, opinions in corpus:
        options = []
        for truth in opinions:
            one = score_edits([before], [after], [truth])
            counts = (one.n_right, one.n_found, one.n_true)
            right, found, true = map(sum, zip(total, counts, strict=True))
            weight = found + 0.25 * true
            f = 1.25 * right / weight if weight else 1.0
            options.append((f, right, -weight, (right, found, true)))
        total = max(options, key=lambda option: option[:3])[-1]
    scores = score_edits(*zip(*corpus, strict=True))
    assert (scores.n_right, scores.n_found, scores.n_true) == total


def test_a_correction_that_is_the_truth_is_perfect():
    before, truth = slots("`` |, ,|;|'' ."), slots("|,|: ``|. ''")
    scores = score_edits([before], [truth], [truth])
    assert (scores.p, scores.r, scores.f05) == (1, 1, 1)


@settings(deadline=None)
@given(st.lists(st.tuples(STRINGS, STRINGS), min_size=2, max_size=6))
def test_corrections_to_the_truth_are_perfect(pairs):
    before, truth = map(tuple, zip(*pairs, strict=True))
    scores = score_edits([before], [truth], [truth])
    assert scores.n_right == scores.n_found == scores.n_true


def test_score_edits_refuses_a_negative_number():
    with pytest.raises(PunctError, match="P024"):
        score_edits([], [], [], max_unchanged=-1)


def test_count_changes():
    observed = [slots("|,|."), slots("|?")]
    corrected = [slots("||. ''"), slots("|?")]
    assert count_changes(observed, corrected) == (2, 5)
