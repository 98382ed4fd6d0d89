"""What live text costs: F and CPU time with little lookahead, beside the whole text.

    python -m scripts.live en assets/bench/dev --output metrics/en-live.json

Streams and figures are those of `scripts.bench`.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import torch
import typer
from spacy.language import Language

from scripts.bench import Found, measured
from scripts.encoder.evaluate import Stream, folded, read_streams
from scripts.steps import Pipeline, Result, Streams, Words, run_step, write_result
from scripts.tables.markdown import table
from spacy_punct.cli.shared import load_pipeline
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.restorer.live import live
from spacy_punct.restorer.texts import restore_words

WHOLE = "whole text"
FIGURES = {"comma": "commas", "end": "sentence ends", "micro": "`,` `.` `?`"}


def mark_after(word: str) -> str:
    """The mark after a restored word, folded as the bench does."""
    word = word.replace("...", "…").replace("--", "—").replace("–", "—")
    end = max((i for i, char in enumerate(word, 1) if char.isalnum()), default=0)
    rest = word[end:]
    # A hyphen that is not part of a word stands between spaces.
    marks = rest.replace("-", "—" if rest.startswith(" ") else "")
    return folded(" ".join(marks.replace(" ", "")))


def found_in(words: Sequence[str]) -> Found:
    """The mark after each restored word. Case does not count.

    words (Sequence[str]): The words with their marks; empty for one that is written
        together with the one before, whose mark is then after the last of them.
    RETURNS (Found): The marks, and no forms.
    """
    marks = list(map(mark_after, words))
    for k in range(1, len(words)):
        if not words[k]:
            marks[k - 1], marks[k] = "", marks[k - 1]
    return marks, [""] * len(words)


def at_once(nlp: Language, stream: Stream) -> Found:
    """What is found with the whole text ahead."""
    return found_in(list(restore_words(stream.words, nlp)))


class AsTheyCome:
    """What is found in words as they come.

    lookahead (int), step (int | None): See `spacy_punct.live`.
    """

    def __init__(self, lookahead: int, step: int | None) -> None:
        self.lookahead, self.step = lookahead, step

    def __call__(self, nlp: Language, stream: Stream) -> Found:
        updates = live(stream.words, nlp, lookahead=self.lookahead, step=self.step)
        return found_in([word for found in updates for word in found.stable])


def report(results: Mapping[str, Mapping[str, Any]]) -> str:
    """A table of the mean figures."""
    fast = results[WHOLE]["words_per_cpu_second"]
    rows = []
    for name, found in results.items():
        figures = [f"{found['mean'][key]:.3f}" for key in FIGURES]
        speed = found["words_per_cpu_second"]
        rows.append([name, *figures, f"{1000 / speed:.2f}", f"{fast / speed:.1f}"])
    header = ["lookahead", *FIGURES.values(), "ms of CPU per word", "times"]
    return table(header, rows)


def main(
    pipeline: Pipeline,
    folder: Streams,
    output: Result,
    words: Words = 6000,
    lookahead: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Words of lookahead; may be given several times."),
    ] = None,
    step: Annotated[
        int | None, typer.Option(min=1, help="Words that become stable together.")
    ] = None,
) -> None:
    """Measure live restoring beside restoring the whole text.

    Example: python -m scripts.live en assets/bench/test --output metrics/en-live.json
    """
    torch.set_num_threads(1)
    nlp, _ = load_pipeline(pipeline, PunctuationRestorer)
    nlp("does anybody use it")  # the first is slow
    systems = {
        WHOLE: at_once,
        **{str(n): AsTheyCome(n, step) for n in lookahead or (20, 10, 5, 2)},
    }
    results = measured(nlp, read_streams(folder, words), systems)
    write_result(output, results)
    typer.echo(report(results))


if __name__ == "__main__":
    run_step(main)
