"""The command that trains the paper's corrector."""

import subprocess
import sys

import srsly

from scripts.paper_correction import PaperCorrector
from spacy_punct.data.corruption import corrupted
from spacy_punct.data.treebank import read_treebank
from spacy_punct.model.evaluation import score


def run(*args: object) -> subprocess.CompletedProcess[str]:
    module = "scripts.experiments.paper_corrector"
    command = [sys.executable, "-m", module, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=250)


def test_paper_corrector_is_trained_and_measured(sample, tmp_path):
    files = (sample / "dev.conllu", sample / "test.conllu")
    settings = ("--direction", "right-to-left", "--max-epochs", 1)
    done = run(*files, *settings, "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    metrics = srsly.read_json(tmp_path / "metrics.json")
    corrector = PaperCorrector.from_disk(tmp_path)
    known = corrector.restorer.inventory.known
    examples = corrupted(read_treebank(files[1]).examples, seed=1)
    observed = [known(example.tree.observed) for example in examples]
    expected = score(observed, [known(example.slots) for example in examples]).aed
    assert abs(metrics["aed_unchanged"] - expected) < 1e-6
    assert f"aed {metrics['aed']:.4f}" in done.stdout


def test_paper_corrector_learns_from_pairs(sample, tmp_path):
    """The share of pairs that can be used is told; equal files have no errors."""
    path = sample / "test.conllu"
    pairs = ("--corrected-train", path, "--corrected-dev", path)
    settings = ("--direction", "right-to-left", "--max-epochs", 1)
    done = run(path, path, *pairs, *settings, "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    n = len(read_treebank(path).examples)
    assert f"{n} of {n} pairs have the same tree." in done.stdout
    assert srsly.read_json(tmp_path / "metrics.json")["aed_unchanged"] == 0


def test_paper_corrector_says_what_is_missing(sample, tmp_path):
    done = run(tmp_path / "no.conllu", sample / "dev.conllu", "-o", tmp_path)
    assert done.returncode == 1
    assert "[P0" in done.stderr and "Traceback" not in done.stderr
