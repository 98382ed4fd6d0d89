"""The log-linear scorer against the templates of appendices A and C, written out
again."""

import zlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import is_symmetric
from spacy_punct.data.tree import ROOT, Slots, Tree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.model.attach import (
    LogLinearAttach,
    RelationScores,
    check_scores,
    encode,
)
from spacy_punct.model.automaton import Automata
from spacy_punct.model.channel import ChannelWeights
from spacy_punct.model.features import Observer
from spacy_punct.model.inventory import Inventory
from spacy_punct.model.objective import likelihood
from tests.model.conftest import numeric_slope

DALE = PunctuatedTree(
    Tree(
        words=("Dale", "means", "river", "valley"),
        tags=("NOUN", "VERB", "NOUN", "NOUN"),
        heads=(1, ROOT, 3, 1),
        relations=("nsubj", "root", "compound", "dobj"),
    ),
    (("``",), ("''",), ("``",), (), (".", "''")),
)


def firing(tree: Tree, slots: Slots, node: int) -> Counter[tuple]:
    """The context part of every feature of appendices A and C that fires at a node.

    The templates are spelled out from the paper, l and r left open. Pairs (l', r')
    seen less than 3 times go by the name of "other".
    """
    g, d, head = tree.tags[node], tree.relations[node], tree.heads[node]
    directed = (d, "left" if head > node else "right")
    contexts = [(g, directed), (g, d), (g,), (directed,), (d,)]
    left, right = tree.spans[node]
    length = right - left
    observed: Counter[tuple] = Counter([("N",)])
    observed["W", 1 if length <= 2 else 2 if length <= 5 else 3] += 1
    ancestor = head
    while ancestor != ROOT:
        observed["A", tree.relations[ancestor]] += 1
        ancestor = tree.heads[ancestor]
    for kid, kid_head in enumerate(tree.heads):
        if kid_head == node:
            observed["C", tree.relations[kid]] += 1
    for mark in {mark for slot in slots[left + 1 : right] for mark in slot}:
        observed["c", mark] += 1
    features = Counter(
        {(*what, *context): n for what, n in observed.items() for context in contexts}
    )
    tags = ("BOS", *tree.tags, "EOS")
    if tree.observed_pairs is not None:
        pair = tree.observed_pairs[node]
        for what in [("N",), ("W", 1 if length <= 2 else 2 if length <= 5 else 3)]:
            for context in [(g, directed), (directed,), (g,), ()]:
                features[(*what, *context, pair)] += 1
    features["L", tags[left], tags[left + 1]] += 1
    features["R", tags[right], tags[right + 1]] += 1
    features.update(("S", *context) for context in contexts)
    return features


@pytest.fixture(scope="module")
def examples(sample) -> tuple[PunctuatedTree, ...]:
    return read_treebank(sample / "dev.conllu").examples


OBSERVED = [((), ()), ((), (",",)), ((",",), (",",)), ((), (".",)), ((), (",", ","))]
RARE = [(("?",), ()), ((), ("!", "!"))]


@pytest.fixture(scope="module")
def written(examples) -> tuple[PunctuatedTree, ...]:
    """The examples with random pairs behind what was written, some of them rare."""
    rng = np.random.default_rng(0)
    result = []
    for k, example in enumerate(examples):
        chosen = rng.integers(len(OBSERVED), size=len(example.tree))
        pairs = [OBSERVED[i] for i in chosen]
        pairs[:1] = RARE[k : k + 1] or pairs[:1]
        tree = replace(example.tree, observed_pairs=tuple(pairs))
        result.append(replace(example, tree=tree))
    return tuple(result)


@pytest.fixture(scope="module")
def scorer(examples) -> LogLinearAttach:
    return random_scorer(examples)


@pytest.fixture(scope="module")
def corrector(written) -> LogLinearAttach:
    return random_scorer(written)


def random_scorer(examples) -> LogLinearAttach:
    """A scorer with random weights."""
    inventory = Inventory.estimate(examples)
    scorer = LogLinearAttach.from_examples(inventory, examples)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weights in scorer.parameters():
            weights.copy_(torch.randn(weights.shape, generator=generator))
    return scorer


