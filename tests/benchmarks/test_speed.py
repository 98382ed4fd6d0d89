"""The speed claims, each measured as a ratio within one run.

    python -m pytest tests/benchmarks -s

prints the figures. The claims are about UD 1.4 English; without it there is nothing
to measure.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from scripts.log_linear import TrainingConfig, train
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import ROOT, Tree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.encoder.tok2vec import at_most_threads
from spacy_punct.model.attach import encode
from spacy_punct.model.automaton import Automata
from spacy_punct.model.objective import likelihood
from spacy_punct.model.punctuation import PunctuationModel
from tests.benchmarks.literal import LiteralAlgorithm
from tests.conftest import TREEBANKS

FOLDER = TREEBANKS / "en-1.4"

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no treebank at {FOLDER}"),
]


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with at_most_threads(1):
        yield


@pytest.fixture(scope="module")
def examples() -> tuple[PunctuatedTree, ...]:
    return read_treebank(FOLDER / "train.conllu").examples


@pytest.fixture(scope="module")
def model(examples) -> PunctuationModel:
    """A briefly trained model: an untrained channel spreads over endless strings."""
    config = TrainingConfig(
        direction="left-to-right",
        learning_rate=0.02,
        channel_learning_rate=0.1,
        dropout=0.0,
        max_epochs=3,
    )
    dev = read_treebank(FOLDER / "dev.conllu").examples[:100]
    return train(examples[:3000], dev, config, show_progress=False).model


@pytest.fixture(scope="module")
def full_model(examples) -> PunctuationModel:
    """An untrained model with the whole training set's inventory."""
    return PunctuationModel.from_examples(examples, direction="left-to-right")


def seconds(function: Callable[[], object], repeat: int = 3) -> float:
    """The best of a few runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


class Step:
    """A training step's log p and gradient, on sentences prepared beforehand."""

    def __init__(
        self, model: PunctuationModel, batch: Sequence[PunctuatedTree]
    ) -> None:
        self.model = model
        self.trees = [example.tree for example in batch]
        self.slots = [encode(model.inventory, example) for example in batch]
        self.prepared = [
            model.scorer.prepare(tree, slots)
            for tree, slots in zip(self.trees, self.slots, strict=True)
        ]

    def ours(self) -> float:
        model = self.model
        channel = model.channel_weights.channel(model.direction)
        found = likelihood(
            model.inventory,
            self.trees,
            self.slots,
            model.scorer(self.prepared),
            model.channel_weights(),
            Automata(model.inventory, channel),
        )
        found.surrogate.backward()
        return found.log_prob

    def literal(self) -> float:
        """The same by Algorithm 1 to the letter."""
        model, total = self.model, 0.0
        for tree, slots, prepared in zip(
            self.trees, self.slots, self.prepared, strict=True
        ):
            rows = [torch.zeros(0)] * len(tree)
            for group in model.scorer([prepared]):
                log_probs = torch.log_softmax(group.scores.double(), dim=1)
                for node, row in zip(group.nodes, log_probs, strict=True):
                    rows[node] = row
            algorithm = LiteralAlgorithm(model.inventory, model.channel_weights())
            log_prob = algorithm.log_prob(tree, slots, rows)
            log_prob.backward()
            total += log_prob.item()
        return total


def test_speed_gradient_against_the_literal_algorithm(full_model, examples):
    few = Step(full_model, examples[:3])
    assert few.ours() == pytest.approx(few.literal(), rel=1e-3)
    step = Step(full_model, examples[:50])
    fast, slow = seconds(step.ours, repeat=5), seconds(step.literal, repeat=1)
    print(
        f"\n50 sentences: {fast:.3f} s, literal {slow:.1f} s: {slow / fast:.0f} times"
    )
    assert slow / fast >= 100


def test_speed_samples_against_marginals(model, examples):
    """It was 3 times at most before the marginals were made twice as fast."""
    trees = [example.tree for example in examples[:100]]

    def restore(n_samples: int) -> None:
        list(model.restore(trees, n_samples=n_samples))

    restore(1000)
    plain, sampled = seconds(lambda: restore(0)), seconds(lambda: restore(1000))
    print(
        f"\n100 sentences: {plain:.2f} s without samples, {sampled:.2f} s with 1000: "
        f"{sampled / plain:.2f} times"
    )
    assert sampled / plain <= 6


def test_speed_restoring_against_the_inside_pass(model, examples):
    """Marginals, the best surface and its best underlying tree, without samples."""
    batch = examples[:300]
    distributions = model.distributions([example.tree for example in batch])
    surfaces = [model.inventory.known(example.slots) for example in batch]

    def restore() -> None:
        for distribution in distributions:
            distribution.viterbi(distribution.restore(0), beam=32)

    def explain() -> None:
        for distribution, surface in zip(distributions, surfaces, strict=True):
            distribution.log_prob(surface)

    restore()
    restoring, explaining = seconds(restore), seconds(explain)
    n_words = sum(len(example.tree) for example in batch)
    print(
        f"\n{n_words / restoring:.0f} words a second, "
        f"{restoring / explaining:.1f} inside passes"
    )
    assert restoring / explaining <= 4


def joined(examples: Sequence[PunctuatedTree], size: int, rng) -> PunctuatedTree:
    """One sentence of exactly `size` words, made of shorter ones.

    Roots hang from an earlier part's root, and the last part is cut to fit: its
    words hang from their nearest head that is left.
    """
    words, tags, heads, relations = [], [], [], []
    slots: list[tuple[str, ...]] = [()]
    roots: list[int] = []
    while len(words) < size:
        example = examples[rng.integers(len(examples))]
        tree, start = example.tree, len(words)
        n = min(len(tree), size - start)
        if n < len(tree) and tree.root >= n:
            continue
        for i in range(n):
            head = tree.heads[i]
            while head >= n:
                head = tree.heads[head]
            is_root = head == ROOT
            if is_root and i != tree.root:
                head, is_root = tree.root, False
            words.append(tree.words[i])
            tags.append(tree.tags[i])
            relations.append("parataxis" if is_root and roots else tree.relations[i])
            above = roots[rng.integers(len(roots))] if roots else ROOT
            heads.append(above if is_root else start + head)
        slots[-1] = slots[-1] or example.slots[0]
        slots.extend(example.slots[1 : n + 1])
        roots.append(start + tree.root)
    tree = Tree(words, tags, heads, relations).projective()
    return PunctuatedTree(tree, tuple(slots))


@pytest.mark.parametrize("task", ["gradient", "restore", "restore with 1000 samples"])
def test_speed_per_word_is_flat_in_sentence_length(model, examples, task):
    rng = np.random.default_rng(0)
    total = 2000
    by_size = {
        size: [joined(examples, size, rng) for _ in range(total // size)]
        for size in (10, 50, 400)
    }

    def runner(batch: list[PunctuatedTree]) -> Callable[[], object]:
        if task == "gradient":
            return Step(model, batch).ours
        n_samples = 1000 if "samples" in task else 0
        trees = [example.tree for example in batch]
        return lambda: list(model.restore(trees, n_samples=n_samples))

    per_word = {size: seconds(runner(batch)) / total for size, batch in by_size.items()}
    shown = ", ".join(f"{size}: {t * 1e6:.0f}" for size, t in per_word.items())
    print(f"\n{task}, microseconds a word by sentence length: {shown}")
    assert max(per_word.values()) / min(per_word.values()) <= 1.5
