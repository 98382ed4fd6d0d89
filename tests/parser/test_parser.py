"""The component `biaffine_parser`: learning, marks that change nothing, storage."""

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_punct.errors import PunctError
from spacy_punct.parser.network import Network, padded
from spacy_punct.parser.trees import is_projective_tree
from spacy_punct.pipe.architectures import SMALL_TOK2VEC
from spacy_punct.reading.examples import create_corpus
from tests.conftest import SAMPLE, learn

MODEL = {
    "@architectures": "spacy_punct.Biaffine.v1",
    "tok2vec": {**SMALL_TOK2VEC, "width": 32},
    "arc_width": 32,
    "relation_width": 16,
    "tag_width": 16,
    "dropout": 0.1,
}


def small_examples(nlp, n):
    corpus = create_corpus(SAMPLE / "train.conllu", limit=n, sentences=True)
    return list(corpus(nlp))


@pytest.fixture(scope="module")
def parses():
    """A pipeline that has learned sixty sentences by heart."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("biaffine_parser", config={"model": MODEL})
    examples = small_examples(nlp, 60)
    learn(nlp, examples, 0.01, n_passes=25, batch_size=20)
    return nlp, examples


def test_parser_learns(parses):
    nlp, _ = parses
    again = small_examples(nlp, 60)
    scores = nlp.evaluate(again)
    assert scores["dep_uas"] > 0.95
    assert scores["dep_las"] > 0.9
    assert scores["pos_acc"] > 0.95
    assert "dep_las_per_type" not in scores


def words_with_marks(nlp, words, marks):
    """A Doc of words with marks between them; sentence bounds are known."""
    tokens = []
    for word, mark in zip(words, marks, strict=True):
        tokens += [word, mark] if mark else [word]
    starts = [i == 0 for i in range(len(tokens))]
    return Doc(nlp.vocab, words=tokens, sent_starts=starts)


def test_parser_marks_hang_on_words_and_have_no_say_in_the_choice(parses):
    """Given the words' vectors, the tree is the same whatever marks there are."""
    nlp, _ = parses
    parser = nlp.get_pipe("biaffine_parser")
    words = ["Anna", "sells", "bread", "and", "Peter", "sleeps"]
    vectors = np.random.default_rng(0).normal(size=(len(words), 32)).astype("float32")
    found = []
    for marks in ([""] * 6, ["", "", ",", "", "", "."], ["(", "", ")", "", "", "?!"]):
        doc = words_with_marks(nlp, words, marks)
        places = [i for i, token in enumerate(doc) if token.text in words]
        (parse,) = parser._parses([places], [vectors])
        parser.set_annotations([doc], [[parse]])
        assert doc.has_annotation("DEP")
        kept = [doc[i] for i in places]
        found.append(
            [(t.head.text, t.dep_, t.pos_, str(t.morph), t.tag_) for t in kept]
        )
        for token in doc:
            if token.text not in words:
                assert (token.pos_, token.dep_) == ("PUNCT", "punct")
                assert token.head.text in words
    assert found[0] == found[1] == found[2]


def test_parser_sentences_are_trees_with_one_root(parses):
    nlp, _ = parses
    doc = nlp("Anna sells bread. Tom , who slept , left\n\n! ( ) Peter sings.")
    assert len(list(doc.sents)) >= 2
    for sent in doc.sents:
        assert [t.dep_ for t in sent].count("ROOT") == 1
        assert sent.root.head == sent.root
    assert doc.text == "Anna sells bread. Tom , who slept , left\n\n! ( ) Peter sings."


@pytest.mark.parametrize("text", ["", " ", "!", "\n\n", "word"])
def test_parser_small_texts(parses, text):
    nlp, _ = parses
    assert nlp(text).text == text


