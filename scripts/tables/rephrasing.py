"""Perplexities of rephrased sentences, beside the paper's (section 5.3)."""

from collections.abc import Mapping, Sequence

from scripts.tables.markdown import SIGNIFICANT, Results, beside, table
from scripts.tables.published import RELEASE, REPHRASING

SYSTEMS = ("base", "half", "full", "full-same")
MEASURES = ("punctuation", "all")
PUBLISHED = ("base", "half", "full")
"""The systems of the paper."""
_TITLES = {"base": "Base", "half": "Half", "full": "Full", "full-same": "Full, as Base"}


def rephrasing_report(results: Sequence[Results]) -> str:
    """The table, with what it is of.

    results (Sequence[Results]): What the experiment wrote of each treebank.
    RETURNS (str): Markdown.
    """
    caveats = [
        f"> **{result['treebank']}**: {result['caveat']}"
        for result in results
        if result["caveat"]
    ]
    parts = [
        "# Sentential rephrasing",
        "Perplexity of the original training sentences under trigram models of "
        "rephrased ones, in which the dependents of nouns and verbs have an order that "
        "a model of the same language drew: on trigrams with punctuation, and on all. "
        "Base: marks are ordered like words. Half: words as in Base, marks made anew "
        "from the underlying tree. Full: words ordered without marks, marks made anew. "
        "Words with more than six dependents are left alone, and marks are dependents "
        "in Base and Half: the last column is Full where only those words vary that do "
        "so in Base. In brackets: the paper's figures. Bold: the best of the paper's "
        "three, if significantly so (paired permutation test over sentences, "
        f"p < {SIGNIFICANT}).",
        rephrasing_table(results),
        "Full is significantly better than Base in "
        f"{sum(_is_better(r, 'punctuation') for r in results)} of {len(results)} "
        "treebanks on trigrams with punctuation, and in "
        f"{sum(_is_better(r, 'all') for r in results)} on all.",
        *(["\n>\n".join(caveats)] if caveats else []),
    ]
    return "\n\n".join(parts) + "\n"


def rephrasing_table(results: Sequence[Results]) -> str:
    """A row for each treebank."""
    rows = []
    for result in results:
        name, _, release = result["treebank"].rpartition("-")
        paper = REPHRASING.get(name) if release == RELEASE else None
        cells = []
        for measure in MEASURES:
            ours = {s: found[measure] for s, found in result["systems"].items()}
            best = _best({s: ours[s] for s in PUBLISHED}, result["tests"][measure])
            theirs = getattr(paper, measure) if paper else {}
            for system in SYSTEMS:
                shown = f"{ours[system]:.1f}"
                shown = f"**{shown}**" if system == best else shown
                known = f"{theirs[system]:.1f}" if system in theirs else None
                cells.append(beside(shown, known))
        star = "*" if result["caveat"] else ""
        rows.append((result["treebank"] + star, result["n_sents"], *cells))
    header = [f"{_TITLES[s]}, {measure}" for measure in MEASURES for s in SYSTEMS]
    return table(("", "sentences", *header), rows)


def _is_better(result: Results, measure: str) -> bool:
    """Whether Full is significantly better than Base."""
    base, full = (result["systems"][s][measure] for s in ("base", "full"))
    return full < base and result["tests"][measure]["base / full"] < SIGNIFICANT


def _best(values: Mapping[str, float], tests: Mapping[str, float]) -> str | None:
    """The system that is significantly better than all others."""
    best = min(values, key=values.__getitem__)
    among = [set(pair.split(" / ")) for pair in tests]
    pairs = [
        p
        for names, p in zip(among, tests.values(), strict=True)
        if best in names and names <= set(values)
    ]
    return best if all(p < SIGNIFICANT for p in pairs) else None
