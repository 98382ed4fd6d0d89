"""Texts of any length, word by word."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.pipeline.attributes import PIECES

T = TypeVar("T")


def restore_words(
    nlp: Language, words: Iterable[str], *, window: int = 1000
) -> Iterator[str]:
    """Restore an endless text: each word comes back with the marks it bears.

    The text goes through the pipeline in windows. The last sentence of a window may
    go on, so it is given to the next one.

    nlp (Language): A pipeline with a `punctuation_restorer`.
    words (Iterable[str]): The words, without white space in them.
    window (int): How many words to look at together.
    YIELDS (str): One for each word, in order: `("Well,` for `well`. Empty for a word
        that is now written together with the one before (`twenty-one`).
    """
    pending: list[str] = []
    for word in words:
        pending.append(word)
        if len(pending) >= window:
            written, complete = _restored(nlp, pending)
            done = complete or len(pending)
            yield from written[:done]
            pending = pending[done:]
    if pending:
        yield from _restored(nlp, pending)[0]


def restore_units(
    nlp: Language, units: Iterable[tuple[T, Sequence[str]]], *, window: int = 1000
) -> Iterator[tuple[T, list[str]]]:
    """Restore a text that comes in lines or cues; each keeps its words.

    nlp (Language): A pipeline with a `punctuation_restorer`.
    units (Iterable): Anything, with the words in it.
    window (int): How many words to look at together.
    YIELDS (tuple): The same, with the words as `restore_words` gives them.
    """
    ahead: deque[tuple[T, int]] = deque()

    def words() -> Iterator[str]:
        for unit, own in units:
            ahead.append((unit, len(own)))
            yield from own

    restored: list[str] = []
    for word in restore_words(nlp, words(), window=window):
        restored.append(word)
        while ahead and len(restored) >= ahead[0][1]:
            unit, n = ahead.popleft()
            yield unit, restored[:n]
            restored = restored[n:]
    for unit, n in ahead:
        yield unit, restored[:n]


def _restored(nlp: Language, words: list[str]) -> tuple[list[str], int]:
    """The words as written, and how many come before the last sentence."""
    # New words are forgotten again, so that memory does not grow with them.
    with nlp.memory_zone():
        doc = nlp(" ".join(words))
        owner = _owners(doc, words)
        last = max((sent.start for sent in doc.sents), default=0)
        # A word of which the last sentence has a part belongs to it.
        complete = min(owner[last:], default=0)
        return _by_owner(doc, owner, len(words)), complete


def _owners(doc: Doc, words: list[str]) -> list[int]:
    """The word that each token is a part of."""
    owner: list[int] = []
    word, end = 0, len(words[0])
    for token in doc:
        while token.idx >= end + 1:
            word += 1
            end += 1 + len(words[word])
        owner.append(word)
    return owner


def _by_owner(doc: Doc, owner: list[int], n: int) -> list[str]:
    """What is written of each word, and of the marks around it.

    A mark belongs to what it is written together with, and one that stands alone to
    the word before. A word that is now written together with the one before, as
    after a hyphen, belongs to that.
    """
    written = [""] * n
    current = 0
    together = ""
    first: int | None = None
    for text, space, _, index in doc.user_data[PIECES]:
        together += text
        if index is not None and first is None:
            first = owner[index]
        if not space:
            continue
        current = first if first is not None else current
        written[current] += f" {together}"
        together, first = "", None
    written[current if first is None else first] += f" {together}"
    return [text.strip() for text in written]
