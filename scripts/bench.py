"""Measure a pipeline on streams of words, beside a plain tagging head on its encoder.

    python -m scripts.bench en assets/bench/test --output metrics/en-bench.json

A stream is a .tsv file: a word per line, the mark after it (`,` `.` `?` or nothing) and
its written form; a blank line ends a document. Colons and dashes count as commas,
semicolons and exclamation marks as periods.
"""

import time
from typing import Any

from spacy.language import Language
from wasabi import msg

from scripts.encoder.evaluate import (
    KINDS,
    Stream,
    figures_of,
    folded,
    mean_of,
    read_streams,
)
from scripts.steps import Pipeline, Result, Streams, Words, run_step, write_result
from spacy_punct.cli.shared import loaded
from spacy_punct.model.evaluation import permutation_test
from spacy_punct.reading.guesses import GUESSES
from spacy_punct.restorer.texts import restore_texts

Found = tuple[list[str], list[str]]
"""The mark after each word, and how the word is written."""


def restored(nlp: Language, stream: Stream) -> Found:
    """What a pipeline makes of a stream."""
    (words,) = restore_texts(nlp, [list(stream.words)])
    marks = [folded(" ".join(word.slots[-1])) if word.slots else "" for word in words]
    return marks, [_letters(word.text) for word in words]


def tagged(nlp: Language, stream: Stream) -> Found:
    """What its slot tagger says by itself, each slot on its own."""
    marks, start = [""] * len(stream.words), 0
    with nlp.select_pipes(enable=["tok2vec", "slot_tagger"]):
        while start < len(stream.words):
            words = list(stream.words[start : start + 3000])
            doc = nlp(" ".join(words))
            owner = [len(doc[: i + 1].text.split()) - 1 for i in range(len(doc))]
            for i, row in enumerate(doc.user_data[GUESSES][1:]):
                shares = dict.fromkeys(KINDS, 0.0)
                for slot, probability in row:
                    shares[folded(slot)] += probability
                marks[start + owner[i]] = max(KINDS, key=lambda kind: shares[kind])
            start += len(words)
    return marks, [""] * len(stream.words)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def measured(
    nlp: Language, streams: dict[str, list[Stream]], systems: dict[str, Any]
) -> dict[str, Any]:
    """Figures of each system on each stream, and how it compares with the first.

    nlp (Language): The pipeline.
    streams (dict[str, list[Stream]]): The documents of each stream.
    systems (dict[str, Any]): `restored`, `tagged`: what they make of a stream.
    RETURNS (dict[str, Any]): "streams", "mean" and "p" of each system.
    """
    wrong: dict[str, dict[str, list[int]]] = {}
    result: dict[str, Any] = {}
    for system, read in systems.items():
        begun, n_words = time.process_time(), 0
        figures = {}
        for name, documents in streams.items():
            found = [read(nlp, document) for document in documents]
            figures[name] = figures_of(documents, found)
            wrong.setdefault(name, {})[system] = [
                int(mark != true)
                for document, (marks, _) in zip(documents, found, strict=True)
                for mark, true in zip(marks, document.marks, strict=True)
            ]
            n_words += sum(len(document.words) for document in documents)
            msg.info(f"{system} {name}: {figures[name]}")
        seconds = time.process_time() - begun
        result[system] = {
            "mean": mean_of(figures),
            "streams": figures,
            "words_per_cpu_second": round(n_words / seconds),
        }
    first, *others = systems
    for system in others:
        result[system]["p"] = {
            name: permutation_test(errors[first], errors[system])
            for name, errors in wrong.items()
        }
    return result


def main(
    pipeline: Pipeline,
    folder: Streams,
    output: Result,
    words: Words = 1_000_000,
) -> None:
    """Measure a pipeline on streams of words, beside a plain tagging head.

    Example: python -m scripts.bench en assets/bench/test --output metrics/en-bench.json
    """
    nlp = loaded(pipeline)
    streams = read_streams(folder, words)
    systems = {"pipeline": restored}
    if nlp.has_pipe("slot_tagger"):
        systems["tagging head"] = tagged
    result = measured(nlp, streams, systems)
    write_result(output, result)
    for system, figures in result.items():
        msg.good(f"{system}: {figures['mean']}")


if __name__ == "__main__":
    run_step(main)
