import pytest
import spacy
from spacy.tokens import Doc

from spacy_punct.errors import PunctError
from spacy_punct.reading.attributes import PIECES
from spacy_punct.restorer import stream
from spacy_punct.restorer.texts import _by_owner, restore_units, restore_words

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


def letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())


@pytest.mark.parametrize("window", [5, 30, 1000])
def test_stream_gives_each_word_back(on_text, window):
    words = TEXT * 8
    restored = list(restore_words(on_text, iter(words), window=window))
    assert [letters(word) for word in restored] == [letters(word) for word in words]
    assert any(not word.isalnum() for word in restored)


def test_stream_long_sentences_do_not_cost_dear(on_text, monkeypatch):
    """A parser that never ends a sentence must not be asked again at every word."""
    seen = []
    restored = stream._restored

    def late(nlp, words):
        seen.append(len(words))
        return restored(nlp, words)[0], 1

    monkeypatch.setattr(stream, "_restored", late)
    words = TEXT * 10
    assert len(list(restore_words(on_text, words, window=20))) == len(words)
    assert sum(seen) <= 2 * len(words)


def test_stream_units_keep_their_words(on_text):
    units = [("a", TEXT[:3]), ("b", []), ("c", TEXT[3:9]), ("d", TEXT[9:]), ("e", [])]
    restored = list(restore_units(on_text, iter(units), window=6))
    assert [name for name, _ in restored] == list("abcde")
    for (_, own), (_, words) in zip(units, restored, strict=True):
        assert [letters(word) for word in words] == list(map(letters, own))


def test_stream_reads_no_further_than_its_window(on_text):
    read = 0

    def words():
        nonlocal read
        for word in TEXT * 20:
            read += 1
            yield word

    restored = restore_words(on_text, words(), window=20)
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
def test_stream_marks_go_with_a_word(parts, expected):
    assert _by_owner(pieces(*parts), [0, 1], 2) == expected


def test_stream_says_when_the_tokenizer_changes_the_text(on_text):
    tokenizer = on_text.tokenizer
    on_text.tokenizer = lambda text: tokenizer(text.replace("Anna", "An na"))
    with pytest.raises(PunctError, match="P056"):
        list(restore_words(on_text, TEXT))
