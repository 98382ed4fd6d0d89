"""A pipeline says of a text what the trained reader says."""

from dataclasses import replace

import numpy as np
import pytest
import spacy
import srsly
import torch

from scripts.bench import main as bench
from scripts.encoder import parse_text, start
from scripts.encoder.assemble import assembled, taken_apart
from scripts.encoder.lexicon import mixed_forms
from scripts.encoder.reader import Labels, Reader
from spacy_punct.encoder.wordpieces import WordPieces
from spacy_punct.reading.corpus import read_docs
from spacy_punct.reading.examples import create_corpus
from spacy_punct.reading.gold import gold_slots
from spacy_punct.reading.guesses import GUESSES
from tests.conftest import SAMPLE
from tests.encoder.small import SIZES, VOCABULARY, small_transformer

LABELS = Labels(["", ",", "."], ["root", "nsubj", "obj"], ["NOUN|_", "VERB|_"], ["N"])


@pytest.fixture
def reader() -> Reader:
    torch.manual_seed(0)
    sizes = replace(SIZES, n_positions=384)
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


def test_training_can_start_from_a_pipeline(reader, tmp_path):
    assembled(reader, WordPieces(VOCABULARY), LABELS).to_disk(tmp_path)
    transformer, pieces = start.load(tmp_path)
    assert list(pieces.vocabulary) == list(VOCABULARY)
    for name, weights in reader.transformer.state_dict().items():
        assert transformer.state_dict()[name].numpy() == pytest.approx(
            weights.numpy(), abs=0.02 * float(weights.abs().max())
        )
    found, _, labels = taken_apart(tmp_path)
    assert labels == LABELS
    for name, weights in reader.state_dict().items():
        loaded = found.state_dict()[name].numpy()
        assert loaded == pytest.approx(weights.numpy(), abs=2e-2), name


def test_lexicon_has_what_is_mostly_written_so():
    lines = ["We like GitHub and the iPhone a lot."] * 4
    lines += ["The iphone is here, and so is MacBook."] * 13
    assert mixed_forms({"talk": lines}) == {"github": "GitHub", "macbook": "MacBook"}


def test_text_is_parsed(reader, invoke, tmp_path):
    assembled(reader, WordPieces(VOCABULARY), LABELS).to_disk(tmp_path / "reading")
    (tmp_path / "text").mkdir()
    lines = "I saw the dog, and it was late.\nThe dog ran. It was late.\n"
    (tmp_path / "text" / "talk.txt").write_text(lines * 5, "utf-8")
    arguments = (tmp_path / "reading", tmp_path / "text", tmp_path / "text.spacy")
    done = invoke(parse_text.main, *arguments, "--words", 300)
    assert done.exit_code == 0, done.output
    docs = list(read_docs(tmp_path / "text.spacy", spacy.blank("en").vocab))
    assert docs
    for doc in docs:
        slots = gold_slots(doc)
        assert len(slots) == len(doc) + 1
        for sent in doc.sents:
            assert sent.root.dep_ == "ROOT" and sent[0].text[0].isupper()
            assert "." in slots[sent.end]


def test_bench_measures_a_pipeline_and_its_tagger(reader, invoke, tmp_path):
    nlp = assembled(reader, WordPieces(VOCABULARY), LABELS)
    model = {"@architectures": "spacy_punct.LogLinearAttach.v1"}
    settings = {"model": model, "n_samples": 0}
    restorer = nlp.add_pipe("punctuation_restorer", config=settings)
    corpus = create_corpus(SAMPLE / "train.conllu", limit=20)
    restorer.initialize(lambda: corpus(nlp), nlp=nlp)
    nlp.to_disk(tmp_path / "pipeline")
    rows = [("i", "", "I"), ("don't", ",", "don't"), ("know", ".", "know")] * 10
    stream = "\n".join(map("\t".join, rows)) + "\n"
    (tmp_path / "talk.tsv").write_text(stream, "utf-8")
    output = tmp_path / "bench.json"
    done = invoke(bench, tmp_path / "pipeline", tmp_path, "--output", output)
    assert done.exit_code == 0, done.output
    found = srsly.read_json(output)
    assert set(found) == {"pipeline", "tagging head"}
    for figures in found.values():
        assert figures["mean"] == figures["streams"]["talk"]
        assert figures["words_per_cpu_second"] > 0
    assert 0 < found["tagging head"]["p"]["talk"] <= 1
