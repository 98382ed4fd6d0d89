"""The log-linear scorer against the templates of appendix A, written out again."""

from collections import Counter

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
from spacy_punct.model.channel_weights import ChannelWeights
from spacy_punct.model.features import Observer
from spacy_punct.model.inventory import Inventory
from spacy_punct.model.objective import likelihood

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
    """The context part of every feature of appendix A that fires at a node.

    The templates are spelled out from the paper, l and r left open.
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
    features["L", tags[left], tags[left + 1]] += 1
    features["R", tags[right], tags[right + 1]] += 1
    features.update(("S", *context) for context in contexts)
    return features


@pytest.fixture(scope="module")
def examples(sample) -> tuple[PunctuatedTree, ...]:
    return read_treebank(sample / "dev.conllu").examples


@pytest.fixture(scope="module")
def scorer(examples) -> LogLinearAttach:
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


def test_attach_has_every_template_and_backoff(examples):
    """Two nodes get the same scores for all weights iff the same features fire.

    With random weights, the difference of two nodes' scores (same relation) must
    be explained by the features in which they differ: nodes with equal features
    have equal scores, and changing any one feature changes the scores.
    """
    inventory = Inventory.estimate(examples)
    scorer = LogLinearAttach.from_examples(inventory, examples)
    trees = [example.tree for example in examples]
    slots = [encode(inventory, example) for example in examples]
    features, relations = [], []
    for example in examples:
        known = inventory.known(example.slots)
        for node in range(len(example.tree)):
            features.append(firing(example.tree, known, node))
            relations.append(example.tree.relations[node])
    vocabulary = sorted({key for f in features for key in f}, key=repr)
    place = {key: k for k, key in enumerate(vocabulary)}
    matrix = np.zeros((len(features), len(vocabulary)))
    for row, fired in enumerate(features):
        for key, value in fired.items():
            matrix[row, place[key]] = value
    # Scores of a pair are linear in the features: the span of the two must agree.
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weights in scorer.parameters():
            weights.copy_(torch.randn(weights.shape, generator=generator))
    scores = scores_by_node(scorer, trees, slots)
    for relation in ("nsubj", "obl", "advcl", "root"):
        nodes = [k for k, d in enumerate(relations) if d == relation]
        table = inventory.pair_tables[inventory.relation_id(relation)]
        pair = len(table) // 2
        targets = np.array([scores[k][pair] for k in nodes])
        here = matrix[nodes]
        solution, *_ = np.linalg.lstsq(here, targets, rcond=None)
        assert here @ solution == pytest.approx(targets, abs=1e-3)
        # Every column matters: the model's own design has the same rank.
        design = own_design(scorer, trees, slots, nodes, table, pair)
        assert np.linalg.matrix_rank(design) == np.linalg.matrix_rank(here)


def own_design(scorer, trees, slots, nodes, table, pair) -> np.ndarray:
    """Gradient of each node's score of a pair by all weights."""
    prepared = [scorer.prepare(t, s) for t, s in zip(trees, slots, strict=True)]
    rows = []
    groups = scorer(prepared)
    for node in nodes:
        group = next(g for g in groups if node in g.nodes)
        at = int(np.searchsorted(group.nodes, node))
        scorer.zero_grad()
        group.scores[at, pair].backward(retain_graph=True)
        rows.append(
            np.concatenate(
                [
                    w.grad.numpy().ravel()
                    for w in scorer.parameters()
                    if w.grad is not None
                ]
            )
        )
    return np.stack(rows)


def test_attach_starts_at_log_counts(examples):
    inventory = Inventory.estimate(examples)
    scorer = LogLinearAttach.from_examples(inventory, examples)
    (scores,) = scorer.node_scores([examples[0].tree])
    for node, relation in enumerate(scores.relations):
        counts = inventory.pairs[inventory.relations[relation]].values()
        assert scores.base[node] == pytest.approx(np.log(list(counts)), abs=1e-5)


def test_attach_inference_agrees_with_training(scorer, examples):
    """Base scores plus inside terms are the scores with the marks observed."""
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


def test_attach_unknown_tags_and_relations_fall_back(scorer):
    tree = Tree(["a", "b"], ["??", "NOUN"], [1, -1], ["never:seen", "root"])
    (scores,) = scorer.node_scores([tree])
    assert len(scores.base[0]) == len(scorer.inventory.all_pairs)
    assert np.isfinite(scores.base[0]).all()


def test_attach_scores_of_the_wrong_shape_are_named(scorer):
    group = RelationScores(0, np.array([0, 1]), torch.zeros(2, 99999))
    with pytest.raises(PunctError, match=r"\[P028\].*99999"):
        check_scores(scorer.inventory, group)


@pytest.mark.parametrize("kind", ["table", "shared"])
@pytest.mark.parametrize("direction", ["left-to-right", "right-to-left"])
@pytest.mark.parametrize("squared", [True, False])
def test_objective_gradient_is_numerically_right(
    scorer, examples, kind, direction, squared
):
    """Every kind of weight, channel included, against central differences."""
    inventory = scorer.inventory
    batch = sorted(examples, key=lambda e: -sum(map(len, e.slots)))[:4]
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
                squared=squared,
            )

        modules.zero_grad()
        objective().surrogate.backward()
        rng = np.random.default_rng(0)
        checked = 0
        for name, weights in modules.named_parameters():
            if weights.grad is None:
                continue
            flat, slope = weights.data.view(-1), weights.grad.view(-1)
            active = np.flatnonzero(slope.numpy())
            for k in rng.choice(active, size=min(3, len(active)), replace=False):
                step, value = 1e-5, flat[k].item()
                flat[k] = value + step
                above = objective().objective
                flat[k] = value - step
                below = objective().objective
                flat[k] = value
                numeric = (above - below) / (2 * step)
                assert slope[k].item() == pytest.approx(numeric, rel=1e-4, abs=1e-6), (
                    name
                )
                checked += 1
        assert checked > 20
    finally:
        scorer.float()
