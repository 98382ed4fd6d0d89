"""Sentences in streams."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_punct.errors import PunctError
from spacy_punct.senter.component import SenterSettings

SENTENCES = ["we went home", "then anna slept", "they saw it", "so we left"]
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32}
SHARED = {
    "model": {
        "@architectures": "spacy.Tagger.v2",
        "tok2vec": LISTENER,
    }
}
TOK2VEC = {
    "model": {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": 32,
        "depth": 1,
        "embed_size": 200,
        "window_size": 1,
        "maxout_pieces": 2,
        "subword_features": True,
    }
}


def example(nlp, sentences) -> Example:
    words = [word for sentence in sentences for word in sentence.split()]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence.split()))]
    reference = Doc(nlp.vocab, words=words, sent_starts=starts)
    return Example(Doc(nlp.vocab, words=words), reference)


def trained(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config=TOK2VEC)
    nlp.add_pipe("stream_senter", config={**SHARED, **config})
    order = np.random.default_rng(0)
    examples = [example(nlp, order.permutation(SENTENCES)) for _ in range(30)]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return trained()


def starts(doc: Doc) -> list[int]:
    return [sent.start for sent in doc.sents]


def test_senter_learns_and_survives_the_disk(nlp, tmp_path):
    text = "they saw it then anna slept so we left"
    assert starts(nlp(text)) == [0, 3, 6]
    nlp.to_disk(tmp_path)
    assert starts(spacy.load(tmp_path)(text)) == [0, 3, 6]


def test_senter_threshold_decides(nlp):
    text = "they saw anna then it left so"
    senter = nlp.get_pipe("stream_senter")
    found = {}
    for threshold in (0.0, 0.2, 0.8, 0.999999):
        senter.settings = SenterSettings(threshold=threshold)
        found[threshold] = set(starts(nlp(text)))
    senter.settings = SenterSettings(threshold=0.5)
    assert found[0.0] == set(range(7))
    assert found[0.999999] == {0}
    assert found[0.8] <= found[0.2]


def test_senter_keeps_to_known_sentences(nlp):
    words = ["they", "saw", "it", "then", "anna", "slept"]
    known = Doc(nlp.vocab, words=words, sent_starts=[i in (0, 1) for i in range(6)])
    assert starts(nlp(known)) == [0, 1]


def test_senter_bad_threshold():
    with pytest.raises(PunctError, match=r"\[P024\].*threshold"):
        spacy.blank("en").add_pipe("stream_senter", config={"threshold": 1.5})


@pytest.mark.parametrize("setting", [{"missing": 1.5}, {"inner": -0.1}])
def test_senter_bad_settings_about_marks(setting):
    (name,) = setting
    with pytest.raises(PunctError, match=rf"\[P024\].*{name}"):
        spacy.blank("en").add_pipe("stream_senter", config=setting)
