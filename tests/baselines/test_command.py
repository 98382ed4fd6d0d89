import subprocess
import sys

import pytest
import srsly

from spacy_punct.baselines import from_disk
from spacy_punct.data.treebank import read_treebank
from spacy_punct.model.evaluation import score


def run(*args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "spacy_punct.baselines.tagger", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=250)


def test_command_trains_and_measures(sample, tmp_path):
    done = run(
        *(sample / "dev.conllu", sample / "test.conllu"),
        *("--test", sample / "test.conllu", "--output", tmp_path / "out"),
        *("--max-epochs", 1, "--hidden-width", 8),
    )
    assert done.returncode == 0, done.stderr
    metrics = srsly.read_json(tmp_path / "out" / "metrics.json")
    slots = srsly.read_json(tmp_path / "out" / "slots.json")
    test = read_treebank(sample / "test.conllu").examples
    tagger = from_disk(tmp_path / "out")
    truth = [tagger.surfaces.known(example.slots) for example in test]
    restored = [tuple(map(tuple, sentence)) for sentence in slots]
    assert score(restored, truth).aed == pytest.approx(metrics["test"]["aed"])
    assert metrics["dev"] == metrics["test"]
    assert {"aed", "aed_trivial", "perplexity", "per_mark"} <= metrics["test"].keys()


def test_command_bad_input_is_one_line(sample, tmp_path):
    done = run(tmp_path / "no.conllu", sample / "dev.conllu", "--output", tmp_path)
    assert done.returncode == 1
    assert "[P005]" in done.stderr
    assert len(done.stderr.splitlines()) == 1
