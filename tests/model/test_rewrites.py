"""Edits of slots against all there are, and Nunberg's rules against the paper."""

from collections import Counter
from itertools import product
from math import exp, inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_punct.data.marks import BOS, UNK
from spacy_punct.model.channel import Channel, allowed_edits
from spacy_punct.model.rewrites import (
    NUNBERG_BRACKETS,
    NUNBERG_MARKS,
    STRENGTH,
    best_rewriting,
    nunberg_rules,
)

MARKS = (BOS, ",", ".", "''")


def random_channel(direction: str, seed: int) -> Channel:
    allowed = allowed_edits(MARKS)
    edits = np.random.default_rng(seed).random(allowed.shape) * allowed
    return Channel(MARKS, edits / edits.sum(axis=0), direction)


def best_by_enumeration(channel: Channel, underlying: tuple[str, ...]):
    """The log-probability of the likeliest edits to each surface string."""
    step = -1 if channel.is_reversed else 1
    string, tables = underlying[::step], channel.window_tables()
    best: dict[tuple[str, ...], float] = {}

    def follow(held: str, rest: tuple[str, ...], written: tuple[str, ...], p: float):
        if not rest:
            surface = (*written, held)[::step]
            best[surface] = max(best.get(surface, -inf), log(p))
            return
        mark = rest[0]
        keep, left, right, swap = tables[:, MARKS.index(held), MARKS.index(mark)] * p
        for q, holds, out in (
            (keep, mark, (*written, held)),
            (left, mark, written),
            (right, held, written),
            (swap, held, (*written, mark)),
        ):
            if q > 0:
                follow(holds, rest[1:], out, q)

    follow(string[0], string[1:], (), 1.0)
    return best


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(MARKS[1:]), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from(["left-to-right", "right-to-left"]),
    st.integers(0, 3),
)
def test_edits_are_the_likeliest(marks, is_first, direction, seed):
    channel = random_channel(direction, seed)
    underlying = (BOS, *marks) if is_first else tuple(marks)
    truth = best_by_enumeration(channel, underlying)
    assert set(truth) == {s for s, p in channel.rewrite(underlying).items() if p > 0}
    for surface, log_weight in truth.items():
        found = best_rewriting(underlying, surface, channel)
        assert found.log_weight == pytest.approx(log_weight)
        assert tuple(underlying[k] for k in found.origins) == surface
        assert sorted((*found.origins, *found.absorbers)) == [*range(len(underlying))]


def test_moved_and_absorbed():
    swapped = best_rewriting(("''", ","), (",", "''"))
    assert swapped.origins == (1, 0)
    assert swapped.moved == {0, 1}
    assert not swapped.absorbers
    lost = best_rewriting((",", "."), (".",))
    assert lost.origins == (1,)
    assert lost.absorbers == {0: 1}
    assert not lost.moved
    assert best_rewriting((), ()).origins == ()


def test_the_channel_says_which_of_two_equal_ways():
    edits = np.zeros((4, 3, 3))
    edits[0] = 1.0
    edits[:, 1, 2] = [0.1, 0.2, 0.7, 0.0]
    channel = Channel((BOS, ",", "."), edits, "left-to-right")
    found = best_rewriting((",", "."), (",",), channel)
    assert exp(found.log_weight) == pytest.approx(0.7)
    assert found.absorbers == {1: 0}


def test_marks_that_no_edit_explains():
    found = best_rewriting((), (".",))
    assert found.origins == (None,)
    found = best_rewriting((",",), (";", ","))
    assert found.origins == (None, 0)
    found = best_rewriting((",", "''"), (";",))
    assert found.origins == (None,)
    assert set(found.absorbers) == {0, 1}


def test_unknown_marks_are_as_written():
    found = best_rewriting((UNK, "."), ("§", "."))
    assert found.origins == (0, 1)


SPECIMENS = {
    "point absorption": [", , > ,", ", . > .", "- , > -", "- ; > ;", "; . > ."],
    "quote transposition": ["'' , > , ''", "'' . > . ''"],
    "period absorption": [". ? > ?", ". ! > !", "<abbr> . > <abbr>"],
    "bracket absorption": [", ) > )", "- ) > )", "( , > (", ", '' > ''", "`` , > ``"],
}
"""All of the paper's Table 1."""


@pytest.mark.parametrize(
    "schema, specimen", [(s, rule) for s, rules in SPECIMENS.items() for rule in rules]
)
def test_the_papers_specimens_are_rules(schema, specimen):
    before, after = (tuple(side.split()) for side in specimen.split(" > "))
    rule = nunberg_rules()[before]
    assert rule.underlying == before
    assert rule.surface == after
    assert rule.schema == schema


def test_there_are_ninety_rules_of_sixteen_marks():
    rules = nunberg_rules()
    assert len(set(NUNBERG_MARKS)) == len(NUNBERG_MARKS) == 16
    assert set(rules) <= set(product(NUNBERG_MARKS, NUNBERG_MARKS))
    assert Counter(rule.schema for rule in rules.values()) == {
        "point absorption": 41,
        "bracket absorption": 40,
        "period absorption": 5,
        "quote transposition": 4,
    }


def test_rules_absorb_or_transpose():
    for (a, b), rule in nunberg_rules().items():
        assert rule.surface in {(a,), (b,), (b, a)}
        assert rule.surface != (a, b)


def test_the_weaker_point_is_absorbed_on_either_side():
    rules = nunberg_rules()
    for a, b in product(STRENGTH, STRENGTH):
        if STRENGTH[a] > STRENGTH[b]:
            assert rules[a, b].surface == rules[b, a].surface == (a,)
        elif a != b:
            assert ((a, b) in rules) == (STRENGTH[a] < STRENGTH[b])


def test_brackets_absorb_nothing_outside_and_no_brackets():
    rules = nunberg_rules()
    brackets = {*NUNBERG_BRACKETS, *NUNBERG_BRACKETS.values()}
    assert not any(pair in rules for pair in product(brackets, brackets))
    assert not any(
        (mark, opener) in rules for mark in STRENGTH for opener in NUNBERG_BRACKETS
    )
    after = {ab for ab in rules if ab[0] in NUNBERG_BRACKETS.values()}
    assert after == set(product(("''", "'"), (",", ".")))
