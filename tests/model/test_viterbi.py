"""The best underlying tree, found with any beam."""

import numpy as np
import pytest

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Puncteme, Tree
from spacy_punct.errors import ImpossibleSurfaceError
from spacy_punct.model.punctuation import PunctuationModel
from tests.model.conftest import Case

BEAMS = (1, 2, 3, 4)


def sentence(
    words: str, tags: str, heads: list[int], relations: str, end: Puncteme
) -> PunctuatedTree:
    """A sentence with marks at its end only."""
    tree = Tree(words.split(), tags.split(), heads, relations.split())
    return PunctuatedTree(tree, ((),) * len(tree) + (end,))


REAL = [
    sentence(
        "Now I hide a lot less",
        "ADV PRON VERB DET NOUN ADV",
        [2, 2, -1, 4, 5, 2],
        "advmod nsubj root det obl:unmarked advmod",
        (".", "''", ")"),
    ),
    sentence(
        "Can you tell the free world just what enabled women here to achieve this "
        "reversal of roles",
        "AUX PRON VERB DET ADJ NOUN ADV PRON VERB NOUN ADV PART VERB DET NOUN ADP NOUN",
        [2, 2, -1, 5, 5, 2, 8, 8, 2, 8, 9, 12, 8, 14, 12, 16, 14],
        "aux nsubj root det amod iobj advmod nsubj ccomp obj advmod mark xcomp det obj "
        "case nmod",
        ("?", "''"),
    ),
]


@pytest.fixture(scope="module")
def model() -> PunctuationModel:
    """An untrained model that has seen the marks of these sentences one by one."""
    ends: list[Puncteme] = [(), (".",), ("?",), ("''",), (")",)]
    seen = [PunctuatedTree(x.tree, (*x.slots[:-1], end)) for x in REAL for end in ends]
    return PunctuationModel.from_examples(seen * 5, direction="right-to-left")


@pytest.mark.parametrize("example", REAL, ids=["quote and bracket", "quote"])
@pytest.mark.parametrize("beam", [*BEAMS, 8, 32])
def test_viterbi_finds_a_tree_with_any_beam(
    model: PunctuationModel, example: PunctuatedTree, beam: int
) -> None:
    """Sentences of a treebank for which a beam of 32 was once too narrow."""
    distribution = model.distribution(example.tree)
    pairs = distribution.viterbi(example.slots, beam=beam)
    marks = {mark for pair in pairs for side in pair for mark in side}
    assert marks == set(example.slots[-1])
    if beam == 32:
        assert pairs == distribution.viterbi(example.slots)


def test_viterbi_of_a_beam_against_enumeration(some_case: Case) -> None:
    truth, surface = some_case.truth, some_case.surface
    best = truth.best(surface)
    for beam in BEAMS:
        pairs = some_case.distribution.viterbi(surface, beam=beam)
        assert 0 < truth.joint(pairs, surface) <= best * (1 + 1e-9), beam


def test_viterbi_of_an_impossible_surface(impossible_case: Case) -> None:
    distribution, surface = impossible_case.distribution, impossible_case.surface
    assert distribution.log_prob(surface) == -np.inf
    for beam in (None, *BEAMS):
        with pytest.raises(ImpossibleSurfaceError):
            distribution.viterbi(surface, beam=beam)
