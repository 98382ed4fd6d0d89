"""Texts of any length, restored."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch

from spacy_punct.data.marks import HYPHENS, is_opener
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import Errors, check_same_text
from spacy_punct.pipe.bundled import NEEDLESS, for_one_or_many, load
from spacy_punct.reading.attributes import PIECES
from spacy_punct.reading.gold import first_opener
from spacy_punct.reading.windows import annotated, is_long
from spacy_punct.restorer.component import Existing
from spacy_punct.text.pairs import opened_by

T = TypeVar("T")

_WHITE = re.compile(r"(\s+)")
_TOGETHER = 256
"""The number of texts that are read at once."""
_REPORTED = 100
"""The number of words after which progress is told."""


@cache
def bundled_pipeline() -> Language:
    """The bundled English pipeline, loaded once, for its text alone: without its
    corrector, and without explanations."""
    return load(
        "en",
        exclude=NEEDLESS["punctuation_restorer"],
        config={"components": {"punctuation_restorer": {"explain": False}}},
    )


@for_one_or_many
def restore(texts: Iterable[str], *, existing: Existing = "keep") -> Iterator[str]:
    """Restore the punctuation of English text with the bundled pipeline.

    It is loaded at the first call.

    texts (str | Iterable[str]): A text of any length, or many.
    existing (Existing): What to do with marks that are there: "keep" them and add what
        is missing, "replace" them, or raise an "error".
    RETURNS (str | Iterator[str]): The text with its punctuation, or each of them.
    """
    nlp = bundled_pipeline()
    restorer: Any = nlp.get_pipe("punctuation_restorer")
    for batch in minibatch(texts, _TOGETHER):
        # Others may ask the same pipeline between two batches.
        with restorer.having(existing=existing):
            found = restore_batch(nlp, batch)
        yield from found


def restore_batch(nlp: Language, texts: Iterable[str]) -> list[str]:
    """Restore one of many batches of texts; memory does not grow from batch to batch.

    nlp (Language): A pipeline with a `punctuation_restorer`.
    texts (Iterable[str]): Texts of any length.
    RETURNS (list[str]): Each of them with its punctuation.
    """
    found: list[str] = []
    for long, group in groupby(texts, key=is_long):
        if long:
            found += [restore_long(nlp, text) for text in group]
        else:
            pairs = ((text, None) for text in group)
            docs = annotated(nlp, pairs, 1, _TOGETHER)
            found += [doc._.restored_text for doc, _ in docs]
    return found


def restore_long(nlp: Language, text: str) -> str:
    """Restore a text that is too long to go through a pipeline at once.

    nlp (Language): A pipeline with a `punctuation_restorer`.
    text (str): The text.
    RETURNS (str): The text with its punctuation. White space stays as it was.
    """
    # Words at even places, white space at odd ones; either end may be empty.
    parts = _WHITE.split(text)
    places = [i for i in range(0, len(parts), 2) if parts[i]]
    words = restore_words([parts[i] for i in places], nlp)
    for i, word in zip(places, words, strict=True):
        parts[i] = word
        if not word:  # it is now written together with the word before
            parts[i - 1] = ""
    return "".join(parts)


class RestoredWord(NamedTuple):
    """A word of a text with the marks around it.

    text (str): The word with the marks that are written together with it: `("Well,`
        for `well`. Empty for a word that is now part of the one before (`twenty-one`).
    tokens (list[str]): The model's words that it consists of; none if it is a mark.
    slots (list[Puncteme]): The marks before, between and after these. What stands
        between this word and the next one is divided: openers go with the next.
    confidence (list[float]): The probability of each of these slots.
    """

    text: str
    tokens: list[str]
    slots: list[Puncteme]
    confidence: list[float]


def restore_words(
    words: Iterable[str], nlp: Language | None = None, *, window: int = 1000
) -> Iterator[str]:
    """Restore an endless text: each word comes back with its marks.

    words (Iterable[str]): The words, without white space in them.
    nlp (Language | None): A pipeline with a `punctuation_restorer`; None for the
        bundled English one.
    window (int): How many words to look at together.
    YIELDS (str): One for each word, in order: `("Well,` for `well`. Empty for a word
        that is now written together with the one before (`twenty-one`).
    """
    pipeline = nlp or bundled_pipeline()
    return (word.text for word in restored_words(words, pipeline, window=window))


def restored_words(
    words: Iterable[str | None], nlp: Language, *, window: int = 1000
) -> Iterator[RestoredWord]:
    """Restore an endless text word by word.

    The text goes through the pipeline in windows. The last sentence of a window may
    go on, so it is read again with the next window, unless it is most of this one. So
    are those before it that share its brackets or quotes.

    words (Iterable[str | None]): The words, without white space in them. None ends a
        sentence.
    nlp (Language): A pipeline with a `punctuation_restorer`.
    window (int): How many words to look at together.
    YIELDS (RestoredWord): One for each word, in order.
    """
    pending: list[str] = []
    for word in words:
        if word is None:
            if pending:
                yield from _restored(nlp, pending)[0]
            pending = []
            continue
        pending.append(word)
        if len(pending) >= window:
            found, complete = _restored(nlp, pending)
            # At least half a window of progress, or long sentences would cost dear.
            done = complete if 2 * complete >= window else len(pending)
            yield from found[:done]
            pending = pending[done:]
    if pending:
        yield from _restored(nlp, pending)[0]


def restore_units(
    nlp: Language,
    units: Iterable[tuple[T, Sequence[str | None]]],
    *,
    window: int = 1000,
) -> Iterator[tuple[T, list[RestoredWord]]]:
    """Restore a text that comes in lines; each keeps its words.

    nlp (Language): A pipeline with a `punctuation_restorer`.
    units (Iterable): Anything, with the words in it; None among these ends a
        sentence.
    window (int): How many words to look at together.
    YIELDS (tuple): The same, with the restored words.
    """
    ahead: deque[tuple[T, int]] = deque()

    def words() -> Iterator[str | None]:
        for unit, own in units:
            ahead.append((unit, sum(word is not None for word in own)))
            yield from own

    restored: list[RestoredWord] = []
    for word in restored_words(words(), nlp, window=window):
        restored.append(word)
        while ahead and len(restored) >= ahead[0][1]:
            unit, n = ahead.popleft()
            yield unit, restored[:n]
            restored = restored[n:]
    for unit, n in ahead:
        yield unit, restored[:n]


def restore_texts(
    nlp: Language,
    texts: Iterable[list[str]],
    *,
    n_process: int = 1,
    batch_size: int = 64,
    progress: Callable[[int], object] = bool,
) -> Iterator[list[RestoredWord]]:
    """Restore texts of any length that are given as words.

    nlp (Language): A pipeline with a `punctuation_restorer`.
    texts (Iterable[list[str]]): The words of each text, without white space in them.
    n_process, batch_size (int): See `Language.pipe`.
    progress (Callable): Is told how many words are done, now and then.
    YIELDS (list[RestoredWord]): The words of each text, in order.
    """
    pairs = ((" ".join(words), words) for words in texts)
    for long, group in groupby(pairs, key=lambda pair: is_long(pair[0])):
        if long:
            for _, words in group:
                found = []
                for word in restored_words(words, nlp):
                    found.append(word)
                    if len(found) % _REPORTED == 0:
                        progress(_REPORTED)
                progress(len(found) % _REPORTED)
                yield found
        else:
            for doc, words in annotated(nlp, group, n_process, batch_size):
                found = words_of(doc, owners(doc, words), len(words))
                progress(len(words))
                yield found


def _restored(nlp: Language, words: list[str]) -> tuple[list[RestoredWord], int]:
    """The restored words, and how many of them are complete."""
    # New words are forgotten again, so that memory does not grow with them.
    with nlp.memory_zone():
        doc = nlp(" ".join(words))
        owner = owners(doc, words)
        last = _last_whole(doc)
        # A word of which an unfinished sentence has a part belongs to it.
        complete = min(owner[last:], default=0)
        return words_of(doc, owner, len(words)), complete


def _last_whole(doc: Doc) -> int:
    """The first token of the last sentence before which no bracket or quote is open."""
    words = [(number, i) for *_, number, i in doc.user_data[PIECES] if i is not None]
    found, depth, current = 0, 0, None
    for slot, (number, i) in zip(doc._.restored_slots, words, strict=False):
        bound = first_opener(slot)
        depth += opened_by(slot[:bound])
        if number != current and depth <= 0:
            found = i
        current = number
        depth = max(0, depth) + opened_by(slot[bound:])
    return found


def words_of(doc: Doc, owner: list[int], n: int) -> list[RestoredWord]:
    """The words of a restored Doc.

    doc (Doc): The Doc.
    owner (list[int]): The word that each token is a part of.
    n (int): How many words there are.
    RETURNS (list[RestoredWord]): The words with the marks around them.
    """
    texts = _by_owner(doc, owner, n)
    slots = [tuple(slot) for slot in doc._.restored_slots]
    confidence = doc._.restored_confidence
    bounds = [first_opener(slot) for slot in slots]
    bounds[0], bounds[-1] = 0, len(slots[-1])
    words = [RestoredWord(text, [], [], []) for text in texts]
    if len(slots) == 1:  # nothing but marks
        return words
    tokens = [i for *_, i in doc.user_data[PIECES] if i is not None]
    for k, i in enumerate(tokens):
        word = words[owner[i]]
        if not word.tokens:
            word.slots.append(slots[k][bounds[k] :])
            word.confidence.append(confidence[k])
        else:
            word.slots[-1] = slots[k]
        word.tokens.append(doc[i].text)
        word.slots.append(slots[k + 1][: bounds[k + 1]])
        word.confidence.append(confidence[k + 1])
    return words


def owners(doc: Doc, words: list[str]) -> list[int]:
    """The word that each token is a part of.

    doc (Doc): A Doc of words with one space between them.
    words (list[str]): The words.
    RETURNS (list[int]): The number of a word for each token.
    """
    check_same_text(" ".join(words), doc.text, Errors.P056)
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
            if tied and current is not None:
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
