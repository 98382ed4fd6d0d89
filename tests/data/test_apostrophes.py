import random

from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.apostrophes import (
    CONTRACTIONS,
    LABELS,
    bare,
    label_of,
    may_change,
    miswritten,
    spelt,
)

WORDS = st.sampled_from(["its", "it's", "dogs", "dogs'", "don't", "who", "We're"])


@given(WORDS, st.sampled_from(LABELS))
def test_no_letter_changes(word, label):
    assert bare(spelt(word, label) or word) == bare(word)


@given(WORDS)
def test_labels_say_how_words_are_spelt(word):
    if may_change(word):
        assert spelt(word, label_of(word)) == word


@given(WORDS, st.integers(0, 99))
def test_miswritten_words_have_the_same_letters(word, seed):
    assert bare(miswritten(word, random.Random(seed), 0.5, 0.5)) == bare(word)
    assert miswritten(word, random.Random(seed), 0.0, 0.0) == word


def test_contractions_need_their_apostrophe():
    for word, form in CONTRACTIONS.items():
        assert spelt(word, label_of(form)) == form
        assert spelt(form, "") is None


def test_its_is_confused_more_than_others_get_an_apostrophe():
    rng = random.Random(0)
    for word, other in (("its", "it's"), ("it's", "its")):
        drawn = [miswritten(word, rng, 0.4, 0.05) for _ in range(2000)]
        assert set(drawn) == {word, other}
        assert 0.2 < drawn.count(other) / 2000 < 0.3
    dogs = [miswritten("dogs", rng, 0.4, 0.05) for _ in range(2000)]
    assert 0.03 < 1 - dogs.count("dogs") / 2000 < 0.07
