"""The bodies that requests may have: checked, and described by OpenAPI, as models."""

import re
from collections.abc import Mapping
from functools import reduce
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException

from spacy_punct.errors import Errors
from spacy_punct.rephrasing import edits
from spacy_punct.rephrasing.edits import TreeEdit
from spacy_punct.serve.limits import Limits

MAX_EDITS = 100
"""Edits per request."""
# A tokenizer's time grows with the square of this.
_MARKS_IN_A_ROW = 200
_TOO_MANY_MARKS = re.compile(rf"[^\w\s]{{{_MARKS_IN_A_ROW + 1}}}")
_SHOWN = 200

B = TypeVar("B", bound="Body")
Number = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Token = Annotated[
    int, Field(ge=0, lt=2**31, description="A word: its token in the text, from 0.")
]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Delete(_Fields):
    """Delete a constituent."""

    edit: Literal["delete"]
    word: Token

    def on_trees(self) -> TreeEdit:
        return edits.delete(self.word)


class Extract(_Fields):
    """Make a sentence of a constituent."""

    edit: Literal["extract"]
    word: Token

    def on_trees(self) -> TreeEdit:
        return edits.extract(self.word)


class Keep(_Fields):
    """Keep only some words, and those above them."""

    edit: Literal["keep"]
    words: list[Token]

    def on_trees(self) -> TreeEdit:
        return edits.keep_only(*self.words)


class Permute(_Fields):
    """Give a word and its dependents another order."""

    edit: Literal["permute"]
    word: Token
    order: list[Token]

    def on_trees(self) -> TreeEdit:
        return edits.permute(self.word, self.order)


class Move(_Fields):
    """Move a constituent to another place around its head: to a position, where 0 is
    the first and -1 the last, or before or after one of the others."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": [name]} for name in ("position", "before", "after")]
        }
    )

    edit: Literal["move"]
    word: Token
    position: Number | None = None
    before: Token | None = None
    after: Token | None = None

    def on_trees(self) -> TreeEdit:
        return edits.move(
            self.word, self.position, before=self.before, after=self.after
        )


AnyEdit = Annotated[
    Delete | Extract | Keep | Move | Permute, Field(discriminator="edit")
]


class Body(_Fields):
    """A text.

    text (str): Plain text.
    """

    text: str

    def check(self, limits: Limits) -> None:
        """Refuse a text that would take too long."""
        if len(self.text) > limits.max_chars:
            message = Errors.P158.format(n=len(self.text), limit=limits.max_chars)
            raise HTTPException(413, message)
        if found := _TOO_MANY_MARKS.search(self.text):
            message = Errors.P159.format(limit=_MARKS_IN_A_ROW, start=found.start())
            raise HTTPException(422, message)


class EditedBody(Body):
    """A text with its punctuation, and what is to be done to its sentences, in order.

    edits (list[AnyEdit]): The edits.
    """

    edits: list[AnyEdit] = Field(default_factory=list, max_length=MAX_EDITS)

    def on_trees(self) -> TreeEdit:
        """All edits, one after the other."""
        return reduce(TreeEdit.then, (e.on_trees() for e in self.edits), TreeEdit(()))


def read_body(model: type[B], content: bytes) -> B:
    """What a request asks for.

    model (type[B]): The body it should have.
    content (bytes): The body it has.
    RETURNS (B): The body. If it is not as it should be, an HTTPException says why.
    """
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
    reason = shortened("; ".join(map(_described, problems)))
    if problems[0]["type"] == "json_invalid":
        raise HTTPException(400, Errors.P156.format(reason=reason))
    raise HTTPException(422, Errors.P157.format(reason=reason))


def _described(problem: Mapping[str, Any]) -> str:
    """What is wrong, and with which field: `edits[0].delete.word: Field required`."""
    steps = problem["loc"]
    path = "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in steps)
    return ": ".join(filter(None, (path.removeprefix("."), problem["msg"])))


def shortened(text: str) -> str:
    """The beginning of what a client sent, fit to be sent back."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
