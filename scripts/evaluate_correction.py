"""`punct evaluate-correction`: how good a pipeline's corrections are."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer

from scripts import correction_evaluation
from scripts.baselines import from_disk as tagger_from_disk
from scripts.correction_evaluation import (
    CORRECTOR,
    NOTHING,
    PAPER,
    TAGGER,
    Correct,
)
from scripts.paper_correction import PaperCorrector
from scripts.parallel import read_parallel
from spacy_punct.cli.evaluate import Trees
from spacy_punct.cli.group import (
    MODEL_HELP,
    check_file,
    command,
    load_pipeline,
    printer,
)
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import Errors, PunctError

_SEED = 7
_COLUMNS = {
    "aed": "AED",
    "p": "P",
    "r": "R",
    "f05": "F0.5",
    "f05_of_marks": "F0.5 of marks",
    "changed_untouched": "changed if right",
    "changed": "changed",
}


@command
def evaluate_correction(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    data: Annotated[
        Path, typer.Argument(help="A CoNLL-U file, or a tokenised sentence a line.")
    ],
    reference: Annotated[
        list[Path] | None,
        typer.Option(help="The lines corrected; give it once for each annotator."),
    ] = None,
    trees: Annotated[
        Trees, typer.Option(help="Whose trees: the treebank's or the pipeline's.")
    ] = Trees.parsed,
    seed: Annotated[
        int | None, typer.Option(min=0, help=f"Of the errors; {_SEED} by default.")
    ] = None,
    tagger: Annotated[
        Path | None, typer.Option(help="A tagger that corrects, to compare with.")
    ] = None,
    paper: Annotated[
        Path | None, typer.Option(help="The paper's corrector, to compare with.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Overrides the corrector's setting."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the JSON.")
    ] = None,
) -> None:
    """Correct the punctuation of sentences with errors and compare.

    In a treebank (.conllu) errors are made. AED is edits a slot; P, R and F0.5 are of
    edits, by the MaxMatch method; "of marks" as if no mark had been written before.
    "trivial" puts one mark at the end of each sentence, "restorer" is that of the
    pipeline: neither sees what is written. "p" is of a paired permutation test of the
    corrector's edit distance against each.

    Any other file is text, its tokens apart by spaces, with corrections by hand. We
    use those with the words of the text, in whatever case: what is left to correct is
    the punctuation.

    Examples:

    python -m spacy punct evaluate-correction training/model-best dev.conllu

    python -m spacy punct evaluate-correction training/model-best dev.src \\
    --reference dev.ref0 --reference dev.ref1 -o scores.json
    """
    is_treebank = check_file(data).suffix == ".conllu"
    _check_options(data, is_treebank, reference or [], trees, seed)
    others = _others(tagger, paper)
    nlp, corrector = load_pipeline(model, PunctuationCorrector)
    if threshold is not None:
        corrector.cfg["threshold"] = threshold
    if is_treebank:
        scores = correction_evaluation.evaluate_correction(
            nlp,
            corrector,
            read_treebank(data),
            gold=trees is Trees.gold,
            seed=_SEED if seed is None else seed,
            others=others,
        )
    else:
        text = read_parallel(data, [check_file(path) for path in reference])
        scores = correction_evaluation.evaluate_parallel(
            nlp, corrector, text, others=others
        )
    scores = {
        "data": f"{data.resolve().parent.name}/{data.name}",
        "threshold": corrector.cfg["threshold"],
        **scores,
    }
    _print_systems(scores)
    if is_treebank:
        _print_errors(scores)
    typer.echo(_summary(scores))
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        srsly.write_json(output, scores)


def _check_options(
    data: Path,
    is_treebank: bool,
    reference: list[Path],
    trees: Trees,
    seed: int | None,
) -> None:
    if not is_treebank and not reference:
        raise PunctError(Errors.P135.format(path=data))
    foreign = {
        "--reference": is_treebank and bool(reference),
        "--trees gold": not is_treebank and trees is Trees.gold,
        "--seed": not is_treebank and seed is not None,
    }
    for option, is_given in foreign.items():
        if is_given:
            raise PunctError(Errors.P138.format(option=option, path=data))


def _others(tagger: Path | None, paper: Path | None) -> dict[str, Correct]:
    """The systems to compare with."""
    others: dict[str, Correct] = {}
    if paper is not None:
        stored = PaperCorrector.from_disk(paper)
        others[PAPER] = partial(stored.correct, n_samples=0)
    if tagger is not None:
        loaded = tagger_from_disk(tagger)
        if not loaded.reads_observed:
            raise PunctError(Errors.P083)
        others[TAGGER] = lambda trees: loaded.correct(
            [tree.words for tree in trees], [tree.observed for tree in trees]
        )
    return others


def _print_systems(scores: Mapping[str, Any]) -> None:
    systems, tests = scores["systems"], scores.get("tests", {})
    shown = [key for key in _COLUMNS if key in systems[CORRECTOR]]
    header = ["", *(_COLUMNS[key] for key in shown), *(["p"] if tests else [])]
    rows = []
    for name, found in systems.items():
        cells = [
            f"{found[key]:.4f}" if key == "aed" else f"{100 * found[key]:.1f}"
            for key in shown
        ]
        if tests:
            cells.append(f"{tests[name]:.4f}" if name in tests else "")
        rows.append((name, *cells))
    printer.table(
        rows, header=header, divider=True, aligns=("l", *"r" * (len(header) - 1))
    )


def _print_errors(scores: Mapping[str, Any]) -> None:
    """Of each kind of error, how many there are and how many are mended."""
    names = [name for name in scores["systems"] if name != NOTHING]
    rows = [
        (
            kind.replace("_", " "),
            found["n"],
            f"{100 * found['share']:.1f}",
            *(f"{100 * found['recall'][name]:.1f}" for name in names),
        )
        for kind, found in scores["errors"].items()
    ]
    header = ("error", "number", "share", *names)
    printer.table(
        rows, header=header, divider=True, aligns=("l", *"r" * (len(header) - 1))
    )


def _summary(scores: Mapping[str, Any]) -> str:
    ours = scores["systems"][CORRECTOR]
    edits = " / ".join(f"{100 * ours[key]:.1f}" for key in ("p", "r", "f05"))
    speed = f"{scores['words_per_second']:.0f} words a second"
    if "errors" not in scores:
        return (
            f"P / R / F0.5 {edits}, {scores['n_sents_used']} of {scores['n_sents']} "
            f"sentences, {scores['n_pairs_used']} of {scores['n_pairs']} pairs (those "
            f"of the same words but for capitals), {speed}"
        )
    before = scores["systems"][NOTHING]["aed"]
    return (
        f"AED {before:.4f} -> {ours['aed']:.4f}, P / R / F0.5 {edits}, "
        f"{scores['n_errors']} errors in {scores['n_sents']} sentences of "
        f"{scores['n_slots']} slots, {scores['trees']} trees, {speed}"
    )
