"""Capitals where a sentence begins, and for English `I`: nothing else changes."""

import re
from collections.abc import Sequence
from typing import Literal

Casing = Literal["auto", "keep", "sentence"]
CASINGS: tuple[Casing, ...] = ("auto", "keep", "sentence")

_ADDRESS = re.compile(r"://|^www\.|\w@\w")
_APOSTROPHES = "'’‘`"
_PRONOUN_I = re.compile(r"^i(?=$|['’])")


def cased(
    sentences: Sequence[Sequence[str]], casing: Casing, language: str
) -> list[list[str]]:
    """The words of a text with its sentences capitalised, if that is wanted.

    sentences (Sequence[Sequence[str]]): The words of each sentence.
    casing (Casing): "keep" leaves all words alone, "sentence" capitalises the first
        word of each sentence and the English pronoun I, and "auto" does so if the
        whole text has no capital.
    language (str): A two-letter code.
    RETURNS (list[list[str]]): The same words, equal but for case.
    """
    words = [list(sentence) for sentence in sentences]
    if casing == "keep":
        return words
    if casing == "auto" and any(word != word.lower() for s in words for word in s):
        return words
    for sentence in words:
        if language == "en":
            sentence[:] = [_PRONOUN_I.sub("I", word) for word in sentence]
        if sentence:
            sentence[0] = capitalised(sentence[0], language)
    return words


def capitalised(word: str, language: str = "") -> str:
    """The word with its first letter in upper case, if that is one letter too."""
    stem = word.lstrip(_APOSTROPHES)
    if not stem or _ADDRESS.search(stem):
        return word
    upper = "İ" if stem[0] == "i" and language in ("tr", "az") else stem[0].title()
    if len(upper) != 1:
        return word
    return word[: len(word) - len(stem)] + upper + stem[1:]
