"""What a restorer has learned of punctuation, as tables and pictures.

python -m scripts.analyze training/model-best train.conllu --output analysis
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import srsly
import typer
from tqdm import tqdm

from scripts.learned import Analysis, Ranks, RelationPairs, analyze
from scripts.pictures import rewrite_bars
from scripts.steps import run_step
from spacy_punct.cli.shared import MODEL_HELP, check_file, load_pipeline, printer
from spacy_punct.data.marks import BOS
from spacy_punct.data.tree import Puncteme
from spacy_punct.data.treebank import read_treebank
from spacy_punct.model.rewrites import Rewrite
from spacy_punct.reading.corpus import make_doc
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.restorer.evaluation import gold_trees

_MOST_REWRITES = 40
_MOST_RELATIONS = 10
_PANELS = 12


@dataclass(frozen=True)
class Table:
    """A table of text.

    title, note (str): What stands above it and, if not empty, below that.
    header (tuple[str, ...]): The names of its columns.
    rows (tuple[tuple[str, ...], ...]): Its cells.
    """

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def written(marks: Puncteme) -> str:
    """A string of marks; ε for none."""
    return " ".join(marks) or "ε"


def tables(analysis: Analysis) -> Iterator[Table]:
    """The tables of an analysis.

    analysis (Analysis): What was found.
    YIELDS (Table): Those that have rows.
    """
    found = (_rules, _edits, _rewrites, _relations)
    for table in (make(analysis) for make in found):
        if table.rows:
            yield table


def markdown(analysis: Analysis, title: str = "Analysis") -> str:
    """An analysis as a page of Markdown.

    analysis (Analysis): The analysis.
    title (str): The page's title.
    RETURNS (str): The page.
    """
    blocks = [f"# {title}"]
    for table in tables(analysis):
        blocks.append(f"## {table.title}")
        if table.note:
            blocks.append(table.note)
        lines = [table.header, ("---",) * len(table.header)]
        lines += [tuple(map(_cell, row)) for row in table.rows]
        blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(blocks) + "\n"


def _cell(text: str) -> str:
    """A cell in which marks mean nothing to Markdown."""
    return "".join(
        f"\\{char}" if char in r"\`*_{}[]<>()#+-.!|~" else char for char in text
    )


def _rules(analysis: Analysis) -> Table:
    recall = analysis.recall

    def row(name: str, ranks: Ranks) -> tuple[str, ...]:
        counts = (ranks.n, ranks.first, ranks.second, ranks.lower)
        return (name, *map(str, counts), f"{ranks.mrr:.3f}")

    rows = (row("all", recall.all), row("some p > 0.5", recall.confident))
    note = (
        f"The rank that the model gives to each of Nunberg's {recall.n_rules} rules "
        f"among the four edits of its marks; {recall.n_unknown} have marks that the "
        "model does not know."
    )
    header = ("rules", "number", "rank 1", "rank 2", "lower", "MRR")
    return Table("Nunberg's rules", note, header, rows if recall.all.n else ())


def _edits(analysis: Analysis) -> Table:
    found = analysis.precision
    rows = tuple(
        (
            written(edit.underlying),
            written(edit.surface),
            f"{edit.p:.3f}",
            _count(edit.count),
            "yes" if edit.is_listed else "no" if edit.is_covered else "other marks",
        )
        for edit in found.edits
    )
    note = (
        f"Absorptions and transpositions with p > 0.75: Nunberg lists {found.n_listed} "
        f"of {found.n_edits}, and {found.n_uncovered} have marks that his rules are "
        f"not about. Of {found.n_kept} bigrams as sure to be kept he keeps "
        f"{found.n_kept_rightly}."
    )
    if found.least_certain is not None:
        least = found.least_certain
        note += (
            f" The least certain of all rewrites is that of {written(least.underlying)}"
            f" (p = {least.best.p:.3f})."
        )
    header = ("underlying", "surface", "p", "count", "Nunberg")
    return Table("Edits the model is certain of", note, header, rows)


def _rewrites(analysis: Analysis) -> Table:
    def row(entry: Rewrite) -> tuple[str, ...]:
        outcomes = [
            f"{written(outcome.surface)}  {100 * outcome.p:.0f}%"
            for outcome in entry.outcomes
        ]
        outcomes += [""] * (4 - len(outcomes))
        return (written(entry.underlying), _count(entry.count), *outcomes)

    shown = analysis.rewrites[:_MOST_REWRITES]
    note = f"The {len(shown)} most certain of {len(analysis.rewrites)} with p > 0.75."
    if analysis.n_sents:
        note = (
            f"The {len(shown)} most frequent of {len(analysis.rewrites)} bigrams that "
            f"are underlying at least {analysis.min_count} times in the most probable "
            f"analysis of {analysis.n_sents} sentences."
        )
    header = ("underlying", "count", "surface", "", "", "")
    return Table("Rewrites", note, header, tuple(map(row, shown)))


def _relations(analysis: Analysis) -> Table:
    def row(entry: RelationPairs) -> tuple[str, ...]:
        pairs = [
            f"{written(pair.left)} … {written(pair.right)}"
            f"{' =' if pair.is_symmetric else ''} {100 * pair.p:.1f}"
            for pair in entry.pairs
        ]
        pairs += [""] * (5 - len(pairs))
        symmetric = f"{100 * entry.symmetric:.1f}"
        return (
            entry.relation,
            str(entry.count),
            symmetric,
            f"{entry.entropy:.2f}",
            *pairs,
        )

    rows = tuple(map(row, analysis.relations[:_MOST_RELATIONS]))
    note = (
        "How likely, in percent, constituents have symmetric punctemes; the entropy of "
        "their pairs in nats; the most likely pairs in percent, = if symmetric."
    )
    pairs = ("pairs", "", "", "", "")
    header = ("relation", "count", "symmetric", "entropy", *pairs)
    return Table("Symmetric relations", note, header, rows)


def _count(count: int | None) -> str:
    return "" if count is None else str(count)


def write_analysis(analysis: Analysis, folder: Path, *, pictures: bool = True) -> None:
    """Write an analysis as JSON and Markdown, and draw the rewrites.

    analysis (Analysis): What was found.
    folder (Path): Gets analysis.json, analysis.md and rewrites.png and .svg.
    pictures (bool): Whether to draw.
    """
    folder.mkdir(parents=True, exist_ok=True)
    srsly.write_json(folder / "analysis.json", analysis.to_dict())
    (folder / "analysis.md").write_text(markdown(analysis), "utf8")
    drawn = [entry for entry in analysis.rewrites if BOS not in entry.underlying]
    if pictures and drawn:
        rewrite_bars(drawn[:_PANELS], folder / "rewrites")


def main(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    data: Annotated[
        Path | None, typer.Argument(help="A CoNLL-U file to count in.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The folder to write to.")
    ] = None,
    min_count: Annotated[
        int, typer.Option(min=1, help="Rarer underlying bigrams are left out.")
    ] = 25,
    min_relation_count: Annotated[
        int, typer.Option(min=1, help="Rarer relations are left out.")
    ] = 100,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Read the first sentences only.")
    ] = None,
    pictures: Annotated[
        bool, typer.Option(help="Whether to draw the rewrites.")
    ] = True,
) -> None:
    """Show the learned grammar: how marks interact, and which relations they mark.

    The channel is compared with Nunberg's rules for English. With a treebank, what is
    underlying in it is reconstructed on its own trees: which marks meet how often,
    and by which punctemes relations are set off. The folder gets analysis.json,
    analysis.md and the pictures rewrites.png and rewrites.svg.

    Example: python -m scripts.analyze training/model-best train.conllu \\
    --output analysis
    """
    treebank = None if data is None else read_treebank(check_file(data))
    nlp, restorer = load_pipeline(model, PunctuationRestorer)
    trees = None
    if treebank is not None:
        examples = treebank.examples[:limit]
        references = (make_doc(example, nlp.vocab) for example in examples)
        found = gold_trees(nlp, restorer, references)
        trees = tqdm(found, total=len(examples), unit="sent", leave=False, disable=None)
    analysis = analyze(
        restorer.punctuation,
        trees,
        min_count=min_count,
        min_relation_count=min_relation_count,
    )
    for table in tables(analysis):
        printer.divider(table.title)
        printer.text(table.note)
        printer.table(table.rows, header=table.header, divider=True)
    if output is not None:
        write_analysis(analysis, output, pictures=pictures)


if __name__ == "__main__":
    run_step(main)
