import pickle

import numpy as np
import pytest
import srsly
import torch

from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.model.storage import from_bytes, to_bytes


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


def test_storage_survives_pickle_for_processes(model, examples):
    assert_same(model, pickle.loads(pickle.dumps(model)), examples)


@pytest.mark.parametrize(
    ("part", "damage"),
    [
        ("weights", lambda data: data[: len(data) // 2]),
        ("weights", lambda data: data[:-1] + bytes([data[-1] ^ 1])),
        ("weights", lambda data: b""),
        ("tables", lambda tables: []),
        ("tables", lambda tables: {k: v for k, v in tables.items() if k != "marks"}),
    ],
)
def test_storage_damage_is_found(model, part, damage):
    content = srsly.msgpack_loads(to_bytes(model))
    content[part] = damage(content[part])
    with pytest.raises(PunctError, match=r"\[P031\].*here"):
        from_bytes(srsly.msgpack_dumps(content), where="here")


@pytest.mark.parametrize("data", [b"", b"nonsense", b"\x80\x04K\x01."])
def test_storage_corrupt_bytes(data):
    with pytest.raises(PunctError, match=r"\[P031\]"):
        from_bytes(data)


def test_storage_other_format(model):
    content = srsly.msgpack_loads(to_bytes(model))
    content["tables"]["format"] = 99
    with pytest.raises(PunctError, match=r"\[P032\].*99"):
        from_bytes(srsly.msgpack_dumps(content))
