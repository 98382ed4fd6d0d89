"""What a tagger says of the slots of a text, on Docs and for their sentences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from spacy.tokens import Doc

from spacy_punct.data.tree import Puncteme
from spacy_punct.data.written import one_kind
from spacy_punct.reading.gold import first_opener
from spacy_punct.reading.sentences import BareSentence, Guess

GUESSES = "spacy_punct.guesses"
"""Key of the guesses in a Doc's user data: for the slot before each token, and for the
one after the last, its probable strings, marks joined by spaces, and how probable."""

MARK_GUESSES = "spacy_punct.mark_guesses"
"""The same of what should be there, given what is written."""

_LEAST = 1e-3
"""Strings less probable than this are not mentioned."""


def set_guesses(
    doc: Doc,
    rows: np.ndarray,
    labels: Sequence[str],
    *,
    key: str = GUESSES,
    written: Mapping[int, Puncteme] | None = None,
) -> None:
    """Keep guesses on a Doc.

    doc (Doc): The Doc.
    rows (np.ndarray): [tokens + 1, labels], the probability of each string.
    labels (Sequence[str]): The strings, marks joined by spaces.
    key (str): Where in its user data.
    written (Mapping[int, Puncteme] | None): The marks that stand before some tokens.
        There, the label that means the same is called like these, and the last label
        means that they are right.
    """
    found: list[list[list]] = [[] for _ in rows]
    for i, k in np.argwhere(rows >= _LEAST).tolist():
        name = labels[k]
        own = (written or {}).get(i)
        if own and (k == len(labels) - 1 or name == " ".join(map(one_kind, own))):
            name = " ".join(own)
        found[i].append([name, round(float(rows[i, k]), 4)])
    doc.user_data[key] = found


def guess_rows(
    doc: Doc, places: Sequence[int], number: Mapping[str, int]
) -> np.ndarray:
    """What is guessed of some slots of a Doc, as an array.

    doc (Doc): The Doc.
    places (Sequence[int]): The tokens after the slots.
    number (Mapping[str, int]): The column of each string.
    RETURNS (np.ndarray): [places, strings], probabilities; zeros without guesses.
    """
    rows = np.zeros((len(places), len(number)), np.float32)
    known = doc.user_data.get(GUESSES, ())
    for row, place in zip(rows, places, strict=True) if known else ():
        for name, probability in known[place]:
            if name in number:
                row[number[name]] = probability
    return rows


def with_guesses(
    doc: Doc, sentences: Sequence[BareSentence], key: str = GUESSES
) -> list[BareSentence]:
    """The sentences of a Doc with what is guessed of their slots.

    Where two sentences meet, opening marks at the end of a string belong to the second
    and the rest to the first.

    doc (Doc): The Doc.
    sentences (Sequence[BareSentence]): Its sentences.
    key (str): Where in its user data the guesses are.
    RETURNS (list[BareSentence]): The same if there are no guesses on the Doc.
    """
    known = doc.user_data.get(key)
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
