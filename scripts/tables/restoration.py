"""The tables of an experiment, in Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

from scripts.tables.markdown import (
    DASH,
    SIGNIFICANT,
    Results,
    beside,
    percent,
    table,
)
from scripts.tables.published import Published, published

SYSTEMS = {
    "trivial": "trivial",
    "bigru-attention": "BiGRU, attention",
    "bilstm-softmax": "BiLSTM",
    "bilstm-crf": "BiLSTM-CRF",
    "attach": "ATTACH only",
    "log-linear": "ATTACH + channel",
    "lexical": "lexical ATTACH + channel",
}
"""The systems, as tables call them."""
TREES = {"gold": "gold trees", "parsed": "spaCy", "udpipe": "UDPipe"}
"""The kinds of trees, as tables call them."""
_ARROWS = {"left-to-right": "→", "right-to-left": "←"}


def report(results: Sequence[Results]) -> str:
    """All tables of an experiment, with a warning where the data is not what its
    name says."""
    parts = [
        _caveats(results),
        "## Data",
        "In brackets, here and below: the paper's figures.",
        data_table(results),
        "## Perplexity per slot",
        "Test data; systems with trees have the treebank's. Bold: the best, and all "
        "that are not significantly worse (paired permutation test over sentences, "
        f"p < {SIGNIFICANT}). The arrow is the way the channel slides, as dev chose.",
        perplexity_table(results),
        "## Average edit distance",
        "Test data; systems with trees have those of a spaCy parser trained on the "
        "treebank without its punctuation. Bold as above. `ratio` is that of the "
        "lexical model, and of the paper's full model, to the trivial one.",
        aed_table(results),
        "With other trees:",
        trees_table(results),
        "## Parsers",
        "Labelled attachment score on test, without punctuation, sentences given.",
        parser_table(results),
        "## Marks",
        "The lexical model on parsed trees of test data, P / R / F.",
        *(mark_table(result) for result in results),
        "## Tests",
        "p-values of paired permutation tests over the sentences of test, in edit "
        "distance: the lexical model against each other system.",
        test_table(results),
        "## Time",
        time_table(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _caveats(results: Sequence[Results]) -> str:
    lines = [
        f"> **{result['title']}**: {result['data']['caveat']}"
        for result in results
        if result["data"]["caveat"]
    ]
    return "\n>\n".join(lines)


def _title(result: Results) -> str:
    """A treebank's title, marked if there is something to say about its data."""
    return result["title"] + ("*" if result["data"]["caveat"] else "")


def data_table(results: Sequence[Results]) -> str:
    rows = []
    for result in results:
        data, paper = result["data"], published(result["treebank"])
        pairs = [
            (f"{data['tokens'] / 1000:.0f}k", paper and f"{paper.tokens / 1000:.0f}k"),
            (percent(data["punctuation"]), paper and percent(paper.punctuation)),
            (data["omitted"], paper and paper.omitted),
            (data["types"], paper and paper.types),
        ]
        sizes = " / ".join(str(n) for n in data["sentences"].values())
        cells = [beside(ours, theirs) for ours, theirs in pairs]
        rows.append((_title(result), result["treebank"], *cells, sizes))
    header = ("", "treebank", "tokens", "% marks", "omitted", "kinds")
    return table((*header, "train / dev / test"), rows)


def perplexity_table(results: Sequence[Results]) -> str:
    names = [n for n in _systems(results) if n != "trivial"]

    def directions(result: Results, paper: Published | None) -> str:
        arrow = _ARROWS.get(result["direction"], DASH)
        return beside(arrow, paper and _ARROWS[paper.direction])

    rows = _rows(results, names, "perplexity", "gold", "{:.4f}", directions)
    return table(("", *(SYSTEMS[name] for name in names), "direction"), rows)


def aed_table(results: Sequence[Results]) -> str:
    names = _systems(results)

    def ratio(result: Results, paper: Published | None) -> str:
        return _ratio(_values(result, "aed", ("parsed", "words")), paper and paper.aed)

    rows = _rows(results, names, "aed", "parsed", "{:.3f}", ratio)
    return table(("", *(SYSTEMS[name] for name in names), "ratio"), rows)


def _rows(
    results: Sequence[Results],
    names: Sequence[str],
    measure: str,
    trees: str,
    their_style: str,
    last: Callable[[Results, Published | None], str],
) -> list[tuple[str, ...]]:
    """A measure of systems, beside the paper's; the best are bold."""
    rows = []
    for result in results:
        values = _values(result, measure, (trees, "words"))
        paper = published(result["treebank"])
        theirs = getattr(paper, measure) if paper else {}
        best = _not_worse(values, result["tests"][measure])
        cells = [_cell(values, theirs, name, best, their_style) for name in names]
        rows.append((_title(result), *cells, last(result, paper)))
    return rows


def _ratio(values: Mapping[str, float], theirs: Mapping[str, float] | None) -> str:
    if "lexical" not in values:
        return DASH
    ours = f"{values['lexical'] / values['trivial']:.2f}"
    paper = theirs and f"{theirs['log-linear'] / theirs['trivial']:.2f}"
    return beside(ours, paper)


