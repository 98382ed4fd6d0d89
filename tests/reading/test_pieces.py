"""How sentences with their marks are written as a text."""

import pytest
import spacy
from spacy.tokens import Doc

from spacy_punct.reading.pieces import write_text
from spacy_punct.reading.sentences import bare_sentences
from spacy_punct.text.writer import Spacing, Writer


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ((",",), (), "Well, how did it go?"),
        ((".",), (), "Well. How did it go?"),
        (("?", "''"), (), 'Well?" How did it go?'),
        ((), (), "Well How did it go?"),
        ((",",), ("``",), 'Well, "How did it go?'),
    ],
)
def test_a_sentence_after_a_comma_begins_without_a_capital(first, second, text):
    words = ["well", "how", "did", "it", "go"]
    heads = [0, 4, 4, 4, 4]
    deps = ["ROOT", "advmod", "aux", "nsubj", "ROOT"]
    doc = Doc(spacy.blank("en").vocab, words, heads=heads, deps=deps)
    one, two = bare_sentences(doc, "a test")
    sentences = [
        (one, ((), first), {}),
        (two, (second, (), (), (), ("?",)), {}),
    ]
    pieces = write_text(doc, sentences, Writer(Spacing("en")), "sentence")
    assert "".join(text + space for text, space, *_ in pieces).strip() == text
