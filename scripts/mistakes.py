"""Count what people get wrong: the punctuation errors of corrected text by kind, and
how often each is made where it could be. The `RATES` of `spacy_punct.data.corruption`
come from here.

    python -m scripts.mistakes en DEV.m2 --part first
    python -m scripts.mistakes en dev.src --reference dev.ref0 --reference dev.ref1
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from spacy.language import Language

from scripts.learners import ParallelText, part_of, read_text
from scripts.steps import run_step
from scripts.tables.markdown import percent, table
from spacy_punct.cli.shared import MODEL_HELP, loaded
from spacy_punct.data.corruption import occasions
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.kinds import kind_of
from spacy_punct.data.tree import Tree
from spacy_punct.reading.sentences import bare_sentences


def trees(nlp: Language, text: ParallelText) -> Iterator[Tree]:
    """The trees of the sentences of a text, each one sentence to the pipeline."""
    docs = [sentence.source.to_doc(nlp.vocab) for sentence in text.sentences]
    unneeded = {"punctuation_restorer", "punctuation_corrector"} & {*nlp.pipe_names}
    with nlp.select_pipes(disable=list(unneeded)):
        for doc in nlp.pipe(docs):
            (sentence,) = bare_sentences(doc, "the count")
            yield sentence.tree.projective()


def count(nlp: Language, text: ParallelText) -> tuple[Counter[str], Counter[str]]:
    """Errors, and occasions to make them, by kind.

    nlp (Language): A pipeline with a parser.
    text (ParallelText): The text; if it has several corrections, each counts its
        share.
    RETURNS (tuple[Counter, Counter]): Both counts.
    """
    made: Counter[str] = Counter()
    possible: Counter[str] = Counter()
    for sentence, tree in zip(text.sentences, trees(nlp, text), strict=True):
        share = 1 / len(sentence.references)
        for right in sentence.references:
            for occasion in occasions(PunctuatedTree(tree, right)):
                possible[occasion.kind] += share
            for i, written in enumerate(sentence.source.slots):
                if written != right[i]:
                    made[kind_of(tree, i, written, right[i])] += share
    return made, possible


def main(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    data: Annotated[Path, typer.Argument(help="An M2 file, or tokenised text.")],
    reference: Annotated[
        list[Path] | None, typer.Option(help="The lines of the text corrected.")
    ] = None,
    part: Annotated[
        str, typer.Option(help="all, or the first or second half.")
    ] = "all",
) -> None:
    """Count punctuation errors by kind in text with corrections by hand."""
    text = part_of(read_text(data, reference or ()), part)
    made, possible = count(loaded(model), text)
    n_words = sum(len(sentence.source.words) for sentence in text.sentences)
    rows = [
        (
            kind,
            f"{made[kind]:.0f}",
            percent(made[kind] / made.total()),
            f"{possible[kind]:.0f}",
            f"{made[kind] / possible[kind]:.4f}" if possible[kind] else "",
        )
        for kind in sorted(possible | made, key=lambda kind: -made[kind])
    ]
    typer.echo(table(("kind", "errors", "share", "occasions", "rate"), rows))
    typer.echo(f"{made.total():.0f} errors in {n_words} words")


if __name__ == "__main__":
    run_step(main)
