"""Train a tagger on a treebank's words and measure it.

    python -m scripts.baselines.tagger TRAIN... DEV --test TEST --output FOLDER

It learns from one file or several. The moment to stop is chosen on DEV; TEST is only
scored. FOLDER gets the tagger, `metrics.json` (the scores) and `slots.json` (the
answered slots of each sentence of TEST, for a permutation test against another
model's). Training that was interrupted goes on where it was, if the command is the
same.

With --correct it learns to correct instead: it reads the sentences with errors made by
`spacy_punct.data.corruption`, new ones in each epoch, and the same ones in DEV and TEST
whenever they are scored.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import srsly
import torch
import typer
from tqdm import tqdm

from scripts.baselines.evaluation import compare_tagger
from scripts.baselines.model import Tagger
from scripts.baselines.networks import NETWORKS, default_config
from scripts.baselines.storage import to_disk
from scripts.baselines.training import TaggerTraining, train_tagger
from spacy_punct.data.corruption import corrupted
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Slots
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError

_TRAINING = TaggerTraining()
_KINDS = ", ".join(NETWORKS)
_OF_KIND = "By default that of the kind."
_CORRECT = "Learn to correct errors that are made in the sentences."
_NOISE = {"dev": 1, "test": 2}
"""Seeds of the errors in what is scored."""


def main(
    train: Annotated[list[Path], typer.Argument(help="CoNLL-U to learn from.")],
    dev: Annotated[Path, typer.Argument(help="CoNLL-U that decides when to stop.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write.")],
    test: Annotated[Path | None, typer.Option(help="CoNLL-U to score.")] = None,
    kind: Annotated[str, typer.Option(help=f"One of: {_KINDS}.")] = "bilstm-softmax",
    correct: Annotated[bool, typer.Option("--correct", help=_CORRECT)] = False,
    seed: Annotated[int, typer.Option(min=0)] = _TRAINING.seed,
    max_epochs: Annotated[int, typer.Option(min=1)] = _TRAINING.max_epochs,
    learning_rate: Annotated[float, typer.Option(min=0)] = _TRAINING.learning_rate,
    hidden_width: Annotated[int | None, typer.Option(min=1, help=_OF_KIND)] = None,
    dropout: Annotated[float | None, typer.Option(min=0, help=_OF_KIND)] = None,
    word_dropout: Annotated[float | None, typer.Option(min=0, help=_OF_KIND)] = None,
) -> None:
    """Train a tagger on a treebank's words and measure it.

    Example: python -m scripts.baselines.tagger train.conllu dev.conllu --test
    test.conllu --output tagger
    """
    torch.set_num_threads(1)
    try:
        training = TaggerTraining(
            learning_rate=learning_rate, max_epochs=max_epochs, seed=seed
        )
        options = {
            "hidden_width": hidden_width,
            "dropout": dropout,
            "word_dropout": word_dropout,
        }
        network = replace(
            default_config(kind, reads_observed=correct),
            **{name: value for name, value in options.items() if value is not None},
        )
        examples = [ex for path in train for ex in read_treebank(path).examples]
        held_out = {"dev": read_treebank(dev).examples}
        if test is not None:
            held_out["test"] = read_treebank(test).examples
        if correct:
            held_out = {
                split: corrupted(truth, seed=_NOISE[split])
                for split, truth in held_out.items()
            }
        start = time.perf_counter()
        result = train_tagger(
            partial(_drawn, examples) if correct else examples,
            held_out["dev"],
            training,
            kind=kind,
            network=network,
            reads_observed=correct,
            checkpoint=output / "checkpoint.msgpack",
        )
    except PunctError as error:
        typer.secho(str(error), fg="red", err=True)
        raise typer.Exit(1) from None
    metrics: dict[str, Any] = {
        "kind": kind,
        "network": asdict(network),
        "training": asdict(training),
        "training_seconds": round(time.perf_counter() - start),
        "dev_perplexities": result.history,
    }
    to_disk(result.tagger, output)
    for split, truth in held_out.items():
        restored = _answers(result.tagger, truth, split)
        metrics[split] = compare_tagger(result.tagger, restored, truth)
        before = "aed_observed" if correct else "aed_trivial"
        shown = ("aed", before, "perplexity")
        figures = (f"{key} {metrics[split][key]:.4f}" for key in shown)
        typer.echo(f"{split}: {', '.join(figures)}")
        if split == "test":
            srsly.write_json(output / "slots.json", restored)
    srsly.write_json(output / "metrics.json", metrics)


def _drawn(examples: Sequence[PunctuatedTree], epoch: int) -> list[PunctuatedTree]:
    """The training data with an epoch's own errors."""
    return corrupted(examples, seed=epoch)


def _answers(
    tagger: Tagger, examples: Sequence[PunctuatedTree], split: str
) -> list[Slots]:
    sentences = [example.tree.words for example in examples]
    if tagger.reads_observed:
        answers = tagger.correct(sentences, [ex.tree.observed for ex in examples])
    else:
        answers = tagger.restore(sentences)
    return list(tqdm(answers, total=len(sentences), unit="sent", desc=split))


if __name__ == "__main__":
    typer.run(main)
