"""Underlying trees: what comes of an edit, and what the channel makes of it."""

from collections import Counter

import numpy as np
import pytest

from spacy_punct.data.marks import ABBREVIATION_DOT, BOS, UNK
from spacy_punct.data.tree import Tree
from spacy_punct.errors import PunctError
from spacy_punct.model.channel import Channel
from spacy_punct.model.inventory import Backoff, Inventory
from spacy_punct.rephrasing.underlying import (
    UnderlyingTree,
    recover,
    regenerate,
    rewritten,
)
from spacy_punct.text.pairs import is_balanced
from tests.model.conftest import make_channel, make_distribution
from tests.truth import (
    HEADS,
    Noise,
    Recipe,
    Truth,
    p_value,
    random_case,
    random_noise,
)

EMPTY = ((), ())
MARKS = (BOS, ",", ".", "(", ")", ABBREVIATION_DOT, UNK)
ABSORBED = {", .": "b", ", ,": "b", f"{ABBREVIATION_DOT} .": "a"}


def channel(rules: dict[str, str] = ABSORBED) -> Channel:
    """Commas give way to periods and to each other, and to the sentence's start."""
    edits = Channel.identity(MARKS).edits.copy()
    for bigram, kept in {**rules, f"{BOS} ,": "a"}.items():
        a, b = (MARKS.index(mark) for mark in bigram.split())
        edits[:, a, b] = (0.1, 0.9, 0, 0) if kept == "b" else (0.1, 0, 0.9, 0)
    return Channel(MARKS, edits, "left-to-right")


def caper(word: str = "true") -> UnderlyingTree:
    """If true, the caper failed."""
    pairs = [EMPTY] * 5
    pairs[1] = ((",",), (",",))
    pairs[4] = ((), (".",))
    return UnderlyingTree(
        Tree(
            ("If", word, "the", "caper", "failed"),
            ("SCONJ", "ADJ", "DET", "NOUN", "VERB"),
            (1, 4, 3, 4, -1),
            ("mark", "advcl", "det", "nsubj", "root"),
        ),
        tuple(pairs),
    )


def random_balanced(rng: np.random.Generator) -> UnderlyingTree:
    """A tree whose constituents are bracketed at random."""
    size = int(rng.integers(2, 6))
    heads = HEADS[size][rng.integers(len(HEADS[size]))]
    choices = [EMPTY, (("(",), (")",)), ((",",), (",",)), (("(", "``"), ("''", ")"))]
    pairs = tuple(choices[k] for k in rng.integers(len(choices), size=size))
    words = tuple(f"w{i}" for i in range(size))
    tree = Tree(words, ("X",) * size, heads, ("dep",) * size)
    return UnderlyingTree(tree, pairs)


def test_underlying_paper_example():
    """Section 5.3: ^, If true, the caper failed. -> ^ the caper failed , If true ,."""
    tree = caper()
    assert tree.strings == ((BOS, ","), (), (",",), (), (), (".",))
    assert regenerate(tree.strings, channel()) == ((), (), (",",), (), (), (".",))
    orders = {4: (3, 4, 1)}
    moved = tree.rearranged(lambda i: orders.get(i) or tree.items(i))
    assert moved.words == ("the", "caper", "failed", "If", "true")
    assert moved.sources == (2, 3, 4, 0, 1)
    assert moved.tree.heads == (1, 2, -1, 4, 2)
    assert moved.tree.relations == ("det", "nsubj", "root", "mark", "advcl")
    assert moved.strings == ((BOS,), (), (), (",",), (), (",", "."))
    assert regenerate(moved.strings, channel()) == ((), (), (), (",",), (), (".",))


def test_underlying_abbreviation_dots_stay_with_their_words():
    tree = caper("approx.")
    assert tree.strings[2] == (ABBREVIATION_DOT, ",")
    orders = {4: (3, 4, 1)}
    moved = tree.rearranged(lambda i: orders.get(i) or tree.items(i))
    assert moved.strings[5] == (ABBREVIATION_DOT, ",", ".")
    # The comma gives way to the period, and this to the dot, which is in the word.
    rules = channel({**ABSORBED, f"{ABBREVIATION_DOT} ,": "a"})
    assert regenerate(moved.strings, rules)[5] == ()


def test_underlying_very_long_strings_stay_as_they_are():
    string = (",", ".") * 8
    assert regenerate([(BOS,), string], channel()) == ((), string)


