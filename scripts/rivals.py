"""Train what the corrector is compared with: a tagger that corrects, and the paper's
corrector (section 5.2).

    python -m scripts.rivals TRAIN.conllu... DEV.conllu --output training/en-rivals

Errors are made in right sentences: for the tagger new ones in each epoch. If the files
are what people wrote, such as UD_English-ESL with its words, --corrected names the same
files corrected, in the same order.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from scripts.baselines.tagger import Draw, TaggerTraining, train_tagger
from scripts.learners import read_aligned
from scripts.log_linear import TrainingConfig
from scripts.paper_corrector import train_corrector
from scripts.steps import Output, Task, Workers, make, run_step
from scripts.tables.correction import PAPER, TAGGER
from spacy_punct.data.corruption import corrupted
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError

_TRAIN_SEED, _DEV_SEED = 0, 1
KIND = "bilstm-crf"


def train_correcting_tagger(
    folder: Path, train: list[Path], dev: Path, corrected: list[Path], epochs: int
) -> None:
    """A tagger that reads words and what was written between them."""
    examples: Sequence[PunctuatedTree] | Draw
    held_out: Sequence[PunctuatedTree]
    if corrected:
        *parts, held_out = _aligned([*train, dev], corrected)
        examples = [example for part in parts for example in part]
    else:
        truth = [ex for path in train for ex in read_treebank(path).examples]
        examples = partial(_drawn, truth)
        held_out = corrupted(read_treebank(dev).examples, seed=_DEV_SEED)
    training = TaggerTraining(max_epochs=epochs)
    trained = train_tagger(examples, held_out, training, kind=KIND, reads_observed=True)
    trained.model.to_disk(folder)


def _drawn(examples: Sequence[PunctuatedTree], epoch: int) -> list[PunctuatedTree]:
    """The training data with an epoch's own errors."""
    return corrupted(examples, seed=epoch)


def train_paper_corrector(
    folder: Path, train: list[Path], dev: Path, corrected: list[Path], epochs: int
) -> None:
    """The paper's corrector, on the first file."""
    examples: Sequence[PunctuatedTree]
    held_out: Sequence[PunctuatedTree]
    if corrected:
        examples, held_out = _aligned([train[0], dev], [corrected[0], corrected[-1]])
    else:
        seeds = ((train[0], _TRAIN_SEED), (dev, _DEV_SEED))
        examples, held_out = (
            [
                replace(example, tree=example.tree.projective())
                for example in corrupted(read_treebank(path).examples, seed=seed)
            ]
            for path, seed in seeds
        )
    config = TrainingConfig(direction="right-to-left", max_epochs=epochs)
    train_corrector(examples, held_out, config).to_disk(folder)


def _aligned(
    written: Sequence[Path], corrected: Sequence[Path]
) -> list[Sequence[PunctuatedTree]]:
    """Sentences with the errors that people made."""
    found: list[Sequence[PunctuatedTree]] = []
    for pair in zip(written, corrected, strict=True):
        pairs = read_aligned(*pair)
        msg.info(f"{pair[0]}: {len(pairs)} of {pairs.n_pairs} pairs have the same tree")
        found.append(pairs.examples)
    return found


def main(
    train: Annotated[list[Path], typer.Argument(help="CoNLL-U to learn from.")],
    dev: Annotated[Path, typer.Argument(help="CoNLL-U that decides when to stop.")],
    output: Output,
    corrected: Annotated[
        list[Path] | None, typer.Option(help="TRAIN and DEV corrected, in their order.")
    ] = None,
    tagger_epochs: Annotated[int, typer.Option(min=1, help="At most.")] = 15,
    paper_epochs: Annotated[int, typer.Option(min=1, help="At most.")] = 3,
    workers: Workers = 1,
) -> None:
    """Train what the corrector is compared with. The paper's reads the first TRAIN.

    Example: python -m scripts.rivals train.conllu dev.conllu --output training/rivals
    """
    if corrected and len(corrected) != len(train) + 1:
        raise PunctError("Give one --corrected for each TRAIN, and one for DEV.")
    works = {
        TAGGER: (train_correcting_tagger, tagger_epochs),
        PAPER: (train_paper_corrector, paper_epochs),
    }
    files = {"train": train, "dev": dev, "corrected": corrected or []}
    needs = [*train, dev, *(corrected or [])]
    make(
        [
            Task(output / name, work, files | {"epochs": epochs}, needs)
            for name, (work, epochs) in works.items()
        ],
        workers,
    )


if __name__ == "__main__":
    run_step(main)
