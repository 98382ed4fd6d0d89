"""What a tagger says of words, weighed against what is written."""

from dataclasses import replace

import pytest
import spacy
from spacy.tokens import Doc

from spacy_punct.corrector.expected import with_expected
from spacy_punct.reading.sentences import bare_sentences


class Known:
    """An inventory that knows every mark."""

    def known(self, slots):
        return slots


def posterior(words: str, slot: int, guess: dict) -> dict:
    """The probabilities of a slot of `When it rained we left`."""
    tokens = words.split()
    n = len(tokens)
    ends = [i for i, word in enumerate(tokens) if word.isalpha()]
    heads = {"When": "rained", "it": "rained", "rained": "left", "we": "left"}
    labels = {"When": "mark", "it": "nsubj", "rained": "advcl", "we": "nsubj"}
    root = tokens.index("left")
    doc = Doc(
        spacy.blank("en").vocab,
        words=tokens,
        heads=[tokens.index(heads[t]) if t in heads else root for t in tokens],
        deps=[labels.get(t, "ROOT" if t == "left" else "punct") for t in tokens],
        pos=["X" if i in ends else "PUNCT" for i in range(n)],
    )
    (sentence,) = bare_sentences(doc, "test")
    guesses = [{marks: 1.0} for marks in sentence.marks]
    guesses[slot] = guess
    weighed = with_expected(replace(sentence, guesses=tuple(guesses)), Known())
    return weighed.guesses[slot]


def test_what_is_written_counts():
    guess = {(): 0.4, (",",): 0.6}
    missing = posterior("When it rained we left .", 3, guess)
    there = posterior("When it rained , we left .", 3, guess)
    assert sum(missing.values()) == pytest.approx(1)
    assert missing[(",",)] < guess[(",",)] < there[(",",)]
    sure = posterior("When it rained we left .", 3, {(): 0.05, (",",): 0.95})
    assert sure[(",",)] > 0.5


def test_pairs_and_hyphens_are_left_alone():
    quoted = {("``",): 0.9, (): 0.1}
    assert posterior("When it rained we left .", 3, quoted)[()] == 1
    hyphen = posterior("When it rained - we left .", 3, {(): 1.0})
    assert hyphen == {("-",): 1.0}


def test_without_a_tagger_nothing_is_expected():
    doc = Doc(spacy.blank("en").vocab, words=["left"], heads=[0], deps=["ROOT"])
    (sentence,) = bare_sentences(doc, "test")
    assert with_expected(sentence, Known()) is sentence
