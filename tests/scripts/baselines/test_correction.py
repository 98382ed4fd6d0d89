"""Taggers that read what a writer put into the slots."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from scripts.baselines.networks import NETWORKS, ClassScores, NetworkShape
from scripts.baselines.tagger import Tagger, train_tagger
from scripts.baselines.words import END, N_OBSERVED, Batch
from scripts.training import Trained
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Slots, Tree
from spacy_punct.errors import PunctError
from spacy_punct.model.evaluation import score
from tests.model.conftest import risk
from tests.scripts.baselines.conftest import FAST, SMALL

CORRECTING = {
    "kind": "bilstm-crf",
    "network": SMALL,
    "reads_observed": True,
    "show_progress": False,
}


def with_observed(example: PunctuatedTree, observed: Slots) -> PunctuatedTree:
    return replace(example, tree=replace(example.tree, observed=observed))


def noisy(examples, seed: int) -> list[PunctuatedTree]:
    """Commas come and go, ends get lost."""
    rng = random.Random(seed)

    def written(slot, is_last):
        if rng.random() > 0.2:
            return slot
        if is_last:
            return ()
        return {(): (",",), (",",): ()}.get(slot, slot)

    return [
        with_observed(
            example,
            tuple(
                written(slot, k == len(example.tree))
                for k, slot in enumerate(example.slots)
            ),
        )
        for example in examples
    ]


def inputs(examples) -> tuple[list[tuple[str, ...]], list[Slots]]:
    return [e.tree.words for e in examples], [e.tree.observed for e in examples]


@pytest.fixture(scope="module")
def noisy_dev(dev):
    return noisy(dev, -1)


@pytest.fixture(scope="module", params=NETWORKS)
def untrained(request, examples) -> Tagger:
    torch.manual_seed(0)
    return Tagger.from_examples(
        noisy(examples, 0),
        request.param,
        replace(SMALL, n_layers=2),
        reads_observed=True,
    )


@pytest.fixture(scope="module")
def correction(examples, noisy_dev) -> Trained[Tagger]:
    return train_tagger(
        lambda epoch: noisy(examples, epoch), noisy_dev, FAST, **CORRECTING
    )


@pytest.fixture(scope="module")
def corrector(correction) -> Tagger:
    return correction.model


def chain(words: str, slots: Slots, observed: Slots) -> PunctuatedTree:
    n = len(words.split())
    heads = tuple(range(-1, n - 1))
    tree = Tree(words.split(), ["X"] * n, heads, ["dep"] * n, observed=observed)
    return PunctuatedTree(tree, slots)


def copy_task(n: int, seed: int) -> list[PunctuatedTree]:
    """Strings that nothing but their own observation foretells."""
    rng = random.Random(seed)
    strings = [(), (), (",",), (".",), ("?",), ("!", "!"), ("''", ".")]
    found = []
    for _ in range(n):
        words = " ".join(rng.choices("abcd", k=rng.randint(2, 6)))
        slots = tuple(rng.choices(strings, k=len(words.split()) + 1))
        found.append(chain(words, slots, slots))
    return found


@pytest.mark.parametrize("kind", NETWORKS)
def test_correction_learns_to_copy(kind):
    train, held_out = copy_task(300, 0), copy_task(50, 1)
    settings = {"kind": kind, "network": SMALL, "show_progress": False}
    training = replace(FAST, max_epochs=10)
    found = train_tagger(train, held_out, training, **settings, reads_observed=True)
    truth = [example.slots for example in held_out]
    assert list(found.model.correct(*inputs(held_out))) == truth
    assert found.dev_perplexity < 1.05
    blind = train_tagger(train, held_out, replace(training, max_epochs=2), **settings)
    assert blind.dev_perplexity > 4


def test_correction_copies_strings_that_are_no_class():
    rare = [("?", "!"), ("§",), ("(", ".", ")"), ("*", "''"), ("¶", "¶")]
    train = copy_task(300, 0)
    rng = random.Random(2)
    for k in range(0, 300, 3):
        # Another string each time, so that none has a class.
        string = tuple(rng.choices(["?", "!", "(", ")", "''", ".", "…"], k=4))
        slots = (*train[k].slots[:-1], string)
        train[k] = with_observed(replace(train[k], slots=slots), slots)
    found = train_tagger(
        train, copy_task(50, 1), replace(FAST, max_epochs=10), **CORRECTING
    ).model
    assert not set(rare) & set(found.surfaces.frequent)
    held_out = [
        chain("a b", ((), (",",), string), ((), (",",), string)) for string in rare
    ]
    assert list(found.correct(*inputs(held_out))) == [ex.slots for ex in held_out]
    assert min(found.log_probs(held_out)) > -1


def test_correction_beats_leaving_all_as_it_is(correction, dev, noisy_dev):
    corrected = list(correction.model.correct(*inputs(noisy_dev)))
    known = correction.model.surfaces.known
    truth = [known(example.slots) for example in dev]
    found = score(map(known, corrected), truth).aed
    observed = [known(example.tree.observed) for example in noisy_dev]
    assert found < 0.5 * score(observed, truth).aed
    perplexity = correction.model.perplexity(noisy_dev)
    assert perplexity == correction.dev_perplexity == min(correction.history)


def test_correction_answers_with_least_risk(corrector, noisy_dev):
    words, observed = inputs(noisy_dev[:10])
    for marginals, slots in zip(
        corrector.marginals(words, observed),
        corrector.correct(words, observed),
        strict=True,
    ):
        for marginal, slot in zip(marginals, slots, strict=True):
            least = min(risk(string, marginal) for string in marginal)
            assert risk(slot, marginal) == pytest.approx(least)


def test_correction_reads_all_observed_marks(untrained, noisy_dev):
    example = max(noisy_dev, key=lambda example: len(example.slots))
    words, observed = example.tree.words, example.tree.observed
    variants = [
        (*observed[:slot], ("?", "!"), *observed[slot + 1 :])
        for slot in (0, len(words))
    ]
    first, *others = untrained.marginals([words] * 3, [observed, *variants])
    for other in others:
        # Every slot's answer depends on every slot's marks.
        for a, b in zip(first, other, strict=True):
            assert a != b


def test_correction_does_not_depend_on_the_batch(untrained, noisy_dev):
    words, observed = inputs(noisy_dev)
    together = list(untrained.marginals(words, observed))
    for *sentence, expected in zip(words, observed, together, strict=True):
        (alone,) = untrained.marginals(*([part] for part in sentence))
        for a, b in zip(alone, expected, strict=True):
            assert a == pytest.approx(b, abs=1e-5)
            assert sum(a.values()) == pytest.approx(1)
    backwards = list(untrained.log_probs(noisy_dev[::-1]))[::-1]
    assert backwards == pytest.approx(list(untrained.log_probs(noisy_dev)), rel=1e-4)


def test_correction_needs_observed_marks(untrained, dev, noisy_dev):
    words, observed = inputs(noisy_dev)
    with pytest.raises(PunctError, match="observed marks"):
        untrained.perplexity(dev)
    with pytest.raises(PunctError, match="observed marks"):
        list(untrained.restore(words))
    with pytest.raises(PunctError, match=r"\[P014\]"):
        list(untrained.correct(words[:1], [observed[0][1:]]))


def test_correction_is_not_for_restorers(tagger, noisy_dev):
    with pytest.raises(PunctError, match="train one that corrects"):
        tagger.correct(*inputs(noisy_dev))


def test_correction_restorers_do_not_read_observed_marks(tagger, dev, noisy_dev):
    assert list(tagger.log_probs(noisy_dev)) == list(tagger.log_probs(dev))
    words, observed = inputs(noisy_dev[:3])
    assert list(tagger.marginals(words, observed)) == list(tagger.marginals(words))


def test_correction_has_defaults_of_its_own(examples):
    few = noisy(examples[:20], 0)
    for kind in NETWORKS:
        blind = Tagger.from_examples(few, kind)
        found = Tagger.from_examples(few, kind, reads_observed=True)
        assert found.config.dropout < blind.config.dropout
        assert found.config.hidden_width == blind.config.hidden_width


def test_correction_disk_round_trip(corrector, noisy_dev, tmp_path):
    corrector.to_disk(tmp_path)
    loaded = Tagger.from_disk(tmp_path)
    assert loaded.reads_observed
    assert list(loaded.log_probs(noisy_dev)) == list(corrector.log_probs(noisy_dev))
    some = inputs(noisy_dev[:5])
    assert list(loaded.marginals(*some)) == list(corrector.marginals(*some))


def test_correction_observed_strings_have_classes(corrector):
    surfaces = corrector.surfaces
    copied = len(surfaces)
    rare = ("§", ".")
    observed = ((), (",",), rare, rare, (".",))
    slots = ((), (), rare, (",",), rare)
    plain = surfaces.classes(slots)
    assert plain[2] == plain[4] == 0
    assert surfaces.classes(slots, observed) == [*plain[:2], copied, *plain[3:]]
    assert surfaces.log_prob_of_others(slots[:4], observed[:4]) == 0.0
    assert surfaces.log_prob_of_others(slots[:4]) < 0.0
    columns = surfaces.describe(observed)
    assert [k for k, *_ in columns] == surfaces.classes(observed, observed)
    assert columns[0][1:] == (0, 0)
    assert columns[2][1] != columns[2][2] == columns[4][1] == columns[4][2] > 0
    assert all(
        0 <= k < n
        for row in columns
        for k, n in zip(row, surfaces.observed_sizes, strict=True)
    )


def test_correction_marginal_has_the_observed_string(corrector):
    surfaces = corrector.surfaces
    probs = np.random.default_rng(0).dirichlet(np.ones(len(surfaces) + 1))
    plain = surfaces.marginal(probs[:-1])
    marginal = surfaces.marginal_given(probs, ("§",))
    assert sum(marginal.values()) == pytest.approx(1)
    assert list(marginal.values()) == sorted(marginal.values(), reverse=True)
    assert marginal["§",] == pytest.approx(probs[-1])
    # A rare string may be observed as well.
    for string in surfaces.rare:
        found = surfaces.marginal_given(probs, string)[string]
        expected = probs[-1] + (1 - probs[-1]) * plain[string]
        assert found == pytest.approx(expected)
    probs[-1] = 0.0
    assert surfaces.marginal_given(probs, ("§",)) == surfaces.marginal(probs[:-1])


def test_correction_only_strings_without_class_are_copied():
    torch.manual_seed(0)
    scores = ClassScores(4, 5, True)
    slots = torch.randn(1, 3, 4)
    columns = torch.tensor([[[1, 0, 0], [3, 0, 0], [4, 0, 0], [0, 0, 0]]])
    found = scores(slots, Batch(columns, torch.tensor([4])))
    expected = torch.nn.functional.linear(slots, scores.weight, scores.bias)
    keep = scores.keep(slots)[0, :, 0]
    for slot, observed in enumerate((1, 3, 4)):
        expected[0, slot, observed] += keep[slot]
    expected[0, :2, 4] = -torch.inf
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("kind", NETWORKS)
def test_correction_networks_train_without_padding(kind):
    torch.manual_seed(1)
    sizes, observed_sizes, n_classes = (11, 6), (5, 4, 4), 5
    lengths = torch.tensor([4, 7, 2])
    network = NETWORKS[kind](
        NetworkShape(sizes, n_classes, SMALL, observed_sizes)
    ).eval()
    every = (*sizes, *observed_sizes)
    columns = torch.stack([torch.randint(END + 1, n, (3, 7)) for n in every], dim=-1)
    classes = columns[:, :-1, -N_OBSERVED]

    def gradients(columns: torch.Tensor) -> list[torch.Tensor]:
        network.zero_grad()
        total = network.log_likelihood(Batch(columns, lengths), classes).sum()
        total.backward()
        return [total.detach(), *(w.grad.clone() for w in network.parameters())]

    expected = gradients(columns)
    outside = torch.arange(7) >= lengths[:, None]
    for a, b in zip(
        gradients(columns.masked_fill(outside[..., None], 0)), expected, strict=True
    ):
        assert a.isfinite().all()
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)
