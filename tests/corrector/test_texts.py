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


def test_correct_a_text_or_many():
    texts = ["However it rained, We stayed home.", "", "Yes."]
    corrected = list(spacy_punct.correct(texts))
    assert corrected == list(map(spacy_punct.correct, texts))
    assert corrected[0] != texts[0]
    assert corrected[1:] == texts[1:]


@settings(deadline=None, max_examples=8)
@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=12))
def test_correct_changes_no_words(tokens):
    text = " ".join(tokens)
    assert words_of(spacy_punct.correct(text)) == words_of(text)


def test_correct_texts_of_any_length(monkeypatch):
    monkeypatch.setattr("spacy_punct.reading.windows.LONG", 60)
    text = "However it rained, We stayed at home.  " * 5
    assert words_of(spacy_punct.correct(text)) == words_of(text)
