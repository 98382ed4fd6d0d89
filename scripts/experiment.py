"""`punct experiment`: train, measure and compare, as a plan says."""

import os
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from scripts.experiments.jobs import run
from scripts.experiments.plan import read_plan
from scripts.experiments.report import write_report
from scripts.experiments.stages import STAGES, jobs_of
from spacy_punct.cli.group import check_file, command, printer

Stage = Enum("Stage", {stage: stage for stage in (*STAGES, "report")}, type=str)


@command
def experiment(
    plan: Annotated[
        Path, typer.Argument(help="A plan, such as configs/experiments/paper.yml.")
    ],
    stages: Annotated[
        list[Stage] | None, typer.Argument(help="What to do; default: everything.")
    ] = None,
    treebank: Annotated[
        list[str] | None,
        typer.Option("--treebank", "-t", help="Only this one; may be repeated."),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option("--lang", "-l", help="Of a treebank that is not in the plan."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Overrides the plan's.")
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", "-w", min=0, help="Processes; 0: one a core.")
    ] = 0,
) -> None:
    """Run an experiment: parsers, restorers, baselines, scores, tables, pictures.

    Each job is run once: what is finished is kept, what was interrupted goes on, and
    what has other settings or data than before is done anew, with all that needs it.

    Examples:

    python -m spacy punct experiment configs/experiments/paper.yml

    python -m spacy punct experiment configs/experiments/paper.yml parsers -t zh-1.4
    """
    described = read_plan(check_file(plan))
    if treebank:
        described = described.only(treebank, lang)
    if seed is not None:
        described = replace(described, seed=seed)
    chosen = [stage.value for stage in stages or Stage]
    work = [stage for stage in STAGES if stage in chosen]
    if work:
        jobs = jobs_of(described, work)
        run(jobs, described.folder, workers=workers or os.cpu_count() or 1)
    if "report" in chosen:
        for path in write_report(described):
            printer.good(f"Wrote {path}")
