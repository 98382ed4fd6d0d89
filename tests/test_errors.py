"""Messages have codes, are used, and say what is allowed."""

import re

import pytest

from spacy_punct.errors import Errors, PunctError, Warnings, check_range
from tests.conftest import REPOSITORY

CODES = {
    f"{messages.__name__}.{code}": getattr(messages, code)
    for messages in (Errors, Warnings)
    for code in vars(messages)
    if re.fullmatch(r"[PW]\d{3}", code)
}


def test_messages_are_sentences_with_their_code():
    assert len(CODES) > 50
    for name, message in CODES.items():
        code = name.partition(".")[2]
        assert re.fullmatch(rf"\[{code}\] [A-Z{{'-].*\.", message), message


def test_every_message_is_used():
    modules = (REPOSITORY / "spacy_punct").rglob("*.py")
    code = "\n".join(path.read_text("utf-8") for path in modules)
    used = set(re.findall(r"\b(?:Errors|Warnings)\.[PW]\d{3}\b", code))
    assert used == set(CODES)


@pytest.mark.parametrize(
    "value, low, high, inclusive, message",
    [
        (-1, 0, float("inf"), False, "share must be at least 0, not -1."),
        (1, 0, 1, False, "share must be at least 0 and less than 1, not 1."),
        (1.5, 0, 1, True, "share must be between 0 and 1, not 1.5."),
        (float("nan"), 0, 1, True, "share must be between 0 and 1, not nan."),
    ],
)
def test_ranges_are_named(value, low, high, inclusive, message):
    with pytest.raises(PunctError) as error:
        check_range("share", value, low, high, inclusive=inclusive)
    assert str(error.value) == f"[P024] {message}"


def test_bounds_are_in_their_range():
    check_range("share", 0, 0, 1)
    check_range("share", 1, 0, 1, inclusive=True)
    check_range("share", 1e9, 0)
