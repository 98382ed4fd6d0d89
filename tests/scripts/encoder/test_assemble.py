"""A pipeline says of a text what the trained reader says."""

from dataclasses import replace

import numpy as np
import pytest
import spacy
import torch

from scripts.encoder.assemble import assembled
from scripts.encoder.reader import Labels, Reader
from spacy_punct.encoder.wordpieces import WordPieces
from spacy_punct.reading.guesses import GUESSES
from tests.encoder.small import SIZES, VOCABULARY, small_transformer

LABELS = Labels(["", ",", "."], ["root", "nsubj", "obj"], ["NOUN|_", "VERB|_"], ["N"])


@pytest.fixture
def reader() -> Reader:
    torch.manual_seed(0)
    sizes = replace(SIZES, n_positions=192)
    found = Reader(small_transformer(sizes=sizes), LABELS).eval()
    for name, weights in found.named_parameters():
        if not name.startswith("transformer."):
            torch.nn.init.normal_(weights, std=0.5)
    return found


def test_assembled_pipeline_says_what_the_reader_says(reader, tmp_path):
    assembled(reader, WordPieces(VOCABULARY), LABELS).to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    doc = nlp.make_doc("i saw the dog , it was late")
    vectors = nlp.get_pipe("tok2vec").predict([doc])[0]
    words = [token.i for token in doc if token.text != ","]
    rows = torch.from_numpy(np.asarray(vectors[words]))
    left = torch.tensor([-1, *range(len(words))])
    right = torch.tensor([*range(len(words)), -1])
    with torch.no_grad():
        slots, starts = reader.read_slots(rows, left, right)
        cases = reader.cases(rows).argmax(1).tolist()
    doc = nlp(doc)
    senter, caser = nlp.get_pipe("stream_senter"), nlp.get_pipe("truecaser")
    (found,) = senter.model.predict([doc])
    assert found[words, 1] == pytest.approx(starts.sigmoid()[:-1].numpy(), abs=1e-3)
    assert caser.predict([doc])[0][words].tolist() == cases
    for row, scores in zip([*words, len(doc)], slots.softmax(1), strict=True):
        known = dict(doc.user_data[GUESSES][row])
        for label, p in zip(LABELS.slots, scores.tolist(), strict=True):
            assert known.get(label, 0) == pytest.approx(p, abs=2e-3)
    for sent in doc.sents:
        assert sent.root.dep_ == "ROOT"
    assert {t.pos_ for t in doc if t.text != ","} <= {"NOUN", "VERB"}
    assert doc[4].pos_ == "PUNCT"
