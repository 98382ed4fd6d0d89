"""Docs of any pipeline, read by the components of another."""

from collections.abc import Callable, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.reading.sentences import MARKS, WORDS_ONLY

_PARSE = frozenset({"token.is_sent_start", "token.dep", "token.head"})


class BorrowedReading:
    """What a pipeline finds in Docs that are not its own.

    The Docs stay as they are; it reads copies.

    load (Callable): Gives the pipeline when it is needed for the first time.
    fingerprint (int): Tells pipelines apart, so that nobody who has learned from one
        is given another.
    """

    def __init__(self, load: Callable[[], Language], fingerprint: int) -> None:
        self._load = load
        self.fingerprint = fingerprint

    def __call__(self, docs: Sequence[Doc], keep: Sequence[bool]) -> list[Doc]:
        """Read Docs.

        docs (Sequence[Doc]): The Docs.
        keep (Sequence[bool]): Whether each keeps its parse.
        RETURNS (list[Doc]): The same tokens, annotated.
        """
        nlp = self._load()
        copies = [
            _copied(doc, nlp, with_parse=kept)
            for doc, kept in zip(docs, keep, strict=True)
        ]
        unparsed = [doc for doc, kept in zip(copies, keep, strict=True) if not kept]
        for name, component in nlp.pipeline:
            parses = not _PARSE.isdisjoint(nlp.get_pipe_meta(name).assigns)
            pipe: Any = component
            # Components annotate the Docs they are given.
            for _ in pipe.pipe(unparsed if parses else copies):
                pass
        return copies


def _copied(doc: Doc, nlp: Language, *, with_parse: bool) -> Doc:
    """A Doc of the same tokens."""
    parse: dict[str, Any] = {}
    if with_parse and doc.has_annotation("DEP"):
        parse = {
            "heads": [token.head.i for token in doc],
            "deps": [token.dep_ for token in doc],
            "pos": [token.pos_ for token in doc],
        }
    elif with_parse and doc.has_annotation("SENT_START"):
        parse = {"sent_starts": [token.is_sent_start for token in doc]}
    known = (key for key in (WORDS_ONLY, MARKS) if key in doc.user_data)
    return Doc(
        nlp.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        user_data={key: doc.user_data[key] for key in known},
        **parse,
    )
