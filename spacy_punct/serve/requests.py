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
from spacy_punct.restorer.component import Existing
from spacy_punct.serve.limits import Limits
from spacy_punct.text.casing import Casing
from spacy_punct.text.languages import check_language
from spacy_punct.text.writer import Quotes

MAX_EDITS = 100
"""Edits per request."""
# A tokenizer's time grows with the square of this.
_MARKS_IN_A_ROW = 200
_TOO_MANY_MARKS = re.compile(rf"[^\w\s]{{{_MARKS_IN_A_ROW + 1}}}")
_SHOWN = 200
_LONGEST_WORD = 1000
_MOST_AHEAD = 200

B = TypeVar("B", bound="Posted")
Number = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Share = Annotated[float, Field(ge=0, le=1)]
Word = Annotated[str, Field(pattern=r"^\S+$", max_length=_LONGEST_WORD)]
Token = Annotated[
    int, Field(ge=0, lt=2**31, description="A word: its token in the text, from 0.")
]


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Posted(_Fields):
    """What a request may have as its body."""

    @property
    def full_text(self) -> str:
        """What the pipeline is to read."""
        raise NotImplementedError

    def check(self, limits: Limits) -> None:
        """Refuse a text that would take too long."""
        text = self.full_text
        _check_size(len(text), limits)
        if found := _TOO_MANY_MARKS.search(text):
            message = Errors.P159.format(limit=_MARKS_IN_A_ROW, start=found.start())
            raise HTTPException(422, message)

    def check_language(self, language: str) -> None:
        """Refuse a text that is plainly not in a language, unless it is forced."""


class Forcible(Posted):
    """What is only read if it may be in the pipeline's language, or is forced."""

    force: Annotated[
        bool,
        Field(
            description="Whether to go on with a text that is plainly not in the "
            "pipeline's language; otherwise it is refused (P169)."
        ),
    ] = False

    def check_language(self, language: str, name: str = "The text") -> None:
        if not self.force:
            check_language(self.full_text.split(), language, Errors.P169, name=name)


def _check_size(n_chars: int, limits: Limits) -> None:
    if n_chars > limits.max_chars:
        message = Errors.P158.format(n=n_chars, limit=limits.max_chars)
        raise HTTPException(413, message)


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


class Body(Posted):
    """A text.

    text (str): Plain text.
    """

    text: str

    @property
    def full_text(self) -> str:
        return self.text


class RestorerOptions(_Fields):
    """Settings of the restorer for one request; null for those of the pipeline.

    marks (list[str] | None): The marks that may be written.
    casing, existing, quotes, threshold: See the component.
    """

    marks: Annotated[list[str], Field(max_length=100)] | None = None
    casing: Casing | None = None
    existing: Existing | None = None
    quotes: Quotes | None = None
    threshold: Share | None = None

    def settings(self) -> dict[str, Any]:
        """The settings that are given."""
        given = self.model_dump(include=set(RestorerOptions.model_fields))
        return {name: value for name, value in given.items() if value is not None}


class RestoreBody(Body, RestorerOptions, Forcible):
    """A text, and how to restore it."""


class CorrectBody(Body, Forcible):
    """A text, and how to correct it.

    threshold (float | None): How probable a correction must be; null for the setting
        of the pipeline.
    """

    threshold: Share | None = None

    def settings(self) -> dict[str, Any]:
        """The settings that are given."""
        return {} if self.threshold is None else {"threshold": self.threshold}


class SpokenWord(BaseModel):
    """A word, and anything that belongs to it, such as times.

    word (str): The word, without white space in it.
    speaker: Who says it, if that is known. A change ends a sentence.
    """

    model_config = ConfigDict(extra="allow", strict=True)

    word: Word
    speaker: str | int | None = None


class WordsBody(Forcible, RestorerOptions):
    """Words, and how to restore them.

    words (list[SpokenWord]): The words in order.
    """

    words: list[SpokenWord]

    @property
    def full_text(self) -> str:
        return " ".join(item.word for item in self.words)


class LiveMessage(Forcible, RestorerOptions):
    """The next words of live text.

    words (list[str]): The words, without white space in them.
    end (bool): Whether the sentence ends with them.
    lookahead, step (int | None): How many words must follow a word before it is
        stable, and how many become stable together. These, `force` and the settings
        of the restorer go into the first message.
    """

    words: list[Word] = Field(default_factory=list)
    end: bool = False
    lookahead: Annotated[int, Field(ge=1, le=_MOST_AHEAD)] | None = None
    step: Annotated[int, Field(ge=1, le=_MOST_AHEAD)] | None = None

    @property
    def full_text(self) -> str:
        return " ".join(self.words)


class Batch(Posted):
    """Several requests of a kind, which may have as many characters as one."""

    items: list[Any]

    @property
    def full_text(self) -> str:
        return "\n".join(item.full_text for item in self.items)

    def check_language(self, language: str) -> None:
        for k, item in enumerate(self.items):
            item.check_language(language, f"items[{k}]")
        # Each may be too short to tell.
        texts = (item.full_text for item in self.items if not item.force)
        words = " ".join(texts).split()
        check_language(words, language, Errors.P169, name="The text of all items")


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