def scores_by_node(scorer, trees, slots) -> list[np.ndarray]:
    result = [np.zeros(0)] * sum(map(len, trees))
    prepared = [scorer.prepare(t, s) for t, s in zip(trees, slots, strict=True)]
    for group in scorer(prepared):
        for node, row in zip(group.nodes, group.scores, strict=True):
            result[node] = row.detach().double().numpy()
    return result


def test_attach_observes_the_papers_dale_example():
    """The features that table 7 of the paper lists for Dale, and no ancestor less."""
    features = firing(DALE.tree, DALE.slots, 0)
    assert features["N", "NOUN", ("nsubj", "left")] == 1
    assert features["W", 1, "NOUN", ("nsubj", "left")] == 1
    assert features["S", "NOUN", ("nsubj", "left")] == 1
    assert features["A", "root", "NOUN", ("nsubj", "left")] == 1
    assert features["L", "BOS", "NOUN"] == 1
    assert features["R", "NOUN", "VERB"] == 1
    assert is_symmetric(("``",), ("''",))
    inventory = Inventory.estimate([DALE] * 5)
    observer = Observer(inventory)
    seen = observer(DALE.tree, encode(inventory, DALE))
    relation = {d: k for k, d in enumerate(inventory.relations)}
    at = {
        int(o): v
        for n, o, v in zip(seen.node, seen.observation, seen.value, strict=True)
        if n == 0
    }
    assert at == {0: 1, 1: 1, observer.path + relation["root"]: 1}
    root = {int(o) for n, o in zip(seen.node, seen.observation, strict=True) if n == 1}
    marks = {inventory.mark_index[m] for m in ("``", "''")}
    assert root == {
        0,
        2,
        observer.below + relation["nsubj"],
        observer.below + relation["dobj"],
        *(observer.inside + mark for mark in marks),
    }
    assert seen.side.tolist() == [1, 0, 1, 0]


def name_rows(scorer: LogLinearAttach) -> list[tuple[torch.Tensor, tuple, tuple]]:
    """Every row of weights, with its pairs and its feature as `firing` names it.

    Rows are found by what `FeatureRows` stores: packed (observation, tag, side).
    """
    observer, inventory = scorer.observer, scorer.inventory
    n_relations = len(inventory.relations)

    def observation(number: int) -> tuple:
        if number == 0:
            return ("N",)
        if number <= 3:
            return ("W", number)
        if number < observer.below:
            return ("A", inventory.relations[number - observer.path])
        if number < observer.inside:
            return ("C", inventory.relations[number - observer.path - n_relations])
        if number < observer.paired:
            return ("c", inventory.marks[number - observer.inside])
        k, what = divmod(number - observer.paired, observer.path)
        return (*observation(what), (*observer.observed_pairs, "other")[k])

    def named_feature(number: int, context: tuple) -> tuple:
        """As `firing` has it: the pair (l', r') comes last."""
        if number < observer.paired:
            return (*observation(number), *context)
        *what, pair = observation(number)
        return (*what, *context, pair)

    named = []
    for d, keys in enumerate(scorer.rows.keys):
        relation = inventory.relations[d]
        for row, key in enumerate(keys.tolist()):
            rest, side = divmod(key, 3)
            number, tag = divmod(rest, observer.n_tags)
            directed = (relation, ("right", "left", None)[side])
            context: tuple = (directed,) if side < 2 else (relation,)
            if tag < len(inventory.tags):
                context = (inventory.tags[tag], *context)
            feature = named_feature(number, context)
            pairs = inventory.pair_tables[d].pairs
            named.append((scorer.by_relation[d][row], pairs, feature))
    for row, key in enumerate(scorer.rows.shared_keys.tolist()):
        number, tag = divmod(key, observer.n_tags)
        feature = named_feature(number, inventory.tags[tag : tag + 1])
        named.append((scorer.shared[row], inventory.all_pairs, feature))
    return named