def test_parser_projective_or_not(parses):
    """With crossing arcs allowed, the best tree may cross; its score is higher."""
    nlp, _ = parses
    parser = nlp.get_pipe("biaffine_parser")
    random = np.random.default_rng(1)
    crossing = 0
    for _ in range(20):
        scores = random.normal(size=(8, 9))
        totals = {}
        for projective in (True, False):
            parser.cfg["projective"] = projective
            heads = parser._heads(scores)
            totals[projective] = scores[np.arange(8), heads].sum()
            crossing += not projective and not is_projective_tree(heads)
            assert not projective or is_projective_tree(heads)
        assert totals[False] >= totals[True] - 1e-9
    parser.cfg["projective"] = True
    assert crossing


def test_parser_survives_bytes_and_disk(parses, tmp_path):
    nlp, examples = parses
    texts = [example.text for example in examples[:5]]
    expected = [doc.to_json() for doc in nlp.pipe(texts)]
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert [doc.to_json() for doc in loaded.pipe(texts)] == expected
    changed = {"components": {"biaffine_parser": {"projective": False}}}
    other = spacy.load(tmp_path, config=changed)
    assert other.get_pipe("biaffine_parser").cfg["projective"] is False
    other = spacy.blank("en")
    other.add_pipe("sentencizer")
    other.add_pipe("biaffine_parser", config={"model": MODEL})
    other.from_bytes(nlp.to_bytes())
    assert [doc.to_json() for doc in other.pipe(texts)] == expected


def test_parser_untrained_says_so():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("biaffine_parser")
    nlp.get_pipe("biaffine_parser").model.get_ref("tok2vec").initialize()
    with pytest.raises(PunctError, match="P044"):
        nlp("Anna sleeps")


def test_parser_of_a_treebank_without_tags():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    parser = nlp.add_pipe("biaffine_parser", config={"model": MODEL})
    words = ["Anna", "sleeps"]
    reference = Doc(nlp.vocab, words=words, heads=[1, 1], deps=["nsubj", "ROOT"])
    example = Example(nlp.make_doc("Anna sleeps"), reference)
    assert parser(nlp.make_doc("")).text == ""
    nlp.initialize(lambda: [example])
    assert parser.label_data["tags"] == []
    nlp.update([example])
    doc = nlp("Anna sleeps")
    assert [token.tag_ for token in doc] == ["", ""]
    assert {token.dep_ for token in doc} == {"nsubj", "ROOT"}


def test_parser_unknown_heads_are_not_learned(parses):
    """A word whose head is in another sentence is left out, and the rest learns."""
    nlp, _ = parses
    words = ["Anna", "sleeps", "Tom", "left"]
    reference = Doc(
        nlp.vocab, words=words, heads=[1, 1, 3, 1], deps=["a", "ROOT", "a", "b"]
    )
    predicted = Doc(nlp.vocab, words=words, sent_starts=[True, False, True, False])
    parser = nlp.get_pipe("biaffine_parser")
    gold = [g for _, g in parser._gold(Example(predicted, reference))]
    assert [g[:, 0].tolist() for g in gold] == [[2, 0], [2, -100]]


def test_network_gradients_are_right():
    torch.manual_seed(0)
    network = Network(5, 4, 3, 4, 3, 2, 2, 0.0).double()
    for weights in network.parameters():
        torch.nn.init.normal_(weights)
    _, is_word = padded([np.zeros((3, 5)), np.zeros((2, 5))])
    heads = torch.tensor([[0, 1, 1], [2, 0, 0]])

    def total(words):
        scores = network(words, is_word)
        arcs = scores.arcs[scores.arcs > -1e8].logsumexp(0)
        return arcs + network.relation_scores(words, heads).logsumexp(2).sum()

    words = torch.randn(2, 3, 5, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(total, words)


def test_network_padding_changes_nothing():
    torch.manual_seed(0)
    network = Network(5, 4, 3, 4, 3, 2, 2, 0.0).eval()
    for weights in network.parameters():
        torch.nn.init.normal_(weights)
    random = np.random.default_rng(0)
    short, long = random.normal(size=(2, 5)), random.normal(size=(6, 5))
    with torch.no_grad():
        both = network(*padded([short, long]))
        alone = network(*padded([short]))
    assert torch.allclose(both.arcs[0, :2, :3], alone.arcs[0], atol=1e-5)
    assert (both.arcs[0, :2, 3:] < -1e8).all()
