"""Mistakes made in plain text."""

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.slips import with_slips
from spacy_punct.data.written import read_line

LINES = (
    "When it rained, we stayed at home, but the others left.",
    "She asked, “What time is it?” He didn't know. However, Mr. Smith did.",
    "It was a well-known problem: nobody (except for Anna) had seen it; I had.",
)


def slipped(line, seed):
    return with_slips(read_line(line), random.Random(seed))


@given(st.sampled_from(LINES), st.integers(0, 10_000))
def test_words_stay_but_for_their_case(line, seed):
    text = slipped(line, seed)
    assert [w.lower() for w in text.seen] == [w.lower() for w in text.words]
    assert len(text.slots) == len(text.written) == len(text.words) + 1


@given(st.sampled_from(LINES), st.integers(0, 10_000))
def test_what_is_right_does_not_depend_on_chance(line, seed):
    assert slipped(line, seed).slots == slipped(line, 0).slots


def test_compounds_are_cut_and_abbreviations_keep_their_dots():
    text = slipped(LINES[2], 0)
    place = text.words.index("well")
    assert text.words[place + 1] == "known" and text.slots[place + 1] == ("-",)
    assert "Mr." in slipped(LINES[1], 0).words


def test_half_of_texts_are_right_and_commas_are_what_is_missing():
    texts = [slipped(LINES[0], seed) for seed in range(600)]
    changed = [t for t in texts if t.written != t.slots]
    assert 0.5 < 1 - len(changed) / len(texts) < 0.75
    edits = Counter(
        (right, wrong)
        for t in changed
        for right, wrong in zip(t.slots, t.written, strict=True)
        if right != wrong
    )
    assert edits.most_common(1)[0][0] == ((",",), ())


def test_commas_of_an_insertion_are_often_both_missing():
    line = "My brother, who lives in Rome, is here."
    found = Counter()
    for seed in range(3000):
        text = slipped(line, seed)
        lost = tuple("," not in text.written[i] for i in (2, 6))
        found[lost] += 1
    assert found[True, True] > found[True, False]
    assert found[True, True] > found[False, True] / 2


def test_sentences_that_are_joined_lose_their_capital():
    texts = [slipped("It was cold. We left the house.", s) for s in range(3000)]
    for text in texts:
        if text.written[3] == (",",):
            assert text.seen[3] == "we"
    assert any(text.written[3] == (",",) for text in texts)
    assert any(text.written[3] == () for text in texts)
