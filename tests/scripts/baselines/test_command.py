import re
import subprocess
import sys
import time

import pytest
import srsly

from scripts.baselines import NETWORKS, Tagger, from_disk
from spacy_punct.data.corruption import corrupted
from spacy_punct.data.treebank import read_treebank
from spacy_punct.model.evaluation import score


def run(*args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts.baselines.tagger", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=250)


@pytest.mark.parametrize("kind", NETWORKS)
def test_command_trains_and_measures(kind, sample, tmp_path):
    done = run(
        *(sample / "dev.conllu", sample / "test.conllu"),
        *("--test", sample / "test.conllu", "--output", tmp_path / "out"),
        *("--max-epochs", 1, "--hidden-width", 8, "--kind", kind),
    )
    assert done.returncode == 0, done.stderr
    metrics = srsly.read_json(tmp_path / "out" / "metrics.json")
    slots = srsly.read_json(tmp_path / "out" / "slots.json")
    test = read_treebank(sample / "test.conllu").examples
    assert not (tmp_path / "out" / "checkpoint.msgpack").exists()
    tagger = from_disk(tmp_path / "out")
    assert tagger.kind == kind
    assert tagger.config.hidden_width == 8
    truth = [tagger.surfaces.known(example.slots) for example in test]
    restored = [tuple(map(tuple, sentence)) for sentence in slots]
    assert score(restored, truth).aed == pytest.approx(metrics["test"]["aed"])
    assert metrics["dev"] == metrics["test"]
    assert {"aed", "aed_trivial", "perplexity", "per_mark"} <= metrics["test"].keys()


def test_command_learns_to_correct(sample, tmp_path):
    done = run(
        *(sample / "dev.conllu", sample / "test.conllu", "--correct"),
        *("--test", sample / "test.conllu", "--output", tmp_path),
        *("--max-epochs", 1, "--hidden-width", 8, "--kind", "bilstm-crf"),
    )
    assert done.returncode == 0, done.stderr
    metrics = srsly.read_json(tmp_path / "metrics.json")
    tagger = from_disk(tmp_path)
    assert tagger.reads_observed
    known = tagger.surfaces.known
    for split, seed in (("dev", 1), ("test", 2)):
        examples = corrupted(read_treebank(sample / "test.conllu").examples, seed=seed)
        observed = [known(example.tree.observed) for example in examples]
        expected = score(observed, [known(example.slots) for example in examples]).aed
        assert metrics[split]["aed_observed"] == pytest.approx(expected)
    assert "aed_observed" in done.stdout


def test_command_learns_from_several_files(sample, tmp_path):
    done = run(
        *(sample / "dev.conllu", sample / "test.conllu", sample / "test.conllu"),
        *("--output", tmp_path, "--max-epochs", 1, "--hidden-width", 8),
    )
    assert done.returncode == 0, done.stderr
    parts = [read_treebank(sample / f"{name}.conllu") for name in ("dev", "test")]
    examples = [example for part in parts for example in part.examples]
    both = Tagger.from_examples(examples)
    tagger = from_disk(tmp_path)
    assert tagger.words == both.words
    assert tagger.words != Tagger.from_examples(parts[0].examples).words


def test_command_bad_input_is_one_line(sample, tmp_path):
    done = run(tmp_path / "no.conllu", sample / "dev.conllu", "--output", tmp_path)
    assert done.returncode == 1
    assert "[P005]" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_command_goes_on_after_an_interruption(sample, tmp_path):
    arguments = [sample / "dev.conllu", sample / "test.conllu", "--hidden-width", 8]
    command = [sys.executable, "-m", "scripts.baselines.tagger", *arguments]
    command += ["--output", tmp_path]
    checkpoint = tmp_path / "checkpoint.msgpack"
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE) as process:
        for _ in range(2000):
            time.sleep(0.1)
            if checkpoint.exists():
                break
        process.kill()
    history = srsly.read_msgpack(checkpoint)["history"]
    done = run(*arguments, "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    found = srsly.read_json(tmp_path / "metrics.json")["dev_perplexities"]
    assert found[: len(history)] == pytest.approx(history)
    # It did not begin again: the bar starts at the steps that were done.
    first = re.search(r"(\d+)/\d+ \[", done.stderr)
    assert int(first[1]) > 0
