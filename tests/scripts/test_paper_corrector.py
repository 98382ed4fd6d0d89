"""The paper's corrector, on errors that restoration knows nothing of."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from scripts.log_linear import train
from scripts.paper_corrector import PaperCorrector, explain, train_corrector
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import UNK
from spacy_punct.errors import PunctError
from spacy_punct.model.evaluation import score
from tests.conftest import FAST

ENDS = (".", "!", "?")


def misspelt(examples, seed: int) -> list[PunctuatedTree]:
    """Sentences whose end mark is drawn by lot, seen by the writer alone; now and then
    it is one that nobody else uses. Half of the commas are left out, and some end marks
    are doubled."""
    rng = np.random.default_rng(seed)
    result = []
    for k, example in enumerate(examples):
        end = f"rare{seed}.{k}" if rng.random() < 0.1 else rng.choice(ENDS)
        slots = (*example.slots[:-1], (str(end),))
        observed = [
            () if slot == (",",) and rng.random() < 0.5 else slot for slot in slots
        ]
        if end in ENDS and rng.random() < 0.2:
            observed[-1] *= 2
        tree = replace(example.tree, observed=tuple(observed))
        result.append(replace(example, tree=tree, slots=slots))
    return result


@pytest.fixture(scope="module")
def treebank(splits) -> list[list[PunctuatedTree]]:
    return [misspelt(examples, seed) for seed, examples in enumerate(splits)]


@pytest.fixture(scope="module")
def corrector(treebank) -> PaperCorrector:
    return train_corrector(*treebank[:2], FAST, show_progress=False)


def test_correction_uses_what_was_written(corrector, treebank):
    trees = [example.tree for example in treebank[2]]
    known = corrector.correction.inventory.known
    truth = [known(example.slots) for example in treebank[2]]
    found = score(map(known, corrector.correct(trees, n_samples=0)), truth)
    written = score([known(tree.observed) for tree in trees], truth)
    assert found.aed < 0.7 * written.aed
    restored = corrector.restorer.restore(trees, n_samples=0)
    assert found.aed < 0.5 * score(restored, truth).aed
    for mark in ENDS:
        # By lot it would be a third.
        assert found.per_mark[mark].f > 0.65
    assert found.per_mark[","].r > written.per_mark[","].r + 0.1


def test_correction_keeps_marks_that_it_does_not_know(corrector, treebank):
    """Or takes them for errors, but never writes what it calls them."""
    rare = [e for e in treebank[2] if e.slots[-1][0] not in ENDS]
    corrected = list(corrector.correct([e.tree for e in rare], n_samples=0))
    ends = [slots[-1] for slots in corrected]
    kept = [end == e.slots[-1] for end, e in zip(ends, rare, strict=True)]
    assert sum(kept) > len(rare) / 2
    assert not any(UNK in slot for slots in corrected for slot in slots)


def test_correction_samples_are_reproducible(corrector, treebank):
    trees = [example.tree for example in treebank[2][:10]]
    first, second = (list(corrector.correct(trees, n_samples=50)) for _ in range(2))
    assert first == second
    for tree, slots in zip(trees, first, strict=True):
        assert tree.check_slots(slots) == slots


def test_correction_explains_by_the_best_underlying_tree(corrector, treebank):
    model = corrector.errors
    for example in treebank[2][:20]:
        known = model.inventory.known(example.tree.observed)
        (tree,) = explain(model, [example.tree])
        assert tree.observed == example.tree.observed
        pairs = tree.observed_pairs
        assert pairs == model.distribution(example.tree).viterbi(known, beam=32)
        written = {mark for slot in known for mark in slot}
        assert written <= {mark for pair in pairs for side in pair for mark in side}


def test_correction_explains_odd_marks(corrector, treebank):
    odd = ("(", ":", ")", "?", ";", ")", "!")
    tree = max((example.tree for example in treebank[2]), key=len)
    observed = (("--",), *[()] * (len(tree) - 1), odd)
    (explained,) = explain(corrector.errors, [replace(tree, observed=observed)])
    found = {
        mark for pair in explained.observed_pairs for side in pair for mark in side
    }
    known = corrector.errors.inventory.known((("--", *odd),))[0]
    assert set(known) <= found
    (slots,) = corrector.correct([explained], n_samples=0)
    assert len(slots) == len(observed)


def test_correction_needs_observed_marks(corrector, treebank):
    examples = [replace(e, tree=replace(e.tree, observed=None)) for e in treebank[2]]
    with pytest.raises(PunctError, match=r"\[P130\]"):
        list(explain(corrector.errors, [examples[0].tree]))
    with pytest.raises(PunctError, match=r"\[P130\]"):
        next(corrector.correct([examples[0].tree]))
    with pytest.raises(PunctError, match=r"\[P130\]"):
        train_corrector(examples, examples, FAST, show_progress=False)


def test_correction_keeps_the_channel_close_to_that_of_correct_text(treebank):
    examples, dev = treebank[0][:100], treebank[1][:20]
    config = replace(FAST, max_epochs=1, averaging=0.0)
    start = train(examples, dev, config, show_progress=False).model.channel_weights

    def distance(channel_l2: float) -> float:
        model = train(
            examples,
            dev,
            config,
            channel_start=start,
            channel_l2=channel_l2,
            show_progress=False,
        ).model
        return float((model.channel_weights.table - start.table).detach().norm())

    free, pulled, tied = map(distance, (0.0, 0.1, 10.0))
    assert free > 2 * pulled > 2 * tied > 0


def assert_same(first: PaperCorrector, second: PaperCorrector, examples) -> None:
    trees = [example.tree for example in examples[:20]]
    assert list(second.correct(trees, n_samples=0)) == list(
        first.correct(trees, n_samples=0)
    )
    for name in ("errors", "restorer", "correction"):
        models = getattr(first, name), getattr(second, name)
        assert models[0].inventory == models[1].inventory
        for a, b in zip(*(m.scorer.parameters() for m in models), strict=True):
            assert torch.equal(a, b)
    assert (
        second.correction.scorer.observer.observed_pairs
        == first.correction.scorer.observer.observed_pairs
    )


def test_correction_storage_round_trips(corrector, treebank, tmp_path):
    path = tmp_path / "deep" / "corrector"
    corrector.to_disk(path)
    corrector.to_disk(path)
    assert_same(corrector, PaperCorrector.from_disk(path), treebank[2])
