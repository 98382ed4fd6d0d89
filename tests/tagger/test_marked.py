"""The component `mark_reader`, and the text that it learns from."""

from itertools import chain

import pytest
import spacy
from thinc.api import fix_random_seed

from spacy_punct.pipe.architectures import SMALL_TOK2VEC
from spacy_punct.reading.guesses import MARK_GUESSES
from spacy_punct.reading.sentences import MARKS, written_slots_of
from spacy_punct.reading.written import create_slip_corpus
from spacy_punct.tagger.marked import MarkReader
from tests.conftest import learn

TEXT = "However, the dog barked. Did you hear it? She said it was a well-known dog.\n"
MODEL = {
    "@architectures": "spacy_punct.MarkHead.v1",
    "mark_width": 8,
    "encoder_width": 16,
    "hidden_width": 16,
    "tok2vec": {**SMALL_TOK2VEC, "width": 16},
}


def best(doc):
    return [
        max(row, key=lambda found: found[1])[0]
        for row in doc.user_data[MARK_GUESSES]
        if row
    ]


@pytest.fixture(scope="module")
def reads(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slips")
    (folder / "a.txt").write_text(TEXT * 40)
    fix_random_seed(0)
    nlp = spacy.blank("en")
    reader = nlp.add_pipe("mark_reader", config={"model": MODEL})
    assert isinstance(reader, MarkReader)
    corpus = create_slip_corpus(folder, limit=200, max_words=12)
    examples = list(corpus(nlp))
    learn(nlp, examples, 0.02, n_passes=25, batch_size=50)
    return nlp, corpus


def test_corpus_makes_other_mistakes_in_each_pass(reads):
    nlp, corpus = reads
    first, second = ([e.predicted.text for e in corpus(nlp)] for _ in range(2))
    assert first != second


def test_reader_mends_what_it_has_learned(reads):
    nlp, corpus = reads
    scores = nlp.evaluate(list(corpus(nlp)))
    assert scores["marks_f05"] > 0.8
    doc = nlp("However the dog barked. Did you hear it.")
    assert best(doc) == ["", ",", "", "", ".", "", "", "", "?"]
    right = nlp("However, the dog barked. Did you hear it?")
    assert best(right) == best(doc)


def test_reader_believes_what_it_does_not_know(reads):
    nlp, _ = reads
    doc = nlp("However, the dog ‽ barked.")
    places, slots = written_slots_of(doc)
    rows = doc.user_data[MARK_GUESSES]
    strings = [dict(map(tuple, rows[i])) for i in [*places, len(doc)]]
    for slot, found in zip(slots, strings, strict=True):
        if slot == ("‽",):
            assert "‽" in found


def guesses(docs):
    return [
        [dict(map(tuple, row)) for row in doc.user_data[MARK_GUESSES]] for doc in docs
    ]


def are_same(found, expected):
    """To two places: in which order sums are made may differ."""
    pairs = zip(chain(*found), chain(*expected), strict=True)
    return all(
        one.get(name, 0.0) == pytest.approx(two.get(name, 0.0), abs=0.01)
        for one, two in pairs
        for name in one | two
    )


def test_reader_survives_bytes_and_processes(reads):
    nlp, _ = reads
    texts = ["However the dog barked", "", "...", "did you hear it."]
    expected = guesses(nlp.pipe(texts))
    other = spacy.blank("en")
    other.add_pipe("mark_reader", config={"model": MODEL})
    other.from_bytes(nlp.to_bytes())
    assert are_same(guesses(other.pipe(texts)), expected)
    assert are_same(guesses(nlp.pipe(texts, n_process=2)), expected)


def test_marks_of_a_doc_that_names_them(reads):
    nlp, corpus = reads
    for example in list(corpus(nlp))[:20]:
        doc = example.predicted
        places, slots = written_slots_of(doc)
        marks = doc.user_data[MARKS]
        assert [i for i, mark in enumerate(marks) if not mark] == places
        assert [m for slot in slots for m in slot] == [m for m in marks if m]
