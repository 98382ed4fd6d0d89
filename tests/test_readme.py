"""The README's code runs as shown and prints what it says."""

import re
import shlex

import pytest
import srsly
import torch
from typer.testing import CliRunner
from weasel.cli.document import project_document

from spacy_punct import pipelines
from spacy_punct.cli import punct
from spacy_punct.experiments.plan import read_plan
from spacy_punct.experiments.tables import aed_table, perplexity_table
from tests.conftest import REPOSITORY

README = (REPOSITORY / "README.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_readme_python_prints_what_it_shows(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    shown = re.findall(r"^print\(.*\n# (.*)$", "\n".join(blocks), flags=re.MULTILINE)
    assert len(shown) >= 4
    namespace: dict = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)
    assert capsys.readouterr().out.splitlines() == shown


def test_readme_commands_print_what_they_show(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = re.findall(
        r"```bash\n([^`]*?)```\n\n```text\n(.*?)```", README, flags=re.DOTALL
    )
    assert len(shown) >= 2
    for commands, output in shown:
        command = commands.strip().splitlines()[-1]
        program, arguments = shlex.split(command)[:4], shlex.split(command)[4:]
        assert program == ["python", "-m", "spacy", "punct"]
        result = CliRunner().invoke(punct, arguments)
        assert result.exit_code == 0, result.output
        assert result.stdout == output


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
