"""Folders of treebanks, with and without a train file."""

import shutil

import pytest

from spacy_punct.data.treebank import read_splits, read_treebank
from spacy_punct.errors import PunctError


def test_splits_are_the_files(sample):
    splits = read_splits(sample)
    assert not splits.partial
    for split in ("train", "dev", "test"):
        treebank = read_treebank(sample / f"{split}.conllu")
        assert getattr(splits, split) == treebank.examples


def test_splits_without_train_are_parts_of_dev(sample, tmp_path):
    for split in ("dev", "test"):
        shutil.copy(sample / f"{split}.conllu", tmp_path)
    splits = read_splits(tmp_path)
    assert splits.partial
    dev = read_treebank(sample / "dev.conllu").examples
    assert len(splits.train) == round(0.87 * len(dev))
    assert (*splits.train, *splits.dev) == dev
    assert splits.test == read_treebank(sample / "test.conllu").examples


def test_splits_need_dev_and_test(sample, tmp_path):
    shutil.copy(sample / "train.conllu", tmp_path)
    with pytest.raises(PunctError, match=r"P005.*dev\.conllu"):
        read_splits(tmp_path)
