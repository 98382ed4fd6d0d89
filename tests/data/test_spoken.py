"""Written text in the words of recognisers, with its marks and sentences."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data import spoken as module
from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.spoken import Manner, Vocabulary, spoken
from spacy_punct.data.written import WrittenWord, read_line, written_slots
from spacy_punct.errors import PunctError

PLAIN = Manner()


def said(line, manner=PLAIN, seed=0):
    words = spoken(read_line(line), manner, random.Random(seed))
    return " ".join(word.form for word in words)


def word_said(form, manner=PLAIN):
    """What a word is said as: the most frequent answer."""
    answers = Counter(
        " ".join(w.form for w in spoken([WrittenWord(form)], manner, random.Random(i)))
        for i in range(15)
    )
    return answers.most_common(1)[0][0]


@pytest.mark.parametrize(
    "form, expected",
    [
        ("25", "twenty five"),
        ("25%", "twenty five percent"),
        ("3.14", "three point one four"),
        ("$5.50", "five dollars fifty cents"),
        ("$1", "one dollar"),
        ("$10M", "ten million dollars"),
        ("1,250", "one thousand two hundred fifty"),
        ("1990", "nineteen ninety"),
        ("1905", "nineteen oh five"),
        ("1900", "nineteen hundred"),
        ("2005", "two thousand five"),
        ("21st", "twenty first"),
        ("1990s", "nineteen nineties"),
        ("'60s", "sixties"),
        ("10:30", "ten thirty"),
        ("10:05am", "ten oh five a.m"),
        ("10-12", "ten to twelve"),
        ("-5", "minus five"),
        ("007", "zero zero seven"),
        ("Q4", "Q four"),
        ("COVID-19", "COVID nineteen"),
        ("5G", "five G"),
        ("long-term", "long term"),
        ("and/or", "and slash or"),
        ("AT&T", "A T and T"),
        ("NASA", "NASA"),
        ("CEO", "C E O"),
        ("CEOs", "C E Os"),
        ("&", "and"),
        ("isn't", "isn't"),
        ("McDonald", "McDonald"),
        ("1234567890123", "1234567890123"),
        ("²", "²"),
    ],
)
def test_spoken_words(form, expected):
    if form == "and/or":
        assert word_said(form) in ("and or", "and slash or", "and or or")
    else:
        assert word_said(form) == expected


def test_spoken_manners():
    assert word_said("25%", Manner(keeps_digits=True)) == "25%"
    assert word_said("101", Manner(says_and=True)) == "one hundred and one"
    assert word_said("CEO", Manner(spells=False)) == "CEO"
    assert word_said("long-term", Manner(opens_hyphens=False)) == "long-term"


@pytest.mark.parametrize(
    "line, expected",
    [
        ("It cost $5 million.", "It cost five million dollars"),
        ("Ask Mr. Smith.", "Ask Mister Smith"),
        ("We left the U.S. in May.", "We left the U S in May"),
        ("Pens, paper, etc. Then more.", "Pens paper et cetera Then more"),
        ("See no. 5.", "See number five"),
    ],
)
def test_spoken_lines(line, expected):
    assert said(line) == expected


def test_spoken_abbreviations_lose_their_dots_but_sentences_do_not():
    words = spoken(read_line("Pens, etc. Then Mr. X."), PLAIN, random.Random(0))
    slots = written_slots(words)
    assert not any(ABBREVIATION_DOT in slot for slot in slots)
    cetera = [word.form for word in words].index("cetera")
    assert slots[cetera + 1] == (".",)
    assert words[cetera + 1].starts
    kept = Manner(says_titles=False)
    words = spoken(read_line("Ask Mr. Smith."), kept, random.Random(0))
    assert [w.form for w in words] == ["Ask", "Mr", "Smith"]
    assert words[1].after == (ABBREVIATION_DOT,)


FORMS = "the dog Anna 25% $3 U.S long-term 1990 10:30 um uh NASA it's 5th AT&T I e-mail"
TEXTS = st.lists(
    st.builds(
        WrittenWord,
        st.sampled_from(FORMS.split()),
        st.sampled_from([(), (), ("(",), ("``",)]),
        st.sampled_from([(), (), (",",), (".",), ("?",), (")", ".")]),
        st.booleans(),
    ),
    max_size=30,
)


@given(TEXTS, st.integers(0, 99))
def test_spoken_keeps_the_order_marks_and_starts(words, seed):
    rng = random.Random(seed)
    quiet = replace(
        Manner.draw(rng),
        drops_fillers=False,
        filler_rate=0.0,
        repeat_rate=0.0,
        loss_rate=0.0,
        error_rate=0.0,
    )
    originals = [replace(word) for word in words]
    found = spoken(words, quiet, rng)
    assert words == originals
    marks = [[m for slot in written_slots(ws) for m in slot] for ws in (words, found)]
    assert marks[0] == [mark for mark in marks[1] if mark != ABBREVIATION_DOT]
    assert sum(w.starts for w in words) == sum(w.starts for w in found)
    plain = [w.form for w in words if w.form in ("the", "dog", "Anna", "NASA", "I")]
    rest = iter(word.form for word in found)
    assert all(form in rest for form in plain)


@given(TEXTS, st.integers(0, 99))
def test_spoken_noise_loses_no_sentence(words, seed):
    rng = random.Random(seed)
    loud = replace(
        Manner.draw(rng),
        filler_rate=0.1,
        repeat_rate=0.1,
        loss_rate=0.1,
        error_rate=0.1,
    )
    vocabulary = Vocabulary.of(["the dog and a cat saw us in it"])
    found = spoken(words, loud, rng, vocabulary)
    assert bool(found) == bool(words)
    assert all(word.form for word in found)
    ends = [sum(m in ".?" for w in ws for m in w.after) for ws in (words, found)]
    assert ends[0] - ends[1] <= 1  # at the first word alone, if it is lost
    assert sum(w.starts for w in found) <= sum(w.starts for w in words)


def test_spoken_noise_has_the_rates_it_should():
    words = [WrittenWord(form) for form in ["alpha", "beta"] * 2000]
    rng = random.Random(1)
    lost = spoken(words, Manner(loss_rate=0.1), rng)
    assert len(lost) == pytest.approx(3600, abs=80)
    twice = spoken(words, Manner(repeat_rate=0.1), rng)
    assert len(twice) == pytest.approx(4400, abs=80)
    filled = spoken(words, Manner(filler_rate=0.1), rng)
    assert sum(w.form in module.FILLERS for w in filled) == pytest.approx(400, abs=80)
    heard = spoken(words, Manner(error_rate=0.1), rng, Vocabulary(["zeta"]))
    assert sum(w.form == "zeta" for w in heard) == pytest.approx(400, abs=80)


def test_spoken_lost_first_word_leaves_its_start():
    words = read_line("Um, we left. Uh we came.")
    found = spoken(words, Manner(drops_fillers=True), random.Random(0))
    assert [w.form for w in found] == ["We", "left", "We", "came"]
    assert [w.starts for w in found] == [True, False, True, False]


def test_spoken_without_num2words_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "num2words", None)
    module._say.cache_clear()
    module._num2words.cache_clear()
    with pytest.raises(PunctError, match="P173"):
        word_said("25")
    monkeypatch.undo()
    module._num2words.cache_clear()
    assert word_said("25") == "twenty five"
