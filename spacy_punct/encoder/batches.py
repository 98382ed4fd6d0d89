"""Texts as overlapping windows, and windows of about the same length as batches."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np

from spacy_punct.encoder.wordpieces import LOWER, TokenPieces, WordPieces

AROUND = 2
"""Pieces that stand around each window: [CLS] and [SEP]."""
_SLACK = 8
"""Windows are longer by this than they would be if all tokens were one piece long."""
_PADDING = 64
"""At most this many places of a batch are empty."""


class Window(NamedTuple):
    """Tokens that are read together.

    start, end (int): The first token, and the one after the last.
    own_start, own_end (int): The tokens among them whose vectors are taken from here.
        The others are context.
    """

    start: int
    end: int
    own_start: int
    own_end: int


class Batch(NamedTuple):
    """Windows of about the same length, padded to the longest.

    ids, shapes (np.ndarray): (window, place) -> the piece, and the shape of its token.
    is_piece (np.ndarray): Whether something is there.
    firsts (np.ndarray): The first pieces of the windows' own tokens, as places in the
        flattened batch.
    tokens (np.ndarray): The number of each of these tokens among those of all texts.
    """

    ids: np.ndarray
    shapes: np.ndarray
    is_piece: np.ndarray
    firsts: np.ndarray
    tokens: np.ndarray


def windows(sizes: Sequence[int], length: int, margin: int) -> list[Window]:
    """Cut a text into windows such that each token belongs to exactly one.

    Where a window neither begins nor ends the text, its own tokens have at least
    `margin` pieces of context on both sides. There are as few windows as possible,
    all of about the same length, so the cost per token does not grow with the text.

    sizes (Sequence[int]): How many pieces each token has.
    length (int): The most pieces of a window: at least twice the margin plus twice
        the longest token.
    margin (int): Pieces of context on each side.
    RETURNS (list[Window]): In order.
    """
    before = list(accumulate(sizes, initial=0))
    n_tokens, n_pieces = len(sizes), before[-1]
    if n_pieces > length:
        n_windows = -((2 * margin - n_pieces) // (length - 2 * margin))
        read = n_pieces + 2 * margin * (n_windows - 1)
        length = min(length, read // n_windows + _SLACK)
    found: list[Window] = []
    own_start = 0
    while own_start < n_tokens:
        # Context begins with the last token that is far enough away.
        start = max(bisect_right(before, before[own_start] - margin) - 1, 0)
        end = bisect_right(before, before[start] + length) - 1
        own_end = n_tokens
        if end < n_tokens:
            own_end = bisect_right(before, before[end] - margin) - 1
        if own_end <= own_start:  # long tokens use up the room for context
            own_end = own_start + 1
            end = max(end, own_end)
        found.append(Window(start, end, own_start, own_end))
        own_start = own_end
    return found


class _Piecewise(NamedTuple):
    """A window with its length in pieces, and where its text and its tokens are."""

    length: int
    window: Window
    first: int
    tokens: list[TokenPieces]


def batches(
    texts: Sequence[Sequence[str]],
    pieces: WordPieces,
    *,
    window: int,
    margin: int,
    batch_pieces: int,
) -> Iterator[Batch]:
    """The windows of texts, those of similar length together.

    texts (Sequence[Sequence[str]]): The tokens of each text.
    pieces (WordPieces): Cuts them into pieces.
    window (int): The most pieces of a window, with those around it.
    margin (int): See `windows`.
    batch_pieces (int): The most pieces of a batch of more than one window.
    YIELDS (Batch): Each token of the texts is in one of them.
    """
    found: list[_Piecewise] = []
    first = 0
    for text in texts:
        tokens = list(map(pieces, text))
        sizes = [len(token.ids) for token in tokens]
        for place in windows(sizes, window - AROUND, margin):
            length = sum(sizes[place.start : place.end]) + AROUND
            found.append(_Piecewise(length, place, first, tokens))
        first += len(tokens)
    found.sort(key=lambda entry: entry.length, reverse=True)
    batch: list[_Piecewise] = []
    padding = 0
    for entry in found:
        if batch:
            longest = batch[0].length
            padding += longest - entry.length
            if padding > _PADDING or (len(batch) + 1) * longest > batch_pieces:
                yield _batch(batch, pieces)
                batch, padding = [], 0
        batch.append(entry)
    if batch:
        yield _batch(batch, pieces)


def _batch(found: Sequence[_Piecewise], pieces: WordPieces) -> Batch:
    longest = found[0].length
    ids = np.zeros((len(found), longest), dtype=np.int64)
    shapes = np.full((len(found), longest), LOWER, dtype=np.int64)
    is_piece = np.zeros((len(found), longest), dtype=bool)
    firsts: list[np.ndarray] = []
    numbers: list[np.ndarray] = []
    for row, (length, window, first, tokens) in enumerate(found):
        inside = tokens[window.start : window.end]
        sizes = [len(token.ids) for token in inside]
        flat = chain.from_iterable(token.ids for token in inside)
        ids[row, :length] = [pieces.start, *flat, pieces.end]
        shapes[row, 1 : length - 1] = np.repeat([t.shape for t in inside], sizes)
        is_piece[row, :length] = True
        own = slice(window.own_start - window.start, window.own_end - window.start)
        places = np.cumsum([1, *sizes])[:-1]
        firsts.append(row * longest + places[own])
        numbers.append(first + np.arange(window.own_start, window.own_end))
    arrays = np.concatenate(firsts), np.concatenate(numbers)
    return Batch(ids, shapes, is_piece, *arrays)
