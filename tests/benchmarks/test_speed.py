"""The speed claims, each measured as a ratio within one run.

    python -m pytest tests/benchmarks -s

prints the figures. They are taken on UD 1.4 English where it is at hand; on the
sample, whose inventory is a third as large, the literal algorithm has so much less
to do that only a lower bound is asked for.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import ROOT, Tree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.model.attach import encode
from spacy_punct.model.automaton import Automata
from spacy_punct.model.model import PunctuationModel
from spacy_punct.model.objective import likelihood
from spacy_punct.model.training import TrainingConfig, train
from tests.benchmarks.literal import LiteralAlgorithm
from tests.conftest import SAMPLE, TREEBANKS

pytestmark = pytest.mark.benchmark

ENGLISH = TREEBANKS / "en-1.4"
HAS_ENGLISH = ENGLISH.is_dir()
FOLDER = ENGLISH if HAS_ENGLISH else SAMPLE


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def examples() -> tuple[PunctuatedTree, ...]:
    return read_treebank(FOLDER / "train.conllu").examples


@pytest.fixture(scope="module")
def model(examples) -> PunctuationModel:
    """A briefly trained model: an untrained channel spreads over endless strings."""
    config = TrainingConfig(direction="left-to-right", max_epochs=1, batch_size=64)
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


def gradient(model: PunctuationModel, batch: Sequence[PunctuatedTree]) -> float:
    """log p of a batch and its gradient, as in a training step."""
    trees = [example.tree for example in batch]
    slots = [encode(model.inventory, example) for example in batch]
    prepared = [model.scorer.prepare(t, s) for t, s in zip(trees, slots, strict=True)]
    channel = model.channel_weights.channel(model.direction)
    found = likelihood(
        model.inventory,
        trees,
        slots,
        model.scorer(prepared),
        model.channel_weights(),
        Automata(model.inventory, channel),
    )
    found.surrogate.backward()
    return found.log_prob


def literal_gradient(model: PunctuationModel, batch: Sequence[PunctuatedTree]) -> float:
    """The same by Algorithm 1 to the letter."""
    total = 0.0
    for example in batch:
        slots = encode(model.inventory, example)
        rows = [torch.zeros(0)] * len(example.tree)
        for group in model.scorer([model.scorer.prepare(example.tree, slots)]):
            log_probs = torch.log_softmax(group.scores.double(), dim=1)
            for node, row in zip(group.nodes, log_probs, strict=True):
                rows[node] = row
        algorithm = LiteralAlgorithm(model.inventory, model.channel_weights())
        log_prob = algorithm.log_prob(example.tree, slots, rows)
        log_prob.backward()
        total += log_prob.item()
    return total


def test_speed_gradient_against_the_literal_algorithm(full_model, examples):
    batch = examples[:50]
    theirs = literal_gradient(full_model, batch[:3])
    assert gradient(full_model, batch[:3]) == pytest.approx(theirs, rel=1e-3)
    fast = seconds(lambda: gradient(full_model, batch), repeat=5)
    slow = seconds(lambda: literal_gradient(full_model, batch), repeat=1)
    print(
        f"\n50 sentences: {fast:.3f} s, literal {slow:.1f} s: {slow / fast:.0f} times"
    )
    assert slow / fast >= (100 if HAS_ENGLISH else 20)


def test_speed_samples_against_marginals(model, examples):
    trees = [example.tree for example in examples[:100]]

    def restore(n_samples: int) -> None:
        list(model.restore(trees, n_samples=n_samples))

    restore(1000)
    plain, sampled = seconds(lambda: restore(0)), seconds(lambda: restore(1000))
    print(
        f"\n100 sentences: {plain:.2f} s without samples, {sampled:.2f} s with 1000: "
        f"{sampled / plain:.2f} times"
    )
    assert sampled / plain <= 3


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

    def run(batch: list[PunctuatedTree]) -> None:
        if task == "gradient":
            for at in range(0, len(batch), max(1, 500 * len(batch) // total)):
                part = batch[at : at + max(1, 500 * len(batch) // total)]
                gradient(model, part)
        else:
            n_samples = 1000 if "samples" in task else 0
            list(model.restore([ex.tree for ex in batch], n_samples=n_samples))

    for batch in by_size.values():
        run(batch)
    per_word = {
        size: seconds(lambda batch=batch: run(batch)) / total
        for size, batch in by_size.items()
    }
    shown = ", ".join(f"{size}: {t * 1e6:.0f}" for size, t in per_word.items())
    print(f"\n{task}, microseconds a word by sentence length: {shown}")
    assert per_word[400] / per_word[10] <= 1.5
