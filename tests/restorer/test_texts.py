import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

import spacy_punct
from spacy_punct.errors import PunctError
from spacy_punct.pipe import bundled
from spacy_punct.reading.attributes import PIECES
from spacy_punct.restorer import texts
from spacy_punct.restorer.texts import (
    _by_owner,
    restore_long,
    restore_texts,
    restore_units,
    restore_words,
)
from tests.conftest import letters

TEXT = [
    "Peter",
    "the",
    "baker",
    "sold",
    "his",
    "bicycle",
    "and",
    "Anna",
    "bought",
    "apples",
    "pears",
    "and",
    "bread",
]


@pytest.mark.parametrize("window", [5, 30, 1000])
def test_words_gives_each_word_back(on_text, window):
    words = TEXT * 8
    restored = list(restore_words(iter(words), on_text, window=window))
    assert [letters(word) for word in restored] == [letters(word) for word in words]
    assert any(not word.isalnum() for word in restored)


def test_words_long_sentences_do_not_cost_dear(on_text, monkeypatch):
    """A parser that never ends a sentence must not be asked again at every word."""
    seen = []
    restored = texts._restored

    def late(nlp, words):
        seen.append(len(words))
        return restored(nlp, words)[0], 1

    monkeypatch.setattr(texts, "_restored", late)
    words = TEXT * 10
    assert len(list(restore_words(words, on_text, window=20))) == len(words)
    assert sum(seen) <= 2 * len(words)


def test_words_units_keep_their_words(on_text):
    units = [("a", TEXT[:3]), ("b", []), ("c", TEXT[3:9]), ("d", TEXT[9:]), ("e", [])]
    restored = list(restore_units(on_text, iter(units), window=6))
    assert [name for name, _ in restored] == list("abcde")
    for (_, own), (_, words) in zip(units, restored, strict=True):
        assert [letters(word.text) for word in words] == list(map(letters, own))


def test_texts_keep_their_words_and_tell_progress(on_text, monkeypatch):
    monkeypatch.setattr("spacy_punct.reading.windows.LONG", 200)
    texts = [TEXT, TEXT[:1], TEXT * 10, TEXT[:5]]
    done: list[int] = []
    restored = restore_texts(on_text, iter(texts), progress=done.append)
    for own in texts:
        words = [letters(word.text) for word in next(restored)]
        assert words == list(map(letters, own))
    assert sum(done) == sum(map(len, texts))


def test_words_reads_no_further_than_its_window(on_text):
    read = 0

    def words():
        nonlocal read
        for word in TEXT * 20:
            read += 1
            yield word

    restored = restore_words(words(), on_text, window=20)
    for written, _ in enumerate(restored, start=1):
        assert read - written <= 20


def pieces(*parts: tuple[str, str, int | None]) -> Doc:
    doc = Doc(spacy.blank("en").vocab)
    doc.user_data[PIECES] = [[text, space, 0, index] for text, space, index in parts]
    return doc


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([("a", "", 0), (",", " ", None), ("b", "", 1), (".", "", None)], ["a,", "b."]),
        ([('"', "", None), ("a", " ", 0), ("(", "", None), ("b", "", 1)], ['"a', "(b"]),
        ([("a", " ", 0), ("–", " ", None), ("b", "", 1)], ["a –", "b"]),
        ([("a", "", 0), ("-", "", None), ("b", "", 1)], ["a-b", ""]),
        ([("a", "", 0), ("，", "", None), ("b", "", 1)], ["a，", "b"]),
        (
            [("a", "", 0), ("（", "", None), ("b", "", 1), ("）", "", None)],
            ["a", "（b）"],
        ),
        ([("a", "", 0), ("b", "", 1)], ["a", "b"]),
    ],
)
def test_words_marks_go_with_a_word(parts, expected):
    assert _by_owner(pieces(*parts), [0, 1], 2) == expected


def test_words_says_when_the_tokenizer_changes_the_text(on_text):
    tokenizer = on_text.tokenizer
    on_text.tokenizer = lambda text: tokenizer(text.replace("Anna", "An na"))
    with pytest.raises(PunctError, match="P056"):
        list(restore_words(TEXT, on_text))


needs_english = pytest.mark.skipif(
    "en" not in bundled.names(),
    reason="the English pipeline is not in spacy_punct/pipelines/en",
)
SPOKEN = ["does", "anybody", "know", "so", "anna", "i", "it's", "twenty", "one", "3.5"]


@needs_english
def test_restore_a_text_or_many():
    texts = ["does anybody use it", "", "if it rains we stay at home", "..."]
    restored = list(spacy_punct.restore(texts))
    assert restored == list(map(spacy_punct.restore, texts))
    assert restored[:3] == [
        "Does anybody use it?",
        "",
        "If it rains, we stay at home.",
    ]


@needs_english
def test_restore_is_lazy():
    def texts():
        yield "does anybody use it"
        yield from iter(lambda: "we stay", None)

    assert next(spacy_punct.restore(texts())) == "Does anybody use it?"


@needs_english
@settings(deadline=None, max_examples=8)
@given(st.lists(st.sampled_from(SPOKEN), min_size=1, max_size=12))
def test_restore_changes_no_words(words):
    expected = [letters(word) for word in words]
    together = letters(spacy_punct.restore(" ".join(words)))
    assert together == "".join(expected)
    restored = [letters(word) for word in spacy_punct.restore_words(words)]
    # A word that a hyphen ties to the one before is written with that.
    assert len(restored) == len(words)
    assert "".join(restored) == "".join(expected)


@pytest.mark.parametrize("text", ["", "  \n", " Peter  sold\nhis bicycle\t"])
def test_restore_long_texts_keep_white_space(on_text, text):
    white = [char for char in text if char.isspace()]
    restored = restore_long(on_text, text)
    assert [char for char in restored if char.isspace()] == white
    assert letters(restored) == letters(text)


@needs_english
def test_restore_texts_of_any_length(monkeypatch):
    monkeypatch.setattr("spacy_punct.reading.windows.LONG", 40)
    text = "does anybody use it\n\n" * 10
    restored = spacy_punct.restore(text)
    assert restored.count("\n\n") == 10
    assert letters(restored) == letters(text)
