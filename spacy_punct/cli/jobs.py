"""Many files: which are read and written, by how many processes, and what failed."""

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
import typer

from spacy_punct.cli.shared import WordBar, check_file
from spacy_punct.errors import Errors, PunctError
from spacy_punct.files import sweep
from spacy_punct.processes import end_with_parent
from spacy_punct.transcripts.formats import SUFFIXES, TARGETS

_LOOKED_FOR = SUFFIXES - {".md"}
"""The endings of files that are taken from folders."""


class Job(NamedTuple):
    """A file to read and one to write.

    source, target (Path): The files.
    to (str | None): What to write; None for what is read.
    """

    source: Path
    target: Path
    to: str | None


class Worker(Protocol):
    """Does jobs."""

    def file(self, job: Job, bar: WordBar) -> None: ...


# What to do


def plan(
    sources: list[str], output: Path | None, output_dir: Path | None, to: str | None
) -> list[Job] | None:
    """What to read and to write.

    sources (list[str]): Files and folders.
    output (Path | None): A pattern for the names of results.
    output_dir (Path | None): A folder for results.
    to (str | None): What to write.
    RETURNS (list[Job] | None): Jobs whose results have names of their own. None if
        there is one result for all sources.
    """
    if output is not None and output_dir is not None:
        raise PunctError(Errors.P187)
    has_folders = any(source != "-" and _is_folder(source) for source in sources)
    is_pattern = output is not None and "{" in str(output)
    if output_dir is None and not is_pattern:
        if has_folders:
            raise PunctError(Errors.P183)
        return None
    jobs: list[Job] = []
    for source in sources:
        for path, root in _files(source, output_dir):
            if output_dir is not None:
                suffix = path.suffix if to is None else f".{to}"
                place = output_dir / path.relative_to(root)
                jobs.append(Job(path, place.with_name(path.stem + suffix), to))
            else:
                jobs.append(_named(path, str(output), to))
    _check_targets(jobs)
    return jobs


def _is_folder(source: str) -> bool:
    try:
        return Path(source).is_dir()
    except OSError:  # a text too long to be a name
        return False


def _files(source: str, output_dir: Path | None) -> Iterator[tuple[Path, Path]]:
    """The files of a source, and the folder that their results' places depend on."""
    path = Path(source)
    if not _is_folder(source):
        yield check_file(path), path.parent
        return
    found = [
        file
        for file in sorted(path.rglob("*"))
        if file.suffix.lower() in _LOOKED_FOR
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
        and not (output_dir and output_dir != path and output_dir in file.parents)
        and file.is_file()
    ]
    if not found:
        suffixes = ", ".join(sorted(_LOOKED_FOR))
        raise PunctError(Errors.P186.format(path=path, suffixes=suffixes))
    yield from ((file, path) for file in found)


def _named(path: Path, pattern: str, to: str | None) -> Job:
    suffix = path.suffix if to is None else f".{to}"
    try:
        name = pattern.format(folder=path.parent, stem=path.stem, suffix=suffix)
    except (KeyError, IndexError, ValueError) as error:
        message = Errors.P189.format(pattern=pattern, reason=repr(error))
        raise PunctError(message) from None
    target = Path(name)
    ending = target.suffix.lower()[1:]
    if to is None and ending in TARGETS and target.suffix.lower() != suffix.lower():
        to = ending
    return Job(path, target, to)


def _check_targets(jobs: list[Job]) -> None:
    """Raise if two results have one name, or a result that of its source."""
    seen: dict[Path, Path] = {}
    for job in jobs:
        place = job.target.resolve()
        if place == job.source.resolve():
            raise PunctError(Errors.P192.format(path=job.target))
        if place in seen:
            first, second = seen[place], job.source
            raise PunctError(
                Errors.P185.format(first=first, second=second, path=job.target)
            )
        seen[place] = job.source


# Doing it


