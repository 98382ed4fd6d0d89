"""The analysis beside channels that are known and models that are enumerated."""

from collections import Counter, defaultdict
from itertools import pairwise, product
from math import log, prod

import numpy as np
import pytest

from scripts.learned import (
    Survey,
    analyze,
    certain_edits,
    rank_rules,
    survey,
    symmetric_relations,
)
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import BOS, UNK, is_symmetric
from spacy_punct.data.tree import Tree
from spacy_punct.model.attach import LogLinearAttach
from spacy_punct.model.channel import Channel, ChannelWeights
from spacy_punct.model.inventory import Inventory
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.model.rewrites import (
    NUNBERG_MARKS,
    learned_rewrites,
    nunberg_rules,
    underlying_slots,
)

KEEP, ABSORB_LEFT, ABSORB_RIGHT, TRANSPOSE = range(4)


def channel(
    rules: dict[str, tuple[float, float, float, float]],
    marks: tuple[str, ...] = (BOS, ",", ".", "''", ")", "*", UNK),
    direction: str = "right-to-left",
) -> Channel:
    """Probabilities of ab -> ab, b, a, ba; what is not given is kept."""
    edits = Channel.identity(marks).edits.copy()
    for bigram, probabilities in rules.items():
        a, b = (marks.index(mark) for mark in bigram.split())
        edits[:, a, b] = probabilities
    return Channel(marks, edits, direction)


LEARNED = channel(
    {
        ", .": (0.1, 0.7, 0.1, 0.1),  # rule: b
        "'' .": (0.5, 0.0, 0.2, 0.3),  # rule: ba
        ", )": (0.4, 0.1, 0.2, 0.3),  # rule: b
        ", ,": (0.4, 0.6, 0.0, 0.0),  # rule: a
        ". )": (0.1, 0.9, 0.0, 0.0),  # rule: b
        ". *": (0.2, 0.8, 0.0, 0.0),  # no mark of Nunberg's
        ") *": (0.2, 0.0, 0.0, 0.8),
        ") .": (0.1, 0.0, 0.9, 0.0),  # he keeps it
    }
)


@pytest.mark.parametrize("direction", ["left-to-right", "right-to-left"])
def test_ranks_of_rules(direction):
    found = rank_rules(Channel(LEARNED.marks, LEARNED.edits, direction))
    by_bigram = {"".join(rule.underlying): rule for rule in found.rules}
    assert {ab: (rule.p, rule.rank) for ab, rule in by_bigram.items()} == {
        ",.": (0.7, 1),
        "''.": (0.3, 2),
        ",)": (0.1, 4),
        ",,": (0.6, 1),
        ".)": (0.9, 1),
        # Kept for certain, so that all other outcomes share the second place.
        "..": (0.0, 2),
        ".,": (0.0, 2),
        "'',": (0.0, 2),
        ",''": (0.0, 2),
        ".''": (0.0, 2),
    }
    assert by_bigram["''."].best.surface == ("''", ".")
    assert found.n_rules == 90
    assert found.n_unknown == 80
    everything = found.all
    assert (everything.n, everything.first, everything.second) == (10, 3, 6)
    assert everything.lower == 1
    assert everything.mrr == pytest.approx((3 + 6 / 2 + 1 / 4) / 10)
    # Where nothing has more than half of it: ''. and ,).
    assert (found.confident.n, found.confident.second) == (8, 5)
    assert found.confident.mrr == pytest.approx((3 + 5 / 2) / 8)


def test_a_channel_that_is_nunbergs_has_all_rules():
    edits = Channel.identity((BOS, *NUNBERG_MARKS)).edits.copy()
    index = {mark: k for k, mark in enumerate((BOS, *NUNBERG_MARKS))}
    for (a, b), rule in nunberg_rules().items():
        edits[KEEP, index[a], index[b]] = 0.0
        edit = {(b,): ABSORB_LEFT, (a,): ABSORB_RIGHT, (b, a): TRANSPOSE}
        edit |= {(a,): ABSORB_LEFT} if a == b else {}
        edits[edit[rule.surface], index[a], index[b]] = 1.0
    found = Channel((BOS, *NUNBERG_MARKS), edits, "right-to-left")
    recall = rank_rules(found)
    assert recall.n_unknown == recall.all.second == recall.all.lower == 0
    assert recall.all == recall.confident
    assert recall.all.mrr == 1.0
    precision = certain_edits(learned_rewrites(found))
    assert precision.n_edits == precision.n_listed == 90
    assert precision.n_kept == precision.n_kept_rightly == 256 - 90
    assert precision.least_certain.best.p == 1.0