def test_underlying_sampled_as_the_channel_has_it():
    strings = ((BOS, ","), (",", "."), (), (")",))
    counts: Counter = Counter()
    rng = np.random.default_rng(0)
    for _ in range(2000):
        counts[regenerate(strings, channel(), rng)] += 1
    expected = {
        ((), (".",), (), (")",)): 0.81,
        ((",",), (".",), (), (")",)): 0.09,
        ((), (",", "."), (), (")",)): 0.09,
        ((",",), (",", "."), (), (")",)): 0.01,
    }
    assert p_value(counts, expected) > 0.001


@pytest.mark.parametrize("seed", range(30))
def test_underlying_rewriting_is_the_channels(seed):
    rng = np.random.default_rng(seed)
    noise = random_noise(rng, (BOS, ",", ".", UNK))
    found = Channel(noise.marks, noise.edits, noise.direction)
    string = (BOS, *map(str, rng.choice([",", ".", "§"], 2)))
    truth: Counter = Counter()
    hidden = tuple(UNK if mark == "§" else mark for mark in string)
    for surface, p in noise.rewrite(hidden).items():
        truth[tuple("§" if mark == UNK else mark for mark in surface)] += p
    assert rewritten(found, string) == pytest.approx(
        {surface: p for surface, p in truth.items() if p}
    )


@pytest.mark.parametrize("seed", range(20))
def test_underlying_recovered_is_the_best_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    truth, surface, _ = random_case(rng, Recipe((2, 4), (2, 3), 3))
    words = [f"w{i}" for i in range(len(truth.tree))]
    places = range(5, 5 + len(words))
    model = make_distribution(truth)
    pairs = model.underlying(surface)
    found = recover(model.tree, pairs, surface, truth.inventory, words, places)
    assert found.words == tuple(words)
    assert found.sources == tuple(places)
    assert truth.joint(found.pairs, surface) == pytest.approx(truth.best(surface))


def test_underlying_unknown_marks_have_their_names_again():
    marks = (BOS, ABBREVIATION_DOT, UNK)
    pair = ((UNK,), (UNK, ABBREVIATION_DOT, UNK))
    pairs = {relation: {EMPTY: 1, pair: 1} for relation in ("a", "*")}
    inventory = Inventory(marks, ("X",), pairs, Backoff(0.0, 0.3, (0.0, 0.5, 0.5)))
    tree = Tree(("v", "w"), ("X", "X"), (1, -1), ("a", "a"))
    keep = Channel.identity(marks).edits
    truth = Truth(
        tree,
        inventory,
        [np.zeros(2)] * 2,
        [np.zeros((3, 2))] * 2,
        Noise(marks, keep, "left-to-right"),
    )
    surface = (("§",), (), ("¶", ABBREVIATION_DOT, "†"))
    pairs = make_distribution(truth).underlying(surface)
    found = recover(tree, pairs, surface, inventory, ("v", "w."))
    assert found.pairs == (EMPTY, (("§",), ("¶", "†")))
    assert found.strings == ((BOS, "§"), (), (ABBREVIATION_DOT, "¶", "†"))
    assert regenerate(found.strings, make_channel(truth.noise)) == (
        ("§",),
        (),
        ("¶", "†"),
    )


@pytest.mark.parametrize("seed", range(60))
def test_underlying_brackets_stay_balanced_when_a_part_is_dropped(seed):
    rng = np.random.default_rng(seed)
    tree = random_balanced(rng)
    assert is_balanced(tree.strings)
    gone = int(rng.integers(len(tree)))
    if gone == tree.tree.root:
        rest = tree.rearranged(tree.items, tree.tree.top_down[-1])
    else:
        rest = tree.rearranged(lambda i: [k for k in tree.items(i) if k != gone])
    assert is_balanced(rest.strings)
    noise = random_noise(rng, (BOS, ",", "(", ")", "``", "''"), 0.01)
    found = Channel(noise.marks, noise.edits, noise.direction)
    for draw in (None, rng):
        assert is_balanced(regenerate(rest.strings, found, draw, keep_brackets=True))


def test_underlying_trees_are_checked():
    tree = caper()
    with pytest.raises(PunctError, match="P140"):
        UnderlyingTree(tree.tree, tree.pairs[1:])
    with pytest.raises(PunctError, match="P140"):
        UnderlyingTree(tree.tree, tree.pairs, (0, 1, 2, 3, 3))
    crossing = Tree(("a", "b", "c", "d"), ("X",) * 4, (2, 3, -1, 2), ("dep",) * 4)
    with pytest.raises(PunctError, match="P016"):
        UnderlyingTree(crossing, (EMPTY,) * 4)
