"""Bodies of requests -> texts and edits that can be trusted."""

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NoReturn

from spacy_punct.errors import Errors
from spacy_punct.serve.faults import RequestError
from spacy_punct.serve.limits import Limits

Fields = dict[str, Any]

_SHOWN = 40
# The time that tokenizers take grows with the square of these.
_MARKS_IN_A_ROW = 200
_MARKS_WITHOUT_END = re.compile(rf"[^\w\s]{{{_MARKS_IN_A_ROW + 1}}}")


def json_fields(body: bytes) -> Fields:
    """A body as the fields of a JSON object.

    body (bytes): UTF-8.
    RETURNS (Fields): The fields, whatever they hold.
    """
    try:
        found = json.loads(body.decode("utf-8-sig"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if type(error) is RecursionError else error
        message = Errors.P156.format(reason=reason)
        raise RequestError(HTTPStatus.BAD_REQUEST, message) from None
    if not isinstance(found, dict):
        message = Errors.P156.format(reason=f"it is {kind_of(found)}")
        raise RequestError(HTTPStatus.BAD_REQUEST, message)
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def check_names(
    fields: Mapping[str, Any], known: Sequence[str], where: str = "the request"
) -> None:
    """Refuse fields that mean nothing.

    fields (Mapping[str, Any]): The fields.
    known (Sequence[str]): Those there may be.
    where (str): Of what.
    """
    for name in fields:
        if name not in known:
            refuse(where, f"with a field '{printable(name)}'", " and ".join(known))


def text_of(fields: Mapping[str, Any], limits: Limits) -> str:
    """The field text: of a length and of characters that a pipeline can take."""
    text = fields.get("text")
    if not isinstance(text, str):
        refuse("text", _found(fields, "text"), "a string")
    if len(text) > limits.max_chars:
        message = Errors.P158.format(n=len(text), limit=limits.max_chars)
        raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        refuse("text", f"a string with half a character at {error.start}", "text")
    if found := _MARKS_WITHOUT_END.search(text):
        message = Errors.P159.format(limit=_MARKS_IN_A_ROW, start=found.start())
        raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, message)
    return text


def list_of(fields: Mapping[str, Any], name: str, limit: int) -> list[Any]:
    """A field with a list, which may be missing."""
    values = fields.get(name, [])
    if not isinstance(values, list):
        refuse(name, kind_of(values), "a list")
    if len(values) > limit:
        refuse(name, f"a list of {len(values)}", f"at most {limit} of them")
    return values


def number_of(fields: Mapping[str, Any], name: str, where: str) -> int:
    """A field with a whole number."""
    value = fields.get(name)
    # What is larger is no position, and may be too large to be written.
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 1 << 31:
        refuse(f"{where}.{name}", _found(fields, name), "a whole number")
    return value


def numbers_of(fields: Mapping[str, Any], name: str, where: str) -> list[int]:
    """A field with a list of whole numbers."""
    values = fields.get(name)
    if not isinstance(values, list):
        refuse(f"{where}.{name}", _found(fields, name), "a list of whole numbers")
    items = {str(k): value for k, value in enumerate(values)}
    return [number_of(items, key, f"{where}.{name}") for key in items]


def refuse(field: str, found: object, wanted: str) -> NoReturn:
    """Say what is wrong with a field."""
    message = Errors.P157.format(field=field, found=found, wanted=wanted)
    raise RequestError(HTTPStatus.UNPROCESSABLE_ENTITY, message)


def kind_of(value: object) -> str:
    """What JSON calls a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    kinds = {str: "a string", dict: "an object", list: "a list"}
    return kinds.get(type(value), "a number")


def _found(fields: Mapping[str, Any], name: str) -> str:
    return kind_of(fields[name]) if name in fields else "missing"


def printable(text: str) -> str:
    """The beginning of what a client sent, fit to be sent back."""
    short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return short.encode("utf-8", "replace").decode("utf-8")
