import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.model.storage import from_bytes, from_disk, to_bytes, to_disk


@pytest.fixture(scope="module")
def examples(sample):
    return read_treebank(sample / "dev.conllu").examples


@pytest.fixture(scope="module", params=["table", "shared", "identity"])
def model(request, examples) -> PunctuationModel:
    model = PunctuationModel.from_examples(
        examples, direction="right-to-left", channel=request.param
    )
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for module in (model.scorer, model.channel_weights):
            for weights in module.parameters():
                weights.add_(torch.randn(weights.shape, generator=generator))
    model.refresh()
    return model


def assert_same(first: PunctuationModel, second: PunctuationModel, examples) -> None:
    assert second.inventory == first.inventory
    assert second.direction == first.direction
    assert np.array_equal(second.channel.edits, first.channel.edits)
    assert list(second.log_probs(examples)) == list(first.log_probs(examples))
    trees = [example.tree for example in examples[:5]]
    assert list(second.restore(trees)) == list(first.restore(trees))


def test_storage_bytes_round_trip(model, examples):
    assert_same(model, from_bytes(to_bytes(model)), examples)


def test_storage_disk_round_trip(model, examples, tmp_path):
    path = tmp_path / "deep" / "model"
    to_disk(model, path)
    to_disk(model, path)
    assert [p.name for p in path.parent.iterdir()] == ["model"]
    assert_same(model, from_disk(path), examples)


def test_storage_survives_pickle_for_processes(model, examples):
    assert_same(model, pickle.loads(pickle.dumps(model)), examples)


def test_storage_missing_model(tmp_path):
    with pytest.raises(PunctError, match=r"\[P030\]"):
        from_disk(tmp_path)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("weights.bin", lambda data: data[: len(data) // 2]),
        ("weights.bin", lambda data: data[:-1] + bytes([data[-1] ^ 1])),
        ("weights.bin", lambda data: b""),
        ("model.json", lambda data: data[: len(data) // 2]),
        ("model.json", lambda data: b"[]"),
        ("model.json", lambda data: data.replace(b'"marks"', b'"mraks"')),
    ],
)
def test_storage_corrupt_files_are_named(model, tmp_path, name, damage):
    to_disk(model, tmp_path / "model")
    file = tmp_path / "model" / name
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(PunctError, match=r"\[P031\].*model"):
        from_disk(tmp_path / "model")


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x80\x04K\x01."])
def test_storage_corrupt_bytes(data):
    with pytest.raises(PunctError, match=r"\[P031\]"):
        from_bytes(data)


def test_storage_other_format(model, tmp_path):
    to_disk(model, tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    file.write_text(file.read_text("utf-8").replace('"format": 2', '"format": 99'))
    with pytest.raises(PunctError, match=r"\[P032\].*99"):
        from_disk(tmp_path / "model")


def test_storage_failing_to_write_leaves_the_old_model(model, tmp_path, monkeypatch):
    path = tmp_path / "model"
    to_disk(model, path)
    before = {p.name: p.read_bytes() for p in path.iterdir()}

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.write_bytes", fail)
    with pytest.raises(OSError, match="disk full"):
        to_disk(model, path)
    assert {p.name: p.read_bytes() for p in path.iterdir()} == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_storage_interrupted_while_replacing_keeps_the_old_model(
    model, tmp_path, monkeypatch
):
    path = tmp_path / "model"
    to_disk(model, path)
    before = {p.name: p.read_bytes() for p in path.iterdir()}
    rename = Path.rename

    def interrupted(source, target):
        if source.name == "new":
            raise KeyboardInterrupt
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        to_disk(model, path)
    assert {p.name: p.read_bytes() for p in path.iterdir()} == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_storage_leaves_other_peoples_files_alone(model, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    for path in (tmp_path, tmp_path / "thesis.txt"):
        with pytest.raises(PunctError, match=r"\[P034\]"):
            to_disk(model, path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]
