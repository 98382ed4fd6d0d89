"""Train the paper's corrector (section 5.2).

    python -m scripts.experiments.paper_corrector TRAIN.conllu DEV.conllu -o FOLDER

Errors are made in right sentences, unless the files are what people wrote, and
--corrected-train and --corrected-dev name the same corrected: en_esl and en_cesl.
`python -m spacy punct evaluate-correction --paper FOLDER` measures it beside others.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated

import srsly
import torch
import typer

from scripts.aligned import read_aligned
from scripts.paper_correction import evaluate_corrector, train_corrector
from scripts.paper_training import TrainingConfig
from spacy_punct.data.corruption import corrupted
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.model.channel import DIRECTIONS

_Direction = Enum("_Direction", {name: name for name in DIRECTIONS})
_TRAIN_SEED, _DEV_SEED = 0, 1


def main(
    train: Annotated[Path, typer.Argument(help="CoNLL-U.")],
    dev: Annotated[Path, typer.Argument(help="CoNLL-U.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder.")],
    corrected_train: Annotated[
        Path | None, typer.Option(help="TRAIN corrected, CoNLL-U.")
    ] = None,
    corrected_dev: Annotated[
        Path | None, typer.Option(help="DEV corrected, CoNLL-U.")
    ] = None,
    direction: Annotated[
        _Direction | None,
        typer.Option(help="Which way the channel slides; by default dev decides."),
    ] = None,
    max_epochs: Annotated[int, typer.Option(min=1)] = 3,
) -> None:
    """Train the paper's corrector, and measure it on DEV.

    Example: python -m scripts.experiments.paper_corrector en_esl/train.conllu
    en_esl/dev.conllu --corrected-train en_cesl/train.conllu --corrected-dev
    en_cesl/dev.conllu -o training/fce
    """
    torch.set_num_threads(1)
    start = time.perf_counter()
    try:
        examples = _examples(train, corrected_train, _TRAIN_SEED)
        held_out = _examples(dev, corrected_dev, _DEV_SEED)
        config = TrainingConfig(
            direction=direction and direction.value, max_epochs=max_epochs
        )
        corrector = train_corrector(examples, held_out, config)
    except PunctError as error:
        typer.secho(str(error), fg="red", err=True)
        raise typer.Exit(1) from None
    corrector.to_disk(output)
    scores = evaluate_corrector(corrector, held_out, n_samples=0)
    scores["training_seconds"] = round(time.perf_counter() - start)
    srsly.write_json(output / "metrics.json", scores)
    shown = ("aed", "aed_unchanged", "aed_restored")
    typer.echo("dev: " + ", ".join(f"{key} {scores[key]:.4f}" for key in shown))


def _examples(
    path: Path, corrected: Path | None, seed: int
) -> Sequence[PunctuatedTree]:
    """Sentences with errors, those that people made or ours."""
    if corrected is None:
        made = corrupted(read_treebank(path).examples, seed=seed)
        return [replace(ex, tree=ex.tree.projective()) for ex in made]
    pairs = read_aligned(path, corrected)
    typer.echo(f"{path}: {len(pairs)} of {pairs.n_pairs} pairs have the same tree.")
    return pairs.examples


if __name__ == "__main__":
    typer.run(main)