def test_certain_edits_of_frequent_bigrams():
    counts = Counter(
        {
            (",", "."): 50,  # not certain
            (".", ")"): 40,
            (".", "*"): 30,
            (")", "."): 25,
            (")", "*"): 24,  # too rare
            (")", ","): 60,  # kept, as he does
            (",", "''"): 70,  # kept, but he does not
            (BOS, ","): 99,
        }
    )
    rewrites = learned_rewrites(LEARNED, counts, min_count=25)
    assert [entry.count for entry in rewrites] == [99, 70, 60, 50, 40, 30, 25]
    found = certain_edits(rewrites)
    assert [("".join(edit.underlying), edit.count) for edit in found.edits] == [
        (".)", 40),
        (".*", 30),
        (").", 25),
    ]
    assert [edit.surface for edit in found.edits] == [(")",), ("*",), (")",)]
    assert [edit.is_listed for edit in found.edits] == [True, False, False]
    assert [edit.is_covered for edit in found.edits] == [True, False, True]
    assert (found.n_edits, found.n_listed, found.n_uncovered) == (3, 1, 1)
    assert (found.n_kept, found.n_kept_rightly) == (2, 1)
    assert found.least_certain.underlying == (",", ".")
    assert found.least_certain.best.p == 0.7


def test_rewrites_without_counts_are_the_certain_ones():
    rewrites = learned_rewrites(LEARNED)
    chances = [entry.best.p for entry in rewrites]
    assert chances == sorted(chances, reverse=True)
    assert min(chances) > 0.75
    found = {"".join(entry.underlying): entry for entry in rewrites}
    assert ",." not in found
    assert found[")."].best.surface == (")",)
    assert found[")."].count is None
    assert not any({BOS, UNK} & set(entry.underlying) for entry in rewrites)


def test_outcomes_are_the_whole_distribution():
    (entry,) = learned_rewrites(LEARNED, Counter({("''", "."): 3}), min_count=3)
    outcomes = [(outcome.surface, outcome.p) for outcome in entry.outcomes]
    assert outcomes == [
        (("''", "."), 0.5),
        ((".", "''"), 0.3),
        (("''",), 0.2),
    ]


# A treebank whose underlying trees can be counted by hand

TREE = Tree(("a", "b", "c", "d"), ("N", "V", "N", "N"), (1, -1, 1, 2), tuple("srou"))
CHAIN = Tree(("a", "b"), ("N", "N"), (-1, 0), ("r", "o"))
COMMA, STOP = (",",), (".",)
EXAMPLES = (
    PunctuatedTree(TREE, ((), COMMA, COMMA, (), STOP)),
    PunctuatedTree(TREE, ((), (), (), (), STOP)),
    PunctuatedTree(TREE, ((), (), COMMA, COMMA, STOP)),
    PunctuatedTree(CHAIN, ((), COMMA, COMMA)),
    PunctuatedTree(CHAIN, ((), ("``",), ("''",))),
    PunctuatedTree(CHAIN, ((), ("``",), (".", "''"))),
)


@pytest.fixture(scope="module")
def model() -> PunctuationModel:
    """Of random weights, hardly any of them on the back-off."""
    examples = EXAMPLES
    inventory = Inventory.estimate(
        examples, min_mark_count=1, min_relation_count=1, backoff_mass=1e-12
    )
    scorer = LogLinearAttach.from_examples(inventory, examples, min_count=1)
    weights = ChannelWeights(inventory.marks, "table", seed=1)
    return PunctuationModel(inventory, scorer, weights, "right-to-left")


def underlying(tree: Tree, pairs) -> list[tuple[str, ...]]:
    """By the definition: what ends at a slot, the longest last, then what begins."""
    slots = []
    for slot in range(len(tree) + 1):
        depth = {i: len(_above(tree, i)) for i in range(len(tree))}
        ends = [i for i, (_, end) in enumerate(tree.spans) if end == slot]
        begins = [i for i, (first, _) in enumerate(tree.spans) if first == slot]
        marks = [m for i in sorted(ends, key=lambda i: -depth[i]) for m in pairs[i][1]]
        marks += [BOS] if slot == 0 else []
        marks += [m for i in sorted(begins, key=depth.get) for m in pairs[i][0]]
        slots.append(tuple(marks))
    return slots


def _above(tree: Tree, i: int) -> list[int]:
    return [] if tree.heads[i] < 0 else [tree.heads[i], *_above(tree, tree.heads[i])]


