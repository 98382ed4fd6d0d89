"""What an error is called, and what a comma sets off."""

import pytest

from spacy_punct.data.kinds import kind_of, other_edge, set_off_at
from spacy_punct.data.tree import Tree


def tree(text: str) -> Tree:
    """A tree from words written as `form|relation|head`, heads from 1, 0 for none."""
    forms, relations, heads = zip(
        *(word.split("|") for word in text.split()), strict=True
    )
    tags = ["X"] * len(forms)
    return Tree(list(forms), tags, [int(h) - 1 for h in heads], list(relations))


PARIS = tree(
    "Paris|nsubj|6 the|det|3 capital|appos|1 of|case|5 France|nmod|3 attracts|root|0 "
    "millions|obj|6"
)
PHONE = tree(
    "The|det|2 phone|nsubj|8 on|case|6 the|det|6 other|amod|6 hand|obl|8 is|cop|8 "
    "lighter|root|0"
)
FINALLY = tree(
    "So|advmod|7 if|mark|4 you|nsubj|4 agree|advcl|7 we|nsubj|7 can|aux|7 go|root|0"
)
WHICH = tree(
    "They|nsubj|2 want|root|0 freedom|obj|2 which|nsubj|6 is|cop|6 "
    "impossible|acl:relcl|3 and|cc|8 leave|conj|2"
)


@pytest.mark.parametrize(
    ("sentence", "slot", "kind"),
    [
        (PARIS, 1, "missing-comma-insertion"),
        (PARIS, 5, "missing-comma-insertion"),
        (PHONE, 2, "missing-comma-insertion"),
        (PHONE, 6, "missing-comma-insertion"),
        (FINALLY, 4, "missing-comma-introductory"),
        (WHICH, 3, "missing-comma-insertion"),
    ],
)
def test_missing_commas_have_names(sentence, slot, kind):
    assert kind_of(sentence, slot, (), (",",)) == kind


@pytest.mark.parametrize(
    ("sentence", "slot", "word"),
    [(PARIS, 1, 2), (PARIS, 5, 2), (PHONE, 2, 5), (FINALLY, 4, 3), (WHICH, 3, 5)],
)
def test_commas_set_off_the_widest_constituent_but_no_subject(sentence, slot, word):
    assert set_off_at(sentence, slot)[0] == word


@pytest.mark.parametrize(
    ("sentence", "word", "slot", "other"),
    [
        (PARIS, 2, 1, 5),
        (PARIS, 2, 5, 1),
        (PHONE, 5, 2, 6),
        (PHONE, 5, 6, 2),
        (FINALLY, 3, 4, None),
        (WHICH, 5, 3, None),
    ],
)
def test_insertions_have_another_edge_if_their_clause_goes_on(
    sentence, word, slot, other
):
    assert other_edge(sentence, word, slot) == other
