"""The JSON API: paths and fields -> what is to be computed."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

from spacy.language import Language

from spacy_punct.about import __version__
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.errors import Errors, PunctError
from spacy_punct.pipe.base import PunctuationPipe, find_pipe
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.serve.correcting import corrected_data
from spacy_punct.serve.faults import RequestError
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.pieces import Data
from spacy_punct.serve.rearranging import read_edits, underlying_data
from spacy_punct.serve.requests import Fields, check_names, list_of, text_of
from spacy_punct.serve.restoring import restored_data
from spacy_punct.text.glyphs import glyph_table

Job = Callable[[], Data]
C = TypeVar("C", bound=PunctuationPipe)


class Api:
    """What can be asked of a pipeline.

    nlp (Language): A pipeline with a restorer, a corrector or both.
    limits (Limits): How much at a time.
    """

    def __init__(self, nlp: Language, limits: Limits | None = None) -> None:
        self.nlp = nlp
        self.limits = limits or Limits()
        self._restorer = find_pipe(nlp, PunctuationRestorer)
        self._corrector = find_pipe(nlp, PunctuationCorrector)
        if self._restorer is None and self._corrector is None:
            names = ", ".join(nlp.pipe_names) or "nothing"
            raise PunctError(Errors.P166.format(model=_name(nlp), names=names))
        self._planners: dict[str, Callable[[Fields], Job]] = {
            "/restore": self._restore,
            "/correct": self._correct,
            "/underlying": self._underlying,
        }

    @property
    def paths(self) -> tuple[str, ...]:
        """What can be posted to."""
        return tuple(self._planners)

    def about(self) -> Data:
        """What there is, for a page that is to fit."""
        direction = self.nlp.vocab.writing_system.get("direction", "ltr")
        return {
            "version": __version__,
            "pipeline": _name(self.nlp),
            "language": self.nlp.lang,
            "direction": direction,
            "restores": self._restorer is not None,
            "corrects": self._corrector is not None,
            "glyphs": glyph_table(self.nlp.lang, "straight"),
            "max_chars": self.limits.max_chars,
            "max_edits": self.limits.max_edits,
        }

    def plan(self, path: str, fields: Fields) -> Job:
        """Check a request, which takes no time, and say what is to be computed.

        path (str): One of `paths`.
        fields (Fields): Of the request.
        RETURNS (Job): Computes the answer. Not more than one at a time: pipelines are
            not made for several threads.
        """
        job = self._planners[path](fields)

        def compute() -> Data:
            # New words are forgotten again, so that memory does not grow with them.
            with self.nlp.memory_zone():
                try:
                    return job()
                except RequestError:
                    raise
                except PunctError as error:
                    status = HTTPStatus.UNPROCESSABLE_ENTITY
                    raise RequestError(status, str(error)) from None

        return compute

    def _restore(self, fields: Fields) -> Job:
        restorer = self._needed(self._restorer, "punctuation_restorer")
        check_names(fields, ("text",))
        text = text_of(fields, self.limits)
        return lambda: restored_data(self.nlp, restorer, text)

    def _correct(self, fields: Fields) -> Job:
        corrector = self._needed(self._corrector, "punctuation_corrector")
        check_names(fields, ("text",))
        text = text_of(fields, self.limits)
        return lambda: corrected_data(self.nlp, corrector, text)

    def _underlying(self, fields: Fields) -> Job:
        restorer = self._needed(self._restorer, "punctuation_restorer")
        check_names(fields, ("text", "edits"))
        text = text_of(fields, self.limits)
        edit = read_edits(list_of(fields, "edits", self.limits.max_edits))
        return lambda: underlying_data(self.nlp, restorer, text, edit)

    def _needed(self, component: C | None, kind: str) -> C:
        if component is None:
            names = ", ".join(self.nlp.pipe_names)
            message = Errors.P151.format(kind=kind, names=names)
            raise RequestError(HTTPStatus.NOT_FOUND, message)
        return component


def _name(nlp: Language) -> str:
    return f"{nlp.lang}_{nlp.meta['name']}"
