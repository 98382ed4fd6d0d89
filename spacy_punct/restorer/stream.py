"""Texts of any length, word by word."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.data.marks import HYPHENS, is_opener
from spacy_punct.errors import Errors, PunctError
from spacy_punct.reading.attributes import PIECES

T = TypeVar("T")


def restore_words(
    nlp: Language, words: Iterable[str], *, window: int = 1000
) -> Iterator[str]:
    """Restore an endless text: each word comes back with the marks it bears.

    The text goes through the pipeline in windows. The last sentence of a window may
    go on, so it is given to the next one, unless it is most of the window.

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
            # Half a window of progress at least, or long sentences would cost dear.
            done = complete if 2 * complete >= window else len(pending)
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
    text = " ".join(words)
    if doc.text != text:
        at = next(
            (i for i, (a, b) in enumerate(zip(text, doc.text, strict=False)) if a != b),
            0,
        )
        part = slice(max(at - 10, 0), at + 10)
        raise PunctError(Errors.P056.format(before=text[part], after=doc.text[part]))
    owner: list[int] = []
    word, end = 0, len(words[0])
    for token in doc:
        while token.idx > end:
            word += 1
            end += 1 + len(words[word])
        owner.append(word)
    return owner


def _by_owner(doc: Doc, owner: list[int], n: int) -> list[str]:
    """What is written of each word, and of the marks around it.

    A mark belongs to the word it is written together with: with both, to the one
    before, unless it opens a bracket; with none, to the one before. A word that a
    hyphen now ties to the one before belongs to that.
    """
    written = [""] * n
    belongs = list(range(n))
    current: int | None = None
    waiting = ""
    space, tied = " ", False
    for text, after, _, index in doc.user_data[PIECES]:
        if index is not None:
            if tied:
                belongs[owner[index]] = current
            current = belongs[owner[index]]
            written[current] += waiting + text
            waiting = ""
        elif current is None or (not after and (space or is_opener(text))):
            waiting += text
        else:
            written[current] += (" " if space and after else "") + text
        tied = index is None and not (after or waiting) and text in HYPHENS
        space = after
    if current is not None:
        written[current] += waiting
    return written
