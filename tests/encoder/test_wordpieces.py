import pickle

import pytest

from spacy_punct.encoder.wordpieces import (
    LOWER,
    MAX_PIECES,
    MIXED,
    TITLE,
    UPPER,
    WordPieces,
    shape_of,
)
from tests.encoder.small import VOCABULARY

PIECES = WordPieces(VOCABULARY)


@pytest.mark.parametrize(
    "token, pieces",
    [
        ("baba", ["ba", "##ba"]),
        ("BABA", ["ba", "##ba"]),
        ("bàbà", ["ba", "##ba"]),
        ("bab", ["ba", "##b"]),
        ("n't", ["n", "'", "t"]),
        ("a×b", ["[UNK]"]),
        ("a-b", ["a", "[UNK]", "b"]),
        ("\u0301", ["[UNK]"]),
        (" ", ["[UNK]"]),
    ],
)
def test_pieces_are_berts(token, pieces):
    assert [VOCABULARY[i] for i in PIECES(token).ids] == pieces


def test_pieces_of_a_token_are_not_too_many():
    assert len(PIECES("x" * 99).ids) == MAX_PIECES


def test_pieces_are_found_once_per_token():
    assert PIECES("cached") is PIECES("cached")
    again = pickle.loads(pickle.dumps(PIECES))
    assert again("cached") == PIECES("cached")
    assert len(pickle.dumps(PIECES)) == len(pickle.dumps(WordPieces(VOCABULARY)))


def test_shapes():
    words = ["ab", "12", "Ab", "A", "O'neil", "AB", "aB", "McCoy"]
    expected = [LOWER, LOWER, TITLE, TITLE, TITLE, UPPER, MIXED, MIXED]
    assert list(map(shape_of, words)) == expected