@pytest.mark.parametrize("name", ["examples", "written"])
def test_attach_scores_are_the_sum_of_the_firing_features(name, request):
    """Each feature of the appendices gets a weight by its name; scores must add up."""
    examples = request.getfixturevalue(name)
    inventory = Inventory.estimate(examples)
    scorer = LogLinearAttach.from_examples(inventory, examples)

    def theta(feature: tuple, *pair: object) -> float:
        """A weight for a feature, fixed by its name."""
        return zlib.crc32(repr((feature, *pair)).encode()) / 2**32 - 0.5

    with torch.no_grad():
        for weights, pairs, feature in name_rows(scorer):
            weights.copy_(torch.tensor([theta(feature, pair) for pair in pairs]))
        tags = [*inventory.tags, "?", None]
        for table, name in ((scorer.left, "L"), (scorer.right, "R")):
            for key in range(len(table)):
                before, after = (tags[k] for k in divmod(key, len(tags)))
                feature = (name, before or "BOS", after or "EOS")
                table[key] = torch.tensor(
                    [theta(feature, puncteme) for puncteme in inventory.punctemes]
                )
        gds, gd, ds, only_d, only_g = scorer.symmetry
        for g, tag in enumerate(inventory.tags):
            only_g[g] = theta(("S", tag))
            for d, relation in enumerate(inventory.relations):
                gd[g, d], only_d[d] = (
                    theta(("S", tag, relation)),
                    theta(("S", relation)),
                )
                for side, word in enumerate(("right", "left")):
                    directed = (relation, word)
                    gds[g, d, side] = theta(("S", tag, directed))
                    ds[d, side] = theta(("S", directed))
    trees = [example.tree for example in examples]
    slots = [encode(inventory, example) for example in examples]
    scores = iter(scores_by_node(scorer, trees, slots))
    symmetric = 0
    for example in examples:
        known = inventory.known(example.slots)
        # Rare relations go by the name of what stands in for them.
        ids = map(inventory.relation_id, example.tree.relations)
        tree = replace(
            example.tree, relations=tuple(inventory.relations[d] for d in ids)
        )
        if tree.observed_pairs is not None:
            named = ["other" if pair in RARE else pair for pair in tree.observed_pairs]
            tree = replace(tree, observed_pairs=tuple(named))
        for node, relation in enumerate(tree.relations):
            found = next(scores)
            counts = inventory.pairs[relation]
            fired = firing(tree, known, node)
            for k, (l, r) in enumerate(counts):
                expected = np.log(counts[l, r])
                for feature, value in fired.items():
                    if feature[0] == "L":
                        expected += theta(feature, l)
                    elif feature[0] == "R":
                        expected += theta(feature, r)
                    elif feature[0] == "S":
                        expected += theta(feature) * is_symmetric(l, r)
                    else:
                        expected += value * theta(feature, (l, r))
                symmetric += is_symmetric(l, r)
                assert found[k] == pytest.approx(expected, abs=1e-3)
    assert symmetric > 100


def test_attach_starts_at_log_counts(examples):
    inventory = Inventory.estimate(examples)
    scorer = LogLinearAttach.from_examples(inventory, examples)
    (scores,) = scorer.node_scores([examples[0].tree])
    for node, relation in enumerate(scores.relations):
        counts = inventory.pairs[inventory.relations[relation]].values()
        assert scores.base[node] == pytest.approx(np.log(list(counts)), abs=1e-5)


@pytest.mark.parametrize(
    ("scorer_name", "name"), [("scorer", "examples"), ("corrector", "written")]
)
def test_attach_inference_agrees_with_training(scorer_name, name, request):
    """Base scores plus inside terms are the scores with the marks observed."""
    scorer = request.getfixturevalue(scorer_name)
    examples = request.getfixturevalue(name)
    inventory = scorer.inventory
    trees = [example.tree for example in examples]
    slots = [encode(inventory, example) for example in examples]
    expected = iter(scores_by_node(scorer, trees, slots))
    for tree, surface, found in zip(
        trees, slots, scorer.node_scores(trees), strict=True
    ):
        given = found.given(tree, surface, len(inventory.marks))
        for log_probs in given.log_probs:
            scores = torch.tensor(next(expected))
            assert log_probs == pytest.approx(
                torch.log_softmax(scores, 0).numpy(), abs=1e-4
            )


