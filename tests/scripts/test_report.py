"""An analysis as people read it."""

import re

import pytest

from scripts.analysis_report import markdown, tables, written
from scripts.learned import Analysis, analyze
from spacy_punct.data.treebank import read_treebank


@pytest.fixture(scope="module")
def analysis(trained, sample) -> Analysis:
    examples = read_treebank(sample / "dev.conllu").examples
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
