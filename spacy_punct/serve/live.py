"""Live text over a WebSocket."""

from pydantic import BaseModel
from spacy.language import Language

from spacy_punct.errors import Errors, PunctError
from spacy_punct.restorer.live import LOOKAHEAD, LiveRestorer
from spacy_punct.serve.requests import LiveMessage
from spacy_punct.text.languages import check_language

_ENOUGH = 100
"""How many words are waited for before their language is checked, once."""


class LiveAnswer(BaseModel):
    """What became stable, and what did not; see `spacy_punct.restorer.live.Live`."""

    stable: list[str]
    tail: list[str]


class LiveText:
    """The text of one connection.

    nlp (Language): A pipeline with a restorer.
    first (LiveMessage): The first message, with the settings.
    """

    def __init__(self, nlp: Language, first: LiveMessage) -> None:
        self._first = first
        self._language = nlp.lang or ""
        self._unchecked: list[str] | None = None if first.force else []
        lookahead = first.lookahead or LOOKAHEAD
        self._restorer = LiveRestorer(nlp, lookahead=lookahead, step=first.step)

    def take(self, message: LiveMessage) -> LiveAnswer:
        """Take the words of a message."""
        has_settings = message.model_fields_set - {"words", "end"}
        if has_settings and message is not self._first:
            raise PunctError(Errors.P202)
        self._check(message.words)
        with self._restorer.component.having(**self._first.settings()):
            words = [*message.words, *([None] if message.end else [])]
            return LiveAnswer(**self._restorer.add(words)._asdict())

    def _check(self, words: list[str]) -> None:
        """Refuse text that is plainly not in the pipeline's language."""
        if self._unchecked is None:
            return
        self._unchecked += words
        if len(self._unchecked) >= _ENOUGH:
            found, self._unchecked = self._unchecked, None
            check_language(found, self._language, Errors.P169, name="The text")
