"""Plans of experiments are read and checked, and become jobs."""

import shutil
from pathlib import Path

import pytest

from scripts.experiments.jobs import fingerprints
from scripts.experiments.plan import read_plan
from scripts.experiments.stages import STAGES, jobs_of
from spacy_punct.errors import PunctError
from tests.conftest import REPOSITORY

PLANS = sorted((REPOSITORY / "configs" / "experiments").glob("*.yml"))
SAMPLE = REPOSITORY / "configs" / "experiments" / "sample.yml"


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_plans_become_jobs(path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    plan = read_plan(path)
    jobs = jobs_of(plan)
    names = [job.name for job in jobs]
    assert len(set(names)) == len(names)
    assert set(fingerprints(jobs)) == set(names)
    for treebank in plan.treebanks:
        assert f"{treebank.name}/package" in names


def test_plan_stages_bring_what_they_need(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    plan = read_plan(SAMPLE)
    names = {job.name for job in jobs_of(plan, ["parsers"])}
    assert {"sample/corpus", "sample/trees", "sample/parser-100"} <= names
    assert "sample/lexical" not in names
    names = {job.name for job in jobs_of(plan, ["packages"])}
    assert {"sample/lexical", "sample/scores/lexical", "sample/parser-50"} <= names
    assert not any("bilstm" in name for name in names)
    everything = {job.name for job in jobs_of(plan)}
    assert everything == {j.name for stage in STAGES for j in jobs_of(plan, [stage])}


def test_plan_with_other_treebanks():
    plan = read_plan(SAMPLE)
    (treebank,) = plan.only(["mine"], "de").treebanks
    assert (treebank.name, treebank.lang) == ("mine", "de")
    with pytest.raises(PunctError, match=r"P112.*mine.*sample"):
        plan.only(["mine"])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("colour: red", "P113.*colour"),
        ("taggers: [hmm]", "P080.*hmm"),
        ("shares: [0]", "P024.*shares"),
        ("seed: -1", "P024.*seed"),
    ],
)
def test_plan_with_mistakes(tmp_path, line, reason):
    path = tmp_path / "plan.yml"
    key = line.split(":")[0]
    kept = [x for x in SAMPLE.read_text().splitlines() if not x.startswith(f"{key}:")]
    path.write_text("\n".join([*kept, line]))
    with pytest.raises(PunctError, match=reason):
        read_plan(path)


def test_plan_that_is_none(tmp_path):
    path = tmp_path / "plan.yml"
    path.write_text("just a text")
    with pytest.raises(PunctError, match="P113"):
        read_plan(path)


def test_plan_with_another_config_trains_anew(tmp_path, monkeypatch):
    shutil.copytree(REPOSITORY / "configs", tmp_path / "configs")
    shutil.copytree(REPOSITORY / "assets" / "sample", tmp_path / "assets" / "sample")
    monkeypatch.chdir(tmp_path)
    jobs = jobs_of(read_plan(SAMPLE))
    before = fingerprints(jobs)
    with Path("configs/lexical.cfg").open("a") as file:
        file.write("\n# changed\n")
    after = fingerprints(jobs)
    changed = {
        name.removeprefix("sample/") for name in before if before[name] != after[name]
    }
    assert {"lexical", "scores/lexical", "curve", "package"} <= changed
    assert not changed & {"corpus", "parser-100", "trees", "attach", "bilstm-crf"}
