import pytest
from starlette.exceptions import HTTPException

from spacy_punct.errors import PunctError
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.requests import Body, EditedBody, read_body


def refusal(model, content: bytes, limits: Limits | None = None) -> HTTPException:
    with pytest.raises(HTTPException) as caught:
        read_body(model, content).check(limits or Limits())
    assert len(caught.value.detail) < 700
    return caught.value


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"text": "\xed\xa0\x80"}',
        b'{"text": "\\ud800"}',
        b'{"text": "a\nb"}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
    ],
)
def test_what_is_not_json_is_refused(content):
    error = refusal(Body, content)
    assert error.status_code == 400
    assert "P156" in error.detail


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b"[]", "Input should be"),
        (b'"text"', "Input should be"),
        (b"null", "Input should be"),
        (b"{}", "text"),
        (b'{"text": null}', "text"),
        (b'{"text": 3}', "text"),
        (b'{"text": NaN}', "text"),
        (b'{"text": ["a"]}', "text"),
        (b'{"text": ' + b"1" * 4000 + b"}", "text"),
        (b'{"text": "a", "txt": "b"}', "txt"),
        (b'{"texts": []}', "text: Field required; texts: Extra inputs"),
        (b'{"text": "a", "' + b"x" * 5000 + b'": "b"}', "xxx"),
    ],
)
def test_messages_name_the_field_that_is_wrong(content, field):
    error = refusal(Body, content)
    assert error.status_code == 422
    assert f"[P157] The request is not valid: {field}" in error.detail


@pytest.mark.parametrize("text", ["", "0123456789", "😀" * 10, "\0", "אב"])
def test_texts_are_taken_up_to_their_length(text):
    limits = Limits(max_chars=10)
    body = read_body(Body, Body(text=text).model_dump_json().encode())
    body.check(limits)
    assert body.text == text
    error = refusal(Body, b'{"text": "0123456789a"}', limits)
    assert error.status_code == 413
    assert "P158" in error.detail


def test_too_many_marks_in_a_row_are_refused():
    Body(text="a" + "!" * 200).check(Limits())
    error = refusal(Body, b'{"text": "a' + b"(" * 201 + b'"}')
    assert error.status_code == 422
    assert "P159" in error.detail


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ("{}", "edits"),
        ("[3]", "edits[0]"),
        ("[{}]", "edits[0]"),
        ('[{"edit": "eat", "word": 0}]', "edits[0]"),
        ('[{"edit": ["delete"], "word": 0}]', "edits[0]"),
        ('[{"edit": "delete"}]', "edits[0].delete.word"),
        ('[{"edit": "delete", "word": "rain"}]', "edits[0].delete.word"),
        ('[{"edit": "delete", "word": true}]', "edits[0].delete.word"),
        ('[{"edit": "delete", "word": 0.5}]', "edits[0].delete.word"),
        ('[{"edit": "delete", "word": -1}]', "edits[0].delete.word"),
        (f'[{{"edit": "delete", "word": {10**30}}}]', "edits[0].delete.word"),
        ('[{"edit": "delete", "word": 0, "why": 1}]', "edits[0].delete.why"),
        ('[{"edit": "keep", "words": 0}]', "edits[0].keep.words"),
        ('[{"edit": "permute", "word": 0, "order": [null]}]', "edits[0].permute.order"),
        ("[" + ", ".join(['{"edit": "delete", "word": 0}'] * 101) + "]", "edits"),
    ],
)
def test_bad_edits_are_refused(given, field):
    content = f'{{"text": "a", "edits": {given}}}'.encode()
    error = refusal(EditedBody, content)
    assert error.status_code == 422
    assert f"not valid: {field}" in error.detail


def test_limits_are_checked():
    with pytest.raises(PunctError, match="max_chars"):
        Limits(max_chars=0)
