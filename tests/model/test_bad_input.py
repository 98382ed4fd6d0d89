"""One clear coded error for each kind of bad input."""

from dataclasses import replace

import pytest

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Tree
from spacy_punct.errors import PunctError
from spacy_punct.model.distribution import restore_from_trees
from spacy_punct.model.inventory import Backoff, Inventory
from spacy_punct.model.punctuation import PunctuationModel

TREE = Tree(["a", "b"], ["NOUN", "VERB"], [1, -1], ["nsubj", "root"])
CROSSING = Tree(["a", "b", "c"], ["X"] * 3, [2, -1, 1], ["x"] * 3)


@pytest.fixture(scope="module")
def distribution(sample_model):
    return sample_model.distribution(TREE)


@pytest.mark.parametrize(
    ("slots", "code"),
    [
        (((), ()), "P014"),
        (["", "", "..."], "P019"),
        (((), 3, ()), "P019"),
        (((), (), ("§",)), "P015"),
        ((("^",), (), ()), "P015"),
    ],
)
@pytest.mark.parametrize("method", ["log_prob", "posteriors", "edits", "viterbi"])
def test_bad_slots(distribution, method, slots, code):
    with pytest.raises(PunctError, match=rf"\[{code}\]"):
        getattr(distribution, method)(slots)


def test_slots_may_be_lists(distribution):
    as_lists = distribution.log_prob([[], [","], ["."]])
    assert as_lists == distribution.log_prob(((), (",",), (".",)))
    example = PunctuatedTree(TREE, [[], [","], ["."]])
    assert example.slots == ((), (",",), (".",))
    with pytest.raises(PunctError, match=r"\[P019\] Slot 1"):
        PunctuatedTree(TREE, ((), None, ()))


@pytest.mark.parametrize(
    "call",
    [
        lambda d: d.sample(-1),
        lambda d: d.restore(-5),
        lambda d: d.restore(2.5),
        lambda d: d.sample(3, seed=-1),
        lambda d: d.marginals(prune=-1),
        lambda d: d.marginals(prune=1),
        lambda d: d.marginals(max_hypotheses=0),
        lambda d: restore_from_trees([]),
    ],
)
def test_bad_numbers(distribution, call):
    with pytest.raises(PunctError, match=r"\[P024\]"):
        call(distribution)


@pytest.mark.parametrize("word", [-1, 2])
def test_attach_of_no_word(distribution, word):
    with pytest.raises(PunctError, match=r"\[P027\]"):
        distribution.attach(word, ((), (), ()))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"marks": (",", "^")}, "begin with"),
        ({"marks": ("^", ",", ",")}, "distinct"),
        ({"pairs": {"x": {((), ()): 1}}}, "among its relations"),
        ({"pairs": {"*": {((), (",",)): 1, ((), ()): 1}}}, "first pair"),
        ({"pairs": {"*": {((), ()): 0}}}, "at least once"),
        ({"backoff": Backoff(0.1, 0.1, (1.0,))}, "each mark"),
    ],
)
def test_bad_inventories(change, reason):
    valid = Inventory(
        ("^", ","), ("X",), {"*": {((), ()): 1}}, Backoff(0.1, 0.1, (0.0, 1.0))
    )
    with pytest.raises(PunctError, match=rf"\[P035\].*{reason}"):
        replace(valid, **change)


def test_one_word_and_one_sentence():
    tree = Tree(["a"], ["X"], [-1], ["root"])
    example = PunctuatedTree(tree, ((), ("!",)))
    model = PunctuationModel.from_examples([example])
    assert len(next(iter(model.restore([tree])))) == 2
    assert len(next(iter(model.restore([tree], n_samples=0)))) == 2
