"""The README has what was measured, and what the project says of itself."""

import re

import srsly
from weasel.cli.document import project_document

from scripts.experiments.plan import read_plan
from scripts.experiments.tables import aed_table, perplexity_table
from spacy_punct.pipe import bundled as pipelines
from tests.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")


def test_readme_has_the_bundled_scores():
    scores = srsly.read_json(pipelines.path_to("en") / "meta.json")["performance"]
    for name, column in (("en-stream-lower", 1), ("en-stream-cased", 2)):
        for mark in ".,?":
            (row,) = (r for r in README.splitlines() if r.startswith(f"| `{mark}` "))
            cell = row.split("|")[column + 1].strip()
            found = scores[name]["per_mark"][mark]
            assert cell == " / ".join(f"{100 * found[key]:.1f}" for key in "prf")


def test_readme_test_command_is_what_ci_runs():
    (commands,) = re.findall(r"## Test\n\n```bash\n(.*?)```", README, flags=re.DOTALL)
    ci = (REPOSITORY / ".ci" / "run").read_text("utf-8")
    for command in commands.splitlines():
        assert command.replace("pip install", "pip install --quiet") in ci


def test_readme_has_what_the_project_says_of_itself(tmp_path):
    path = tmp_path / "README.md"
    project_document(REPOSITORY, path)
    assert path.read_text("utf-8").strip() in README


def test_readme_has_the_measured_tables():
    plan = read_plan(REPOSITORY / "configs" / "experiments" / "paper.yml")
    folder = REPOSITORY / plan.metrics
    results = [srsly.read_json(folder / f"{t.name}.json") for t in plan.treebanks]
    page = (folder / "README.md").read_text("utf-8")
    for found in (perplexity_table(results), aed_table(results)):
        assert found in README
        assert found in page
