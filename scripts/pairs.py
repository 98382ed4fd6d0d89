"""Measure quotes and brackets: how many are found in bare words, and whether all have
their partners.

    python -m scripts.pairs en corpus/text/test/se.txt --output metrics/en-pairs.json
"""

import random
from itertools import chain, pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.language import Language
from wasabi import msg

from scripts.steps import Pipeline, Result, Seed, run_step, write_result
from scripts.tables.markdown import table
from spacy_punct.cli.shared import loaded
from spacy_punct.data.tree import Slots
from spacy_punct.data.written import WrittenWord, read_line, written_slots
from spacy_punct.model.evaluation import score
from spacy_punct.restorer.texts import RestoredWord, restore_texts
from spacy_punct.text.pairs import is_balanced

PAIRS = {"quotes": ("``", "''"), "single quotes": ("`", "'"), "brackets": ("(", ")")}


def slots_of(words: list[RestoredWord]) -> Slots:
    """The marks between the words of a restored text."""
    ends = [((), ()), *((w.slots[0], w.slots[-1]) for w in words), ((), ())]
    return tuple((*left[1], *right[0]) for left, right in pairwise(ends))


def measured(nlp: Language, words: list[WrittenWord]) -> dict[str, Any]:
    """P, R and F of each kind of pair in a text.

    nlp (Language): A pipeline with a restorer.
    words (list[WrittenWord]): The text, which it is given in lower case.
    RETURNS (dict[str, Any]): By the names of `PAIRS`, and "balanced".
    """
    # What begins 'em and 'tis is no quote, but looks like one.
    (found,) = restore_texts(nlp, [[w.form.lower().strip("'") for w in words]])
    slots = slots_of(found)
    result: dict[str, Any] = {"n_words": len(words), "balanced": is_balanced(slots)}
    for name, pair in PAIRS.items():
        ours, theirs = (
            [tuple("x" for mark in slot if mark in pair) for slot in text]
            for text in (slots, written_slots(words))
        )
        scores = score([tuple(ours)], [tuple(theirs)]).to_dict()["per_mark"]
        result[name] = scores.get("x", {"p": 0.0, "r": 0.0, "f": 0.0, "support": 0})
    return result


def n_unbalanced(nlp: Language, words: list[str], n: int, seed: int) -> int:
    """How many of so many random texts have a mark without its partner."""
    rng = random.Random(seed)
    texts = (rng.choices(words, k=rng.randint(1, 12)) for _ in range(n))
    found = restore_texts(nlp, texts)
    return sum(not is_balanced(slots_of(text)) for text in found)


def main(
    pipeline: Pipeline,
    texts: Annotated[list[Path], typer.Argument(help="Well punctuated text.")],
    output: Result,
    random_texts: Annotated[
        int, typer.Option(min=0, help="Random texts to check for balance.")
    ] = 0,
    seed: Seed = 0,
) -> None:
    """Measure how many quotes and brackets are found, and whether all are paired.

    Example: python -m scripts.pairs en corpus/text/test/se.txt
    --output metrics/en-pairs.json
    """
    nlp = loaded(pipeline)
    result: dict[str, Any] = {}
    known: set[str] = set()
    for path in texts:
        lines = path.read_text("utf-8").split("\n")
        words = list(chain.from_iterable(map(read_line, lines)))
        known.update(word.form.lower() for word in words if word.form.isalpha())
        result[path.stem] = measured(nlp, words)
    rows = [
        (text, name, *(f"{found[name][key]:.3f}" for key in "prf"), found["balanced"])
        for text, found in result.items()
        for name in PAIRS
    ]
    typer.echo(table(("text", "pairs", "P", "R", "F", "balanced"), rows))
    if random_texts:
        n = n_unbalanced(nlp, sorted(known), random_texts, seed)
        result["random"] = {"n_texts": random_texts, "n_unbalanced": n}
        msg.info(f"{n} of {random_texts} random texts are not balanced")
    write_result(output, result)


if __name__ == "__main__":
    run_step(main)
