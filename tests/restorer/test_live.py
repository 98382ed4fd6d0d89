"""Words that keep coming: what was given out stays, and what follows goes with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, repeat

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct import live, restore_words
from spacy_punct.errors import PunctError
from spacy_punct.restorer.live import LiveRestorer, closed
from spacy_punct.text.pairs import PAIRS

WORDS = (
    "anna visits the old gardener and laughs but she does not know who i am when he "
    "came don't well-known u.s. 3.5 www.a.org NASA students' \" ( — - ... , twenty one"
)
PLAIN = ("anna", "visits", "the", "old", "gardener", "who", "laughs")
STREAMS = st.lists(st.sampled_from([*WORDS.split(), None]), max_size=40)


@pytest.fixture(scope="module")
def nlp(full_path) -> Language:
    return spacy.load(full_path)


def letters(words) -> str:
    return "".join(c for word in words if word for c in word.lower() if c.isalnum())


def given_out(words, nlp, **settings) -> list[str]:
    return [word for found in live(words, nlp, **settings) for word in found.stable]


@contextmanager
def having(nlp: Language, **settings) -> Iterator[None]:
    """The pipeline with other settings of its restorer."""
    restorer = nlp.get_pipe("punctuation_restorer")
    before = dict(restorer.cfg)
    restorer.cfg.update(settings)
    yield
    restorer.cfg = before


@given(STREAMS, st.integers(1, 6), st.integers(1, 6))
def test_live_loses_changes_and_reorders_nothing(nlp, words, lookahead, step):
    stable: list[str] = []
    updates = live(words, nlp, lookahead=lookahead, step=step)
    for n, found in enumerate(updates, start=1):
        stable += found.stable
        came = [word for word in words[:n] if word is not None]
        assert len(stable) + len(found.tail) == len(came)
        assert letters(stable + found.tail) == letters(came)
        assert letters(stable) == letters(came[: len(stable)])
        assert len(found.tail) < lookahead + step + 3
    assert n == len(words) + 1
    assert found.tail == []


@given(st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=30))
def test_live_with_all_ahead_is_the_whole_text(nlp, words):
    """But for brackets and quotes without a partner."""
    with having(nlp, marks=[",", ".", "?"]):
        whole = list(restore_words(words, nlp))
        assert given_out(words, nlp, lookahead=100) == whole


@given(
    st.lists(st.sampled_from(PLAIN)),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_live_capitals_go_with_what_was_given_out(nlp, words, lookahead, step):
    """Commas end no sentence, and a full stop ends one, even inside what is read."""
    with having(nlp, casing="sentence", marks=[",", "."]):
        restorer = LiveRestorer(nlp, lookahead=lookahead, step=step)
        before = ""
        for word in words:
            goes_on = bool(restorer._given) and not before.endswith(".")
            stable = restorer.add([word]).stable
            for first in stable[:1]:
                assert first[0].isupper() != goes_on
            before = (stable or [before])[-1]
        restorer.end()
        assert not restorer._given


def test_live_reads_a_bounded_number_of_words(full_path):
    nlp = spacy.load(full_path)
    read = []

    @Language.component("count_words_read")
    def count(doc: Doc) -> Doc:
        read.append(len(doc))
        return doc

    nlp.add_pipe("count_words_read", first=True)
    nlp.get_pipe("punctuation_restorer").cfg["marks"] = [","]
    list(live(islice(repeat("gardener"), 240), nlp, lookahead=4))
    assert max(read) <= 24 + 4 + 12
    assert sum(read) <= 4 * 240
    assert len(read) <= 240 / 12 + 1


def test_live_is_lazy(nlp):
    seen = []

    def endless():
        for word in repeat("anna"):
            seen.append(word)
            yield word

    updates = live(endless(), nlp, lookahead=2, step=2)
    assert next(updates) == ([], ["anna"])
    assert len(seen) == 1
    *_, last = islice(updates, 3)
    assert (len(last.stable), len(last.tail), len(seen)) == (2, 2, 4)


def test_live_words_can_come_together(nlp):
    restorer = LiveRestorer(nlp, lookahead=2)
    found = restorer.add(["who", "laughs", None, *["anna"] * 20])
    assert len(found.stable) == 2 + 18
    assert len(found.tail) == 2
    assert len(restorer.end().stable) == 2
    assert restorer.end() == ([], [])


@pytest.mark.parametrize("word", ["", "two words", " ", "a\n"])
def test_live_wants_words(nlp, word):
    with pytest.raises(PunctError, match="P200"):
        list(live([word], nlp))


def test_live_checks_its_settings(nlp):
    with pytest.raises(PunctError, match="lookahead must be at least 1"):
        list(live([], nlp, lookahead=0))
    with pytest.raises(PunctError, match="step must be at least 1"):
        list(live([], nlp, step=0))
    with pytest.raises(PunctError, match="P052"):
        list(live([], spacy.blank("en")))


def test_brackets_of_all_kinds_are_closed():
    for opener, closer in PAIRS.items():
        assert closer in closed(((".",),), [opener])[-1]
    assert closed(((".",),), ["``", "("]) == ((")", ".", "''"),)
