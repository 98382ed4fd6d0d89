"""Jobs that need each other's results, run on several cores, each only once.

A job owns a folder. When it is finished, `job.json` there has its fingerprint: of its
settings, of the files it reads and of the jobs it needs. A job whose fingerprint is
there already is not run again; one that was interrupted finds its folder as it left
it, and may go on from there.
"""

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_all_start_methods, get_context, parent_process
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

import srsly
from wasabi import msg

from spacy_punct.errors import Errors, PunctError
from spacy_punct.files import write_safely

MARKER = "job.json"
STARTED = "job.started.json"
LOG = "job.log"


class Work(Protocol):
    """What a job does: a function of a module, so that other processes find it."""

    def __call__(
        self, folder: Path, needs: Mapping[str, Path], **settings: Any
    ) -> None:
        """Fill the job's folder.

        folder (Path): The job's own.
        needs (Mapping[str, Path]): The folders of the jobs it needs, by their role.
        """
        ...


@dataclass(frozen=True)
class Job:
    """Something to compute.

    name (str): Its folder, relative to that of all jobs.
    work (Work): The function that does it.
    settings (Mapping[str, Any]): Its arguments, as JSON has them.
    needs (Mapping[str, str]): Role -> name of a job to be finished before.
    files (Sequence[Path]): What it reads besides.
    size (float): How long it takes, in any unit: long jobs are started early.
    """

    name: str
    work: Work
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[Path] = ()
    size: float = 1.0


def fingerprints(jobs: Iterable[Job]) -> dict[str, str]:
    """What tells each job from one with other settings or data.

    jobs (Iterable[Job]): Every job after those it needs.
    RETURNS (dict[str, str]): Name -> fingerprint.
    """
    found: dict[str, str] = {}
    checksum = cache(_checksum)  # many jobs read the same files
    for job in jobs:
        missing = [name for name in job.needs.values() if name not in found]
        if missing:
            raise PunctError(Errors.P110.format(name=job.name, missing=missing[0]))
        parts = [
            job.work.__name__,
            dict(job.settings),
            {role: found[name] for role, name in job.needs.items()},
            {path.name: checksum(path) for path in job.files},
        ]
        found[job.name] = hashlib.md5(
            srsly.json_dumps(parts, sort_keys=True).encode()
        ).hexdigest()
    return found


def _checksum(path: Path) -> str:
    return hashlib.md5(path.read_bytes()).hexdigest()


def finished(folder: Path) -> dict[str, Any] | None:
    """What a finished job left on record, None if it is not finished."""
    path = folder / MARKER
    return srsly.read_json(path) if path.is_file() else None


def names_of_finished(jobs: Sequence[Job], root: Path) -> set[str]:
    """The jobs that are finished, with the settings and the data they have now."""
    prints = fingerprints(jobs)
    records = {job.name: finished(root / job.name) or {} for job in jobs}
    return {n for n, found in records.items() if found.get("fingerprint") == prints[n]}


def run(jobs: Sequence[Job], root: Path, *, workers: int = 1) -> None:
    """Run all jobs that are not finished, as many at once as there are workers.

    If one fails, those that do not need it still run; then an error names it.

    jobs (Sequence[Job]): Every job after those it needs.
    root (Path): Where their folders are.
    workers (int): Processes.
    """
    prints = fingerprints(jobs)
    done = names_of_finished(jobs, root)
    waiting = [job for job in jobs if job.name not in done]
    if done:
        msg.info(f"{len(done)} of {len(jobs)} jobs were finished before")
    failed: dict[str, str] = {}
    running: dict[str, tuple[Job, BaseProcess, float]] = {}
    priority = _priorities(jobs)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    context = _context(jobs)
    try:
        while waiting or running:
            waiting = [j for j in waiting if not set(j.needs.values()) & set(failed)]
            ready = [j for j in waiting if set(j.needs.values()) <= done]
            ready.sort(key=lambda job: -priority[job.name])
            for job in ready[: workers - len(running)]:
                waiting.remove(job)
                process = _start(context, job, root, prints[job.name])
                running[job.name] = (job, process, time.monotonic())
            if not running:
                break
            time.sleep(0.05)
            for job, process, start in list(running.values()):
                if process.is_alive():
                    continue
                del running[job.name]
                seconds = time.monotonic() - start
                folder = root / job.name
                if process.exitcode == 0:
                    done.add(job.name)
                    msg.good(f"{job.name} ({seconds:.0f} s, {len(done)}/{len(jobs)})")
                else:
                    failed[job.name] = _last_line(folder / LOG)
                    msg.fail(f"{job.name}: {failed[job.name]}", folder / LOG)
    finally:
        for _, process, _ in running.values():
            process.terminate()
            process.join()
    if failed:
        name, reason = next(iter(failed.items()))
        log = root / name / LOG
        raise PunctError(
            Errors.P111.format(n=len(failed), name=name, reason=reason, log=log)
        )


def _priorities(jobs: Sequence[Job]) -> dict[str, float]:
    """The time from the start of each job to the end of the last that needs it."""
    longest = {job.name: job.size for job in jobs}
    for job in reversed(jobs):
        for name in job.needs.values():
            before = next(j for j in jobs if j.name == name)
            longest[name] = max(longest[name], before.size + longest[job.name])
    return longest


def _context(jobs: Sequence[Job]) -> BaseContext:
    """How processes are started: from one that has imported what all of them need."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(sorted({job.work.__module__ for job in jobs}))
    return context


def _start(context: BaseContext, job: Job, root: Path, fingerprint: str) -> BaseProcess:
    """A process that does the job, in a folder cleared of what was another job's."""
    folder = root / job.name
    spent = _spent(folder, fingerprint)
    if spent is None and folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).unlink(missing_ok=True)
    began = {"fingerprint": fingerprint, "spent": spent or 0.0, "at": time.time()}
    write_safely(folder / STARTED, srsly.json_dumps(began).encode())
    process = context.Process(target=_do, args=(job, root, began), daemon=True)
    process.start()
    return process


def _spent(folder: Path, fingerprint: str) -> float | None:
    """The seconds that a job was worked on before it was interrupted, by the last
    sign of life in its log; None if it was not begun, or was another job."""
    path = folder / STARTED
    began = srsly.read_json(path) if path.is_file() else {}
    if began.get("fingerprint") != fingerprint:
        return None
    log = folder / LOG
    alive = log.stat().st_mtime if log.is_file() else began["at"]
    return began["spent"] + max(alive - began["at"], 0.0)


def _do(job: Job, root: Path, began: dict[str, Any]) -> None:
    """Do a job and put it on record, in a process of its own."""
    Thread(target=_die_with_parent, daemon=True).start()
    folder = root / job.name
    needs = {role: root / name for role, name in job.needs.items()}
    start = time.monotonic()
    with (folder / LOG).open("ab") as log:  # libraries in C write there too
        for stream in (sys.stdout, sys.stderr):
            os.dup2(log.fileno(), stream.fileno())
    job.work(folder, needs, **job.settings)
    record = {
        "fingerprint": began["fingerprint"],
        "seconds": round(began["spent"] + time.monotonic() - start, 1),
        "settings": dict(job.settings),
    }
    write_safely(folder / MARKER, srsly.json_dumps(record, indent=2).encode())


def _die_with_parent() -> None:
    """Stop when the process is gone that wanted the job done."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _last_line(log: Path) -> str:
    lines = log.read_text("utf-8").split("\n") if log.is_file() else []
    return next((line for line in reversed(lines) if line.strip()), "it was killed")
