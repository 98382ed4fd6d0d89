"""Corrections of a text, and the text with them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spacy.tokens import Doc, Token

from spacy_punct.data.tree import Puncteme

CorrectionData = dict[str, Any]
"""The fields of a `Correction`, as plain data; the word as its position."""


@dataclass(frozen=True)
class Correction:
    """A correction of one slot.

    slot (int): Which: 0 is before the first word, n after the last of n words.
    before, after (tuple[str, ...]): The marks that are there, and those that should.
    probability (float): Of the latter.
    word (Token): The head of the constituent that explains it: that has the new marks
        at its edge or, if there are none, that would have had the old ones.
    start, end (int): The characters of the text that change.
    text (str): What is to stand there.
    """

    slot: int
    before: Puncteme
    after: Puncteme
    probability: float
    word: Token
    start: int
    end: int
    text: str

    @classmethod
    def from_data(cls, doc: Doc, data: CorrectionData) -> "Correction":
        fields = {**data, "word": doc[data["word"]]}
        fields |= {name: tuple(data[name]) for name in ("before", "after")}
        return cls(**fields)


def applied(text: str, corrections: Iterable[CorrectionData]) -> str:
    """A text with its corrections, and every other character as it was."""
    pieces: list[str] = []
    end = 0
    for correction in corrections:
        pieces += [text[end : correction["start"]], correction["text"]]
        end = correction["end"]
    return "".join([*pieces, text[end:]])
