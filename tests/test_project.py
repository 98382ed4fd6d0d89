"""The project's commands name what is there, and the sample workflow runs."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import srsly
from typer.testing import CliRunner
from weasel.util.config import load_project_config

from scripts.steps import step_app
from tests.conftest import REPOSITORY, SAMPLE

NO_NETWORK = {f"{kind}_proxy": "http://127.0.0.1:9" for kind in ("http", "https")}
"""Nobody listens there."""
SIZES = {"train": 120, "dev": 30, "test": 30}
"""Sentences of the sample that a project of tests has."""
LESS = {
    "workers: 2": "workers: 1",
    "--passes 10 ": "--passes 5 ",
    "--passes 4 --lexical-passes 4": "--passes 2 --lexical-passes 2",
    "--epochs 3": "--epochs 1",
}
"""What it does with them."""


@pytest.fixture(scope="module")
def project() -> dict:
    return load_project_config(REPOSITORY)


def lines(project: dict) -> list[list[str]]:
    return [shlex.split(line) for c in project["commands"] for line in c["script"]]


def test_project_is_valid(project):
    commands = {command["name"]: command for command in project["commands"]}
    for steps in project["workflows"].values():
        assert set(steps) <= set(commands)
    assert set(project["workflows"]) == {"all", "paper", "sample", "text", "english"}
    assert set(commands) == {c for w in project["workflows"].values() for c in w}
    assert all(command["help"] for command in commands.values())


def test_project_names_files_that_are_there(project):
    deps = [path for c in project["commands"] for path in c.get("deps", [])]
    named = [p for p in deps if p.startswith(("configs/", "scripts/"))]
    assert len(set(named)) >= 5
    for path in named:
        assert (REPOSITORY / path).is_file()


def test_project_fetches_what_it_trains_on(project):
    fetched = {Path(asset["dest"]).parent.name for asset in project["assets"]}
    (names,) = (
        line[3:-2]
        for line in lines(project)
        if "scripts.fetch" in line and "--or-sample" not in line
    )
    assert {*names, project["vars"]["treebank"]} <= fetched
    assert [Path(path).name for path in project["vars"]["paper"].split()] == names


def test_project_gives_options_that_scripts_have(project):
    scripts = {
        line[2]: line[3:] for line in lines(project) if line[2].startswith("scripts.")
    }
    assert len(scripts) >= 10
    for name, arguments in scripts.items():
        app = step_app(import_module(name).main)
        shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"})
        assert shown.exit_code == 0
        assert f"Example: python -m {name}" in " ".join(shown.output.split()) or (
            f"python -m {name}" in shown.output
        )
        for option in arguments:
            if option.startswith("--"):
                assert option in shown.output, (name, option)


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "spacy", "project", "run", *arguments, str(folder)],
        capture_output=True,
        text=True,
        timeout=1500,
        cwd=folder,
        env=os.environ | NO_NETWORK | {"PYTHONPATH": str(REPOSITORY)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_sample_workflow(tmp_path):
    """One run shows it all: two workers of the tests would each need their own."""
    folder = sample_project(tmp_path / "project")
    run(folder, "sample")
    check_tables_and_pictures(folder / "metrics" / "sample")
    check_wheel(folder / "training/sample/sample/package", tmp_path / "installed")
    assert run(folder, "sample").count("Skipping") == 4


def sample_project(folder: Path) -> Path:
    """A copy of the project with a part of the sample."""
    folder.mkdir()
    text = (REPOSITORY / "project.yml").read_text("utf-8")
    for asked, enough in LESS.items():
        assert asked in text
        text = text.replace(asked, enough)
    (folder / "project.yml").write_text(text)
    shutil.copytree(REPOSITORY / "configs", folder / "configs")
    (folder / "assets" / "sample").mkdir(parents=True)
    for split, n in SIZES.items():
        blocks = (SAMPLE / f"{split}.conllu").read_text("utf-8").split("\n\n")
        path = folder / "assets" / "sample" / f"{split}.conllu"
        path.write_text("\n\n".join(blocks[:n]) + "\n\n", "utf-8")
    return folder


def check_tables_and_pictures(metrics: Path) -> None:
    page = (metrics / "README.md").read_text("utf-8")
    for name in ("BiLSTM-CRF", "BiGRU, attention", "ATTACH only", "UDPipe"):
        assert name in page
    assert "–" not in page.split("## Time")[0]  # nothing is missing
    assert (metrics / "analysis/sample/analysis.md").stat().st_size > 100
    found = srsly.read_json(metrics / "sample.json")
    scores = {name: system["test"] for name, system in found["systems"].items()}
    assert scores["log-linear"]["gold"]["aed"] < scores["trivial"]["words"]["aed"]
    assert scores["lexical"]["udpipe"]["las"] > 0.5
    assert found["data"]["sentences"]["train"] > 100


def check_wheel(folder: Path, target: Path) -> None:
    (wheel,) = folder.rglob("*.whl")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps")
    subprocess.run([*pip, "--target", target, wheel], check=True, timeout=120)
    code = (
        "import en_punct_sample; nlp = en_punct_sample.load();"
        "print(nlp('if the rain stops Anna will visit us')._.restored_text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([str(target), str(REPOSITORY)])},
    )
    assert done.returncode == 0, done.stderr
    words = re.findall(r"\w+", done.stdout.lower())
    assert words == ["if", "the", "rain", "stops", "anna", "will", "visit", "us"]
    assert re.search(r"[.?!]\W*$", done.stdout)
