import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spacy_punct
from spacy_punct.pipe import bundled

pytestmark = pytest.mark.skipif(
    "en" not in bundled.names(),
    reason="the English pipeline is not in spacy_punct/pipelines/en",
)
TOKENS = ["We", "left", ",", "and", "it", "rained", ".", "?", "But", ";", "(", "home"]


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def assert_same_words(corrected: str, text: str) -> None:
    """All words, letter by letter; a capital comes or goes only where a sentence begins
    or no longer does."""
    words = words_of(text)
    assert [w.lower() for w in words_of(corrected)] == [w.lower() for w in words]
    for word, match in zip(words, re.finditer(r"\w+", corrected), strict=True):
        if match[0] != word:
            assert match[0][1:] == word[1:]
            before = corrected[: match.start()].rstrip(" (")
            assert match[0][0].isupper() == before.endswith((".", "?", "!"))


def test_correct_a_text_or_many():
    texts = ["They dont know ,but we do.", "", "Yes."]
    corrected = list(spacy_punct.correct(texts))
    assert corrected == ["They don't know, but we do.", "", "Yes."]
    assert corrected == list(map(spacy_punct.correct, texts))


@settings(deadline=None, max_examples=8)
@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=12))
def test_correct_changes_no_words(tokens):
    text = " ".join(tokens)
    assert_same_words(spacy_punct.correct(text), text)


def test_correct_texts_of_any_length(monkeypatch):
    monkeypatch.setattr("spacy_punct.reading.windows.LONG", 60)
    text = "However it rained, and we dont know why.  " * 5
    corrected = spacy_punct.correct(text)
    assert corrected.count("don't") == 5
    assert_same_words(corrected.replace("don't", "dont"), text)
