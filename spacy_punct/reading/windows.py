"""Texts that are too long, or too many, to go through a pipeline at once."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

from spacy.language import Language
from spacy.tokens import Doc

T = TypeVar("T")

LONG = 20_000
"""Texts with more characters than this go through the pipeline in parts."""

_ZONE = 10_000
"""The number of texts after which the pipeline forgets the words it has met."""

# Few abbreviations have three letters or more.
_SENTENCE_END = re.compile(r"\w{3}[.!?…।۔؟]+[\"'”’»)\]]*\s+|[。！？]+[”’」』）]*\s*")
_WHITE = re.compile(r"\s+")


def is_long(text: str) -> bool:
    """Whether a text is too long to go through a pipeline at once."""
    return len(text) > LONG


def windows(text: str) -> Iterator[tuple[str, bool, bool]]:
    """Cut a text into parts that a pipeline can take, losing no character.

    text (str): The text, of any length.
    YIELDS (tuple[str, bool, bool]): A part, whether a sentence seems to end with it,
        and whether it is the last. A part without the end of a sentence ends with
        white space or, if there is none, anywhere.
    """
    start = 0
    while len(text) - start > LONG:
        window = text[start : start + LONG]
        ends = [m.end() for m in _SENTENCE_END.finditer(window, LONG // 2)]
        cuts = ends or [m.end() for m in _WHITE.finditer(window)] or [LONG]
        yield window[: cuts[-1]], bool(ends), False
        start += cuts[-1]
    yield text[start:], True, True


def annotated(
    nlp: Language, texts: Iterable[tuple[str, T]], n_process: int, batch_size: int
) -> Iterator[tuple[Doc, T]]:
    """Put any number of texts through a pipeline.

    Memory does not grow with the vocabulary, because new words are forgotten again:
    take what you want from a Doc before you ask for the next one.

    nlp (Language): The pipeline.
    texts (Iterable): Texts, each with anything that belongs to it.
    n_process, batch_size (int): See `Language.pipe`.
    YIELDS (tuple): A Doc, with what belongs to its text.
    """
    texts = iter(texts)
    for first in texts:
        some = chain([first], islice(texts, _ZONE - 1))
        with nlp.memory_zone():
            yield from nlp.pipe(
                some, as_tuples=True, n_process=n_process, batch_size=batch_size
            )
