"""Examples that are drawn from plain text."""

import lzma
import random
from itertools import islice

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.training import Example

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.written import read_line
from spacy_punct.errors import PunctError
from spacy_punct.reading.gold import gold_slots
from spacy_punct.reading.sentences import WORDS_ONLY
from spacy_punct.reading.written import (
    FORMS,
    create_text_corpus,
    make_example,
    seen_forms,
    tokens_of,
)
from spacy_punct.truecaser.forms import true_forms
from tests.encoder.small import LISTENER, small_pipeline

TALK = """\
Well, I don't know. Mr. Smith said "no" in 1990, didn't he?
Break: five minutes.
It was 25% of the U.S. market, e.g. the long-term one (the best).
So we went to Berlin. Anna was there, and NASA too!
"""
SINGLE = """\
The dog barked at us.
Was it you?
Das ist ein Satz, den hier keiner lesen kann.
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("text")
    (path / "talk.txt").write_text(TALK, encoding="utf-8")
    with lzma.open(path / "single.txt.xz", "wt", encoding="utf-8") as file:
        file.write(SINGLE)
    return path


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def drawn(nlp, path, **settings):
    return list(create_text_corpus(path, **{"limit": 30, **settings})(nlp))


def texts(examples):
    return [example.reference.text for example in examples]


def test_text_example_has_what_the_treebank_reader_gives(nlp):
    words = read_line("Mr. Smith didn't go. Anna, the CEO, did.")
    tokens = [tokens_of(nlp, word.form.lower()) for word in words]
    example = make_example(nlp, words, tokens)
    expected = ["mr", "smith", "did", "n't", "go", "anna", "the", "ceo", "did"]
    assert [t.text for t in example.predicted] == expected
    expected = ["Mr", "Smith", "did", "n't", "go", "Anna", "the", "CEO", "did"]
    assert [t.text for t in example.reference] == expected
    slots = gold_slots(example.reference)
    assert slots == (
        (),
        (ABBREVIATION_DOT,),
        (),
        (),
        (),
        (".",),
        (",",),
        (),
        (",",),
        (".",),
    )
    starts = [t.i for t in example.reference if t.is_sent_start]
    assert starts == [0, 5]
    assert not example.predicted.has_annotation("SENT_START")
    assert example.predicted.user_data == {WORDS_ONLY: True}
    assert true_forms(example)[6:8] == ["the", "CEO"]


def test_text_is_the_same_in_each_pass_unless_drawn_anew(nlp, folder):
    same = create_text_corpus(folder, limit=10)
    assert texts(same(nlp)) == texts(same(nlp))
    anew = create_text_corpus(folder, limit=10, anew=True)
    assert texts(anew(nlp)) != texts(anew(nlp))
    other = create_text_corpus(folder, limit=10, seed=1)
    assert texts(other(nlp)) != texts(same(nlp))


def test_text_is_cut_at_random_points(nlp, folder):
    for cut, share in ((0.0, 0.0), (1.0, 0.6)):
        examples = drawn(nlp, folder, weights={"talk": 1}, cut=cut, max_words=12)
        inside = [not e.reference[0].is_title for e in examples]
        assert (sum(inside) / len(inside) >= share) if cut else not any(inside)
    lengths = {len(e.reference) for e in drawn(nlp, folder, short=1.0, cut=1.0)}
    assert len(lengths) > 10


def test_text_sources_have_weights(nlp, folder):
    one = drawn(nlp, folder, weights={"single": 1}, unconnected=["single"], cut=0)
    assert not any("Anna" in text for text in texts(one))
    assert "Satz" not in " ".join(texts(one))
    pairs = {text[:25] for text in texts(one)}
    assert len(pairs) > 2
    both = drawn(nlp, folder, weights={"single": 1, "talk": 1}, max_words=4, cut=0)
    share = sum("dog" in t or "you" in t for t in texts(both)) / len(both)
    assert 0.2 < share < 0.8


@pytest.mark.parametrize("form", FORMS)
def test_text_forms(nlp, folder, form):
    examples = drawn(nlp, folder, forms={form: 1.0}, weights={"talk": 1})
    seen = " ".join(example.predicted.text for example in examples)
    if form in ("spoken", "written"):
        assert seen == seen.lower()
    elif form == "capitals":
        assert seen == seen.upper()
    else:
        assert "Anna" in seen and "anna" in seen
    assert ("NASA" in seen) == (form in ("cased", "capitals"))
    assert ("twenty five percent" in seen.lower()) == form.startswith("spoken")
    for example in examples:
        x, y = example.predicted, example.reference
        assert [t.lower_ for t in x] == [t.lower_ for t in y]
        assert len(gold_slots(y)) == len(y) + 1


BLANK = spacy.blank("en")
LETTERS = st.text(
    st.characters(categories=["L", "N"], include_characters="'-%$."), min_size=1
)


@given(st.lists(LETTERS, min_size=1, max_size=10), st.sampled_from(FORMS))
def test_text_words_keep_their_letters(words, form):
    seen = seen_forms(words, form, random.Random(0))
    assert list(map(len, seen)) == list(map(len, words))
    assert [w.casefold() for w in seen] == [w.casefold() for w in words]
    assert ["".join(tokens_of(BLANK, word)) for word in seen] == seen


def test_text_can_be_learned_from_and_scored(folder):
    nlp = small_pipeline()
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
    nlp.add_pipe("stream_senter", config={"model": tagger})
    nlp.add_pipe("truecaser", config={"model": tagger})
    examples = drawn(nlp, folder, limit=6, max_words=30)
    with nlp.select_pipes(disable=["tok2vec"]):
        optimizer = nlp.initialize(lambda: examples)
    losses = [nlp.update(examples, sgd=optimizer) for _ in range(3)]
    assert losses[-1]["stream_senter"] < losses[0]["stream_senter"]
    assert losses[-1]["truecaser"] < losses[0]["truecaser"]
    fresh = [Example(e.predicted.copy(), e.reference) for e in examples]
    scores = nlp.evaluate(fresh)
    assert scores["sents_f"] is not None
    assert 0 < scores["case_acc"] <= 1


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"weights": {"other": 1.0}}, "P174.*other.*single, talk"),
        ({"unconnected": ["other"]}, "P174"),
        ({"forms": {"sung": 1.0}}, "P174.*sung"),
        ({"limit": 0}, "P024"),
    ],
)
def test_text_settings_are_checked(folder, settings, message):
    with pytest.raises(PunctError, match=message):
        create_text_corpus(folder, **settings)


def test_text_that_is_none(tmp_path, nlp):
    with pytest.raises(PunctError, match="P050"):
        create_text_corpus(tmp_path)
    (tmp_path / "bad.txt").write_text("x = y;\n")
    with pytest.raises(PunctError, match="P175"):
        next(islice(create_text_corpus(tmp_path)(nlp), 1))
