from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.text.casing import (
    CASES,
    CASINGS,
    capitalised,
    case_of,
    cased,
    folded,
    has_capital,
    recased,
    same_letters,
)


def text(sentences: str, casing: str, language: str = "en") -> str:
    """Sentences separated by bars, cased."""
    words = [sentence.split() for sentence in sentences.split("|")]
    return " | ".join(map(" ".join, cased(words, casing, language)))


def test_casing_auto_capitalises_what_has_no_capital():
    assert text("he came | she left", "auto") == "He came | She left"
    assert text("he came | she left", "keep") == "he came | she left"
    assert text("he came | she left", "sentence") == "He came | She left"


def test_casing_auto_keeps_a_text_that_has_its_capitals():
    """More than half of those that are due; the pronoun I does not count."""
    for casing in ("auto", "sentence"):
        assert text("he saw i | she saw Anna", casing) == "He saw I | She saw Anna"
        assert text("so today I came", casing) == "So today I came"
    kept = "He saw i | she saw Anna"
    assert text(kept, "auto") == kept
    assert text(kept, "sentence") == "He saw I | She saw Anna"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("so today I talk about google", "So today I talk about Google"),
        ("ANNA WORKS FOR NASA", "Anna works for NASA"),
        ("Anna works for nasa", "Anna works for NASA"),
        ("Anna works for the Nasa", "Anna works for the Nasa"),
        ("NASA", "NASA"),
        ("I", "I"),
        ("i use Node.js and C++ or C#", "I use Node.js and C++ or C#"),
        ("so where is camelCase and README.md", "So where is camelCase and README.md"),
        ("so today Anna called AT&T", "so today Anna called AT&T"),
    ],
)
def test_casing_auto_judges_capitals_by_the_forms(words, expected):
    written = {"google": "Google", "anna": "Anna", "nasa": "NASA", "i": "I"}
    forms = [written.get(word.lower(), word.lower()) for word in words.split()]
    assert cased([words.split()], "auto", "en", forms) == [expected.split()]


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
        ("iPhone", "en", "iPhone"),
        ("macOS", "en", "macOS"),
        ("d'Artagnan", "fr", "D'Artagnan"),
        ("µm", "en", "µm"),
        ("ılık", "en", "ılık"),
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


FORMS = "the nasa of anna | iphone or Ios"
KNOWN = [["the", "NASA", "of", "Anna"], ["iPhone", "or", "iOS"]]


@pytest.mark.parametrize(
    ("casing", "expected"),
    [
        ("truecase", "The NASA of Anna | iPhone or Ios"),
        ("sentence", "The nasa of anna | Iphone or Ios"),
        ("auto", "The NASA of Anna | iPhone or Ios"),
        ("keep", FORMS),
    ],
)
def test_casing_forms_are_used_for_words_without_a_capital(casing, expected):
    words = [sentence.split() for sentence in FORMS.split("|")]
    result = cased(words, casing, "en", chain(*KNOWN))
    assert " | ".join(map(" ".join, result)) == expected


def test_casing_auto_uses_forms_if_no_word_has_a_capital():
    words = [sentence.lower().split() for sentence in FORMS.split("|")]
    assert cased(words, "auto", "en", chain(*KNOWN)) == [
        ["The", "NASA", "of", "Anna"],
        ["iPhone", "or", "iOS"],
    ]
    assert cased([["i'm"], []], "auto", "en", ["i'm"]) == [["I'm"], []]


@pytest.mark.parametrize(
    ("word", "language", "case"),
    [
        ("dog", "en", "lower"),
        ("Anna", "en", "title"),
        ("I", "en", "title"),
        ("'Tis", "en", "title"),
        ("NASA", "en", "upper"),
        ("U.S.", "en", "upper"),
        ("3D", "en", "upper"),
        ("McDonald", "en", "mixed"),
        ("iPhone", "en", "mixed"),
        ("O'Brien", "en", "mixed"),
        ("Straße", "de", "title"),
        ("STRAßE", "de", "upper"),
        ("ΟΔΟΣ", "el", "upper"),
        ("οδος", "el", "lower"),
        ("İstanbul", "tr", "title"),
        ("IŞIK", "tr", "upper"),
        ("1984", "en", None),
        ("...", "en", None),
        ("", "en", None),
        ("你好", "zh", None),
        ("مرحبا", "ar", None),
        ("www.UN.org", "en", None),
        ("Anna@un.org", "en", None),
    ],
)
def test_casing_case_of_a_word(word, language, case):
    assert case_of(word, language) == case
    if case is not None:
        mixed = {folded(word, language): word}
        lower = recased(word, "lower", language)
        assert recased(lower, case, language, mixed) == word


@pytest.mark.parametrize(
    ("word", "language", "case", "expected"),
    [
        ("ANNA", "en", "title", "Anna"),
        ("ANNA", "en", "lower", "anna"),
        ("straße", "de", "upper", "STRAßE"),
        ("ŉ", "af", "upper", "ŉ"),
        ("5µm", "en", "upper", "5µM"),
        ("ﬁn", "en", "upper", "ﬁN"),
        ("İZ", "en", "lower", "İz"),
        ("izmir", "tr", "upper", "İZMİR"),
        ("IŞIK", "tr", "lower", "ışık"),
        ("οδος", "el", "upper", "ΟΔΟΣ"),
        ("mcdonald", "en", "mixed", "McDonald"),
        ("MCDONALD", "en", "mixed", "McDonald"),
        ("mcnobody", "en", "mixed", "Mcnobody"),
        ("http://un.org", "en", "upper", "http://un.org"),
        ("anna@un.org", "en", "title", "anna@un.org"),
        ("", "en", "mixed", ""),
    ],
)
def test_casing_recased(word, language, case, expected):
    assert recased(word, case, language, {"mcdonald": "McDonald"}) == expected


LETTERS = st.text(max_size=6) | st.text("aIİiıßŉǆǅΣσςſµﬁΐ\u212a", max_size=5)


@given(LETTERS, st.sampled_from(CASES), st.dictionaries(LETTERS, LETTERS, max_size=2))
def test_casing_recased_never_changes_a_letter(word, case, mixed):
    mixed |= {folded(word): form for form in mixed.values()}
    result = recased(word, case, "en", mixed)
    assert result.lower() == word.lower()
    assert len(result) == len(word)
    assert capitalised(word).lower() == word.lower()
    assert len(capitalised(word)) == len(word)


@given(LETTERS, st.sampled_from(CASES), st.sampled_from(["tr", "az"]))
def test_casing_recased_keeps_dots_apart_where_they_matter(word, case, language):
    result = recased(word, case, language)
    assert same_letters(result, word, language)
    dotted = str.maketrans("iİıI", "1100")
    assert [c for c in result.translate(dotted) if c in "10"] == [
        c for c in word.translate(dotted) if c in "10"
    ]


@given(LETTERS, st.sampled_from(["en", "tr"]))
def test_casing_case_of_is_what_the_word_has(word, language):
    case = case_of(word, language)
    if case is not None:
        assert recased(word, case, language, {folded(word, language): word}) == word
    if case in ("title", "upper", "mixed"):
        assert has_capital(word)


def test_casing_auto_capitalises_what_follows_an_added_end():
    sentences = [["We", "left"], ["so", "Anna", "came"], ["he", "Said"]]
    found = cased(sentences, "auto", "en", added={1})
    assert found == [["We", "left"], ["So", "Anna", "came"], ["he", "Said"]]
    assert cased(sentences, "keep", "en", added={1}) == sentences