def enumerated(model: PunctuationModel):
    """Every underlying tree of every example, and its joint probability."""
    for tree, slots in ((example.tree, example.slots) for example in EXAMPLES):
        distribution = model.distribution(tree)
        nodes = [distribution.attach(i, slots) for i in range(len(tree))]
        surface = [(BOS, *slots[0]), *slots[1:]]
        weights = {}
        for pairs in product(*nodes):
            # An empty slot has nothing underlying; this saves most of the work.
            strings = underlying(tree, pairs)
            empty = (s == () and u != () for s, u in zip(surface, strings, strict=True))
            if strings[0] != (BOS,) or any(empty):
                continue
            p = prod(node[pair] for node, pair in zip(nodes, pairs, strict=True))
            for string, seen in zip(strings, surface, strict=True):
                p *= (
                    model.channel.rewrite(string).get(seen, 0.0) if string else not seen
                )
            if p > 0:
                weights[pairs] = p
        yield tree, weights


def test_survey_is_what_enumeration_finds(model):
    found = survey(model, EXAMPLES)
    bigrams: Counter = Counter()
    nodes: Counter = Counter()
    expected = defaultdict(lambda: defaultdict(float))
    for tree, weights in enumerated(model):
        best = max(weights, key=weights.get)
        assert underlying_slots(tree, best) == tuple(underlying(tree, best))
        for slot in underlying(tree, best):
            bigrams.update(pairwise(slot))
        nodes.update(tree.relations)
        total = sum(weights.values())
        for pairs, weight in weights.items():
            for relation, pair in zip(tree.relations, pairs, strict=True):
                expected[relation][pair] += weight / total
    assert found.n_sents == len(EXAMPLES)
    assert found.bigrams == bigrams
    assert bigrams
    assert found.nodes == nodes
    for relation, pairs in expected.items():
        got = {pair: n for pair, n in found.pairs[relation].items() if n > 1e-6}
        wanted = {pair: n for pair, n in pairs.items() if n > 1e-6}
        assert got == pytest.approx(wanted, abs=1e-5)


def test_symmetric_relations_of_enumerated_trees(model):
    relations = symmetric_relations(survey(model, EXAMPLES), min_count=4, n_pairs=2)
    counts = Counter(d for example in EXAMPLES for d in example.tree.relations)
    assert {r.relation for r in relations} == {d for d, n in counts.items() if n >= 4}
    assert [r.symmetric for r in relations] == sorted(
        (r.symmetric for r in relations), reverse=True
    )
    expected = defaultdict(float)
    for tree, weights in enumerated(model):
        for pairs, weight in weights.items():
            for relation, pair in zip(tree.relations, pairs, strict=True):
                if relation == "o":
                    expected[pair] += weight / sum(weights.values()) / counts["o"]
    (found,) = (r for r in relations if r.relation == "o")
    assert found.count == 6
    assert found.symmetric == pytest.approx(
        sum(p for pair, p in expected.items() if is_symmetric(*pair)), abs=1e-6
    )
    assert found.symmetric > 0.01
    entropy = -sum(p * log(p) for p in expected.values() if p)
    assert found.entropy == pytest.approx(entropy, abs=1e-5)
    best = sorted(expected, key=expected.get, reverse=True)[:2]
    assert [(pair.left, pair.right) for pair in found.pairs] == best


def test_entropy_is_in_nats_and_of_pairs_alone():
    pairs = {(COMMA, COMMA): 1.0, ((), ()): 1.0, (("(",), (")",)): 2.0}
    # A quarter of the words took what is not in W_d.
    found = Survey(1, Counter(), Counter({"appos": 5, "rare": 4}), {"appos": pairs})
    (relation,) = symmetric_relations(found, min_count=5)
    assert relation.symmetric == 0.75
    assert relation.entropy == pytest.approx(1.5 * np.log(2))
    assert [pair.p for pair in relation.pairs] == [0.5, 0.25, 0.25]
    assert [pair.is_symmetric for pair in relation.pairs] == [True, False, True]


def test_analysis_of_a_trained_model(trained, sample):
    from spacy_punct.data.treebank import read_treebank

    examples = read_treebank(sample / "dev.conllu").examples
    found = analyze(trained.model, examples, min_count=2, min_relation_count=10)
    assert found.n_sents == len(examples)
    assert found.relations
    assert found.rewrites
    assert [r.count for r in found.rewrites] == sorted(
        (r.count for r in found.rewrites), reverse=True
    )
    as_read, first = found.to_dict()["rewrites"][0], found.rewrites[0]
    assert tuple(as_read["underlying"]) == first.underlying
    assert as_read["count"] == first.count
    alone = analyze(trained.model)
    assert (alone.n_sents, alone.relations) == (0, ())
    assert alone.recall == found.recall
