"""Sentences as they are written -> plain data that can be sent."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from spacy_punct.data.marks import BOS
from spacy_punct.data.tree import ROOT, Slots
from spacy_punct.draw.explained import UnderlyingSentence
from spacy_punct.reading.pieces import PieceData

Data = dict[str, Any]


def by_sentence(pieces: Iterable[PieceData]) -> list[list[PieceData]]:
    """The pieces of each sentence of a text."""
    return [list(group) for _, group in groupby(pieces, key=lambda piece: piece[2])]


def joined_text(pieces: Iterable[PieceData]) -> str:
    """The text that pieces make."""
    return "".join(text + space for text, space, *_ in pieces)


def piece_data(
    pieces: Sequence[PieceData], slots: Slots, sentence: UnderlyingSentence
) -> list[Data]:
    """The words and marks of a sentence in order, as written.

    pieces (Sequence[PieceData]): As the writer has them.
    slots (Slots): The marks of each slot.
    sentence (UnderlyingSentence): The sentence.
    RETURNS (list[Data]): Each has `text` and `space`, the white space after it. A word
        has `word`, its number in the sentence. A mark has `slot`, and `constituent`:
        the word whose constituent put it there, null if the model cannot tell.
    """
    bearers = [_bearers(sentence, i, len(slot)) for i, slot in enumerate(slots)]
    result: list[Data] = []
    slot = 0
    for text, space, _, token in pieces:
        piece: Data = {"text": text, "space": space}
        if token is not None:
            piece["word"] = slot
            slot += 1
        elif text:
            piece |= {"slot": slot, "constituent": bearers[slot].pop(0)}
        result.append(piece)
    return result


def _bearers(sentence: UnderlyingSentence, slot: int, n: int) -> list[int | None]:
    """The words whose constituents put the n marks of a slot there."""
    rewriting, bearers = sentence.rewritings[slot], sentence.bearers[slot]
    # The sentence-initial mark comes first, or the dot that a word brings along.
    origins = rewriting.origins[len(rewriting.surface) - n :]
    return [None if k is None else bearers[k] for k in origins]


def word_data(sentence: UnderlyingSentence) -> list[Data]:
    """The words of a sentence, with their constituents.

    sentence (UnderlyingSentence): The sentence.
    RETURNS (list[Data]): Each has its `token`, `head` (a number in the sentence, null
        for the root), `relation`, `tag`, `start` and `end` of its constituent as a
        half-open range of words, and its underlying punctemes `left` and `right`.
    """
    tree = sentence.tree
    return [
        {
            "text": sentence.words[i],
            "token": sentence.positions[i],
            "head": None if tree.heads[i] == ROOT else tree.heads[i],
            "relation": tree.relations[i],
            "tag": tree.tags[i],
            "start": tree.spans[i][0],
            "end": tree.spans[i][1],
            "left": list(left),
            "right": list(right),
        }
        for i, (left, right) in enumerate(sentence.pairs)
    ]


def slot_data(sentence: UnderlyingSentence) -> list[Data]:
    """What became of the underlying marks of a sentence.

    sentence (UnderlyingSentence): The sentence.
    RETURNS (list[Data]): Each slot has its `underlying` marks, the words that `bear`
        them, which of them are `absorbed`, and the marks of the `surface`.
    """
    result = []
    for rewriting, bearers in zip(sentence.rewritings, sentence.bearers, strict=True):
        start = int(rewriting.underlying[:1] == (BOS,))
        result.append(
            {
                "underlying": list(rewriting.underlying[start:]),
                "bear": list(bearers[start:]),
                "absorbed": [
                    k - start for k in sorted(rewriting.absorbers) if k >= start
                ],
                "surface": [mark for mark in rewriting.surface if mark != BOS],
            }
        )
    return result
