"""`punct analyze`, from a pipeline and a treebank to tables and pictures."""

import sys

import pytest
import srsly
from typer.testing import CliRunner

from spacy_punct.cli import punct
from spacy_punct.data.treebank import read_treebank

FILES = {"analysis.json", "analysis.md", "rewrites.png", "rewrites.svg"}


def invoke(*args: object):
    return CliRunner().invoke(punct, ["analyze", *map(str, args)])


@pytest.mark.parametrize("fixture", ["paper_path", "lexical_path"])
def test_analyze_a_treebank(fixture, request, sample, tmp_path):
    data = sample / "dev.conllu"
    options = ("--min-count", 2, "--min-relation-count", 5)
    model = request.getfixturevalue(fixture)
    done = invoke(model, data, "-o", tmp_path / "out", *options)
    assert done.exit_code == 0, done.output
    for title in ("Nunberg's rules", "Rewrites", "Symmetric relations"):
        assert title in done.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    found = srsly.read_json(tmp_path / "out" / "analysis.json")
    assert found["n_sents"] == len(read_treebank(data))
    assert found["min_count"] == 2
    assert min(entry["count"] for entry in found["rewrites"]) >= 2
    assert min(entry["count"] for entry in found["relations"]) >= 5
    assert "| relation |" in (tmp_path / "out" / "analysis.md").read_text("utf8")
    again = tmp_path / "again"
    assert invoke(model, data, "-o", again, *options).exit_code == 0
    for name in FILES:
        assert (again / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_limit(paper_path, sample, tmp_path):
    done = invoke(paper_path, sample / "dev.conllu", "--limit", 3, "-o", tmp_path)
    assert done.exit_code == 0
    assert srsly.read_json(tmp_path / "analysis.json")["n_sents"] == 3


def test_analyze_a_model_alone(paper_path):
    done = invoke(paper_path)
    assert done.exit_code == 0
    assert "Nunberg's rules" in done.output
    assert "Symmetric relations" not in done.output


def test_without_matplotlib(paper_path, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = tmp_path / "out"
    done = invoke(paper_path, "-o", out)
    assert done.exit_code == 1
    assert "P095" in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not out.exists()
    assert invoke(paper_path).exit_code == 0
    assert invoke(paper_path, "-o", out, "--no-pictures").exit_code == 0
    assert {path.name for path in out.iterdir()} == {"analysis.json", "analysis.md"}


def test_bad_input_is_one_line(paper_path, tmp_path):
    for args, code in (
        ((paper_path, tmp_path / "none.conllu"), "P053"),
        ((tmp_path / "none",), "P051"),
    ):
        done = invoke(*args)
        assert done.exit_code == 1
        assert code in done.output
        assert len(done.output.strip().splitlines()) == 1


def test_help_has_an_example():
    shown = invoke("--help")
    assert shown.exit_code == 0
    assert "python -m spacy punct analyze" in shown.output
