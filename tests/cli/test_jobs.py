"""Many files: what is read and written, failures, interruptions, and what is left."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from spacy_punct.cli.jobs import Job, plan, run_jobs
from spacy_punct.cli.shared import WordBar, target
from spacy_punct.errors import PunctError
from spacy_punct.processes import is_running
from tests.conftest import REPOSITORY


class Shouter:
    """Writes in capitals what it reads; slowly, and not everything."""

    def __init__(self, delay: float = 0.0) -> None:
        self.delay = delay

    def file(self, job: Job, bar: WordBar) -> None:
        text = job.source.read_text("utf-8")
        bar.found(len(text.split()), len(text))
        with target(job.target) as out:
            for line in text.splitlines():
                if line == "die":
                    os._exit(1)
                if line == "stop":
                    os.kill(os.getpid(), signal.SIGTERM)
                if line == "bug":
                    raise KeyError(line)
                out.write(f"{line.upper()}\n")
                out.flush()
                time.sleep(self.delay)


def made(folder: Path, n: int) -> Path:
    source = folder / "in"
    for k in range(n):
        file = source / ("deep" if k % 2 else ".") / f"{k}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"so it goes {k}\n" * 4)
    return source


def check_whole(source: Path, output: Path) -> None:
    found = {path.relative_to(output) for path in output.rglob("*") if path.is_file()}
    assert found == {p.relative_to(source) for p in source.rglob("*") if p.is_file()}
    for path in found:
        assert (output / path).read_text() == (source / path).read_text().upper()


def test_jobs_folders_and_files_keep_their_places(tmp_path):
    source = made(tmp_path, 4)
    (source / ".hidden.txt").write_text("x")
    (source / "notes.odt").write_text("x")
    output = source / "out"
    jobs = plan([str(source), str(source / "0.txt")][:1], None, output, "srt")
    targets = {job.target.relative_to(output).as_posix() for job in jobs}
    assert targets == {"0.srt", "2.srt", "deep/1.srt", "deep/3.srt"}
    assert {job.to for job in jobs} == {"srt"}
    output.mkdir()
    (output / "0.txt").write_text("an earlier result")
    assert len(plan([str(source)], None, output, None)) == 4


def test_jobs_names_follow_a_pattern(tmp_path):
    source = made(tmp_path, 1) / "0.txt"
    (job,) = plan([str(source)], Path("{folder}/{stem}.new{suffix}"), None, None)
    assert job == Job(source, source.with_name("0.new.txt"), None)
    (job,) = plan([str(source)], Path("x/{stem}.md"), None, None)
    assert job == Job(source, Path("x/0.md"), "md")
    assert plan([str(source)], Path("x.md"), None, None) is None
    assert plan(["-"], None, None, None) is None


@pytest.mark.parametrize(
    ("sources", "output", "output_dir", "to", "code"),
    [
        (["in"], None, None, None, "P183"),
        (["in"], "x.txt", None, None, "P183"),
        (["in"], "x.txt", "out", None, "P187"),
        (["in"], "{name}.txt", None, None, "P189"),
        (["in"], "{stem", None, None, "P189"),
        (["in"], None, "in", None, "P192"),
        (["in/0.txt", "in/deep/0.srt"], None, "out", "md", "P185"),
        (["empty"], None, "out", None, "P186"),
        (["gone.txt"], None, "out", None, "P053"),
    ],
)
def test_jobs_that_cannot_be(
    sources, output, output_dir, to, code, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    made(tmp_path, 2)
    Path("in/deep/0.srt").write_text("x")
    Path("empty").mkdir()
    paths = [None if path is None else Path(path) for path in (output, output_dir)]
    with pytest.raises(PunctError, match=code):
        plan(sources, *paths, to)


def test_jobs_that_fail_are_told_at_the_end(tmp_path, capsys):
    source = made(tmp_path, 5)
    (source / "0.txt").write_text("bug\n")
    (source / "2.txt").write_bytes(b"caf\xe9")
    output = tmp_path / "out"
    jobs = plan([str(source)], None, output, None)
    with pytest.raises(PunctError, match=r"P188.*2 of 5"):
        run_jobs(jobs, Shouter)
    said = capsys.readouterr().err
    assert "3 written, 0 skipped, 2 failed" in said
    assert "0.txt: KeyError: 'bug'" in said
    assert len([path for path in output.rglob("*") if path.is_file()]) == 3
    for name in ("0.txt", "2.txt"):
        (source / name).write_text("so\n")
    run_jobs(jobs, Shouter, resume=True)
    assert "2 written, 3 skipped, 0 failed" in capsys.readouterr().err
    check_whole(source, output)


def test_jobs_are_done_again_if_their_source_is_newer(tmp_path, capsys):
    source = made(tmp_path, 2)
    jobs = plan([str(source)], None, tmp_path / "out", None)
    run_jobs(jobs, Shouter)
    later = time.time() + 10
    os.utime(source / "0.txt", (later, later))
    run_jobs(jobs, Shouter, resume=True)
    assert "1 written, 1 skipped" in capsys.readouterr().err


SCRIPT = """
import sys
from functools import partial
from pathlib import Path
from spacy_punct.cli.jobs import plan, run_jobs
from tests.cli.test_jobs import Shouter
if __name__ == "__main__":
    jobs = plan([sys.argv[1]], None, Path(sys.argv[2]), None)
    run_jobs(jobs, partial(Shouter, 0.005), n_process=int(sys.argv[3]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_jobs_killed_in_the_middle_are_finished_later(tmp_path):
    source, output = made(tmp_path, 200), tmp_path / "out"
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, source, output, "2"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as started:
        while len(list(output.rglob("*.txt"))) < 40:
            assert started.poll() is None
            time.sleep(0.02)
        started.kill()
    writers = [int(part.name.split(".")[-2]) for part in output.glob(".*.part")]
    while any(map(is_running, writers)):  # its children end with it
        time.sleep(0.02)
    done = {p for p in output.rglob("*") if p.is_file() and p.suffix == ".txt"}
    assert 40 <= len(done) < 200
    before = {path: path.stat().st_mtime_ns for path in done}
    run_jobs(plan([str(source)], None, output, None), Shouter, resume=True)
    check_whole(source, output)
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_jobs_told_to_stop_leave_nothing_behind(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    source = made(tmp_path, 3)
    (source / "2.txt").write_text("so\nstop\nso\n")
    jobs = plan([str(source)], None, tmp_path / "out", None)
    with pytest.raises(SystemExit):
        run_jobs(jobs, Shouter)
    left = {path.name for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert left == {"0.txt"}
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.slow
def test_jobs_survive_a_process_that_dies(tmp_path, capsys):
    source = made(tmp_path, 4)
    (source / "0.txt").write_text("die\n")
    jobs = plan([str(source)], None, tmp_path / "out", None)
    with pytest.raises(PunctError, match=r"P188.*1 of 4"):
        run_jobs(jobs, partial(Shouter), n_process=2)
    assert "0.txt: [P191]" in capsys.readouterr().err
    assert len(list((tmp_path / "out").rglob("*.txt"))) == 3
