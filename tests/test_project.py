"""The project's commands name what is there, and the sample workflow runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import srsly
from weasel.util.config import load_project_config

from scripts.experiments.plan import read_plan
from tests.conftest import REPOSITORY

NO_NETWORK = {f"{kind}_proxy": "http://127.0.0.1:9" for kind in ("http", "https")}
"""Nobody listens there."""


@pytest.fixture(scope="module")
def project() -> dict:
    return load_project_config(REPOSITORY)


def test_project_is_valid(project):
    commands = {command["name"]: command for command in project["commands"]}
    for steps in project["workflows"].values():
        assert set(steps) <= set(commands)
    assert set(project["workflows"]) == {"all", "paper", "sample", "english"}
    assert set(commands) == {c for w in project["workflows"].values() for c in w}
    assert all(command["help"] for command in commands.values())


def test_project_names_files_that_are_there(project):
    scripts = [line for c in project["commands"] for line in c["script"]]
    deps = [path for c in project["commands"] for path in c.get("deps", [])]
    named = re.findall(
        r"(?:configs|assets)/[\w/]+\.(?:cfg|py|yml)", "\n".join(scripts + deps)
    )
    assert len(set(named)) >= 8
    for path in named:
        assert (REPOSITORY / path).is_file()


@pytest.mark.parametrize("name", ["all", "paper", "sample"])
def test_project_fetches_what_plans_want(project, name):
    plan = read_plan(REPOSITORY / "configs" / "experiments" / f"{name}.yml")
    if name == "sample":
        assert (REPOSITORY / plan.source / "sample").is_dir()
        return
    fetched = {Path(asset["dest"]).parent for asset in project["assets"]}
    assert {plan.source / treebank.name for treebank in plan.treebanks} <= fetched


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "spacy", "project", "run", *arguments, str(folder)],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=folder,
        env=os.environ | NO_NETWORK | {"PYTHONPATH": str(REPOSITORY)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Path:
    """A copy of the project that has run its sample workflow."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(REPOSITORY / "project.yml", folder)
    shutil.copytree(REPOSITORY / "configs", folder / "configs")
    shutil.copytree(REPOSITORY / "assets" / "sample", folder / "assets" / "sample")
    run(folder, "sample")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_sample_workflow_writes_tables_and_pictures(ran):
    metrics = ran / "metrics" / "sample"
    page = (metrics / "README.md").read_text("utf-8")
    for name in ("BiLSTM-CRF", "BiGRU, attention", "ATTACH only", "UDPipe"):
        assert name in page
    assert "–" not in page.split("## Time")[0]  # nothing is missing
    for name in ("curves.png", "curves.svg", "analysis/sample/rewrites.png"):
        assert (metrics / name).stat().st_size > 1000
    found = srsly.read_json(metrics / "sample.json")
    scores = {name: system["test"] for name, system in found["systems"].items()}
    assert scores["log-linear"]["gold"]["aed"] < scores["trivial"]["words"]["aed"]
    assert {point["share"] for point in found["curve"]} == {10, 50, 100}
    assert found["systems"]["lexical"]["test"]["udpipe"]["las"] > 0.6


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_sample_workflow_makes_a_wheel_that_restores(ran, tmp_path):
    (wheel,) = (ran / "training/sample/sample/package").rglob("*.whl")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps")
    subprocess.run([*pip, "--target", tmp_path, wheel], check=True, timeout=120)
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
        | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(REPOSITORY)])},
    )
    assert done.returncode == 0, done.stderr
    words = re.findall(r"\w+", done.stdout)
    assert words == ["if", "the", "rain", "stops", "Anna", "will", "visit", "us"]
    assert done.stdout.strip().endswith(".")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_sample_workflow_does_nothing_twice(ran):
    marker = ran / "training/sample/sample/lexical/job.json"
    before = marker.stat().st_mtime_ns
    assert "Skipping" in run(ran, "sample")
    run(ran, "sample", "--force")
    assert marker.stat().st_mtime_ns == before
