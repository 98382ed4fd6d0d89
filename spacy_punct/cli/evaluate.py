"""`punct evaluate`: how good a pipeline's punctuation is."""

import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from spacy_punct.cli.group import check_file, command, load_pipeline, printer
from spacy_punct.data.treebank import Treebank, read_treebank
from spacy_punct.model.evaluation import compare
from spacy_punct.pipeline.corpus import make_doc, unpunctuated
from spacy_punct.pipeline.restorer import PunctuationRestorer


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


def evaluate_pipeline(
    nlp: Language, restorer: PunctuationRestorer, treebank: Treebank, *, gold: bool
) -> dict[str, Any]:
    """Score a pipeline on a treebank, with its trees or the treebank's.

    nlp (Language), restorer (PunctuationRestorer): The pipeline and its restorer.
    treebank (Treebank): The truth.
    gold (bool): Whether the pipeline is given the treebank's trees.
    RETURNS (dict[str, Any]): All that the JSON file holds.
    """
    references = [make_doc(example, nlp.vocab) for example in treebank.examples]
    docs = [unpunctuated(doc, with_tree=gold) for doc in references]
    n_words = sum(map(len, docs))
    start = time.perf_counter()
    stream = restorer.pipe(docs) if gold else nlp.pipe(docs)
    docs = list(tqdm(stream, total=len(docs), unit="sent", leave=False, disable=None))
    seconds = time.perf_counter() - start
    restored = [tuple(map(tuple, doc._.restored_slots)) for doc in docs]
    scores = {
        **compare(restorer.punctuation, restored, treebank.examples),
        "n_skipped": treebank.n_omitted + treebank.n_wordless,
        "trees": "gold" if gold else "parsed",
        "words_per_second": n_words / seconds,
    }
    return scores if gold else scores | _attachment(docs, references)


def _attachment(docs: Sequence[Doc], references: Sequence[Doc]) -> dict[str, float]:
    """Unlabelled and labelled attachment score."""
    pairs = [
        (ours, theirs)
        for doc, reference in zip(docs, references, strict=True)
        for ours, theirs in zip(doc, reference, strict=True)
    ]
    heads = [a for a in pairs if a[0].head.i == a[1].head.i]
    labelled = [a for a in heads if a[0].dep_ == a[1].dep_]
    return {"uas": len(heads) / len(pairs), "las": len(labelled) / len(pairs)}


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
