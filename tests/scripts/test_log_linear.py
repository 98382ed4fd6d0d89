from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from scripts.log_linear import TrainingConfig, train, train_model
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import ROOT, Tree
from spacy_punct.errors import PunctError
from spacy_punct.model.attach import LogLinearAttach, RelationScores, encode
from spacy_punct.model.channel import DIRECTIONS, ChannelWeights
from spacy_punct.model.evaluation import evaluate, score
from spacy_punct.model.inventory import Inventory
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.model.scores import NodeScores
from spacy_punct.model.storage import to_bytes
from tests.conftest import FAST


def test_training_learns_the_sample(trained, splits):
    examples, _, test = splits
    untrained = train(examples, test, replace(FAST, max_epochs=0), show_progress=False)
    assert trained.model.perplexity(test) < 0.9 * untrained.model.perplexity(test)
    scores = evaluate(trained.model, test, n_samples=0)
    assert scores["aed"] < 0.6 * scores["aed_trivial"]
    assert scores["per_mark"][","]["f"] > 0.6


def test_training_with_the_channel_beats_training_without(trained, splits):
    examples, dev, test = splits
    ablated = train(
        examples, dev, replace(FAST, channel="identity"), show_progress=False
    )
    assert trained.model.perplexity(test) < ablated.model.perplexity(test)
    assert ablated.model.channel.rewrite((",", ".")) == {(",", "."): 1.0}


def test_training_is_reproducible(trained, splits):
    examples, dev, _ = splits
    for seed, is_same in ((FAST.seed, True), (FAST.seed + 1, False)):
        config = replace(FAST, seed=seed, max_epochs=1)
        found = train(examples, dev, config, show_progress=False)
        assert (found.history[0] == trained.history[0]) == is_same


def test_training_keeps_the_best_weights_and_stops(splits):
    examples, dev, _ = splits
    config = replace(FAST, learning_rate=0.3, max_epochs=50, patience=2)
    result = train(examples[:60], dev, config, show_progress=False)
    perplexities = result.history
    assert len(perplexities) < 50
    assert result.dev_perplexity == result.model.perplexity(dev)
    assert result.dev_perplexity == pytest.approx(min(perplexities), rel=1e-3)
    assert min(perplexities) not in perplexities[-2:]


def test_training_lets_dev_choose_the_direction(splits):
    examples, dev, _ = splits
    results = {
        direction: train(
            examples[:80],
            dev[:40],
            replace(FAST, direction=direction, max_epochs=1),
            show_progress=False,
        )
        for direction in (None, *DIRECTIONS)
    }
    both = results.pop(None)
    best = min(results.values(), key=lambda result: result.dev_perplexity)
    assert both.model.direction == best.model.direction
    assert both.dev_perplexity == best.dev_perplexity


@pytest.mark.parametrize("one_sided", [False, True])
def test_training_regularises_unmatched_marks(splits, trained, one_sided):
    examples, dev, _ = splits
    config = replace(FAST, unmatched_weight=5.0, one_sided=one_sided)
    strict = train(examples, dev, config, show_progress=False)

    def unmatched(model: PunctuationModel) -> float:
        trees = [example.tree for example in dev]
        slots = [encode(model.inventory, example) for example in dev]
        prepared = map(model.scorer.prepare, trees, slots)
        found = model.likelihood(
            trees, slots, list(prepared), unmatched_weight=1.0, one_sided=one_sided
        )
        return found.unmatched

    assert unmatched(strict.model) < unmatched(trained.model)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_training_diverging_is_an_error(splits):
    examples, dev, _ = splits
    config = replace(FAST, learning_rate=float("nan"))
    with pytest.raises(PunctError, match=r"\[P026\]"):
        train(examples, dev, config, show_progress=False)


def test_training_finds_the_underlying_commas_of_the_caper(trained):
    """If true, the caper failed. The clause is set off by two commas underlyingly:
    one is absorbed by the start of the sentence."""
    tree = Tree(
        words=("If", "true", "the", "caper", "failed"),
        tags=("SCONJ", "ADJ", "DET", "NOUN", "VERB"),
        heads=(1, 4, 3, 4, ROOT),
        relations=("mark", "advcl", "det", "nsubj", "root"),
    )
    surface = ((), (), (",",), (), (), (".",))
    distribution = trained.model.distribution(tree)
    pairs = distribution.viterbi(surface)
    assert pairs[1][1] == (",",)
    assert pairs[4] == ((), (".",))
    assert all(pairs[i] == ((), ()) for i in (0, 2, 3))
    assert trained.model.channel.rewrite(("^", ","))[("^",)] > 0.5
    assert distribution.log_prob(surface) > distribution.log_prob(
        ((), (",",), (), (), (), (".",))
    )


def test_training_small_weights_are_dropped_and_others_rounded(trained):
    config = TrainingConfig()
    for weights in trained.model.scorer.parameters():
        assert torch.equal(weights, weights.half().float())
        assert not ((weights != 0) & (weights.abs() < config.min_weight)).any()


