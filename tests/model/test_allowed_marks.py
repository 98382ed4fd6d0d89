"""Minimum Bayes risk where only some marks may be written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.model.mbr import best_by_slot, best_slot, edit_distance, restricted

INNER, FINAL = (",", ";", "''", "'"), (".", "?", "…")
STRINGS = st.tuples(
    st.lists(st.sampled_from(INNER), max_size=3), st.sampled_from(["", *FINAL])
).map(lambda parts: (*parts[0], *filter(None, parts[1:])))
ALLOWED = st.sets(st.sampled_from(INNER + FINAL))


def shares(weights: dict[tuple[str, ...], int]) -> dict[tuple[str, ...], float]:
    total = sum(weights.values())
    return {string: n / total for string, n in weights.items()}


MARGINALS = st.dictionaries(STRINGS, st.integers(1, 20), min_size=1, max_size=12)
MARGINALS = MARGINALS.map(shares)


def written(string: tuple[str, ...], allowed: set[str]) -> tuple[str, ...]:
    """What becomes of a string."""
    if string[-1:] and string[-1] in FINAL and string[-1] not in allowed:
        string = (*string[:-1], ".")
    return tuple(mark for mark in string if mark in allowed)


@given(MARGINALS, ALLOWED)
def test_restricted_marginal(marginal, allowed):
    before = dict(marginal)
    found = restricted([marginal], allowed)[0]
    assert marginal == before
    assert found.keys() == {written(string, allowed) for string in marginal}
    for string, probability in found.items():
        ways = [p for s, p in marginal.items() if written(s, allowed) == string]
        assert probability == pytest.approx(sum(ways))
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert restricted([found], allowed)[0] == found


@given(MARGINALS, ALLOWED)
def test_best_allowed_slot_has_least_risk(marginal, allowed):
    def loss(answer):
        distances = {s: edit_distance(answer, written(s, allowed)) for s in marginal}
        return sum(p * distances[s] for s, p in marginal.items())

    candidates = {written(string, allowed) for string in marginal}
    best = best_slot(restricted([marginal], allowed)[0])
    assert best in candidates
    assert loss(best) == pytest.approx(min(map(loss, candidates)))


@given(st.lists(MARGINALS, max_size=4), ALLOWED)
def test_every_slot_for_itself(marginals, allowed):
    narrow = restricted(marginals, allowed)
    assert best_by_slot(narrow) == tuple(map(best_slot, narrow))


@given(MARGINALS)
def test_all_marks_or_none(marginal):
    assert restricted([marginal], {*INNER, *FINAL})[0] == marginal
    assert restricted([marginal], set())[0] == {(): pytest.approx(1.0)}


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        ({",", "."}, {(".",): 0.75, (): 0.25}),
        ({",", "。"}, {("。",): 0.75, (): 0.25}),
        ({".", "?", ";"}, {("?",): 0.5, (";",): 0.25, (".",): 0.25}),
        ({","}, {(): 1.0}),
    ],
)
def test_what_ends_a_sentence_becomes_a_full_stop(allowed, expected):
    assert restricted([{("?",): 0.5, ("…",): 0.25, (";",): 0.25}], allowed) == [
        expected
    ]
