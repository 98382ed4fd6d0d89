import json
import re

import pytest

from spacy_punct.errors import PunctError
from spacy_punct.serve.faults import RequestError, error_data
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.requests import json_fields, text_of

SHORT = Limits(max_chars=10)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"7",
        b'{"text": NaN}',
        b'{"text": -Infinity}',
        b"\xff\xfe",
        b'{"text": "\xed\xa0\x80"}',
        b'{"text": "a\nb"}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"text": ' + b"1" * 20_000 + b"}",
    ],
)
def test_what_is_no_json_object_is_refused(body):
    with pytest.raises(RequestError, match="P156") as caught:
        json_fields(body)
    assert caught.value.status == 400
    assert len(str(caught.value)) < 500


def test_json_objects_are_read():
    assert json_fields('\ufeff{"text": "é"}'.encode()) == {"text": "é"}


@pytest.mark.parametrize("text", ["", "0123456789", "😀" * 10, "\0", "אב"])
def test_texts_are_taken_up_to_their_length(text):
    assert text_of({"text": text}, SHORT) == text


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({}, 422, "P157"),
        ({"text": None}, 422, "P157"),
        ({"text": 3}, 422, "P157"),
        ({"text": ["a"]}, 422, "P157"),
        ({"text": json.loads(r'"\ud800"')}, 422, "P157"),
        ({"text": "0123456789a"}, 413, "P158"),
    ],
)
def test_other_texts_are_refused(fields, status, code):
    with pytest.raises(RequestError, match=code) as caught:
        text_of(fields, SHORT)
    assert caught.value.status == status


def test_marks_without_end_are_refused():
    many = Limits()
    assert text_of({"text": "a" + "!" * 200}, many)
    with pytest.raises(RequestError, match="P159"):
        text_of({"text": "a" + "(" * 201}, many)


def test_messages_have_their_code_apart():
    found = error_data("[P152] Nothing is\nhere.")
    assert found == {"error": {"code": "P152", "message": "Nothing is\nhere."}}


def test_limits_are_checked():
    with pytest.raises(PunctError, match=re.escape("max_chars")):
        Limits(max_chars=0)
