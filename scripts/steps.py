"""What the steps of the project share: options, artefacts and processes."""

import functools
import multiprocessing
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import srsly
import torch
import typer
from spacy.cli.train import train as spacy_train
from spacy.language import Language as SpacyLanguage
from thinc.api import Config
from wasabi import msg

from spacy_punct.errors import PunctError

MADE = "made.json"
"""In the folder of an artefact: when it was finished, and the CPU time it took."""
MODEL = "model-best"

Treebanks = Annotated[
    list[Path],
    typer.Argument(help="Folders with train.conllu, dev.conllu and test.conllu."),
]
Output = Annotated[
    Path,
    typer.Option("--output", "-o", help="Where to keep things: FOLDER/TREEBANK/…"),
]
Language = Annotated[
    str | None,
    typer.Option("--lang", "-l", help="Its code; by default what names begin with."),
]
Pipeline = Annotated[str, typer.Argument(help="A bundled pipeline, or a folder.")]
Streams = Annotated[Path, typer.Argument(help="Folder of .tsv streams.")]
Words = Annotated[int, typer.Option(min=1, help="The most words of a stream.")]
Result = Annotated[Path, typer.Option(help="JSON file to write.")]
Seed = Annotated[int, typer.Option(min=0, help="Of everything random.")]
Workers = Annotated[int, typer.Option("--workers", "-w", min=1, help="Processes.")]


def step_app(main: Callable[..., None]) -> typer.Typer:
    """A step as a command; errors are one line and exit code 1."""

    @functools.wraps(main)
    def step(*args: Any, **kwargs: Any) -> None:
        try:
            main(*args, **kwargs)
        except (PunctError, OSError, ModuleNotFoundError) as error:
            message = " ".join(str(error).split())
            if isinstance(error, ModuleNotFoundError):
                message += ": pip install 'spacy-punct[project]'"
            typer.secho(message, fg="red", err=True)
            raise typer.Exit(1) from None

    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(step)
    return app


def run_step(main: Callable[..., None]) -> None:
    """Run a step from the command line."""
    step_app(main)()


def lang_of(treebank: Path, lang: str | None) -> str:
    """The language of a treebank: that given, or what its name begins with."""
    return lang or treebank.name.replace("_", "-").split("-")[0]


PASSES = {"ar-1.4": 1.5, "hi-1.4": 0.4}
"""Of the paper's treebanks a small one is read more often, and a large one less."""


def passes_over(treebank: Path, passes: float) -> float:
    """How often a treebank is read, if others are so often."""
    return passes * PASSES.get(treebank.name, 1.0)


class Task(NamedTuple):
    """Something to make: a folder that a function fills.

    folder (Path): The artefact.
    work (Callable): A function of a module; its first argument is the folder to fill.
    settings (dict[str, Any]): Its other arguments.
    needs (Sequence[Path]): The files and artefacts that it reads.
    """

    folder: Path
    work: Callable[..., None]
    settings: dict[str, Any]
    needs: Sequence[Path] = ()

    @property
    def is_done(self) -> bool:
        """Whether the artefact is there, and newer than what it needs."""
        record = self.folder / MADE
        if not record.is_file():
            return False
        made = record.stat().st_mtime_ns
        return all(_changed(path) <= made for path in self.needs)

    def run(self) -> float:
        """Make the artefact, all of it or nothing.

        RETURNS (float): Seconds of CPU time.
        """
        torch.set_num_threads(1)
        part = self.folder.with_name(f"{self.folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        start = time.process_time()
        self.work(part, **self.settings)
        seconds = round(time.process_time() - start, 1)
        finished = datetime.now(timezone.utc).isoformat(timespec="seconds")
        srsly.write_json(part / MADE, {"finished": finished, "seconds": seconds})
        if self.folder.exists():
            shutil.rmtree(self.folder)
        part.rename(self.folder)
        return seconds


def _changed(path: Path) -> int:
    """When a file or an artefact was made."""
    record = path / MADE
    return (record if record.is_file() else path).stat().st_mtime_ns


def make(tasks: Iterable[Task], workers: int = 1) -> None:
    """Make artefacts that do not need each other, except those that are there.

    If one fails, the others are still made; then an error names it.

    tasks (Iterable[Task]): What to make.
    workers (int): Processes; with one, all is done in this one.
    """
    waiting = []
    for task in tasks:
        for path in task.needs:
            if not path.exists():
                raise PunctError(f"{path} is missing: run the steps before this one.")
        if task.is_done:
            msg.info(f"{task.folder} is there")
        else:
            waiting.append(task)
    if min(workers, len(waiting)) <= 1:
        for task in waiting:
            msg.good(f"{task.folder} ({task.run():.0f} CPU s)")
        return
    failed = []
    # numpy and torch read these when a process imports them.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with ProcessPoolExecutor(
        min(workers, len(waiting)), multiprocessing.get_context("spawn")
    ) as pool:
        running: dict[Future[float], Task] = {pool.submit(t.run): t for t in waiting}
        for done in as_completed(running):
            folder = running[done].folder
            try:
                msg.good(f"{folder} ({done.result():.0f} CPU s)")
            except Exception as error:
                reason = " ".join(str(error).split()) or type(error).__name__
                msg.fail(f"{folder}: {reason}")
                failed.append((folder, reason))
    if failed:
        folder, reason = failed[0]
        raise PunctError(f"{len(failed)} of {len(waiting)} failed; {folder}: {reason}")


def record(output: Path, step: str, tasks: Iterable[Task]) -> None:
    """Write FOLDER/STEP.json, by which spaCy's projects see what a step has made."""
    made = {t.folder.as_posix(): srsly.read_json(t.folder / MADE) for t in tasks}
    srsly.write_json(output / f"{step}.json", made)


def write_result(output: Path, result: Any) -> None:
    """Write what was measured, as JSON, into a folder that is made if need be."""
    output.parent.mkdir(parents=True, exist_ok=True)
    srsly.write_json(output, result)


def train(folder: Path, config: str, overrides: dict[str, Any]) -> None:
    """Train a pipeline, as `spacy train` does.

    folder (Path): Gets `model-best`.
    config (str): A training config.
    overrides (dict[str, Any]): Other values of its settings.
    """
    spacy_train(config, folder, overrides=overrides)
    shutil.rmtree(folder / "model-last")


def write_pipeline(
    nlp: SpacyLanguage,
    folder: Path,
    settings: Mapping[str, dict[str, Any]] | None = None,
) -> None:
    """Write a pipeline for users, without what speeds up training: loading it must not
    change how their other pipelines compute.

    nlp (Language): The pipeline.
    folder (Path): Where to.
    settings (Mapping[str, dict[str, Any]] | None): Other settings of components, if
        the pipeline has them.
    """
    nlp.to_disk(folder)
    config = Config().from_disk(folder / "config.cfg", interpolate=False)
    config["nlp"]["before_creation"] = None
    for name, values in (settings or {}).items():
        if name in config["components"]:
            config["components"][name].update(values)
    config.to_disk(folder / "config.cfg")
