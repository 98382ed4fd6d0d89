"""Commas around an insertion come and go in pairs; brackets get their partner."""

import pytest

from spacy_punct.corrector.pairs import complete, has_even_brackets, pair_up
from spacy_punct.data.tree import Tree

COMMA = (",",)
PARIS = Tree(
    ["Paris", "the", "capital", "of", "France", "attracts", "millions"],
    ["PROPN", "DET", "NOUN", "ADP", "PROPN", "VERB", "NOUN"],
    [5, 2, 0, 4, 2, -1, 5],
    ["nsubj", "det", "appos", "case", "nmod", "root", "obj"],
)
EMPTY = ((),) * 8


def paired(proposals, observed=EMPTY, **second):
    marginals = [{(): 1.0} for _ in observed]
    for slot, p in second.items():
        marginals[int(slot[1:])] = {COMMA: p, (): 1 - p}
    pair_up(proposals, PARIS, observed, marginals)
    return proposals


@pytest.mark.parametrize(("i", "other"), [(1, 5), (5, 1)])
def test_a_new_comma_brings_the_other(i, other):
    found = paired({i: (COMMA, 0.8)}, **{f"s{other}": 0.2})
    assert found == {1: (COMMA, 0.8), 5: (COMMA, 0.8)}


def test_both_are_as_probable_as_the_surer_one():
    proposals = {1: (COMMA, 0.3), 5: (COMMA, 0.8)}
    found = paired(proposals, s1=0.3, s5=0.8)
    assert found == {1: (COMMA, 0.8), 5: (COMMA, 0.8)}


def test_there_is_no_first_without_a_second():
    assert paired({1: (COMMA, 0.8)}, s5=0.01) == {1: (COMMA, 0.0)}


def test_what_has_its_partner_already_needs_none():
    observed = tuple(COMMA if i == 5 else () for i in range(8))
    assert paired({1: (COMMA, 0.8)}, observed) == {1: (COMMA, 0.8)}


def test_commas_go_together_or_stay():
    observed = tuple(COMMA if i in (1, 5) else () for i in range(8))
    assert paired({1: ((), 0.9)}, observed)[1] == ((), 0.0)
    found = paired({1: ((), 0.9), 5: ((), 0.6)}, observed)
    assert found == {1: ((), 0.6), 5: ((), 0.6)}


def test_other_marks_are_left_alone():
    proposals = {1: ((":",), 0.8), 7: (("?",), 0.9)}
    assert paired(dict(proposals)) == proposals


def completed(observed, **partners):
    marginals = [{slot: 1.0} for slot in observed]
    for name, (string, p) in partners.items():
        i = int(name[1:])
        marginals[i] = {string: p, observed[i]: 1 - p}
    proposals = {}
    complete(proposals, observed, marginals)
    return proposals


OPEN = ((), (), ("(",), (), (), (), (), (".",))
CLOSER = (")",)


def test_a_bracket_gets_its_partner_where_it_is_likeliest():
    found = completed(OPEN, s4=(CLOSER, 0.1), s6=(CLOSER, 0.2))
    assert found == {6: (CLOSER, pytest.approx(0.25 / (0.25 + 1 / 9 + 0.05)))}
    found = completed(OPEN, s7=((")", "."), 0.2), s0=(CLOSER, 0.9))
    assert found == {7: ((")", "."), pytest.approx(0.25 / 0.3))}
    closed = tuple(reversed([*OPEN[:2], CLOSER, *OPEN[3:]]))
    found = completed(closed, s2=(("(",), 0.2), s6=(("(",), 0.4))
    assert found == {2: (("(",), pytest.approx(0.25 / 0.3))}


def test_a_partner_that_is_hardly_possible_is_not_proposed():
    assert completed(OPEN, s4=(CLOSER, 0.01)) == {}
    both = (*OPEN[:5], CLOSER, *OPEN[6:])
    assert completed(both, s4=(CLOSER, 0.2)) == {}
    quote = ((), ("``",), (), ())
    assert completed(quote, s2=(("''",), 0.2)) == {}


def test_what_is_surer_by_itself_stays_as_sure():
    found = completed(OPEN, s4=(CLOSER, 0.99), s6=(CLOSER, 0.3))
    assert found == {4: (CLOSER, 0.99)}


def test_brackets_are_even_whatever_they_look_like():
    assert has_even_brackets("We saw (among others): [so on]")
    assert not has_even_brackets("(We saw :(")
