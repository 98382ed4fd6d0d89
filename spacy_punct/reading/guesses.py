"""What a tagger says of the slots of a text, on Docs and for their sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from spacy.tokens import Doc

from spacy_punct.reading.gold import first_opener
from spacy_punct.reading.sentences import BareSentence, Guess

GUESSES = "spacy_punct.guesses"
"""Key of the guesses in a Doc's user data: for the slot before each token, and for the
one after the last, its probable strings, marks joined by spaces, and how probable."""

_LEAST = 1e-3
"""Strings less probable than this are not mentioned."""


def set_guesses(doc: Doc, rows: np.ndarray, labels: Sequence[str]) -> None:
    """Keep guesses on a Doc.

    doc (Doc): The Doc.
    rows (np.ndarray): [tokens + 1, labels], the probability of each string.
    labels (Sequence[str]): The strings, marks joined by spaces.
    """
    found: list[list[list]] = [[] for _ in rows]
    for i, k in np.argwhere(rows >= _LEAST).tolist():
        found[i].append([labels[k], round(float(rows[i, k]), 4)])
    doc.user_data[GUESSES] = found


def with_guesses(doc: Doc, sentences: Sequence[BareSentence]) -> list[BareSentence]:
    """The sentences of a Doc with what is guessed of their slots.

    Where two sentences meet, opening marks at the end of a string belong to the second
    and the rest to the first.

    doc (Doc): The Doc.
    sentences (Sequence[BareSentence]): Its sentences.
    RETURNS (list[BareSentence]): The same if there are no guesses on the Doc.
    """
    known = doc.user_data.get(GUESSES)
    if known is None or not sentences:
        return list(sentences)
    firsts = [sentence.positions[0] for sentence in sentences]
    result = []
    for sentence, following in zip(sentences, [*firsts[1:], len(doc)], strict=True):
        first, *inner = (known[i] for i in sentence.positions)
        guesses = (
            _guess(first, 1),
            *map(_guess, inner),
            _guess(known[following], 0),
        )
        result.append(replace(sentence, guesses=guesses))
    return result


def _guess(row: Iterable[tuple[str, float]], part: int | None = None) -> Guess:
    """A distribution; of the part before (0) or after (1) the end of a sentence."""
    guess: Guess = {}
    total = 0.0
    for text, probability in row:
        marks = tuple(text.split())
        if part is not None:
            cut = first_opener(marks)
            marks = (marks[:cut], marks[cut:])[part]
        guess[marks] = guess.get(marks, 0.0) + probability
        total += probability
    return {marks: p / total for marks, p in guess.items()} if total else {(): 1.0}
