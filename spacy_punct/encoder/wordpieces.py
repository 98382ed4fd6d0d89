"""Tokens -> word pieces of BERT's lower-case vocabulary, and the shapes of tokens."""

import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

LOWER, TITLE, UPPER, MIXED = range(4)
"""The shapes: no capital, one at the start, all capitals, anything else."""
N_SHAPES = 4

_MAX_CHARACTERS = 100
"""A token that is longer than this is no word; the rest of it is not read."""
MAX_PIECES = 32
"""A token has at most this many pieces."""
_CACHE_SIZE = 50_000


class TokenPieces(NamedTuple):
    """A token as the transformer sees it: the numbers of its pieces, and its shape."""

    ids: tuple[int, ...]
    shape: int


def shape_of(token: str) -> int:
    """How the letters of a token are written; a single capital letter is TITLE."""
    letters = [char for char in token if char.isalpha()]
    n_capitals = sum(map(str.isupper, letters))
    if not n_capitals:
        return LOWER
    if n_capitals == 1 and letters[0].isupper():
        return TITLE
    return UPPER if n_capitals == len(letters) else MIXED


class WordPieces:
    """Cuts tokens into pieces, each token only once.

    vocabulary (Sequence[str]): The pieces by their number, as in BERT's `vocab.txt`.
        Pieces inside a word begin with `##`.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = tuple(vocabulary)
        self._numbers = {piece: i for i, piece in enumerate(self.vocabulary)}
        self.start, self.end, self._unknown = (
            self._numbers[name] for name in ("[CLS]", "[SEP]", "[UNK]")
        )
        self._known: dict[str, TokenPieces] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return WordPieces, (self.vocabulary,)

    def __call__(self, token: str) -> TokenPieces:
        """The pieces of a token: at least one."""
        found = self._known.get(token)
        if found is None:
            if len(self._known) >= _CACHE_SIZE:
                self._known.clear()
            ids = [i for part in _parts(token) for i in self._cut(part)]
            found = TokenPieces(
                tuple(ids[:MAX_PIECES]) or (self._unknown,), shape_of(token)
            )
            self._known[token] = found
        return found

    def _cut(self, part: str) -> list[int]:
        """The longest known pieces from left to right. If one is unknown, so is all."""
        ids: list[int] = []
        start = 0
        while start < len(part):
            prefix = "##" if start else ""
            for end in range(len(part), start, -1):
                number = self._numbers.get(prefix + part[start:end])
                if number is not None:
                    break
            else:
                return [self._unknown]
            ids.append(number)
            start = end
        return ids


def _parts(token: str) -> list[str]:
    """BERT's basic tokenisation: lower case, no accents, punctuation apart."""
    plain = unicodedata.normalize("NFD", token.lower()[:_MAX_CHARACTERS])
    plain = "".join(char for char in plain if unicodedata.category(char) != "Mn")
    return "".join(f" {c} " if _is_punctuation(c) else c for c in plain).split()


def _is_punctuation(char: str) -> bool:
    """What BERT sets apart: Unicode's punctuation, and all symbols of ASCII."""
    if char.isascii():
        return not (char.isalnum() or char.isspace())
    return unicodedata.category(char).startswith("P")
