import json

import pytest

from scripts.baselines import from_disk, to_disk
from spacy_punct.errors import PunctError


@pytest.fixture
def stored(tagger, tmp_path):
    path = tmp_path / "deep" / "tagger"
    to_disk(tagger, path)
    return path


def test_storage_disk_round_trip(tagger, stored, dev):
    to_disk(tagger, stored)
    loaded = from_disk(stored)
    assert loaded.surfaces == tagger.surfaces
    assert loaded.words == tagger.words
    assert (loaded.kind, loaded.config) == (tagger.kind, tagger.config)
    assert list(loaded.log_probs(dev)) == list(tagger.log_probs(dev))
    words = [example.tree.words for example in dev[:5]]
    assert list(loaded.marginals(words)) == list(tagger.marginals(words))


def test_storage_refuses_what_is_no_tagger(stored, tmp_path):
    with pytest.raises(PunctError, match=r"\[P081\]"):
        from_disk(tmp_path)
    weights = stored / "weights.npz"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(PunctError, match=r"\[P081\].*checksum"):
        from_disk(stored)


def test_storage_refuses_other_formats(stored):
    tables = json.loads((stored / "tagger.json").read_text("utf-8"))
    (stored / "tagger.json").write_text(json.dumps(tables | {"format": 0}), "utf-8")
    with pytest.raises(PunctError, match=r"\[P081\].*format 0"):
        from_disk(stored)
