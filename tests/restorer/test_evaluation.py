import time
from collections.abc import Callable
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.data.treebank import Treebank, read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.restorer.evaluation import evaluate_stream

NAME = "punctuation_restorer"
FIELDS = {
    "stream",
    "aed",
    "micro_f",
    "per_mark",
    "n_words",
    "sents",
    "casing",
    "words_per_second",
}


@pytest.fixture
def treebank(sample) -> Treebank:
    return read_treebank(sample / "dev.conllu")


@Language.factory("test_oracle")
def make_oracle(nlp: Language, name: str, starts: list[int]) -> Callable[[Doc], Doc]:
    """Makes flat trees of sentences that start where it is told."""

    def oracle(doc: Doc) -> Doc:
        assert not doc.has_annotation("SENT_START")
        start = 0
        for token in doc:
            start = token.i if token.i in starts else start
            token.head, token.pos_ = doc[start], "NOUN"
            token.dep_ = "ROOT" if token.i == start else "dep"
        return doc

    return oracle


@Language.component("test_merger")
def merge(doc: Doc) -> Doc:
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[:2])
    return doc


def scores_with_sentences(
    nlp: Language, treebank: Treebank, starts: list[int]
) -> dict[str, Any]:
    """The scores if sentences start where one wants."""
    for name in nlp.pipe_names:
        if name != NAME:
            nlp.remove_pipe(name)
    nlp.add_pipe("test_oracle", first=True, config={"starts": starts})
    return evaluate_stream(nlp, nlp.get_pipe(NAME), treebank, lower=True)


def test_evaluation_of_a_stream(on_text, treebank):
    restorer = on_text.get_pipe(NAME)
    found = {
        lower: evaluate_stream(on_text, restorer, treebank, lower=lower)
        for lower in (False, True)
    }
    n_words = sum(len(example.tree) for example in treebank.examples)
    for lower, scores in found.items():
        assert set(scores) == FIELDS
        assert scores["stream"] == ("lower" if lower else "cased")
        assert scores["n_words"] == n_words
        assert 0 < scores["aed"] < 1
        assert 0 < scores["micro_f"] < 1
        assert set(scores["per_mark"]["."]) == {"p", "r", "f", "support"}
        assert set(scores["sents"]) == {"p", "r", "f"}
        assert set(scores["casing"]) == {"accuracy", "p", "r", "f"}
        assert scores["words_per_second"] > 0
    # Words that have their capitals keep them; others get one after an added end.
    assert found[False]["casing"]["r"] == 1
    assert found[False]["casing"]["p"] > 0.9
    assert 0 < found[True]["casing"]["r"] < found[True]["casing"]["accuracy"] < 1


def test_evaluation_of_a_stream_counts_sentences(on_text, treebank):
    lengths = [len(example.tree) for example in treebank.examples]
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    scores = scores_with_sentences(on_text, treebank, starts)
    assert scores["sents"] == {"p": 1.0, "r": 1.0, "f": 1.0}
    # All sentences are capitalised then, and nothing but sentences and I.
    words = [word for example in treebank.examples for word in example.tree.words]
    true = [i for i, word in enumerate(words) if word != word.lower()]
    right = [
        i
        for i in true
        if words[i] == "I" or (i in starts and words[i] == words[i].capitalize())
    ]
    assert scores["casing"]["r"] == pytest.approx(len(right) / len(true))


def test_evaluation_of_a_stream_without_the_first_sentence(on_text, treebank):
    scores = scores_with_sentences(on_text, treebank, [0, 1])
    assert scores["sents"] == {"p": 0.0, "r": 0.0, "f": 0.0}


def test_evaluation_of_a_stream_needs_its_words(on_text, treebank):
    on_text.add_pipe("test_merger", first=True)
    with pytest.raises(PunctError, match="P072"):
        evaluate_stream(on_text, on_text.get_pipe(NAME), treebank, lower=True)


@pytest.mark.slow
def test_evaluation_of_a_stream_takes_linear_time(lexical_path, sample):
    nlp = spacy.load(lexical_path)
    restorer = nlp.get_pipe(NAME)
    examples = read_treebank(sample / "train.conllu").examples[:25]
    seconds = []
    for times in (1, 6):
        treebank = Treebank(examples * times, 0, 0, 0, 0, 0)
        start = time.process_time()
        scores = evaluate_stream(nlp, restorer, treebank, lower=True)
        seconds.append((time.process_time() - start) / scores["n_words"])
    assert seconds[1] < 2 * seconds[0]
