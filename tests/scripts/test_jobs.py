"""Jobs run once, in order, and go on after an interruption."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import srsly

from scripts.experiments.jobs import (
    Job,
    fingerprints,
    finished,
    names_of_finished,
    run,
)
from spacy_punct.errors import PunctError
from tests.scripts.work import add, count_up, fail


def job(name: str, needs: dict[str, str] | None = None, **settings: int) -> Job:
    return Job(name, add, settings, needs or {})


@pytest.fixture
def jobs() -> list[Job]:
    return [
        job("one", value=1),
        job("two", value=2),
        job("both", {"a": "one", "b": "two"}, value=0),
    ]


def result(root: Path, name: str) -> int:
    return srsly.read_json(root / name / "sum.json")


def starts(root: Path, name: str) -> int:
    return len((root / name / "starts.txt").read_text().splitlines())


@pytest.mark.parametrize("workers", [1, 3])
def test_jobs_get_what_they_need(jobs, tmp_path, workers):
    run(jobs, tmp_path, workers=workers)
    assert result(tmp_path, "both") == 3
    assert finished(tmp_path / "both")["seconds"] >= 0


def test_jobs_are_not_done_twice(jobs, tmp_path):
    run(jobs, tmp_path)
    run(jobs, tmp_path)
    assert [starts(tmp_path, name) for name in ("one", "two", "both")] == [1, 1, 1]


def test_jobs_with_other_settings_are_done_anew_with_all_that_need_them(jobs, tmp_path):
    run(jobs, tmp_path)
    stamp = (tmp_path / "one" / "job.json").stat().st_mtime_ns
    jobs[1] = replace(jobs[1], settings={"value": 5})
    assert names_of_finished(jobs, tmp_path) == {"one"}
    run(jobs, tmp_path)
    assert result(tmp_path, "both") == 6
    assert (tmp_path / "one" / "job.json").stat().st_mtime_ns == stamp


def test_jobs_notice_other_files(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("a")
    before = fingerprints([replace(job("one", value=1), files=(path,))])
    other = tmp_path / "b" / "data.txt"
    other.parent.mkdir()
    other.write_text("b")
    assert fingerprints([replace(job("one", value=1), files=(other,))]) != before
    other.write_text("a")
    assert fingerprints([replace(job("one", value=1), files=(other,))]) == before


def test_jobs_that_fail_do_not_stop_the_others(jobs, tmp_path):
    broken = Job("broken", fail)
    needy = job("needy", {"a": "broken"}, value=1)
    with pytest.raises(PunctError, match=r"P111.*broken.*it broke"):
        run([broken, needy, *jobs], tmp_path)
    assert result(tmp_path, "both") == 3
    assert not (tmp_path / "needy").exists()
    assert "ValueError: it broke" in (tmp_path / "broken" / "job.log").read_text()


def test_jobs_come_after_what_they_need(jobs):
    with pytest.raises(PunctError, match="P110"):
        fingerprints(jobs[::-1])


PROGRAM = """
import sys
from pathlib import Path
from tests.scripts.test_jobs import long_job
from scripts.experiments.jobs import run
if __name__ == "__main__":
    run([long_job()], Path(sys.argv[1]))
"""


def long_job() -> Job:
    return Job("long", count_up, {"to": 20, "pause": 0.1})


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
def test_jobs_go_on_after_an_interruption(tmp_path, kind):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, script, tmp_path / "jobs"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        stderr=subprocess.DEVNULL,
    )
    counted = tmp_path / "jobs" / "long" / "counted.txt"
    deadline = time.monotonic() + 60
    while not counted.is_file() or not counted.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(kind)
    process.wait(30)
    time.sleep(0.5)
    reached = len(counted.read_text().split())
    time.sleep(0.5)
    assert len(counted.read_text().split()) == reached < 20  # its child is gone too
    assert finished(counted.parent) is None
    run([long_job()], tmp_path / "jobs")
    assert counted.read_text().split() == [str(n) for n in range(20)]
    assert finished(counted.parent)["seconds"] > 1.8  # with those before
