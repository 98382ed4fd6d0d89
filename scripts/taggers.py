"""Train taggers, which read words and no trees, to compare restorers with.

    python -m scripts.taggers assets/ud/en-2.16 --output training/all

Of each treebank, FOLDER/TREEBANK gets a folder for each kind of tagger.
"""

from pathlib import Path
from typing import Annotated

import typer

from scripts.baselines.networks import NETWORKS
from scripts.baselines.tagger import TaggerTraining, train_tagger
from scripts.steps import (
    Output,
    Seed,
    Task,
    Treebanks,
    Workers,
    make,
    passes_over,
    record,
    run_step,
)
from spacy_punct.data.treebank import read_splits

_FEWEST = 5
"""Epochs, of a large treebank; training stops by itself if dev does not improve."""


def train_on(folder: Path, treebank: Path, kind: str, epochs: int, seed: int) -> None:
    """A tagger of one kind."""
    splits = read_splits(treebank)
    training = TaggerTraining(max_epochs=epochs, seed=seed)
    trained = train_tagger(splits.train, splits.dev, training, kind=kind)
    trained.model.to_disk(folder)


def main(
    treebanks: Treebanks,
    output: Output,
    kind: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(NETWORKS)}; may be repeated."),
    ] = None,
    epochs: Annotated[int, typer.Option(min=1, help="At most.")] = 10,
    seed: Seed = 0,
    workers: Workers = 1,
) -> None:
    """Train taggers, which read words and no trees. By default all kinds.

    Example: python -m scripts.taggers assets/ud/en-2.16 --output training/all
    """
    tasks = []
    for treebank in treebanks:
        for name in kind or NETWORKS:
            settings = {
                "treebank": treebank,
                "kind": name,
                "epochs": max(
                    round(passes_over(treebank, epochs)), min(_FEWEST, epochs)
                ),
                "seed": seed,
            }
            files = tuple(treebank.glob("*.conllu"))
            tasks.append(Task(output / treebank.name / name, train_on, settings, files))
    make(tasks, workers)
    record(output, "taggers", tasks)


if __name__ == "__main__":
    run_step(main)
