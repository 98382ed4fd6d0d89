from dataclasses import replace

import pytest
import torch

from scripts.baselines import NETWORKS, Tagger, TaggerResult, train_tagger
from tests.scripts.baselines.conftest import FAST, SMALL

TRAINING = replace(FAST, max_epochs=3, patience=3)


@pytest.fixture
def few(examples):
    return examples[:60]


@pytest.fixture
def run(few, dev):
    def run(checkpoint=None, data=few, dev=dev, **settings) -> TaggerResult:
        arguments = {"training": TRAINING, "kind": "bilstm-softmax"} | settings
        return train_tagger(
            data,
            dev,
            network=SMALL,
            checkpoint=checkpoint,
            show_progress=False,
            **arguments,
        )

    return run


@pytest.fixture
def cut(monkeypatch):
    """Let the power fail when dev is measured for the given time."""

    def cut(when: int) -> None:
        measure, times = Tagger.perplexity, []

        def perplexity(self, examples):
            times.append(1)
            if len(times) == when:
                raise KeyboardInterrupt
            return measure(self, examples)

        monkeypatch.setattr(Tagger, "perplexity", perplexity)

    yield cut
    monkeypatch.undo()


def assert_same(found: TaggerResult, expected: TaggerResult) -> None:
    assert found.history == expected.history
    assert found.dev_perplexity == expected.dev_perplexity
    weights = expected.tagger.network.state_dict()
    for name, values in found.tagger.network.state_dict().items():
        assert torch.equal(values, weights[name]), name


@pytest.mark.parametrize("kind", NETWORKS)
def test_checkpoints_resumed_training_is_the_same_to_the_bit(
    kind, run, cut, monkeypatch, tmp_path
):
    path = tmp_path / "new" / "training.msgpack"
    expected = run(kind=kind)
    cut(3)
    with pytest.raises(KeyboardInterrupt):
        run(path, kind=kind)
    monkeypatch.undo()
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    # Only the third epoch is left: a second failure is the first of this run.
    cut(1)
    with pytest.raises(KeyboardInterrupt):
        run(path, kind=kind)
    monkeypatch.undo()
    cut(2)
    assert_same(run(path, kind=kind), expected)
    assert not path.exists()


def test_checkpoints_of_drawn_data(run, cut, monkeypatch, few, tmp_path):
    """Each epoch has its own data, also after an interruption."""
    drawn = []

    def draw(epoch):
        drawn.append(epoch)
        return few[10 * epoch : 10 * epoch + 30]

    path = tmp_path / "training.msgpack"
    expected = run(data=draw)
    assert drawn == [0, 1, 2]
    cut(3)
    with pytest.raises(KeyboardInterrupt):
        run(path, data=draw)
    monkeypatch.undo()
    drawn.clear()
    assert_same(run(path, data=draw), expected)
    assert drawn == [0, 2]


def test_checkpoints_of_corrections(run, cut, monkeypatch, few, dev, tmp_path):
    def observed(examples):
        return [
            replace(ex, tree=replace(ex.tree, observed=(*ex.slots[:-1], ())))
            for ex in examples
        ]

    settings = {"data": observed(few), "dev": observed(dev), "reads_observed": True}
    path = tmp_path / "training.msgpack"
    expected = run(**settings)
    cut(2)
    with pytest.raises(KeyboardInterrupt):
        run(path, **settings)
    monkeypatch.undo()
    cut(3)
    assert_same(run(path, **settings), expected)


def test_checkpoints_of_others_are_not_used(run, cut, monkeypatch, examples, tmp_path):
    others = (
        {"data": examples[1:61]},
        {"data": lambda epoch: examples[:60]},
        {"training": replace(TRAINING, learning_rate=0.01)},
        {"kind": "bilstm-crf"},
    )
    for k, other in enumerate(others):
        path = tmp_path / f"{k}.msgpack"
        expected = run(**other)
        cut(2)
        with pytest.raises(KeyboardInterrupt):
            run(path)
        monkeypatch.undo()
        assert path.exists()
        assert_same(run(path, **other), expected)


def test_checkpoints_that_are_damaged_are_not_used(run, cut, monkeypatch, tmp_path):
    path = tmp_path / "training.msgpack"
    expected = run()
    cut(2)
    with pytest.raises(KeyboardInterrupt):
        run(path)
    monkeypatch.undo()
    path.write_bytes(path.read_bytes()[:-100])
    assert_same(run(path), expected)


def test_checkpoints_of_complete_training_only_finish(run, cut, monkeypatch, tmp_path):
    """The moment between the last epoch and the end."""
    path = tmp_path / "training.msgpack"
    expected = run()
    monkeypatch.setattr(type(path), "unlink", lambda *_, **__: None)
    run(path)
    monkeypatch.undo()
    assert path.exists()
    cut(1)
    assert_same(run(path), expected)
    assert not path.exists()
