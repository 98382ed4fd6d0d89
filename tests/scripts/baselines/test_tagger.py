from dataclasses import replace

import numpy as np
import pytest
import torch

from scripts.baselines.networks import NETWORKS
from scripts.baselines.tagger import Tagger, like_lengths, train_tagger
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.errors import PunctError
from spacy_punct.model.evaluation import score, trivial_slots
from tests.model.conftest import risk
from tests.scripts.baselines.conftest import FAST, SMALL


@pytest.fixture(scope="module", params=NETWORKS)
def untrained(request, examples) -> Tagger:
    torch.manual_seed(0)
    return Tagger.from_examples(examples, request.param, replace(SMALL, n_layers=2))


def words_of(examples) -> list[tuple[str, ...]]:
    return [example.tree.words for example in examples]


def test_tagger_marginals_sum_to_one(untrained, dev):
    for words, marginals in zip(
        words_of(dev), untrained.marginals(words_of(dev)), strict=True
    ):
        assert len(marginals) == len(words) + 1
        for marginal in marginals:
            assert sum(marginal.values()) == pytest.approx(1)


def test_tagger_answers_do_not_depend_on_the_batch(untrained, dev):
    sentences = words_of(dev)
    together = list(untrained.marginals(sentences))
    for words, expected in zip(sentences, together, strict=True):
        (alone,) = untrained.marginals([words])
        for a, b in zip(alone, expected, strict=True):
            assert a == pytest.approx(b, abs=1e-5)
    backwards = list(untrained.log_probs(dev[::-1]))[::-1]
    assert backwards == pytest.approx(list(untrained.log_probs(dev)), rel=1e-4)


def test_tagger_log_prob_agrees_with_marginals(tagger, dev):
    """Up to what the marginals leave out, which is strings that are very rare."""
    if tagger.kind == "bilstm-crf":
        pytest.skip("its slots depend on each other")
    for example, log_prob in zip(dev[:20], tagger.log_probs(dev[:20]), strict=True):
        (marginals,) = tagger.marginals([example.tree.words])
        slots = tagger.surfaces.known(example.slots)
        probs = [m.get(s, 0.0) for m, s in zip(marginals, slots, strict=True)]
        if min(probs) > 1e-4:
            assert sum(np.log(probs)) == pytest.approx(log_prob, abs=0.2)


def test_tagger_unseen_marks_are_possible(untrained, dev):
    tree = dev[0].tree
    slots = (("§", "¶"), *[()] * (len(tree) - 1), (".", "?", "!", ",") * 5)
    (log_prob,) = untrained.log_probs([PunctuatedTree(tree, slots)])
    assert np.isfinite(log_prob)
    assert log_prob < 0


def test_tagger_reads_unseen_words_and_no_words(tagger):
    restored = list(tagger.restore([("Zzyzx", "ß", "…", "𝒳"), (), ("a",)]))
    assert [len(slots) for slots in restored] == [5, 1, 2]
    assert list(tagger.restore([])) == []


def test_tagger_restores_with_least_risk(tagger, dev):
    sentences = words_of(dev[:10])
    for marginals, slots in zip(
        tagger.marginals(sentences), tagger.restore(sentences), strict=True
    ):
        for marginal, slot in zip(marginals, slots, strict=True):
            least = min(risk(string, marginal) for string in marginal)
            assert risk(slot, marginal) == pytest.approx(least)


def test_tagger_beats_the_trivial_baseline(result, dev):
    surfaces = result.model.surfaces
    truth = [surfaces.known(example.slots) for example in dev]
    found = score(result.model.restore(words_of(dev)), truth)
    trivial = [trivial_slots(example, surfaces.final) for example in dev]
    assert found.aed < 0.6 * score(trivial, truth).aed
    assert found.per_mark[","].f > 0.6
    perplexity = result.model.perplexity(dev)
    assert perplexity == result.dev_perplexity == min(result.history)


def test_tagger_overfits_questions_and_statements(examples):
    ends = {(".",): 0, ("?",): 0}
    few = []
    for example in examples:
        if ends.get(example.slots[-1], 5) < 5:
            ends[example.slots[-1]] += 1
            few.append(example)
    training = replace(FAST, max_epochs=40, patience=40, batch_size=10)
    network = replace(SMALL, dropout=0.0, word_dropout=0.0)
    # Few sentences: let each string have a class, each word a number.
    many = few * 5
    result = train_tagger(many, few, training, network=network, show_progress=False)
    truth = [example.slots for example in few]
    assert list(result.model.restore(words_of(few))) == truth
    assert result.dev_perplexity < 1.05


def test_tagger_training_is_seeded(examples, dev):
    def perplexity(seed: int) -> float:
        training = replace(FAST, max_epochs=1, seed=seed)
        few = examples[:60]
        return train_tagger(
            few, dev, training, network=SMALL, show_progress=False
        ).dev_perplexity

    state = torch.random.get_rng_state()
    assert perplexity(1) == perplexity(1) != perplexity(2)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_tagger_bad_input(examples, dev):
    for train, held_out in (((), dev), (examples, ())):
        with pytest.raises(PunctError, match=r"\[P020\]"):
            train_tagger(train, held_out, show_progress=False)
    with pytest.raises(PunctError, match="bilstm-crf"):
        train_tagger(examples, dev, kind="oracle", show_progress=False)
    with pytest.raises(PunctError, match=r"\[P024\]"):
        replace(SMALL, dropout=1.0)
    with pytest.raises(PunctError, match=r"\[P024\]"):
        replace(FAST, patience=0)


def test_like_lengths_takes_each_sentence_once():
    lengths = np.random.default_rng(0).integers(1, 50, 1001)
    batches = list(like_lengths(lengths, 8, np.random.default_rng(1)))
    assert sorted(np.concatenate(batches)) == list(range(1001))
    assert all(0 < len(batch) <= 8 for batch in batches)
    assert np.mean([np.ptp(lengths[batch]) for batch in batches]) < 10


def test_tagger_disk_round_trip(tagger, dev, tmp_path):
    tagger.to_disk(tmp_path / "deep" / "tagger")
    loaded = Tagger.from_disk(tmp_path / "deep" / "tagger")
    assert loaded.surfaces == tagger.surfaces
    assert loaded.words == tagger.words
    assert (loaded.kind, loaded.config) == (tagger.kind, tagger.config)
    assert list(loaded.log_probs(dev)) == list(tagger.log_probs(dev))
    words = words_of(dev[:5])
    assert list(loaded.marginals(words)) == list(tagger.marginals(words))
    with pytest.raises(PunctError, match="no tagger"):
        Tagger.from_disk(tmp_path)
