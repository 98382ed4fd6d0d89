"""Texts that are too long to go through a pipeline at once."""

import re
from collections.abc import Iterator

LONG = 20_000
"""Texts with more characters than this go through the pipeline in parts."""

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
