"""Training that stops and goes on: it ends with the very weights it would have had."""

import itertools
import os

import numpy as np
import pytest
import spacy
import torch
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as spacy_train
from spacy.util import load_config
from thinc.api import Adam, ConfigValidationError, NumpyOps, get_current_ops

from spacy_punct.errors import PunctError
from spacy_punct.pipe import training
from spacy_punct.pipe.checkpoint import (
    Progress,
    put_back,
    read_checkpoint,
    take_checkpoint,
    write_checkpoint,
)
from spacy_punct.pipe.ops import NumpyGemmOps
from spacy_punct.pipe.training import train
from tests.reading.training_data import files, small_lexical_training, small_training


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


def test_training_is_not_repeated(config, whole, capsys):
    before = files(whole)
    capsys.readouterr()
    assert train(config, whole) == whole / "model-best"
    said = capsys.readouterr().out
    assert "Already trained" in said
    assert "Pipeline:" not in said
    assert files(whole) == before


@pytest.mark.parametrize("change", ["settings", "data", "copy"])
def test_training_starts_anew_if_something_else_is_to_be_trained(
    config, tmp_path, stop_in_step, capsys, change
):
    data = tmp_path / "train.conllu"
    data.write_bytes(config.with_name("train.conllu").read_bytes())
    overrides = {"paths.train": str(data), "training.max_steps": 4}
    stop_in_step(2)
    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "out", overrides=overrides)
    if change == "settings":
        overrides["training.dropout"] = 0.5
    elif change == "data":
        data.write_text(data.read_text("utf-8").split("\n\n", 1)[1], "utf-8")
    else:
        overrides["paths.train"] = str(data.rename(tmp_path / "same.conllu"))
    capsys.readouterr()
    train(config, tmp_path / "out", overrides=overrides)
    assert ("Going on" in capsys.readouterr().out) == (change == "copy")


@pytest.mark.parametrize("first", [NumpyOps, NumpyGemmOps])
def test_training_keeps_its_operations_and_gives_back_others(
    config, tmp_path, stop_in_step, monkeypatch, first
):
    current, threads = get_current_ops(), torch.get_num_threads()
    used = []
    initialize = training.init_nlp

    def observed(settings):
        nlp = initialize(settings)
        assert torch.get_num_threads() == 1
        used.append({type(n.ops) for n in nlp.get_pipe("tok2vec").model.walk()})
        return nlp

    monkeypatch.setattr(training, "init_nlp", observed)
    monkeypatch.setattr(training, "quickest_ops", first)
    stopped(config, tmp_path, stop_in_step, 1)
    monkeypatch.setattr(training, "quickest_ops", lambda: pytest.fail("chosen again"))
    stopped(config, tmp_path, stop_in_step, 1)
    assert used == [{first}, {first}]
    assert get_current_ops() is current
    assert torch.get_num_threads() == threads


def test_training_says_that_a_checkpoint_is_damaged(config, tmp_path, stop_in_step):
    stopped(config, tmp_path, stop_in_step, 1)
    path = tmp_path / "checkpoint"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(PunctError, match=r"P090.*checkpoint.*Delete"):
        train(config, tmp_path)


def test_training_refuses_optimizers_it_cannot_follow(config, tmp_path):
    nlp = init_nlp(load_config(config))
    optimizer = Adam(0.1)
    optimizer.nr_update[-1, "W"] = 1
    with pytest.raises(PunctError, match=r"P091.*-1"):
        take_checkpoint(nlp, optimizer, Progress(), fingerprint="", ops="")


def test_training_steps_that_do_not_touch_weights_move_them_all_the_same(
    config, tmp_path, stop_in_step
):
    """thinc's optimizer follows its moments wherever there has been a gradient."""
    nlp = init_nlp(load_config(config))
    optimizer = Adam(0.1)
    node = next(n for n in nlp.get_pipe("tok2vec").model.walk() if n.has_param("W"))
    node.inc_grad("W", np.ones_like(node.get_param("W")))
    node.finish_update(optimizer)
    write_checkpoint(
        take_checkpoint(nlp, optimizer, Progress(), fingerprint="", ops=""),
        tmp_path / "checkpoint",
    )
    node.finish_update(optimizer)
    expected = node.get_param("W")

    nlp = init_nlp(load_config(config))
    optimizer = Adam(0.1)
    put_back(read_checkpoint(tmp_path / "checkpoint"), nlp, optimizer)
    node = next(n for n in nlp.get_pipe("tok2vec").model.walk() if n.has_param("W"))
    assert (node.get_param("W") != expected).all()
    node.finish_update(optimizer)
    np.testing.assert_array_equal(node.get_param("W"), expected)


def test_training_says_what_is_wrong_with_a_config(config, tmp_path):
    with pytest.raises(ConfigValidationError):
        train(config, tmp_path, overrides={"training.dropout": "much"})
    with pytest.raises(PunctError, match=r"P092.*no_such_factory"):
        train(
            config, tmp_path, overrides={"components.parser.factory": "no_such_factory"}
        )
    with pytest.raises(PunctError, match=r"P050.*absent"):
        train(config, tmp_path, overrides={"paths.train": "absent.conllu"})
