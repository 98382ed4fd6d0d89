from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.text.casing import CASINGS, capitalised, cased


def text(sentences: str, casing: str, language: str = "en") -> str:
    """Sentences separated by bars, cased."""
    words = [sentence.split() for sentence in sentences.split("|")]
    return " | ".join(map(" ".join, cased(words, casing, language)))


def test_casing_auto_capitalises_what_has_no_capital():
    assert text("he came | she left", "auto") == "He came | She left"
    assert text("he came | she left", "keep") == "he came | she left"
    assert text("he came | she left", "sentence") == "He came | She left"


def test_casing_auto_keeps_a_text_that_has_one_capital_anywhere():
    assert text("he saw i | she saw Anna", "auto") == "he saw i | she saw Anna"
    assert text("he saw i | she saw Anna", "sentence") == "He saw I | She saw Anna"
    assert text("he has an iPhone", "auto") == "he has an iPhone"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("i", "I"),
        ("i'm", "I'm"),
        ("i’ve", "I’ve"),
        ("taxi", "taxi"),
        ("alibi's", "alibi's"),
        ("it", "it"),
        ("in", "in"),
        ("o'i", "o'i"),
    ],
)
def test_casing_the_english_pronoun_is_a_capital_and_no_other_i(word, expected):
    assert text(f"so {word} said", "auto") == f"So {expected} said"
    assert text(f"so {word} said", "auto", "nl") == f"So {word} said"


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [
        ("dog", "en", "Dog"),
        ("Dog", "en", "Dog"),
        ("'tis", "en", "'Tis"),
        ("’twas", "en", "’Twas"),
        ("o'clock", "en", "O'clock"),
        ("'", "en", "'"),
        ("", "en", ""),
        ("3d", "en", "3d"),
        ("école", "fr", "École"),
        ("ßen", "de", "ßen"),
        ("straße", "de", "Straße"),
        ("ŉ", "af", "ŉ"),
        ("istanbul", "tr", "İstanbul"),
        ("ılık", "tr", "Ilık"),
        ("iş", "az", "İş"),
        ("istanbul", "en", "Istanbul"),
        ("ǆep", "hr", "ǅep"),
        ("москва", "ru", "Москва"),
        ("αθήνα", "el", "Αθήνα"),
        ("你好", "zh", "你好"),
        ("مرحبا", "ar", "مرحبا"),
    ],
)
def test_casing_capitalises_the_first_letter(word, language, expected):
    assert capitalised(word, language) == expected


def test_casing_of_empty_texts_and_sentences():
    for casing in CASINGS:
        assert cased([], casing, "en") == []
        assert cased([[], [""]], casing, "en") == [[], [""]]


def test_casing_leaves_its_input_alone():
    words = [["he", "i"]]
    assert cased(words, "sentence", "en") == [["He", "I"]]
    assert words == [["he", "i"]]


SENTENCES = st.lists(st.lists(st.text(max_size=6), max_size=5), max_size=4)


@given(SENTENCES, st.sampled_from(CASINGS), st.sampled_from(["en", "de", "tr", "zh"]))
def test_casing_changes_nothing_but_case(sentences, casing, language):
    result = cased(sentences, casing, language)
    assert [len(words) for words in result] == [len(words) for words in sentences]
    for before, after in zip(chain(*sentences), chain(*result), strict=True):
        dotless = after.replace("İ", "i") if "İ" not in before else after
        assert len(after) == len(before)
        assert dotless.upper() == before.upper()
    if casing == "keep":
        assert result == sentences


@given(SENTENCES)
def test_casing_twice_is_casing_once(sentences):
    once = cased(sentences, "sentence", "en")
    assert cased(once, "sentence", "en") == once
    assert cased(once, "auto", "en") == once
