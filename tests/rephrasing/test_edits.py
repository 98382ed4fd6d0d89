"""Edits of underlying trees."""

from itertools import permutations

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_punct.errors import PunctError
from spacy_punct.rephrasing.edits import (
    NoSuchWordError,
    TreeEdit,
    delete,
    extract,
    find,
    keep_only,
    move,
    permute,
)
from spacy_punct.rephrasing.underlying import UnderlyingTree
from tests.rephrasing.test_underlying import EMPTY, caper, random_balanced


def text(tree: UnderlyingTree) -> str:
    return " ".join(tree.words)


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (delete("true"), "the caper failed"),
        (delete("caper"), "If true failed"),
        (delete("the"), "If true caper failed"),
        (move("true", -1), "the caper failed If true"),
        (move("true", 1), "the caper If true failed"),
        (move("caper", 0), "the caper If true failed"),
        (move("true", after="failed"), "the caper failed If true"),
        (move("true", before="failed"), "the caper If true failed"),
        (move("If", after="true"), "true If the caper failed"),
        (permute("failed", ["failed", "true", "caper"]), "failed If true the caper"),
        (keep_only("caper"), "caper failed"),
        (keep_only("the", "If"), "If true the caper failed"),
        (extract("true"), "If true"),
        (extract("failed"), "If true the caper failed"),
        (delete("the") | delete("If"), "true caper failed"),
        (delete("the").then(move("true", -1)), "caper failed If true"),
        (move("true", -1) | delete(0), "the caper failed true"),
        (extract("caper") | delete(2), "caper"),
    ],
)
def test_edits(edit, expected):
    tree = caper()
    edited = edit(tree)
    assert text(edited) == expected
    assert [tree.words[i] for i in edited.sources] == list(edited.words)
    if edited.words[edited.tree.root] == "failed":
        own = [tree.pairs[i] for i in edited.sources]
        assert list(edited.pairs) == own
    assert text(tree) == "If true the caper failed"


def test_edits_extracted_part_is_the_sentence():
    edited = extract("true")(caper())
    assert edited.pairs == (EMPTY, ((), (".",)))
    assert edited.tree.relations == ("mark", "root")


def test_edits_any_callable_is_one():
    def without_marks(tree: UnderlyingTree) -> UnderlyingTree:
        return UnderlyingTree(tree.tree, (EMPTY,) * len(tree), tree.sources)

    for edit in (delete("If") | without_marks, without_marks | delete("If")):
        assert isinstance(edit, TreeEdit)
        assert len(edit.steps) == 2
        assert edit(caper()).pairs == (EMPTY,) * 4


@pytest.mark.parametrize("seed", range(20))
def test_edits_move_is_a_permutation(seed):
    rng = np.random.default_rng(seed)
    tree = random_balanced(rng)
    words = [i for i in range(len(tree)) if i != tree.tree.root]
    word = int(rng.choice(words))
    head = tree.tree.heads[word]
    items = tree.items(head)
    reached = {move(word, k)(tree).sources for k in range(len(items))}
    others = [item for item in items if item != word]
    expected = set()
    for order in permutations(items):
        if [item for item in order if item != word] == others:
            expected.add(permute(head, order)(tree).sources)
    assert reached == expected
    assert move(word, items.index(word))(tree) == tree
    last = move(word, -1)(tree)
    assert last == move(word, len(items) - 1)(tree)
    if others:
        assert move(word, after=others[-1])(tree) == last
        assert move(word, before=others[0])(tree) == move(word, 0)(tree)


def test_edits_names_of_words():
    tree = caper("The")
    assert find(tree, "The") == 1
    assert find(tree, "the") == 2
    assert find(tree, "if") == 0
    assert find(tree, 4) == 4
    doc = Doc(Vocab(), words=["no", *tree.words])
    shifted = UnderlyingTree(tree.tree, tree.pairs, (1, 2, 3, 4, 5))
    assert find(shifted, doc[5]) == 4
    for word in ("cape", 9, doc[0]):
        with pytest.raises(NoSuchWordError, match="P141"):
            find(shifted, word)
    with pytest.raises(PunctError, match=r"P142.*'THE' occurs 2 times"):
        find(tree, "THE")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (delete("failed"), "P143.*deleted"),
        (move("failed", 0), "P143.*moved"),
        (
            move("true", after="the"),
            "P144.*'failed' exactly once, but names 'the'",
        ),
        (permute("failed", ["true", "failed"]), "P144"),
        (permute("failed", ["true", "failed", "true"]), "P144"),
        (keep_only("nobody"), "P141"),
    ],
)
def test_edits_that_cannot_be_made(edit, message):
    with pytest.raises(PunctError, match=message):
        edit(caper())


def test_edits_move_wants_one_place():
    with pytest.raises(PunctError, match="P024"):
        move("true")
    with pytest.raises(PunctError, match="P024"):
        move("true", 0, after="failed")
