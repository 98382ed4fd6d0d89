"""The experiment with rephrased treebanks."""

from math import exp, log

import pytest
import spacy

from scripts.rephrasing import (
    TrigramModel,
    measure,
    permuted_words,
    rephrase_treebank,
    surface_tree,
    tokens,
    training_sentences,
    trigrams,
    words_only,
    written_words,
)
from spacy_punct.data.conllu import parse_conllu
from spacy_punct.data.treebank import make_treebank

SENTENCE = """1 If if SCONJ _ _ 2 mark _ _
2 true true ADJ _ _ 7 advcl _ _
3 etc. etc. ADV _ _ 2 advmod _ _
4 , , PUNCT _ _ 7 punct _ _
5 the the DET _ _ 6 det _ _
6 caper caper NOUN _ _ 7 nsubj _ _
7 failed fail VERB _ _ 0 root _ _
8 . . PUNCT _ _ {head} punct _ _
"""


def read(head: int = 7):
    lines = [line.replace(" ", "\t") for line in SENTENCE.format(head=head).split("\n")]
    (sentence,) = parse_conllu(lines)
    (example,) = make_treebank([sentence]).examples
    return sentence, example


def test_trigrams_are_smoothed():
    model = TrigramModel([["a", "b"], ["a", "c"]], vocabulary=3, smoothing=0.5)
    assert list(trigrams(["a"])) == [("<s>", "<s>", "a"), ("<s>", "a", "</s>")]
    a, b, end = model.log_probs(["a", "b"])
    assert exp(a) == pytest.approx((2 + 0.5) / (2 + 0.5 * 4))
    assert exp(b) == pytest.approx((1 + 0.5) / (2 + 0.5 * 4))
    assert exp(end) == pytest.approx((1 + 0.5) / (1 + 0.5 * 4))
    assert exp(model.log_prob(("x", "y", "z"))) == pytest.approx(1 / 4)
    seen = [exp(model.log_prob(("<s>", "a", w))) for w in ("a", "b", "c", "</s>")]
    assert sum(seen) == pytest.approx(1)


def test_surface_tree_has_marks_where_the_treebank_has_them():
    found = surface_tree(*read())
    forms = ["If", "true", "etc.", ",", "the", "caper", "failed", "."]
    assert list(found.tree.words) == forms
    assert found.tree.heads == (1, 6, 1, 6, 5, 6, -1, 6)
    assert found.tree.tags[3] == "PUNCT"
    assert found.tree.relations[7] == "punct"
    assert found.words == {0: 0, 1: 1, 2: 2, 4: 3, 5: 4, 6: 5}


def test_surface_tree_is_projective():
    """A period that hangs on `the` would cross other arcs."""
    found = surface_tree(*read(head=5))
    assert found.tree.is_projective
    assert found.tree.heads[7] == 6


def test_base_and_half_order_words_in_the_same_way():
    surface = surface_tree(*read())
    orders = {6: (5, 6, 7, 1, 3)}
    words = permuted_words(surface, orders)
    assert words == ["the", "caper", "failed", ".", "If", "true", "etc.", ","]
    assert words_only(orders, surface) == {5: (4, 5, 1)}
    assert permuted_words(surface, {}) == list(surface.tree.words)


def test_surface_trees_of_the_sample_give_its_tokens_back(sample):
    pairs = list(zip(*training_sentences(sample), strict=True))
    assert len(pairs) > 100
    for sentence, example in pairs:
        surface = surface_tree(sentence, example)
        assert surface.tree.is_projective
        assert (
            permuted_words(surface, {})
            == tokens(written_words(example), example.slots)[0]
        )
        assert len(surface.tree) == len(sentence.tokens)


def test_measure_by_hand():
    originals = [["a", ",", "b"], ["c"]]
    marks = [[False, True, False], [False]]
    rephrased = {"same": originals, "other": [["b", ",", "a"], ["c"]]}
    found = measure(rephrased, originals, marks)
    # a , b </s>: all but the first trigram have the comma; c </s>: none.
    assert found["n_trigrams"] == {"punctuation": 3, "all": 6}
    rest = 0.001 * 5

    def p(n: int, of: int) -> float:
        return (n + 0.001) / (of + rest)

    same = [p(1, 2), p(1, 1), p(1, 1), p(1, 1), p(1, 2), p(1, 1)]
    other = [p(0, 2), p(0, 0), p(0, 0), p(0, 0), p(1, 2), p(1, 1)]
    for system, values in (("same", same), ("other", other)):
        for name, counted in (("punctuation", values[1:4]), ("all", values)):
            expected = exp(-sum(map(log, counted)) / len(counted))
            assert found["systems"][system][name] == pytest.approx(expected)
    assert set(found["tests"]["all"]) == {"same / other"}


def test_experiment_on_the_sample(paper_path, sample):
    nlp = spacy.load(paper_path)
    sentences, examples = (part[:60] for part in training_sentences(sample))
    rephrased = rephrase_treebank(nlp, sentences, examples)
    assert list(rephrased) == ["base", "half", "full", "full-same"]
    pairs = [tokens(written_words(example), example.slots) for example in examples]
    originals, marks = map(list, zip(*pairs, strict=True))
    for found in rephrased.values():
        assert found != originals
        assert len(found) == len(originals)
    # What the whole method is for.
    systems = measure(rephrased, originals, marks)["systems"]
    assert systems["full"]["punctuation"] < systems["base"]["punctuation"]
    assert rephrase_treebank(nlp, sentences, examples) == rephrased
