"""`punct evaluate`: how good a pipeline's punctuation is."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer

from spacy_punct.cli.shared import (
    MODEL_HELP,
    check_file,
    load_pipeline,
    printer,
)
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import Errors, PunctError
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.restorer.evaluation import evaluate_pipeline, evaluate_stream


class Trees(str, Enum):
    gold = "gold"
    parsed = "parsed"


class Stream(Enum):
    lower = "lower"
    cased = "cased"


def evaluate(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    data: Annotated[Path, typer.Argument(help="A CoNLL-U file.")],
    trees: Annotated[
        Trees,
        typer.Option(
            help="Use the treebank's trees (gold) or the pipeline's (parsed)."
        ),
    ] = Trees.parsed,
    stream: Annotated[
        Stream | None,
        typer.Option(
            help="Give the pipeline all words as one text without sentences, in lower "
            "case or as they are."
        ),
    ] = None,
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
    """Restore the punctuation of a treebank and compare it with the original.

    The main score is the number of edits per slot (AED); the trivial system to beat
    puts one mark at the end of each sentence. With --stream, the pipeline also has to
    find sentences and capitals, which are scored as well.

    Examples:

    python -m spacy punct evaluate training/model-best dev.conllu --trees gold

    python -m spacy punct evaluate en dev.conllu --stream lower -o scores.json
    """
    if stream is not None and trees is Trees.gold:
        raise PunctError(Errors.P071)
    nlp, restorer = load_pipeline(model, PunctuationRestorer)
    for name, value in (("n_samples", n_samples), ("seed", seed)):
        if value is not None:
            restorer.cfg[name] = value
    treebank = read_treebank(check_file(data))
    if stream is None:
        scores = evaluate_pipeline(nlp, restorer, treebank, gold=trees is Trees.gold)
        shown = _shown(scores)
    else:
        lower = stream is Stream.lower
        scores = evaluate_stream(nlp, restorer, treebank, lower=lower)
        shown = _shown_of_stream(scores)
    _print_marks(scores)
    printer.table(shown)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        srsly.write_json(output, scores)


def _print_marks(scores: dict[str, Any]) -> None:
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


def _shown(scores: dict[str, Any]) -> dict[str, str]:
    shown = {
        "edits per slot": f"{scores['aed']:.4f}",
        "edits per slot, trivial": f"{scores['aed_trivial']:.4f}",
        "ratio": f"{scores['aed'] / (scores['aed_trivial'] or float('nan')):.3f}",
        "F over marks": f"{100 * scores['micro_f']:.1f}",
        "perplexity, gold trees": f"{scores['perplexity']:.4f}",
    }
    if "las" in scores:
        shown["LAS / UAS"] = f"{100 * scores['las']:.1f} / {100 * scores['uas']:.1f}"
    shown["sentences"] = f"{scores['n_sents']} ({scores['n_skipped']} left out)"
    shown["words per second"] = f"{scores['words_per_second']:.0f}"
    return shown


def _shown_of_stream(scores: dict[str, Any]) -> dict[str, str]:
    def prf(part: dict[str, float]) -> str:
        return " / ".join(f"{100 * part[key]:.1f}" for key in "prf")

    return {
        "edits per slot": f"{scores['aed']:.4f}",
        "F over marks": f"{100 * scores['micro_f']:.1f}",
        "sentence starts, P / R / F": prf(scores["sents"]),
        "capitals, P / R / F": prf(scores["casing"]),
        "words in the right case": f"{100 * scores['casing']['accuracy']:.1f}",
        "words": str(scores["n_words"]),
        "words per second": f"{scores['words_per_second']:.0f}",
    }