def trees_table(results: Sequence[Results]) -> str:
    """Edit distances with gold trees and, if there are such, with UDPipe's."""
    names = [n for n in ("attach", "log-linear", "lexical") if n in _systems(results)]
    columns = [(kind, name) for kind in _trees(results, "gold") for name in names]
    rows = []
    for result in results:
        values = {kind: _values(result, "aed", (kind,)) for kind, _ in columns}
        paper = published(result["treebank"])
        theirs = {"gold": {"log-linear": paper.aed["gold"]} if paper else {}}
        cells = (
            _cell(values[kind], theirs.get(kind, {}), name, (), "{:.3f}")
            for kind, name in columns
        )
        rows.append((_title(result), *cells))
    header = (f"{SYSTEMS[name]}, {TREES[kind]}" for kind, name in columns)
    return table(("", *header), rows)


def parser_table(results: Sequence[Results]) -> str:
    kinds = _trees(results, "parsed")
    rows = []
    for result in results:
        values = [_values(result, "las", (kind,)).get("lexical") for kind in kinds]
        cells = (DASH if las is None else percent(las) for las in values)
        rows.append((_title(result), *cells))
    return table(("", *(TREES[kind] for kind in kinds)), rows)


def _trees(results: Sequence[Results], first: str) -> list[str]:
    """A kind of trees, and UDPipe's if some treebank has them."""
    has_udpipe = any(_values(result, "aed", ("udpipe",)) for result in results)
    return [first, *(["udpipe"] if has_udpipe else [])]


def mark_table(result: Results, least: int = 20) -> str:
    """Precision, recall and F of marks seen at least so often."""
    scores = result["systems"].get("lexical", {}).get("test", {}).get("parsed")
    if not scores:
        return ""
    rows = [
        (
            f"<code>{escape(mark)}</code>",
            " / ".join(f"{100 * found[key]:.1f}" for key in "prf"),
            found["support"],
        )
        for mark, found in scores["per_mark"].items()
        if found["support"] >= least
    ]
    return table((_title(result), "P / R / F", "in the truth"), rows)


def test_table(results: Sequence[Results]) -> str:
    names = [name for name in _systems(results) if name != "lexical"]
    rows = []
    for result in results:
        values = _values(result, "aed", ("parsed", "words"))
        if "lexical" not in values:
            continue
        cells = [
            _p_value(values, result["tests"]["aed"], name) if name in values else DASH
            for name in names
        ]
        rows.append((_title(result), *cells))
    return table(("", *(SYSTEMS[name] for name in names)), rows)


def _p_value(values: Mapping[str, float], tests: Mapping[str, float], name: str) -> str:
    sign = "<" if values["lexical"] < values[name] else ">"
    return f"{sign}, p = {_p(tests, 'lexical', name):.4f}"


def time_table(results: Sequence[Results]) -> str:
    rows = []
    total = 0.0
    for result in results:
        seconds = result["seconds"]
        groups = {"parsers": 0.0, "restorers": 0.0, "taggers": 0.0, "rest": 0.0}
        for job, spent in seconds.items():
            groups[_group(job)] += spent
        total += sum(seconds.values())
        minutes = [f"{spent / 60:.0f}" for spent in groups.values()]
        rows.append((_title(result), *minutes, f"{sum(seconds.values()) / 60:.0f}"))
    rows.append(("all", *[""] * 4, f"{total / 60:.0f}"))
    header = ("minutes on one core", "parsers", "restorers", "taggers", "rest", "all")
    return table(header, rows)


def _group(job: str) -> str:
    if job.startswith("parser") or job in ("jackknife", "udpipe"):
        return "parsers"
    if job.startswith("bi"):
        return "taggers"
    is_restorer = job in ("lexical", "attach", *_ARROWS)
    return "restorers" if is_restorer else "rest"


def _systems(results: Sequence[Results]) -> list[str]:
    """The systems that some treebank has results of."""
    return [name for name in SYSTEMS if any(name in r["systems"] for r in results)]


def _values(result: Results, measure: str, trees: Sequence[str]) -> dict[str, float]:
    """System -> figure on test, with the first kind of trees that it has."""
    values = {}
    for name, by_split in result["systems"].items():
        by_trees = by_split.get("test", {})
        kind = next((kind for kind in trees if kind in by_trees), None)
        if kind is not None and measure in by_trees[kind]:
            values[name] = by_trees[kind][measure]
    return values


def _not_worse(values: Mapping[str, float], tests: Mapping[str, float]) -> set[str]:
    """The best system and those not significantly worse."""
    if not values:
        return set()
    best = min(values, key=values.__getitem__)
    return {n for n in values if n == best or _p(tests, best, n) >= SIGNIFICANT}


def _p(tests: Mapping[str, float], one: str, other: str) -> float:
    return tests[" / ".join(sorted((one, other)))]


def _cell(
    values: Mapping[str, float],
    theirs: Mapping[str, float],
    name: str,
    bold: Iterable[str],
    their_style: str,
) -> str:
    if name not in values:
        return DASH
    ours = f"{values[name]:.4f}"
    paper = their_style.format(theirs[name]) if name in theirs else None
    return beside(f"**{ours}**" if name in bold else ours, paper)
