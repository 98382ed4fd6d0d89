"""`punct evaluate`: how good a pipeline's punctuation is."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer

from spacy_punct.cli.group import check_file, command, load_pipeline, printer
from spacy_punct.data.treebank import read_treebank
from spacy_punct.pipeline.evaluation import evaluate_pipeline


class Trees(str, Enum):
    gold = "gold"
    parsed = "parsed"


@command
def evaluate(
    model: Annotated[str, typer.Argument(help="An installed pipeline or a folder.")],
    data: Annotated[Path, typer.Argument(help="A CoNLL-U file.")],
    trees: Annotated[
        Trees, typer.Option(help="Whose trees: the treebank's or the pipeline's.")
    ] = Trees.parsed,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the JSON.")
    ] = None,
    n_samples: Annotated[
        int | None, typer.Option(min=0, help="Overrides the pipeline's setting.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Overrides the pipeline's setting.")
    ] = None,
) -> None:
    """Restore the punctuation of a treebank and compare.

    AED is edits a slot; "trivial" puts one mark at the end of each sentence.

    Example: python -m spacy punct evaluate training/model-best dev.conllu --trees gold
    """
    nlp, restorer = load_pipeline(model)
    for name, value in (("n_samples", n_samples), ("seed", seed)):
        if value is not None:
            restorer.cfg[name] = value
    treebank = read_treebank(check_file(data))
    scores = evaluate_pipeline(nlp, restorer, treebank, gold=trees == Trees.gold)
    _print(scores)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        srsly.write_json(output, scores)


def _print(scores: dict[str, Any]) -> None:
    rows = [
        (mark, *(f"{100 * s[key]:.1f}" for key in "prf"), s["support"])
        for mark, s in scores["per_mark"].items()
        if s["support"]
    ]
    printer.table(
        rows,
        header=("mark", "P", "R", "F", "support"),
        divider=True,
        aligns=("l", *"rrrr"),
    )
    shown = {
        "edit distance a slot": f"{scores['aed']:.4f}",
        "the same, trivial": f"{scores['aed_trivial']:.4f}",
        "ratio": f"{scores['aed'] / (scores['aed_trivial'] or float('nan')):.3f}",
        "F over marks": f"{100 * scores['micro_f']:.1f}",
        "perplexity, gold trees": f"{scores['perplexity']:.4f}",
    }
    if "las" in scores:
        shown["LAS / UAS"] = f"{100 * scores['las']:.1f} / {100 * scores['uas']:.1f}"
    shown["sentences"] = f"{scores['n_sents']} ({scores['n_skipped']} left out)"
    shown["words a second"] = f"{scores['words_per_second']:.0f}"
    printer.table(shown)
