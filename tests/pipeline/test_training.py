"""Training that stops and goes on: it ends with the very weights it would have had."""

import itertools
import os

import pytest
import spacy
import torch
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as spacy_train
from spacy.util import load_config
from thinc.api import NumpyOps

from spacy_punct.pipeline import training
from spacy_punct.pipeline.checkpoint import read_checkpoint
from spacy_punct.pipeline.training import train
from tests.pipeline.training_data import files, small_lexical_training, small_training


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return small_training(tmp_path_factory.mktemp("parser"))


@pytest.fixture(scope="module")
def lexical_config(tmp_path_factory):
    return small_lexical_training(tmp_path_factory.mktemp("lexical"))


@pytest.fixture
def stop_in_step(monkeypatch):
    """Let a user press Ctrl-C in the middle of a step of the next training."""

    def stop_in(step):
        calls = itertools.count()
        divide = training.subdivide_batch

        def stopping(*args):
            if next(calls) == step:
                monkeypatch.setattr(training, "subdivide_batch", divide)
                raise KeyboardInterrupt
            return divide(*args)

        monkeypatch.setattr(training, "subdivide_batch", stopping)

    return stop_in


@pytest.fixture(scope="module")
def whole(config, tmp_path_factory):
    """What a training that was never stopped gives."""
    output = tmp_path_factory.mktemp("whole")
    train(config, output)
    return output


def stopped(config, output, stop_in_step, step):
    stop_in_step(step)
    with pytest.raises(KeyboardInterrupt):
        train(config, output)


def test_training_is_that_of_spacy(config, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "quickest_ops", NumpyOps)
    assert train(config, tmp_path / "ours") == tmp_path / "ours" / "model-best"
    nlp = init_nlp(load_config(config))
    (tmp_path / "spacy").mkdir()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with open(os.devnull, "w") as quiet:
        spacy_train(nlp, tmp_path / "spacy", stdout=quiet, stderr=quiet)
    torch.set_num_threads(threads)
    for name in ("model-best", "model-last"):
        assert files(tmp_path / "ours" / name) == files(tmp_path / "spacy" / name)


def test_training_goes_on_as_if_it_had_not_stopped(
    config, whole, tmp_path, stop_in_step
):
    stopped(config, tmp_path, stop_in_step, 5)
    assert read_checkpoint(tmp_path / "checkpoint").progress.step == 3
    # Steps count from where the training goes on.
    stopped(config, tmp_path, stop_in_step, 5)
    saved = read_checkpoint(tmp_path / "checkpoint").progress
    assert saved.step == 6
    assert [step for _, step in saved.results] == [0, 3, 6]
    best = train(config, tmp_path)
    assert files(best) == files(whole / "model-best")
    assert files(tmp_path) == files(whole)
    assert {p.name for p in tmp_path.iterdir()} == {
        "model-best",
        "model-last",
        "trained.json",
    }
    assert spacy.load(best)("Peter sold his bicycle")._.restored_text


def test_training_with_torch_goes_on_too(lexical_config, tmp_path, stop_in_step):
    whole = train(lexical_config, tmp_path / "whole")
    stopped(lexical_config, tmp_path / "parts", stop_in_step, 8)
    part = train(lexical_config, tmp_path / "parts")
    assert files(part) == files(whole)


def test_training_stopped_before_the_first_evaluation_starts_anew(
    config, whole, tmp_path, stop_in_step
):
    stopped(config, tmp_path, stop_in_step, 0)
    assert not (tmp_path / "checkpoint").exists()
    assert files(train(config, tmp_path)) == files(whole / "model-best")
