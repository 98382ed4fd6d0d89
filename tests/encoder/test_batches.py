import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.encoder.batches import AROUND, batches, windows
from spacy_punct.encoder.wordpieces import WordPieces
from tests.encoder.small import VOCABULARY

PIECES = WordPieces(VOCABULARY)


@given(
    st.lists(st.integers(1, 5), max_size=120), st.integers(30, 50), st.integers(0, 10)
)
def test_windows_own_each_token_once_and_give_it_context(sizes, length, margin):
    found = windows(sizes, length, margin)
    owned = [i for w in found for i in range(w.own_start, w.own_end)]
    assert owned == list(range(len(sizes)))
    for window in found:
        assert sum(sizes[window.start : window.end]) <= length
        before = sum(sizes[window.start : window.own_start])
        after = sum(sizes[window.own_end : window.end])
        assert window.start == 0 or before >= margin
        assert window.end == len(sizes) or after >= margin


@given(st.lists(st.integers(1, 32), max_size=60))
def test_windows_have_room_for_long_tokens(sizes):
    for window in windows(sizes, 64, 0):
        assert window.start <= window.own_start < window.own_end <= window.end
        assert sum(sizes[window.start : window.end]) <= 64


@pytest.mark.parametrize("n", [254, 255, 300, 447, 700, 2000, 100_000])
def test_windows_cost_the_same_per_word_however_long_the_text(n):
    read = sum(w.end - w.start for w in windows([1] * n, 254, 32))
    assert read <= 1.34 * n + 1


def test_windows_of_a_text_have_about_the_same_length():
    lengths = [w.end - w.start for w in windows([1] * 270, 254, 32)]
    assert len(lengths) == 2
    assert max(lengths) - min(lengths) < 20


@given(st.lists(st.lists(st.sampled_from(["a", "baba", "Xyz"]), max_size=90)))
def test_batches_have_each_token_once_and_little_padding(texts):
    found = list(batches(texts, PIECES, window=80, margin=5, batch_pieces=400))
    tokens = [token for text in texts for token in text]
    seen = np.concatenate([batch.tokens for batch in found]) if found else []
    assert sorted(seen) == list(range(len(tokens)))
    for batch in found:
        assert batch.ids.size <= 400
        assert (~batch.is_piece).sum() <= 64
        assert batch.ids.shape[1] <= 80
        firsts = batch.ids.ravel()[batch.firsts]
        assert [PIECES(tokens[i]).ids[0] for i in batch.tokens] == firsts.tolist()
        shapes = batch.shapes.ravel()[batch.firsts]
        assert [PIECES(tokens[i]).shape for i in batch.tokens] == shapes.tolist()


def test_batches_of_one_text():
    (batch,) = batches([["Baba", "a"]], PIECES, window=80, margin=0, batch_pieces=1)
    pieces = [VOCABULARY[i] for i in batch.ids[0]]
    assert pieces == ["[CLS]", "ba", "##ba", "a", "[SEP]"]
    assert batch.shapes.tolist() == [[0, 1, 1, 0, 0]]
    assert batch.firsts.tolist() == [1, 3]
    assert batch.ids.size == 3 + AROUND
