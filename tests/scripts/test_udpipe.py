"""Trees of UDPipe, with a model trained on the sample here."""

from dataclasses import replace
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

from scripts.udpipe import PARSER, TAGGER, parse, train_udpipe
from spacy_punct.data.treebank import Treebank, read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.model.evaluation import score, trivial_slots
from spacy_punct.reading.corpus import joined, make_doc, unpunctuated
from spacy_punct.restorer.evaluation import (
    attachment,
    evaluate_pipeline,
)

spacy_udpipe = pytest.importorskip("spacy_udpipe")

NAME = "punctuation_restorer"
FAST = {
    "tagger": {**TAGGER, "iterations": 3, "use_xpostag": 0, "provide_xpostag": 0},
    "parser": {
        **PARSER,
        "hidden_layer": 50,
        "embedding_form": 20,
        "embedding_xpostag": 0,
    },
}
"""Enough training for the sample."""


@pytest.fixture(scope="module")
def treebank(sample) -> Treebank:
    return read_treebank(sample / "dev.conllu")


@pytest.fixture(scope="module")
def udpipe_path(sample, tmp_path_factory) -> Path:
    examples = read_treebank(sample / "train.conllu").examples
    path = tmp_path_factory.mktemp("udpipe") / "sample.udpipe"
    train_udpipe(examples, (), path, **FAST)
    return path


def test_udpipe_trees_are_restored(udpipe_path, paper_path, treebank):
    """In a pipeline of spacy-udpipe itself."""
    nlp = spacy_udpipe.load_from_path("en", str(udpipe_path))
    nlp.add_pipe(NAME, source=spacy.load(paper_path))
    restored, trivial = [], []
    for example in treebank.examples:
        doc = nlp(nlp.tokenizer([list(example.tree.words)]))
        assert tuple(t.text for t in doc) == example.tree.words
        assert doc.has_annotation("DEP")
        words = [t for t in doc._.restored_doc if t._.source_index is not None]
        assert len(words) == len(doc)
        restored.append(tuple(map(tuple, doc._.restored_slots)))
        trivial.append(trivial_slots(example, (".",)))
    truth = [example.slots for example in treebank.examples]
    assert score(restored, truth).aed < 0.7 * score(trivial, truth).aed


def test_udpipe_trees_with_bundled_weights(udpipe_path, bundled):
    """`load_from_path` and `add_pipe`: its trees are universal, so they are read."""
    nlp = spacy_udpipe.load_from_path("en", str(udpipe_path))
    restorer = nlp.add_pipe(NAME)
    words = ["if", "the", "rain", "stops", "anna", "will", "visit", "us"]
    doc = nlp(nlp.tokenizer([words]))
    written = "".join(filter(str.isalpha, doc._.restored_text))
    assert written.lower() == "".join(words)
    (sentences,) = restorer.read([doc])
    read = [d for sentence in sentences for d in sentence.tree.relations]
    assert read == ["root" if t.dep_ == "ROOT" else t.dep_ for t in doc]


def test_udpipe_docs_are_scored(udpipe_path, on_trees, treebank):
    restorer = on_trees.get_pipe(NAME)
    references = [make_doc(example, on_trees.vocab) for example in treebank.examples]
    docs = parse(udpipe_path, [unpunctuated(doc) for doc in references])
    assert [d.text_with_ws for d in docs] == [d.text_with_ws for d in references]
    assert all(doc.has_annotation("POS") for doc in docs)
    assert [doc.user_data for doc in docs] == [unpunctuated(d).user_data for d in docs]
    restored = [tuple(map(tuple, doc._.restored_slots)) for doc in restorer.pipe(docs)]
    aed = score(restored, [example.slots for example in treebank.examples]).aed
    on_gold = evaluate_pipeline(on_trees, restorer, treebank, gold=True)
    assert on_gold["aed"] <= aed < 0.7 * on_gold["aed_trivial"]
    found = attachment(docs, references)
    assert 0.8 < found["las"] <= found["uas"]


def test_attachment_counts_heads_and_relations():
    vocab = spacy.blank("en").vocab
    words, pos = ["a", "b", "c", "d"], ["X"] * 4
    true = Doc(vocab, words, heads=[1, 1, 1, 2], deps=["x", "ROOT", "y", "z"], pos=pos)
    ours = Doc(vocab, words, heads=[1, 1, 1, 1], deps=["x", "ROOT", "z", "z"], pos=pos)
    assert attachment([ours], [true]) == {"uas": 0.75, "las": 0.5}


def test_udpipe_keeps_to_sentences(udpipe_path, treebank):
    vocab = spacy.blank("en").vocab
    docs = [unpunctuated(make_doc(e, vocab)) for e in treebank.examples[:5]]
    (whole,) = parse(udpipe_path, [joined(docs)])
    parts = joined(parse(udpipe_path, docs))
    for attribute in ("text", "pos_", "dep_", "is_sent_start"):
        found, expected = ([getattr(t, attribute) for t in d] for d in (whole, parts))
        assert found == expected
    assert [t.head.i for t in whole] == [t.head.i for t in parts]
    assert len(list(whole.sents)) == 5


def test_udpipe_takes_any_words(udpipe_path):
    vocab = spacy.blank("en").vocab
    words = ["tab\there", "New York", "\n", ";", "日本", "don't"]
    docs = [Doc(vocab, words), Doc(vocab, []), Doc(vocab, ["Yes"])]
    found = parse(udpipe_path, docs)
    assert [[t.text for t in doc] for doc in found] == [words, [], ["Yes"]]
    assert [t.dep_ for t in found[0]].count("ROOT") == 1


def test_udpipe_says_why_it_cannot_be_trained(sample, tmp_path):
    path = tmp_path / "model.udpipe"
    with pytest.raises(PunctError, match="P020"):
        train_udpipe((), (), path, **FAST)
    (example, *_) = read_treebank(sample / "train.conllu").examples
    tree = replace(example.tree, relations=("dep",) * len(example.tree))
    with pytest.raises(PunctError, match=r"UDPipe cannot learn.*root"):
        train_udpipe([replace(example, tree=tree)], (), path, **FAST)
    assert not path.exists()


@pytest.mark.parametrize("content", [None, b"", b"not a model"])
def test_udpipe_needs_a_model(tmp_path, content):
    path = tmp_path / "model.udpipe"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PunctError, match="is not a UDPipe model"):
        parse(path, [Doc(spacy.blank("en").vocab, ["Yes"])])
