"""Nunberg's rules: what the paper says of them."""

from collections import Counter
from itertools import product

import pytest

from spacy_punct.model.nunberg import BRACKETS, MARKS, STRENGTH, nunberg_rules

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
    assert len(set(MARKS)) == len(MARKS) == 16
    assert set(rules) <= set(product(MARKS, MARKS))
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
    brackets = {*BRACKETS, *BRACKETS.values()}
    assert not any(pair in rules for pair in product(brackets, brackets))
    assert not any((mark, opener) in rules for mark in STRENGTH for opener in BRACKETS)
    after = {ab for ab in rules if ab[0] in BRACKETS.values()}
    assert after == set(product(("''", "'"), (",", ".")))
