"""The record of where files came from, and what it says of figures."""

import pytest

from scripts.fetch.sources import (
    FILE_NAME,
    Origin,
    Record,
    Source,
    caveat,
    read_record,
    write_record,
)
from spacy_punct.errors import PunctError

OFFICIAL = Source(Origin.official, "https://x/y", "0" * 32)
PARTIAL = "no train file; first 87% of dev are trained on, the rest decides"


def other(release: str) -> Source:
    return Source(Origin.other_release, "/m", "1" * 32, release)


def make(folder, train, dev, test):
    """Files and their record; a split that is None has neither."""
    sources = {"train": train, "dev": dev, "test": test}
    for split, source in sources.items():
        if source is not None and source.origin is not Origin.missing:
            (folder / f"{split}.conllu").write_text("x")
    kept = {split: source for split, source in sources.items() if source}
    record = Record("xx_bank-1.4", "Xish-Bank 1.4", kept)
    write_record(folder, record)
    return record


def test_record_round_trip(tmp_path):
    assert read_record(tmp_path) is None
    record = make(tmp_path, other("1.3"), OFFICIAL, Source(Origin.missing))
    assert read_record(tmp_path) == record
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"treebank": "x", "title": "x", "splits": {"dev": {}}}']
)
def test_record_that_is_broken(tmp_path, text):
    (tmp_path / FILE_NAME).write_text(text)
    with pytest.raises(PunctError, match="P100"):
        read_record(tmp_path)


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ((OFFICIAL, OFFICIAL, OFFICIAL), ""),
        ((None, OFFICIAL, OFFICIAL), f"Xish-Bank 1.4: {PARTIAL}"),
        ((Source(Origin.missing), OFFICIAL, OFFICIAL), f"Xish-Bank 1.4: {PARTIAL}"),
        ((other("1.3"),) * 3, "Xish-Bank 1.4: files of release 1.3, unverified"),
        (
            (None, other("1.3"), other("1.3")),
            f"Xish-Bank 1.4: files of release 1.3, unverified; {PARTIAL}",
        ),
        (
            (OFFICIAL, other("1.3"), other("1.2")),
            "Xish-Bank 1.4: test of release 1.2, unverified; dev of release 1.3, "
            "unverified",
        ),
        (
            (Source(Origin.unverified), Source(Origin.differing), OFFICIAL),
            "Xish-Bank 1.4: dev not official; train unverified",
        ),
        ((Source(Origin.differing),) * 3, "Xish-Bank 1.4: files not official"),
        ((Source(Origin.sample),) * 3, "SAMPLE TREEBANK, not xx_bank-1.4"),
        (
            (Source(Origin.sample), Source(Origin.sample), OFFICIAL),
            "SAMPLE TREEBANK as train and dev, not xx_bank-1.4",
        ),
    ],
)
def test_caveat(tmp_path, sources, said):
    make(tmp_path, *sources)
    assert caveat(tmp_path) == said


def test_caveat_goes_by_the_files_that_are_there(tmp_path):
    make(tmp_path, OFFICIAL, OFFICIAL, None)
    (tmp_path / "train.conllu").unlink()
    (tmp_path / "test.conllu").write_text("x")
    assert caveat(tmp_path) == f"Xish-Bank 1.4: test unverified; {PARTIAL}"


def test_caveat_of_a_folder_without_a_record(tmp_path, sample):
    assert caveat(sample) == ""
    (tmp_path / "dev.conllu").write_text("x")
    assert caveat(tmp_path) == PARTIAL
