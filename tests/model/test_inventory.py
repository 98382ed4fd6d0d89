"""Reading the inventory off a handful of sentences counted by hand."""

import itertools

import numpy as np
import pytest

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import BOS, UNK
from spacy_punct.data.tree import Puncteme, Tree
from spacy_punct.errors import PunctError
from spacy_punct.model.inventory import ANY_RELATION, Backoff, Inventory, Trie

EMPTY: Puncteme = ()
COMMA: Puncteme = (",",)
DOT: Puncteme = (".",)
RARE: Puncteme = (UNK,)


def example(
    heads: tuple[int, ...], relations: tuple[str, ...], *slots: Puncteme, tag: str = "X"
) -> PunctuatedTree:
    size = len(heads)
    return PunctuatedTree(Tree(("w",) * size, (tag,) * size, heads, relations), slots)


TWO_WORDS = (1, -1), ("nsubj", "root")
EXAMPLES = [
    *[example(*TWO_WORDS, EMPTY, COMMA, DOT)] * 5,
    *[example(*TWO_WORDS, EMPTY, EMPTY, ("?",))] * 4,
    example(
        (1, -1, 1),
        ("nsubj", "root", "acl:x"),
        ("``",),
        EMPTY,
        ("''",),
        (".", "''"),
        tag="Y",
    ),
]
"""`,` is seen five times, `.` six times, and `?`, the quotes and acl:x too rarely."""
COUNTS = {
    "nsubj": {(EMPTY, COMMA): 5, (EMPTY, EMPTY): 4, (RARE, EMPTY): 1},
    "root": {(EMPTY, DOT): 5, (EMPTY, RARE): 4, (RARE, (".", UNK)): 1},
    "acl:x": {(RARE, (".", UNK)): 1},
}


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    return Inventory.estimate(EXAMPLES)


def test_marks(inventory: Inventory) -> None:
    assert inventory.marks == (BOS, ".", ",", UNK)
    assert inventory.tags == ("X", "Y")


def test_pairs(inventory: Inventory) -> None:
    assert set(inventory.relations) == {"nsubj", "root", ANY_RELATION}
    assert dict(inventory.pairs["nsubj"]) == COUNTS["nsubj"]
    assert dict(inventory.pairs["root"]) == {(EMPTY, EMPTY): 1, **COUNTS["root"]}
    total: dict = {}
    for counts in COUNTS.values():
        for pair, n in counts.items():
            total[pair] = total.get(pair, 0) + n
    assert dict(inventory.pairs[ANY_RELATION]) == total
    assert set(inventory.all_pairs) == set(total)


def test_every_relation_may_be_silent(inventory: Inventory) -> None:
    for pairs in inventory.pairs.values():
        first, *others = pairs.items()
        assert first[0] == (EMPTY, EMPTY)
        assert first[1] >= 1
        frequencies = [n for _, n in others]
        assert frequencies == sorted(frequencies, reverse=True)


def test_punctemes(inventory: Inventory) -> None:
    assert inventory.punctemes[0] == EMPTY
    assert set(inventory.punctemes) == {EMPTY, COMMA, DOT, RARE, (".", UNK)}
    assert len(set(inventory.punctemes)) == len(inventory.punctemes)


def test_unigram(inventory: Inventory) -> None:
    initial, dot, comma, unknown = inventory.backoff.unigram
    assert initial == 0.0
    assert sum(inventory.backoff.unigram) == pytest.approx(1.0)
    assert unknown > dot > comma > 0.0


def test_thresholds() -> None:
    loose = Inventory.estimate(EXAMPLES, min_mark_count=1, min_relation_count=1)
    assert set(loose.marks) == {BOS, ",", ".", "?", "``", "''", UNK}
    assert set(loose.relations) == {"nsubj", "root", "acl:x", ANY_RELATION}
    assert (("``",), (".", "''")) in loose.pairs["root"]
    assert all(x > 0 for x in loose.backoff.unigram[1:])
    strict = Inventory.estimate(EXAMPLES, min_mark_count=6, min_relation_count=11)
    assert strict.marks == (BOS, ".", UNK)
    assert strict.relations == (ANY_RELATION,)


def test_backoff_is_passed_on() -> None:
    backoff = Inventory.estimate(
        EXAMPLES, backoff_mass=0.25, backoff_growth=0.5
    ).backoff
    assert (backoff.mass, backoff.growth) == (0.25, 0.5)


