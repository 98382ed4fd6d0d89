"""The component `slot_tagger`: learning, what it leaves on Docs, who listens."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import fix_random_seed

import spacy_punct
from spacy_punct.errors import PunctError
from spacy_punct.pipe.architectures import SMALL_TOK2VEC
from spacy_punct.reading.examples import create_corpus
from spacy_punct.reading.gold import gold_slots
from spacy_punct.reading.guesses import GUESSES, set_guesses, with_guesses
from spacy_punct.reading.sentences import bare_sentences
from tests.conftest import SAMPLE, learn

MODEL = {
    "@architectures": "spacy_punct.WordHead.v1",
    "hidden_width": 32,
    "end": True,
    "tok2vec": {**SMALL_TOK2VEC, "width": 32},
}


@pytest.fixture(scope="module")
def tags():
    """A pipeline that has learned sixty sentences by heart, and these."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("slot_tagger", config={"model": MODEL, "min_count": 1})
    corpus = create_corpus(SAMPLE / "train.conllu", limit=60, sentences=True)
    examples = list(corpus(nlp))
    losses = learn(nlp, examples, 0.01, n_passes=20, batch_size=20)
    assert losses[-1]["slot_tagger"] < losses[0]["slot_tagger"] / 5
    return nlp, list(corpus(nlp))


def best(doc):
    rows = doc.user_data[GUESSES]
    return [max(row, key=lambda found: found[1])[0] for row in rows]


def test_tagger_learns_every_slot(tags):
    nlp, examples = tags
    right = total = 0
    for example in examples:
        doc = nlp(example.predicted)
        truth = [
            " ".join(mark for mark in slot if mark != "<abbr>")
            for slot in gold_slots(example.reference)
        ]
        assert len(doc.user_data[GUESSES]) == len(truth) == len(doc) + 1
        right += sum(a == b for a, b in zip(best(doc), truth, strict=True))
        total += len(truth)
    assert right / total > 0.97


def test_tagger_probabilities(tags):
    nlp, examples = tags
    (rows,) = nlp.get_pipe("slot_tagger").predict([examples[0].predicted])
    assert rows.sum(axis=1) == pytest.approx(np.ones(len(rows)), abs=1e-5)


def test_tagger_survives_bytes_disk_and_processes(tags, tmp_path):
    nlp, examples = tags
    texts = [example.text for example in examples[:6]]
    expected = [doc.user_data[GUESSES] for doc in nlp.pipe(texts)]
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [doc.user_data[GUESSES] for doc in loaded.pipe(texts)] == expected
    other = spacy.blank("en")
    other.add_pipe("slot_tagger", config={"model": MODEL})
    other.from_bytes(nlp.to_bytes())
    found = [doc.user_data[GUESSES] for doc in other.pipe(texts, n_process=2)]
    assert found == expected


def test_tagger_untrained_says_so():
    nlp = spacy.blank("en")
    nlp.add_pipe("slot_tagger")
    with pytest.raises(PunctError, match="P044"):
        nlp("Anna sleeps")


def two_sentences():
    doc = Doc(
        spacy.blank("en").vocab,
        words=["Anna", "slept", ".", "Tom", "left"],
        heads=[1, 1, 1, 4, 4],
        deps=["nsubj", "ROOT", "punct", "nsubj", "ROOT"],
        sent_starts=[True, False, False, True, False],
    )
    labels = ["", ".", ". ``", "''", "`` ("]
    rows = np.zeros((6, 5))
    rows[[0, 1, 2, 3, 4, 5], [4, 0, 3, 2, 0, 1]] = 0.75
    rows[[0, 1, 2, 3, 4, 5], [0, 1, 0, 1, 1, 0]] = 0.25
    set_guesses(doc, rows, labels)
    return doc


def test_guesses_are_shared_out_to_sentences():
    """Openers go to the sentence that follows; the mark's own row is not asked."""
    doc = two_sentences()
    one, two = with_guesses(doc, bare_sentences(doc, "test"))
    assert one.guesses == (
        {("``", "("): 0.75, (): 0.25},
        {(): 0.75, (".",): 0.25},
        {(".",): 1.0},
    )
    assert two.guesses == (
        {("``",): 0.75, (): 0.25},
        {(): 0.75, (".",): 0.25},
        {(".",): 0.75, (): 0.25},
    )


def test_guesses_count_as_much_as_the_setting_says():
    """With the whole share, the restorer says what the tagger says."""
    nlp = spacy_punct.load("en")
    restorer = nlp.get_pipe("punctuation_restorer")
    doc = nlp("anna slept tom left")
    found = {}
    for share in (0.0, 0.5, 1.0):
        restorer.cfg["guess_share"] = share
        other = doc.copy()
        rows = np.zeros((5, 2))
        rows[:, 1] = 1.0
        set_guesses(other, rows, ["", "!"])
        found[share] = restorer(other)._.restored_slots
    assert all("!" in slot for slot in found[1.0][1:])
    assert not any("!" in slot for slot in found[0.0])
    plain = restorer(doc)._.restored_slots
    assert plain == found[0.0]
