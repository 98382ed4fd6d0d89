"""Functions of a text, or of many, that warn of other languages."""

import warnings

import pytest

import spacy_punct
from spacy_punct.pipe import bundled
from spacy_punct.pipe.bundled import for_one_or_many

ENGLISH = "it was not that easy for us and you know that we have to be on time"
SPANISH = (
    "bueno pues yo creo que no es tan fácil como la gente dice pero en el fondo se "
    "trata de una idea muy buena para los niños"
)
SHORT = ["no es la casa", "pero como se dice", "y el niño", "que en un día"] * 4


@for_one_or_many
def louder(texts):
    for text in texts:
        yield text.upper()


def warned(texts) -> list[warnings.WarningMessage]:
    """The warnings at a call, which must give the answer all the same."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        if isinstance(texts, str):
            assert louder(texts) == texts.upper()
        else:
            assert list(louder(iter(texts))) == [text.upper() for text in texts]
    return found


@pytest.mark.parametrize("texts", [ENGLISH, "", "bueno pues", [], [ENGLISH, "pues"]])
def test_one_or_many_texts_that_may_be_english_pass(texts):
    assert warned(texts) == []


@pytest.mark.parametrize(
    ("texts", "start"),
    [
        (SPANISH, "bueno pues yo creo que"),
        ([ENGLISH, SPANISH, ENGLISH, SPANISH], "bueno pues yo creo que"),
        (SHORT, "no es la casa pero"),
        (SHORT[:7], "no es la casa pero"),
    ],
    ids=["one", "among others", "many short", "few short"],
)
def test_one_or_many_warn_once_of_another_language(texts, start):
    (found,) = warned(texts)
    message = str(found.message)
    assert message.startswith(f"[W004] The text '{start} ...' seems to be Spanish")
    assert "the bundled pipeline is for English" in message
    assert "spacy.load" in message
    assert found.filename == __file__


def test_one_or_many_each_call_warns():
    assert len(warned(SPANISH) + warned(SPANISH)) == 2


def test_one_or_many_read_no_further_than_they_are_asked():
    def texts():
        yield SPANISH
        raise AssertionError("nobody asked")

    with pytest.warns(UserWarning, match="W004"):
        assert next(louder(texts())) == SPANISH.upper()


@pytest.mark.skipif("en" not in bundled.names(), reason="no English pipeline")
@pytest.mark.parametrize("function", [spacy_punct.restore, spacy_punct.correct])
def test_restore_and_correct_warn_and_do_their_work(function):
    with pytest.warns(UserWarning, match=r"W004.*Spanish") as found:
        text = function(SPANISH)
    assert len([w for w in found if "W004" in str(w.message)]) == 1
    assert len(text.split()) == len(SPANISH.split())
    assert function is spacy_punct.correct or text != SPANISH
