import pytest
import spacy
from spacy.tokens import Doc

from spacy_punct.reading.sentences import MARKS, bare_sentences


def flat(text: str) -> Doc:
    """A text as the tokenizer cuts it, everything hanging on the first token."""
    cut = spacy.blank("en")(text)
    return Doc(
        cut.vocab,
        words=[token.text for token in cut],
        spaces=[bool(token.whitespace_) for token in cut],
        heads=[0] * len(cut),
        deps=["ROOT", *["dep"] * (len(cut) - 1)],
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Ann said "yes".', [(), (), ("``",), ("''", ".")]),
        ('Ann said "yes," twice', [(), (), ("``",), (",", "''"), ()]),
        ('Ann said "yes", twice', [(), (), ("``",), ("''", ","), ()]),
        ('Ann ("yes") left', [(), ("(", "``"), ("''", ")"), ()]),
    ],
)
def test_quotes_open_and_close(text, expected):
    (sentence,) = bare_sentences(flat(text), "a test")
    assert list(sentence.marks) == expected


def test_observed_marks_have_the_dots_of_abbreviations():
    (sentence,) = bare_sentences(flat("Mr. Hill, Inc. won"), "a test")
    assert sentence.tree.words == ("Mr", "Hill", "Inc", "won")
    assert sentence.marks == ((), (), (",",), (), ())
    assert sentence.tree.observed == ((), ("<abbr>",), (",",), ("<abbr>",), ())


def test_two_full_stops_are_two_marks():
    (sentence,) = bare_sentences(flat("He left.."), "a test")
    assert sentence.marks[-1] == (".", ".")
    assert sentence.white[-1] == ("", "", "")
    assert sentence.glyphs == {(2, 0): ".", (2, 1): "."}


def test_marks_that_a_doc_names_are_marks_and_nothing_else_is():
    doc = flat("a - b * c")
    doc.user_data[MARKS] = ["", "", "", "*", ""]
    (sentence,) = bare_sentences(doc, "a test")
    assert sentence.tree.words == ("a", "-", "b", "c")
    assert sentence.marks == ((), (), (), ("*",), ())


@pytest.mark.parametrize("closing", [".", "?", ")"])
def test_sentences_do_not_begin_with_what_closes_the_word_before(closing):
    doc = Doc(
        spacy.blank("en").vocab,
        ["see", "dr", closing, "hill", '"', "yes"],
        spaces=[True, False, True, False, False, False],
        heads=[0, 0, 3, 3, 5, 5],
        deps=["ROOT", "obj", "punct", "ROOT", "punct", "ROOT"],
        pos=["VERB", "NOUN", "PUNCT", "PROPN", "PUNCT", "INTJ"],
    )
    assert [sent.start for sent in doc.sents] == [0, 2, 4]
    first, second, third = bare_sentences(doc, "")
    assert first.marks == ((), (), (closing,))
    assert (first.after, second.before) == (" ", "")
    assert second.marks == ((), ())
    assert third.marks[0]  # what opens does not belong to the word before
    assert second.tree.heads == (-1,)