def run_jobs(
    jobs: list[Job],
    make: Callable[[], Worker],
    *,
    resume: bool = False,
    n_process: int = 1,
) -> None:
    """Do jobs. What fails is told at the end, and does not stop the others.

    jobs (list[Job]): The jobs.
    make (Callable): Makes a worker, once in each process.
    resume (bool): Whether to skip those whose result is there and not older than its
        source.
    n_process (int): How many processes.
    """
    for folder in {job.target.parent for job in jobs}:
        sweep(folder)
    todo = [job for job in jobs if not (resume and _is_done(job))]
    sizes = [job.source.stat().st_size for job in todo]
    failures: list[tuple[Job, str]] = []
    with _stopping(), WordBar(sum(sizes)) as bar:
        does = _in_turn if n_process == 1 else _side_by_side
        for job, message in does(todo, make, bar, n_process):
            if message is not None:
                failures.append((job, message))
    skipped = len(jobs) - len(todo)
    typer.echo(
        f"{len(todo) - len(failures)} written, {skipped} skipped, "
        f"{len(failures)} failed",
        err=True,
    )
    for job, message in failures:
        line = " ".join(f"{job.source}: {message}".split())
        typer.secho(line, fg="red", err=True)
    if failures:
        raise PunctError(Errors.P188.format(failed=len(failures), n=len(todo)))


def _is_done(job: Job) -> bool:
    try:
        return job.target.stat().st_mtime >= job.source.stat().st_mtime
    except OSError:
        return False


Outcome = tuple[Job, str | None]
"""A job, and why it failed."""


def _outcome(worker: Worker, job: Job, bar: WordBar) -> str | None:
    """Do a job. Whatever a file may hold, it must not stop the others."""
    try:
        worker.file(job, bar)
    except (PunctError, OSError, UnicodeError) as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _in_turn(
    jobs: list[Job], make: Callable[[], Worker], bar: WordBar, n_process: int
) -> Iterator[Outcome]:
    if jobs:
        worker = make()
        for job in jobs:
            yield job, _outcome(worker, job, bar)


def _side_by_side(
    jobs: list[Job], make: Callable[[], Worker], bar: WordBar, n_process: int
) -> Iterator[Outcome]:
    """Do jobs in several processes. If one of these dies, what it had to do is not
    known, and the rest is done in one at a time."""
    while jobs:
        done: set[Job] = set()
        for job, message in _in_pool(jobs, make, bar, n_process):
            done.add(job)
            yield job, message
        jobs = [job for job in jobs if job not in done]
        if jobs and n_process == 1:
            yield jobs[0], Errors.P191.format(name=jobs[0].source)
            jobs = jobs[1:]
        n_process = 1


def _in_pool(
    jobs: list[Job], make: Callable[[], Worker], bar: WordBar, n_process: int
) -> Iterator[Outcome]:
    """Do jobs until all are done, or a process dies."""
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        min(n_process, len(jobs)),
        # A process that is forked from one with threads may hang.
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(make,),
    )
    try:
        futures: dict[Future, Job] = {pool.submit(_one, job): job for job in jobs}
        for future in as_completed(futures):
            if isinstance(future.exception(), BrokenProcessPool):
                continue
            job = futures[future]
            message, n_words = future.result()
            bar.found(n_words, job.source.stat().st_size)
            bar.done(n_words)
            yield job, message
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise


_STATE: dict[str, Any] = {}
"""The worker of this process."""


def _start(make: Callable[[], Worker]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent tells when to stop
    signal.signal(signal.SIGTERM, _exit)
    end_with_parent()
    torch.set_num_threads(1)  # each process has a core, not all of them
    _STATE["worker"] = make()


def _one(job: Job) -> tuple[str | None, int]:
    bar = WordBar(is_shown=False)
    return _outcome(_STATE["worker"], job, bar), bar.n_found


@contextmanager
def _stopping() -> Iterator[None]:
    """Let a request to stop clean up, as an interruption does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)


def _exit(*_: object) -> None:
    sys.exit(128 + signal.SIGTERM)