def test_training_l2_and_averaging_matter(splits, trained):
    examples, dev, _ = splits
    norm = sum(w.square().sum().item() for w in trained.model.scorer.parameters())
    for change in ({"l2": 0.1}, {"dropout": 0.0}, {"averaging": 0.0}):
        config = replace(FAST, max_epochs=1, **change)
        other = train(examples, dev, config, show_progress=False)
        assert other.history[0] != trained.history[0]
        if "l2" in change:
            weights = other.model.scorer.parameters()
            assert sum(w.square().sum().item() for w in weights) < 0.5 * norm


def test_training_rare_features_can_be_left_out(splits):
    examples, _, _ = splits
    inventory = Inventory.estimate(examples)
    sizes = [
        sum(
            map(
                len,
                LogLinearAttach.from_examples(
                    inventory, examples, min_count=n
                ).rows.keys,
            )
        )
        for n in (1, 2, 5)
    ]
    assert sizes[0] > sizes[1] > sizes[2] > 0


class PriorScorer(nn.Module):
    """Another scorer: one weight a pair, whatever the tree."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__()
        self.inventory = inventory
        self.weights = nn.ParameterList(
            torch.zeros(len(table)) for table in inventory.pair_tables
        )

    def prepare(self, tree: Tree, slots=None) -> list[int]:
        return list(map(self.inventory.relation_id, tree.relations))

    def forward(self, batch: list[list[int]]) -> list[RelationScores]:
        relations = np.concatenate(batch)
        groups = ((d, np.flatnonzero(relations == d)) for d in np.unique(relations))
        return [
            RelationScores(int(d), nodes, self.weights[d].expand(len(nodes), -1))
            for d, nodes in groups
        ]

    def node_scores(self, trees: list[Tree]) -> list[NodeScores]:
        size = len(self.inventory.marks)
        return [
            NodeScores(
                relations,
                [self.weights[d].detach().double().numpy() for d in relations],
                lambda node, r=relations: np.zeros((size, len(self.weights[r[node]]))),
            )
            for relations in map(self.prepare, trees)
        ]

    def refresh(self) -> None:
        pass


def test_training_takes_another_scorer(splits):
    examples, dev, _ = splits
    inventory = Inventory.estimate(examples)
    model = PunctuationModel(
        inventory,
        PriorScorer(inventory),
        ChannelWeights(inventory.marks),
        "left-to-right",
    )
    before = model.perplexity(dev)
    config = replace(FAST, learning_rate=0.1)
    history = train_model(model, examples[:100], dev, config, show_progress=False)
    assert min(history) == model.perplexity(dev) < 0.5 * before
    tree = dev[0].tree
    assert len(next(iter(model.restore([tree], n_samples=0)))) == len(tree) + 1
    with pytest.raises(PunctError, match=r"\[P033\].*PriorScorer"):
        to_bytes(model)


@pytest.mark.parametrize("kind", ["table", "shared", "identity"])
def test_channel_weights_give_probabilities(kind):
    marks = ("^", ",", ".", "``", "''")
    weights = ChannelWeights(marks, kind)
    with torch.no_grad():
        for parameter in weights.parameters():
            parameter.add_(torch.randn(parameter.shape))
    edits = weights.channel("left-to-right").edits
    assert edits.sum(axis=0) == pytest.approx(np.ones((5, 5)))
    assert (edits >= 0).all()


def test_channel_weights_reject_unknown_kinds():
    with pytest.raises(PunctError, match=r"\[P022\].*table, shared, identity"):
        ChannelWeights((",",), "tabel")
    with pytest.raises(PunctError, match=r"\[P021\].*left-to-right"):
        ChannelWeights((",",)).channel("upwards")


def test_scores_by_hand():
    truth = [(((), (",",), (".",))), ((), ("'", "."))]
    restored = [((), (), (".",)), ((",",), (".", "'"))]
    found = score(restored, truth)
    # One comma missed; one comma too many; a transposition costs two.
    assert found.aed == pytest.approx((1 + 1 + 2) / 5)
    assert (found.n_sents, found.n_slots) == (2, 5)
    comma, period = found.per_mark[","], found.per_mark["."]
    assert (comma.p, comma.r, comma.f, comma.support) == (0.0, 0.0, 0.0, 1)
    assert (period.p, period.r, period.f, period.support) == (1.0, 1.0, 1.0, 2)
    assert found.micro_f == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    "setting",
    [
        {"batch_size": 0},
        {"max_epochs": -1},
        {"patience": 0},
        {"dropout": 1.0},
        {"averaging": 2.0},
        {"l2": -1.0},
        {"seed": -1},
    ],
)
def test_bad_settings(setting):
    (name,) = setting
    with pytest.raises(PunctError, match=rf"\[P024\] {name}"):
        TrainingConfig(**setting)


def test_training_on_nothing():
    example = PunctuatedTree(Tree(["a"], ["X"], [ROOT], ["root"]), ((), (".",)))
    for examples, dev in (([], [example]), ([example], [])):
        with pytest.raises(PunctError, match=r"\[P020\]"):
            train(examples, dev, FAST, show_progress=False)


def test_training_on_crossing_trees(trained):
    crossing = Tree(["a", "b", "c"], ["X"] * 3, [2, ROOT, 1], ["x"] * 3)
    example = PunctuatedTree(crossing, ((), (), (), (".",)))
    assert not crossing.is_projective
    with pytest.raises(PunctError, match=r"\[P016\]"):
        train_model(trained.model, [example], [example], FAST, show_progress=False)
