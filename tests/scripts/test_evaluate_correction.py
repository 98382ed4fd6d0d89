"""`punct evaluate-correction`, as users run it."""

import pytest
import spacy
import srsly
from typer.testing import CliRunner

from scripts.baselines import (
    NetworkConfig,
    TaggerTraining,
    to_disk,
    train_tagger,
)
from scripts.paper_correction import train_corrector
from scripts.paper_training import TrainingConfig
from spacy_punct.cli import punct
from spacy_punct.data.corruption import corrupted
from spacy_punct.data.treebank import read_treebank
from spacy_punct.model.evaluation import score

SYSTEMS = ["nothing", "trivial", "restorer", "corrector", "paper", "tagger"]


def invoke(*args: object):
    return CliRunner().invoke(punct, ["evaluate-correction", *map(str, args)])


@pytest.fixture(scope="module")
def data(sample, tmp_path_factory):
    """A folder with a few sentences of the sample, two systems to compare with, and a
    text with corrections."""
    folder = tmp_path_factory.mktemp("data")
    blocks = (sample / "dev.conllu").read_text("utf-8").split("\n\n")
    (folder / "dev.conllu").write_text("\n\n".join(blocks[:15]) + "\n\n", "utf-8")
    examples = corrupted(read_treebank(sample / "dev.conllu").examples[:30])
    config = TrainingConfig(direction="right-to-left", max_epochs=1)
    paper = train_corrector(examples, examples, config, show_progress=False)
    paper.to_disk(folder / "paper")
    for name, reads_observed in (("tagger", True), ("restoring", False)):
        result = train_tagger(
            examples,
            examples,
            TaggerTraining(max_epochs=1),
            kind="bilstm-crf",
            network=NetworkConfig(embedding_width=8, hidden_width=8, slot_width=8),
            reads_observed=reads_observed,
            show_progress=False,
        )
        to_disk(result.tagger, folder / name)
    (folder / "a.src").write_text("If it rains Anna will go\nHe go .\nIt rains .\n")
    (folder / "a.ref0").write_text("If it rains , Anna will go .\nHe .\nIt rains .\n")
    (folder / "a.ref1").write_text("If it rains Anna will go .\nHo .\nIt rains !\n")
    return folder


@pytest.mark.parametrize("trees", ["gold", "parsed"])
def test_treebank(trees, data, both_path, tmp_path):
    output = tmp_path / "new" / "scores.json"
    done = invoke(
        *(both_path, data / "dev.conllu", "--trees", trees, "--output", output),
        *("--tagger", data / "tagger", "--paper", data / "paper"),
    )
    assert done.exit_code == 0, done.output
    scores = srsly.read_json(output)
    assert scores["data"] == f"{data.name}/dev.conllu"
    assert (scores["trees"], scores["seed"], scores["n_sents"]) == (trees, 7, 15)
    assert list(scores["systems"]) == SYSTEMS
    examples = corrupted(read_treebank(data / "dev.conllu").examples, seed=7)
    observed = [example.tree.observed for example in examples]
    before = score(observed, [example.slots for example in examples]).aed
    assert scores["systems"]["nothing"]["aed"] == pytest.approx(before)
    for name in SYSTEMS:
        assert any(line.startswith(name) for line in done.output.splitlines())
    for kind in scores["errors"]:
        assert kind.replace("_", " ") in done.output
    *_, summary = done.output.splitlines()
    aed = scores["systems"]["corrector"]["aed"]
    assert f"AED {before:.4f} -> {aed:.4f}" in summary
    assert f"{scores['n_errors']} errors in 15 sentences" in summary


def test_threshold_and_seed(data, both_path, tmp_path):
    output = tmp_path / "scores.json"
    done = invoke(
        *(both_path, data / "dev.conllu", "--trees", "gold", "-o", output),
        *("--threshold", 1, "--seed", 3),
    )
    assert done.exit_code == 0, done.output
    scores = srsly.read_json(output)
    assert scores["seed"] == 3
    assert scores["systems"]["corrector"] == scores["systems"]["nothing"]


def test_text_with_references(data, both_path, tmp_path):
    output = tmp_path / "scores.json"
    done = invoke(
        *(both_path, data / "a.src", "-o", output),
        *("--reference", data / "a.ref0", "--reference", data / "a.ref1"),
        *("--tagger", data / "tagger", "--paper", data / "paper"),
    )
    assert done.exit_code == 0, done.output
    scores = srsly.read_json(output)
    assert list(scores["systems"]) == ["nothing", "corrector", "paper", "tagger"]
    assert (scores["n_sents_used"], scores["n_pairs_used"]) == (2, 4)
    # Of two opinions on each sentence, those with the fewest edits.
    assert scores["systems"]["nothing"]["n_true"] == 1
    *_, summary = done.output.splitlines()
    assert "2 of 3 sentences, 4 of 6 pairs" in summary
    assert "but for capitals" in summary


def test_bad_input_is_one_line(data, both_path, tmp_path):
    treebank, text, reference = (data / n for n in ("dev.conllu", "a.src", "a.ref0"))
    short = tmp_path / "short"
    short.write_text("It rains .\n")
    blank = tmp_path / "blank"
    spacy.blank("en").to_disk(blank)
    cases = {
        "P053": (both_path, tmp_path / "no.conllu"),
        "P051": (tmp_path, treebank),
        "P131": (blank, treebank),
        "P135": (both_path, text),
        "P136": (both_path, text, "--reference", short),
        "P138": (both_path, treebank, "--reference", reference),
        "P083": (both_path, treebank, "--tagger", data / "restoring"),
        "P081": (both_path, treebank, "--tagger", tmp_path),
    }
    for code, args in cases.items():
        done = invoke(*args)
        assert done.exit_code == 1, code
        assert f"[{code}]" in done.output
        assert len(done.output.splitlines()) == 1
    for option in ("--trees gold", "--seed 3"):
        done = invoke(both_path, text, "--reference", reference, *option.split())
        assert done.exit_code == 1
        assert f"[P138] {option.removesuffix(' 3')} cannot be used" in done.output
    done = invoke(both_path, treebank, "--paper", tmp_path)
    assert done.exit_code == 1
    assert len(done.output.splitlines()) == 1
    done = invoke(both_path, text, "--reference", tmp_path / "no")
    assert "[P053]" in done.output


def test_help_has_examples():
    done = invoke("--help")
    assert "python -m spacy punct evaluate-correction" in done.output
