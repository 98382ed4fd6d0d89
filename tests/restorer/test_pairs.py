"""Whatever the model says of single slots, brackets and quotes come in pairs."""

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct import live, restore_words
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inventory import EMPTY
from spacy_punct.restorer.texts import restore_long, restore_texts
from spacy_punct.text.pairs import is_balanced
from tests.text.test_pairs import left_open

NAME = "punctuation_restorer"
WORDS = ("anna", "says", "yes", "don't", "the", "3.5", "who", "a.m.", "laughs")
STRINGS = [
    (),
    (",",),
    (".",),
    ("``",),
    ("''",),
    ("(",),
    (")",),
    (".", "''"),
    ("?", "''"),
    (",", "``"),
    (")", "."),
    (".", "``"),
]
SETTINGS = st.fixed_dictionaries(
    {
        "threshold": st.sampled_from([0.0, 0.2, 0.5]),
        "marks": st.sampled_from([None, [".", ",", "(", "''"], ["``", "''"]]),
        "existing": st.sampled_from(["keep", "replace"]),
        "quotes": st.sampled_from(["straight", "typographic"]),
        "temperature": st.sampled_from([0.7, 1.0, 2.0]),
    }
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=60)


@Language.component("spacy_punct_test_flat_trees")
def flat_trees(doc: Doc) -> Doc:
    """Sentences of about seven words, whose first word heads the others."""
    for token in doc:
        if token.is_sent_start is None:
            token.is_sent_start = token.i % 7 == 0
    head = 0
    heads = [head := i if token.is_sent_start else head for i, token in enumerate(doc)]
    for token, head in zip(doc, heads, strict=True):
        token.head, token.pos_ = doc[head], "NOUN"
        token.dep_ = "ROOT" if head == token.i else "dep"
    return doc


@pytest.fixture(scope="module")
def nlp(paper_path) -> Language:
    """A restorer that says anything, and does not ask what is underneath."""
    nlp = spacy.load(paper_path)
    nlp.add_pipe("spacy_punct_test_flat_trees", first=True)
    restorer = nlp.get_pipe(NAME)
    rng = np.random.default_rng(0)
    known = [s for s in STRINGS if set(s) <= set(restorer.labels)]

    def anything(sentence, distribution, observed=None):
        found = []
        for _ in range(len(sentence.positions) + 1):
            chances = rng.dirichlet(np.full(len(known) + 1, 0.1)).tolist()
            found.append(dict(zip(known, chances, strict=False)))
        return found

    restorer._marginals = anything
    with pytest.MonkeyPatch.context() as patch:
        nothing = lambda self, slots: ((EMPTY, EMPTY),) * len(self.tree)  # noqa: E731
        patch.setattr(Distribution, "underlying", nothing)
        yield nlp


def quotes_match(text: str) -> bool:
    return (
        text.count('"') % 2 == 0
        and text.count("“") == text.count("”")
        and text.count("(") == text.count(")")
    )


@given(words=TEXTS, settings=SETTINGS)
def test_pairs_in_texts_words_and_live(nlp, words, settings):
    restorer, text = nlp.get_pipe(NAME), " ".join(words)
    with restorer.having(**settings):
        doc = nlp(text)
        slots = tuple(map(tuple, doc._.restored_slots))
        assert left_open(slots) == [], slots
        assert is_balanced(slots)
        assert quotes_match(doc._.restored_text)
        assert len(doc._.restored_confidence) == len(slots)
        for found in (
            restore_long(nlp, text),
            " ".join(restore_words(words, nlp, window=16)),
            " ".join(word for given in live(words, nlp) for word in given.stable),
        ):
            assert quotes_match(found), found


def test_pairs_in_hundreds_of_random_texts(nlp):
    rng = np.random.default_rng(1)
    texts = [rng.choice(WORDS, int(rng.integers(1, 30))).tolist() for _ in range(300)]
    n_pairs = 0
    for words in restore_texts(nlp, texts):
        slots = tuple(slot for word in words for slot in word.slots)
        assert left_open(slots) == []
        n_pairs += sum(mark in ("``", "(") for slot in slots for mark in slot)
    assert n_pairs > 100


def test_pairs_that_are_there_stay_and_halves_are_left_to_their_author(nlp):
    for text in ('he says "yes" and ( laughs )', "1) anna 2) who ( laughs"):
        kept = iter(nlp(text)._.restored_text)
        assert all(char in kept for char in text if char in '"()')


def test_confidence_is_that_of_what_is_written(nlp):
    restorer = nlp.get_pipe(NAME)
    doc = nlp.make_doc("anna says yes " * 20)
    for _, component in nlp.pipeline[:-1]:
        doc = component(doc)
    (answers,) = restorer.predict([doc])
    for answer in answers:
        for slot, p, likely in zip(
            answer.slots, answer.confidence, answer.likely, strict=True
        ):
            known = dict(likely)
            assert p == pytest.approx(known.get(slot, p))
            assert slot in known or p <= min(known.values())