def test_attach_tells_frequent_observed_pairs_apart(corrector, scorer, written):
    assert set(corrector.observer.observed_pairs) == set(OBSERVED)
    assert scorer.observer.observed_pairs is None
    tree = written[0].tree
    unseen = ((), ("never", "seen"))
    first, second = (
        corrector.node_scores([replace(tree, observed_pairs=(pair,) * len(tree))])[0]
        for pair in (RARE[0], unseen)
    )
    for a, b in zip(first.base, second.base, strict=True):
        assert np.array_equal(a, b)


def test_attach_that_corrects_needs_observed_pairs(corrector, examples):
    with pytest.raises(PunctError, match=r"\[P123\].*explain"):
        corrector.node_scores([examples[0].tree])


def test_attach_that_restores_does_not_look_at_observed_pairs(
    scorer, examples, written
):
    plain, observed = (
        scorer.node_scores([part[0].tree])[0].base for part in (examples, written)
    )
    for a, b in zip(plain, observed, strict=True):
        assert np.array_equal(a, b)


def test_attach_unknown_tags_and_relations_fall_back(scorer):
    tree = Tree(["a", "b"], ["??", "NOUN"], [1, -1], ["never:seen", "root"])
    (scores,) = scorer.node_scores([tree])
    assert len(scores.base[0]) == len(scorer.inventory.all_pairs)
    assert np.isfinite(scores.base[0]).all()


def test_attach_scores_of_the_wrong_shape_are_named(scorer):
    group = RelationScores(0, np.array([0, 1]), torch.zeros(2, 99999))
    with pytest.raises(PunctError, match=r"\[P028\].*99999"):
        check_scores(scorer.inventory, group)


@pytest.mark.parametrize(
    ("kind", "direction"), [("table", "left-to-right"), ("shared", "right-to-left")]
)
def test_objective_gradient_is_numerically_right(scorer, examples, kind, direction):
    check_gradient(scorer, examples, kind, direction)


def test_objective_gradient_of_a_corrector_is_numerically_right(corrector, written):
    check_gradient(corrector, written, "table", "right-to-left")


def check_gradient(scorer, examples, kind, direction) -> None:
    """Every kind of weight, channel included, against central differences."""
    inventory = scorer.inventory
    batch = sorted(examples, key=lambda e: -sum(map(len, e.slots)))[:2]
    trees = [example.tree for example in batch]
    slots = [encode(inventory, example) for example in batch]
    prepared = [scorer.prepare(t, s) for t, s in zip(trees, slots, strict=True)]
    channel = ChannelWeights(inventory.marks, kind)
    modules = torch.nn.ModuleList([scorer, channel]).double()
    try:

        def objective():
            return likelihood(
                inventory,
                trees,
                slots,
                scorer(prepared),
                channel(),
                Automata(inventory, channel.channel(direction)),
                unmatched_weight=0.7,
            )

        modules.zero_grad()
        objective().surrogate.backward()
        rng = np.random.default_rng(0)
        named = dict(modules.named_parameters())
        # Relations are all alike: some that the sentences have, and one they lack.
        tables = [name for name in named if ".by_relation." in name]
        seen = [name for name in tables if named[name].grad is not None]
        unseen = [name for name in tables if name not in seen]
        kept = {*seen[:4], *unseen[:1]}
        assert len(kept) == 5
        checked = 0
        for name, weights in named.items():
            if name in tables and name not in kept:
                continue
            flat = weights.data.view(-1)
            slope = torch.zeros_like(flat)
            if weights.grad is not None:
                slope = weights.grad.view(-1)
            active = np.flatnonzero(slope.numpy())
            chosen = rng.choice(active, size=min(2, len(active)), replace=False)
            # Where no gradient is claimed there must be none.
            for k in (*chosen, rng.integers(len(flat))):
                numeric = numeric_slope(lambda: objective().objective, flat, k)
                assert slope[k].item() == pytest.approx(numeric, rel=1e-4, abs=1e-6), (
                    name
                )
                checked += 1
        assert checked > 20
    finally:
        scorer.float()
