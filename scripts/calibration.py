"""Find out whether probabilities mean what they say, and the temperature that makes
them so.

    python -m scripts.calibration en assets/bench/dev --output metrics/calibration.json

Streams are those of `scripts.bench`. A slot is right if the mark after the word is, as
the bench counts. The temperature that this finds is a setting of the restorer: write it
into configs/en.cfg, or into the config.cfg of a pipeline.
"""

from bisect import bisect
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from spacy.language import Language
from wasabi import msg

from scripts.encoder.evaluate import Stream, folded, read_streams
from scripts.steps import Pipeline, Result, Streams, Words, run_step, write_result
from spacy_punct.cli.shared import loaded
from spacy_punct.model.mbr import tempered
from spacy_punct.restorer.component import Ranked
from spacy_punct.restorer.texts import owners

_WINDOW = 1000
_BOUNDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_TEMPERATURES = np.arange(0.5, 3.01, 0.05).round(2).tolist()
_LEAST = 1e-4


class Answer(NamedTuple):
    """What was said of a slot.

    marks (tuple[str, ...]): What is written.
    likely (Ranked): What may stand there, with temperature 1.
    is_right (bool): Whether it is true.
    """

    marks: tuple[str, ...]
    likely: Ranked
    is_right: bool

    def confidence(self, temperature: float) -> float:
        """How probable it is that this is true."""
        return tempered(dict(self.likely), temperature).get(self.marks, 0.0)


def answers(nlp: Language, stream: Stream) -> list[Answer]:
    """What a pipeline says of the slots after the words of a stream."""
    restorer: Any = nlp.get_pipe("punctuation_restorer")
    found: list[Answer] = []
    with nlp.select_pipes(disable=[restorer.name]):
        for start in range(0, len(stream.words), _WINDOW):
            words = list(stream.words[start : start + _WINDOW])
            doc = nlp(" ".join(words))
            owner = owners(doc, words)
            with restorer.having(temperature=1.0):
                (sentences,) = restorer.predict([doc])
            slots = [
                (owner[i], *slot)
                for sentence in sentences
                for i, *slot in zip(
                    sentence.source.positions,
                    sentence.slots[1:],
                    sentence.likely[1:],
                    strict=True,
                )
            ]
            # Of a word with several tokens, the last is before the slot.
            last = {word: (marks, likely) for word, marks, likely in slots}
            for word, (marks, likely) in last.items():
                true = stream.marks[start + word]
                is_right = folded(" ".join(marks)) == true
                found.append(Answer(marks, likely, is_right))
    return found


def loss(found: Iterable[Answer], temperature: float) -> float:
    """The mean log-loss of saying that slots are right."""
    losses = []
    for answer in found:
        p = min(max(answer.confidence(temperature), _LEAST), 1 - _LEAST)
        losses.append(-np.log(p if answer.is_right else 1 - p))
    return float(np.mean(losses))


def fitted(found: Sequence[Answer]) -> float:
    """The temperature of least loss."""
    return min(_TEMPERATURES, key=lambda temperature: loss(found, temperature))


def reliability(found: Sequence[Answer], temperature: float) -> list[dict[str, float]]:
    """For each range of confidence how often it is said, its mean, and how often slots
    are right then."""
    groups: list[list[tuple[float, bool]]] = [[] for _ in range(len(_BOUNDS) + 1)]
    for answer in found:
        p = answer.confidence(temperature)
        groups[bisect(_BOUNDS, p)].append((p, answer.is_right))
    rows = []
    for low, group in zip((0.0, *_BOUNDS), groups, strict=True):
        if group:
            confidence, right = np.mean(group, axis=0).round(4).tolist()
            row = {"from": low, "n": len(group), "said": confidence, "right": right}
            rows.append(row)
    return rows


def calibration_error(rows: Sequence[dict[str, float]]) -> float:
    """The expected calibration error: how far what is said is from what is right."""
    total = sum(row["n"] for row in rows)
    return sum(row["n"] * abs(row["said"] - row["right"]) for row in rows) / total


def main(
    pipeline: Pipeline,
    folder: Streams,
    output: Result,
    words: Words = 5000,
    temperature: Annotated[
        float | None,
        typer.Option(min=0.01, help="Do not look for a temperature, but take this."),
    ] = None,
) -> None:
    """Show how reliable probabilities are, and find the temperature that suits them.

    Example: python -m scripts.calibration en assets/bench/dev --output calibration.json
    """
    nlp = loaded(pipeline)
    streams = read_streams(folder, words)
    documents = chain.from_iterable(streams.values())
    found = [answer for document in documents for answer in answers(nlp, document)]
    best = fitted(found) if temperature is None else temperature
    result: dict[str, Any] = {"temperature": best}
    for name, value in (("uncalibrated", 1.0), ("calibrated", best)):
        rows = reliability(found, value)
        error = calibration_error(rows)
        result[name] = {"error": round(error, 4), "table": rows}
        msg.info(f"{name}, temperature {value}: expected calibration error {error:.4f}")
        body = [(f"{r['from']:.2f}", r["n"], r["said"], r["right"]) for r in rows]
        msg.table(body, header=("from", "slots", "said", "right"), divider=True)
    write_result(output, result)
    msg.good(f"temperature = {best}")


if __name__ == "__main__":
    run_step(main)
