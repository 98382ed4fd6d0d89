"""From a pipeline and a treebank to tables and pictures."""

import re
import sys

import pytest
import srsly

from scripts.analyze import main, markdown, tables, written
from scripts.learned import Analysis, analyze
from spacy_punct.data.treebank import read_treebank

FILES = {"analysis.json", "analysis.md", "rewrites.png", "rewrites.svg"}


@pytest.mark.parametrize("fixture", ["paper_path", "lexical_path"])
def test_analyze_a_treebank(fixture, request, sample, tmp_path, invoke):
    data = sample / "dev.conllu"
    options = ("--min-count", 2, "--min-relation-count", 5, "--limit", 30)
    model = request.getfixturevalue(fixture)
    done = invoke(main, model, data, "-o", tmp_path / "out", *options)
    assert done.exit_code == 0, done.output
    for title in ("Nunberg's rules", "Rewrites", "Symmetric relations"):
        assert title in done.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    found = srsly.read_json(tmp_path / "out" / "analysis.json")
    assert found["n_sents"] == 30
    assert found["min_count"] == 2
    assert min(entry["count"] for entry in found["rewrites"]) >= 2
    assert min(entry["count"] for entry in found["relations"]) >= 5
    assert "| relation |" in (tmp_path / "out" / "analysis.md").read_text("utf8")
    again = tmp_path / "again"
    assert invoke(main, model, data, "-o", again, *options).exit_code == 0
    for name in FILES:
        assert (again / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_limit(paper_path, sample, tmp_path, invoke):
    done = invoke(main, paper_path, sample / "dev.conllu", "--limit", 3, "-o", tmp_path)
    assert done.exit_code == 0
    assert srsly.read_json(tmp_path / "analysis.json")["n_sents"] == 3


def test_analyze_a_model_alone(paper_path, invoke):
    done = invoke(main, paper_path)
    assert done.exit_code == 0
    assert "Nunberg's rules" in done.output
    assert "Symmetric relations" not in done.output


def test_without_matplotlib(paper_path, tmp_path, monkeypatch, invoke):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = tmp_path / "out"
    done = invoke(main, paper_path, "-o", out)
    assert done.exit_code == 1
    assert "spacy-punct[project]" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert invoke(main, paper_path).exit_code == 0
    assert invoke(main, paper_path, "-o", out, "--no-pictures").exit_code == 0
    assert {path.name for path in out.iterdir()} == {"analysis.json", "analysis.md"}


def test_bad_input_is_one_line(paper_path, tmp_path, invoke):
    for args, code in (
        ((paper_path, tmp_path / "none.conllu"), "P053"),
        ((tmp_path / "none",), "P051"),
    ):
        done = invoke(main, *args)
        assert done.exit_code == 1
        assert code in done.output
        assert len(done.output.strip().splitlines()) == 1


@pytest.fixture(scope="module")
def analysis(trained, sample) -> Analysis:
    examples = read_treebank(sample / "dev.conllu").examples[:40]
    return analyze(trained.model, examples, min_count=2, min_relation_count=5)


def test_tables_are_rectangular_and_hold_the_figures(analysis):
    found = {table.title: table for table in tables(analysis)}
    for table in found.values():
        assert {len(row) for row in table.rows} == {len(table.header)}
    (everything, confident) = found["Nunberg's rules"].rows
    assert everything[1] == str(analysis.recall.all.n)
    assert confident[-1] == f"{analysis.recall.confident.mrr:.3f}"
    first = found["Rewrites"].rows[0]
    assert first[0] == written(analysis.rewrites[0].underlying)
    assert first[1] == str(analysis.rewrites[0].count)
    relation = found["Symmetric relations"].rows[0]
    assert relation[0] == analysis.relations[0].relation


def test_markdown_escapes_marks(analysis):
    page = markdown(analysis, "Sample")
    assert page.startswith("# Sample\n")
    assert "## Rewrites" in page
    for block in page.split("\n\n"):
        if block.startswith("|"):
            bars = [re.sub(r"\\.", "", line).count("|") for line in block.splitlines()]
            assert len(bars) > 2
            assert len(set(bars)) == 1
    assert r"\." in page


def test_without_a_treebank_there_are_no_relations(trained):
    titles = [table.title for table in tables(analyze(trained.model))]
    assert "Nunberg's rules" in titles
    assert "Symmetric relations" not in titles


def test_no_marks_is_epsilon():
    assert written(()) == "ε"
    assert written(("''", ".")) == "'' ."
