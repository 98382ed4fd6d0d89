"""Tables of correction, in Markdown, beside the paper's (section 5.2).

    python -m scripts.tables.correction FILE.json... --output PAGE.md

The files are those that `python -m scripts.correction` writes. Results on
the same data, with parsed and with gold trees, become rows of the same table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from scripts.steps import run_step
from scripts.tables.markdown import (
    DASH,
    Files,
    Page,
    Results,
    percent,
    table,
    write_page,
)
from scripts.tables.published import CORRECTION, CORRECTION_DATA

NOTHING, TRIVIAL, RESTORER, CORRECTOR = "nothing", "trivial", "restorer", "corrector"
"""How results call what does nothing, the trivial answer, and the components."""
TAGGER, PAPER = "tagger", "paper"
"""How they call the BiLSTM-CRF and the paper's corrector, which are also the names of
their folders."""
HEAD, CHANNEL = "slot_tagger", "channel"
"""How they call a plain tagging head on the same encoder, and the same weighed against
what is written."""
_SHARES = {
    "f05_of_marks": "F0.5 of marks",
    "p": "P",
    "r": "R",
    "f05": "F0.5",
    "changed_untouched": "changed if right",
}
_PARSED, _GOLD = "parsed", "gold"


@dataclass(frozen=True)
class _Row:
    """A row of the table: a system of ours, one of the paper's, or both.

    label (str): What it is called.
    system (str): Ours; empty if there is none.
    trees (str): Which it has; empty if none.
    published (str): The paper's; empty if there is none.
    """

    label: str
    system: str = ""
    trees: str = ""
    published: str = ""


_ROWS = (
    _Row("as written", NOTHING),
    _Row("trivial", TRIVIAL, published="trivial"),
    _Row("BiLSTM-CRF, restoring", published="bilstm-crf-restorer"),
    _Row("restorer, parsed trees", RESTORER, _PARSED, "restorer"),
    _Row("restorer, gold trees", RESTORER, _GOLD),
    _Row("the paper's corrector, parsed trees", PAPER, _PARSED, "corrector-parsed"),
    _Row("the paper's corrector, gold trees", PAPER, _GOLD, "corrector-gold"),
    _Row("corrector, parsed trees", CORRECTOR, _PARSED),
    _Row("corrector, gold trees", CORRECTOR, _GOLD),
    _Row("BiLSTM-CRF, correcting", TAGGER, published="bilstm-crf-corrector"),
)
_NAMES = {
    NOTHING: "as written",
    TRIVIAL: "trivial",
    RESTORER: "restorer",
    CORRECTOR: "corrector",
    PAPER: "the paper's corrector",
    TAGGER: "BiLSTM-CRF",
    HEAD: "tagging head on the same encoder",
    CHANNEL: "the same, weighed against what is written",
}


def correction_report(results: Sequence[Results]) -> str:
    """All tables of correction.

    results (Sequence[Results]): What `scripts.correction` wrote.
    RETURNS (str): Markdown, with what data each figure is of.
    """
    by_data: dict[tuple[str, int], list[Results]] = {}
    parallel = []
    for result in results:
        if "errors" in result:
            by_data.setdefault((result["data"], result["seed"]), []).append(result)
        else:
            parallel.append(result)
    groups = list(by_data.values())
    parts = []
    if groups:
        parts = [
            "## Errors that were made",
            f"The paper: {CORRECTION_DATA}, learners' own errors, in sentences whose "
            "trees correction leaves alone. Ours are made in right sentences, so the "
            "columns are not to be compared with each other: "
            f"{'; '.join(map(_described, groups))}. In percent: P, R and F0.5 of the "
            "edits of what was written; F0.5 of marks, of the edits that would lead "
            "from words without marks to the answer, which we take the paper's to be; "
            "and how many slots are changed in sentences without errors.",
            correction_table(groups),
            *(errors_table(group) for group in groups),
        ]
    if parallel:
        parts += [
            "## Corrections by hand",
            "Pairs whose words are the same, in whatever case: nothing but punctuation "
            "is to be corrected. In percent.",
            parallel_table(parallel),
            *(kinds_table(result) for result in parallel if _has_kinds(result)),
        ]
    return "\n\n".join(parts) + "\n"


def _described(group: Sequence[Results]) -> str:
    first = group[0]
    return (
        f"{first['data']}, {first['n_errors']} errors in {first['n_sents']} sentences "
        f"of {first['n_slots']} slots (seed {first['seed']})"
    )


def correction_table(groups: Sequence[Sequence[Results]]) -> str:
    """The paper's table, with columns of our own.

    groups (Sequence[Sequence[Results]]): Results on the same data, for each data.
    RETURNS (str): The table; systems that nobody measured are left out.
    """
    rows = []
    for row in _ROWS:
        theirs = CORRECTION.get(row.published)
        ours = [_found(group, row) for group in groups]
        if theirs is None and not any(ours):
            continue
        cells = [DASH, DASH]
        if theirs is not None:
            cells = [f"{theirs.aed:.3f}", f"{100 * theirs.f05:.1f}"]
        cells += chain.from_iterable(map(_cells, ours))
        rows.append((row.label, *cells))
    header = ["", "paper: AED", "F0.5 of marks"]
    for group in groups:
        header += [f"{group[0]['data']}: AED", *_SHARES.values()]
    return table(header, rows)


def _found(group: Sequence[Results], row: _Row) -> Mapping[str, Any] | None:
    """The scores of a system on some data."""
    for result in group:
        if row.trees in ("", result["trees"]) and row.system in result["systems"]:
            return result["systems"][row.system]
    return None


def _cells(scores: Mapping[str, Any] | None) -> list[str]:
    if scores is None:
        return [DASH] * (1 + len(_SHARES))
    return [f"{scores['aed']:.4f}", *(percent(scores[key]) for key in _SHARES)]


def errors_table(group: Sequence[Results]) -> str:
    """How many errors of each kind were mended, in percent.

    group (Sequence[Results]): Results on the same data.
    RETURNS (str): The table.
    """
    first = group[0]
    rows = [row for row in _ROWS if row.system != NOTHING and _found(group, row)]

    def recall(kind: str, row: _Row) -> str:
        result = next(r for r in group if _found([r], row))
        return percent(result["errors"][kind]["recall"][row.system])

    lines = [
        (
            kind.replace("_", " "),
            errors["n"],
            percent(errors["share"]),
            *(recall(kind, row) for row in rows),
        )
        for kind, errors in first["errors"].items()
    ]
    header = (f"mended in {first['data']}", "number", "share")
    return table((*header, *(row.label for row in rows)), lines)


def parallel_table(results: Sequence[Results]) -> str:
    """Scores on text with corrections by hand."""
    rows = []
    for result in results:
        used = f"{result['n_sents_used']} of {result['n_sents']}"
        pairs = f"{result['n_pairs_used']} of {result['n_pairs']}"
        for name, scores in result["systems"].items():
            cells = (percent(scores[key]) for key in ("p", "r", "f05", "changed"))
            rows.append((result["data"], _NAMES.get(name, name), used, pairs, *cells))
    header = ("", "system", "sentences", "pairs", "P", "R", "F0.5", "slots changed")
    return table(header, rows)


def _has_kinds(result: Results) -> bool:
    return all("kinds" in scores for scores in result["systems"].values())


def kinds_table(result: Results) -> str:
    """Precision, recall and F0.5 of each kind of error, in percent."""
    systems = {n: s["kinds"] for n, s in result["systems"].items() if n != NOTHING}
    kinds = list(dict.fromkeys(chain.from_iterable(systems.values())))
    rows = []
    for kind in kinds:
        cells = []
        for found in systems.values():
            counts = found.get(kind, {"due": 0, "made": 0, "right": 0})
            p, r = (counts["right"] / (counts[key] or 1) for key in ("made", "due"))
            f = 1.25 * p * r / (0.25 * p + r) if p else 0.0
            cells.append(" / ".join(map(percent, (p, r, f))))
        due = max(found.get(kind, {"due": 0})["due"] for found in systems.values())
        rows.append((kind, due, *cells))
    header = (f"{result['data']}: P / R / F0.5", "number")
    return table((*header, *(_NAMES.get(n, n) for n in systems)), rows)


def main(results: Files, output: Page = None) -> None:
    """Write tables of what scripts.correction measured.

    Example: python -m scripts.tables.correction parsed.json gold.json
    """
    write_page(correction_report, results, output)


if __name__ == "__main__":
    run_step(main)