@pytest.mark.parametrize(("name", "value"), [("mass", 1.0), ("growth", -0.1)])
def test_backoff_range(name: str, value: float) -> None:
    values = {"mass": 0.1, "growth": 0.1, name: value}
    with pytest.raises(PunctError, match=f"P024.*{name}"):
        Backoff(**values, unigram=(0.0, 1.0))


def test_no_examples() -> None:
    with pytest.raises(PunctError, match="P020"):
        Inventory.estimate([])


def test_crossing_example() -> None:
    crossing = example((2, 3, -1, 2), ("a",) * 4, *[EMPTY] * 5)
    with pytest.raises(PunctError, match="P016"):
        Inventory.estimate([crossing])


def test_literal_initial_mark() -> None:
    """A ^ in the text is not the sentence-initial mark."""
    inventory = Inventory.estimate([example((-1,), ("root",), (BOS,), DOT)] * 9)
    assert inventory.marks == (BOS, ".", UNK)
    assert (RARE, DOT) in inventory.pairs["root"]
    assert inventory.backoff.unigram[0] == 0.0
    assert inventory.known(((BOS,), ("?", "."))) == ((UNK,), (UNK, "."))


def test_relation_backoff() -> None:
    silent = {(EMPTY, EMPTY): 1}
    pairs = {ANY_RELATION: silent, "acl": silent, "nmod:poss": silent}
    inventory = Inventory((BOS, UNK), ("X",), pairs, Backoff(0.0, 0.0, (0.0, 1.0)))

    def found(relation: str) -> str:
        return inventory.relations[inventory.relation_id(relation)]

    assert found("acl") == "acl"
    assert found("acl:x") == "acl"
    assert found("nmod:poss") == "nmod:poss"
    assert found("nmod") == ANY_RELATION
    assert found("nmod:tmod") == ANY_RELATION
    assert found(ANY_RELATION) == ANY_RELATION


def test_encode(inventory: Inventory) -> None:
    ids = inventory.encode((",", ".", UNK))
    assert [inventory.marks[k] for k in ids] == [",", ".", UNK]
    assert inventory.decode(ids) == (",", ".", UNK)
    with pytest.raises(PunctError, match=r"P015.*'\?'.*slot 3"):
        inventory.encode((",", "?"), "slot 3")


def test_pair_tables(inventory: Inventory) -> None:
    for relation, table in zip(inventory.relations, inventory.pair_tables, strict=True):
        assert table.pairs == tuple(inventory.pairs[relation])
        for silent in itertools.product((False, True), repeat=2):
            view = table.views[silent]
            expected = [
                k
                for k, pair in enumerate(table.pairs)
                if not any(s and p for s, p in zip(silent, pair, strict=True))
            ]
            assert view.chosen.tolist() == expected
            for k, at_left, at_right in zip(
                view.chosen, view.at_left, view.at_right, strict=True
            ):
                left, right = map(inventory.encode, table.pairs[k])
                assert view.left.node[left] == at_left
                assert view.right.node[right] == at_right


def test_unmatched_and_symmetric_pairs() -> None:
    pairs = {
        (EMPTY, EMPTY): 1,
        (COMMA, COMMA): 1,
        (("(",), (")",)): 1,
        (("(",), EMPTY): 1,
        (("(", "``"), ("''", ")")): 1,
        (("(", "``"), (")", "''")): 1,
        (EMPTY, ("?",)): 1,
        (("¿",), DOT): 1,
    }
    marks = (BOS, ",", ".", "(", ")", "``", "''", "?", "¿", UNK)
    unigram = (0.0, *np.full(len(marks) - 1, 1 / (len(marks) - 1)))
    inventory = Inventory(
        marks, ("X",), {ANY_RELATION: pairs}, Backoff(0.0, 0.0, unigram)
    )
    (table,) = inventory.pair_tables
    assert table.symmetric.tolist() == [False, True, True, False, True] + [False] * 3
    unmatched = [False, False, False, True, False, True, False, True]
    assert table.unmatched.tolist() == unmatched


def test_trie() -> None:
    trie = Trie([(3,), (1, 2), (2, 1), (1, 2), ()])
    assert trie.node == {(): 0, (1,): 1, (2,): 2, (3,): 3, (1, 2): 4, (2, 1): 5}
    assert len(trie) == 6
    levels = [
        (nodes, parents.tolist(), marks.tolist())
        for nodes, parents, marks in trie.levels
    ]
    assert levels == [
        (slice(1, 4), [0, 0, 0], [1, 2, 3]),
        (slice(4, 6), [1, 2], [2, 1]),
    ]


def test_empty_trie() -> None:
    for strings in ([], [()]):
        trie = Trie(strings)
        assert trie.node == {(): 0}
        assert trie.levels == []
