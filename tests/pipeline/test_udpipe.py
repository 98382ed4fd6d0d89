"""Trees from spacy-udpipe, with a UDPipe model trained on the sample here."""

from pathlib import Path

import pytest
import spacy

from spacy_punct.data.conllu import Token
from spacy_punct.data.treebank import read_treebank
from spacy_punct.model.evaluation import score, trivial_slots

spacy_udpipe = pytest.importorskip("spacy_udpipe")
udpipe = pytest.importorskip("ufal.udpipe")


def sentence(tokens: tuple[Token, ...], heads: tuple[int, ...]):
    """A depunctuated sentence as UDPipe has it."""
    rows = [
        (i, t.form, t.lemma, t.upos, t.xpos, "_", head + 1, t.relation, "_", "_")
        for i, (t, head) in enumerate(zip(tokens, heads, strict=True), start=1)
    ]
    lines = ["\t".join(map(str, row)) for row in rows]
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText("\n".join(lines) + "\n\n")
    result = udpipe.Sentence()
    assert reader.nextSentence(result)
    return result


@pytest.fixture(scope="module")
def udpipe_path(sample, tmp_path_factory) -> Path:
    sentences = udpipe.Sentences()
    for example in read_treebank(sample / "train.conllu").examples:
        sentences.append(sentence(example.tokens, example.tree.heads))
    error = udpipe.ProcessingError()
    trained = udpipe.Trainer.train(
        "morphodita_parsito",
        sentences,
        udpipe.Sentences(),
        "none",
        "models=1;templates_1=tagger;iterations_1=3;guesser_suffix_rules_1=4",
        "iterations=10;hidden_layer=50;embedding_form=20;embedding_upostag=10;"
        "embedding_deprel=10",
        error,
    )
    assert not error.occurred(), error.message
    path = tmp_path_factory.mktemp("udpipe") / "sample.udpipe"
    path.write_bytes(trained)
    return path


def test_udpipe_trees_are_restored(udpipe_path, paper_path, sample):
    nlp = spacy_udpipe.load_from_path("en", str(udpipe_path))
    nlp.add_pipe("punctuation_restorer", source=spacy.load(paper_path))
    examples = read_treebank(sample / "dev.conllu").examples
    restored, trivial = [], []
    for example in examples:
        doc = nlp(nlp.tokenizer([list(example.tree.words)]))
        assert tuple(t.text for t in doc) == example.tree.words
        assert doc.has_annotation("DEP")
        words = [t for t in doc._.restored_doc if t._.source_index is not None]
        assert len(words) == len(doc)
        restored.append(tuple(map(tuple, doc._.restored_slots)))
        trivial.append(trivial_slots(example, (".",)))
    truth = [example.slots for example in examples]
    assert score(restored, truth).aed < 0.7 * score(trivial, truth).aed
