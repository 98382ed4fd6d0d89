"""Sentences of text with marks, right or wrong."""

from itertools import pairwise

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

import spacy_punct
from spacy_punct.data.marks import is_mark
from spacy_punct.pipe import bundled as pipelines
from spacy_punct.reading.sentences import WORDS_ONLY
from spacy_punct.reading.starts import has_signs, marked_starts

VOCAB = spacy.blank("en").vocab
NEVER_FIRST = {",", ";", ":", ".", "?", "!", "?!", ")", "]", "”", "’"}
OTHERS = {'"', "“", "(", "-", "..", "...", "we", "Anna", "left", "\n", "\n\n"}

needs_english = pytest.mark.skipif(
    "en" not in pipelines.names(),
    reason="the English pipeline is not in spacy_punct/pipelines/en",
)


@pytest.fixture(scope="module")
def nlp():
    needed = ["tok2vec", "stream_senter"]
    return spacy_punct.load("en", enable=needed)


def text_doc(text: str) -> Doc:
    return spacy.blank("en")(text)


def found(
    doc: Doc, probabilities=None, threshold: float = 0.25, missing: float = 0.15
) -> list[str]:
    """The first tokens of sentences, if words say nothing unless told."""
    p = np.zeros(len(doc)) if probabilities is None else probabilities
    starts = marked_starts(doc, p, threshold, missing, 0.2)
    return [token.text for token in doc if starts[token.i]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We left. They came!? so it was.", ["We", "They", "so"]),
        ("He said no. (They laughed.) We left.", ["He", "(", "We"]),
        ('"We left." "Did you?" We did.', ['"', '"', "We"]),
        ("“We left.” “Did you?” We did.", ["“", "“", "We"]),
        ('"Really?" he asked. We left.', ['"', "We"]),
        ('"really?" he asked. we left.', ['"', "he", "we"]),
        ("Mr. Smith met Dr. Jones. They spoke.", ["Mr.", "They"]),
        ("We waited ... and left. - They came.", ["We", "-"]),
        ("We left., They came.", ["We", "They"]),
        ("We left.They came.", ["We", "They"]),
        ("A title\n\nWe left,\nthey came.", ["A", "We"]),
        ("...", ["..."]),
    ],
)
def test_starts_by_marks_alone(text, expected):
    assert found(text_doc(text)) == expected


def test_starts_never_inside_a_word_or_after_an_opening_mark():
    doc = text_doc('we don\'t like well-known (very old) or "old" things')
    starts = ["we", "do", "like", "well", "old", "or", "things"]
    assert found(doc, np.full(len(doc), 0.99)) == starts


def unmarked_starts(n_marks: int) -> int:
    """How many beginnings without an end mark are found among thirty sentences."""
    marked, bare = ["we", "left", "."], ["we", "left"]
    doc = Doc(VOCAB, words=marked * n_marks + bare * (30 - n_marks))
    p = np.array([0.5 if token.text == "we" else 0.0 for token in doc])
    # The beginning of the text and those after end marks are no question.
    return len(found(doc, p)) - 1 - n_marks


def test_starts_the_more_marks_the_rarer_without():
    assert unmarked_starts(1) == 28
    assert unmarked_starts(28) == 0


def starts_of(text: str, probability: float) -> list[str]:
    """As `found`, if the fourth of five tokens is that likely to begin a sentence."""
    return found(Doc(VOCAB, words=text.split()), np.array([1, 0, 0, probability, 0]))


def test_starts_after_commas_must_be_likelier():
    assert starts_of("we left - they came", 0.6) == ["we", "-"]
    assert starts_of("we left , they came", 0.6) == ["we"]
    assert starts_of("we left , they came", 0.9) == ["we", "they"]


def test_starts_after_abbreviations_must_be_likelier():
    assert starts_of("we met Smith Anna left", 0.6) == ["we", "Anna"]
    assert starts_of("we met Mr. Smith left", 0.6) == ["we"]


def test_starts_words_that_look_like_marks():
    doc = Doc(VOCAB, words=["we", "-", "left"])
    assert has_signs(doc)
    doc.user_data[WORDS_ONLY] = True
    assert not has_signs(doc)
    assert not has_signs(Doc(VOCAB, words=["we", "'s", "%", "3.5", "Mr."]))
    assert has_signs(Doc(VOCAB, words=["we", "\n", "they"]))


def test_starts_at_lines_are_more_probable():
    doc = text_doc("dear anna\nwe are here and we stay\n\ngoodbye")
    p = np.array([0.3 if token.text == "we" else 0.0 for token in doc])
    assert found(doc, p, threshold=0.5) == ["dear", "we", "goodbye"]


marked_tokens = st.lists(
    st.tuples(
        st.sampled_from(sorted(NEVER_FIRST | OTHERS)), st.booleans(), st.floats(0, 1)
    ),
    min_size=1,
)


@given(marked_tokens)
def test_starts_no_sentence_begins_with_what_ends_one(tokens):
    words, spaces, p = map(list, zip(*tokens, strict=True))
    doc = Doc(VOCAB, words=words, spaces=spaces)
    starts = marked_starts(doc, np.array(p), 0.25, 0.15, 0.2)
    assert starts[0]
    for i in np.flatnonzero(starts[1:]) + 1:
        assert words[i] not in NEVER_FIRST
        assert not words[i].isspace()
    # Every sentence has a word, but for marks before the first one.
    places = [*np.flatnonzero(starts), len(words)]
    for a, b in pairwise(places[1:]):
        assert not all(w.isspace() or is_mark(w) for w in words[a:b])


PLAIN = ["we", "left", "anna", "then", "they", "'s", "came", "so", "%"]


@needs_english
@settings(deadline=None)
@given(st.lists(st.sampled_from(PLAIN), min_size=1))
def test_senter_english_without_marks_as_the_model_says(nlp, words):
    doc = nlp.get_pipe("tok2vec")(Doc(nlp.vocab, words=words))
    senter = nlp.get_pipe("stream_senter")
    (guesses,) = senter.predict([doc])
    (scores,) = senter.model.predict([doc])
    assert (guesses == (scores[:, 1] > senter.settings.threshold)).all()


@needs_english
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "We waited for an hour. Nobody came, so we went home. Was it late?",
            ["We", "Nobody", "Was"],
        ),
        (
            "We waited for an hour. Nobody came. They were late. So we went home.",
            ["We", "Nobody", "They", "So"],
        ),
        (
            "We waited for an hour. Nobody came. So we went home It was very late.",
            ["We", "Nobody", "So", "It"],
        ),
        ("Anna, who had seen Mr. Smith, left.", ["Anna"]),
        ('She said: "Go home." (He did.) They stayed.', ["She", "(", "They"]),
    ],
)
def test_senter_english_with_marks(nlp, text, expected):
    assert [sent[0].text for sent in nlp(text).sents] == expected


@needs_english
def test_senter_english_a_doc_does_not_change_its_neighbours(nlp):
    texts = ["we left then they came", "We left. They came.", "", "...", "so it is"]
    alone = [[t.is_sent_start for t in nlp(text)] for text in texts]
    assert [[t.is_sent_start for t in doc] for doc in nlp.pipe(texts)] == alone
