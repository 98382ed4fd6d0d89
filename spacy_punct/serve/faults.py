"""Requests that cannot be answered, and how that is said."""

import re
from http import HTTPStatus
from typing import Any

from spacy_punct.errors import PunctError

_CODED = re.compile(r"\[(?P<code>[PW]\d+)\] (?P<message>.*)", flags=re.DOTALL)


class RequestError(PunctError):
    """A request that is not answered.

    status (HTTPStatus): Whose fault it is, and of what kind.
    message (str): A coded message: see `spacy_punct.errors`.
    headers (dict[str, str] | None): What else to say.
    """

    def __init__(
        self, status: HTTPStatus, message: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


def error_data(message: str) -> dict[str, Any]:
    """A coded message as every error of the API looks."""
    found = _CODED.fullmatch(message)
    parts = found.groupdict() if found else {"code": None, "message": message}
    return {"error": parts}
