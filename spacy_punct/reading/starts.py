"""Where sentences begin, by what a model of words and the marks of a text say."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from spacy.tokens import Doc, Token

from spacy_punct.data.marks import (
    is_abbreviation,
    is_closer,
    is_dash,
    is_ellipsis,
    is_end,
    is_mark,
    is_opener,
)
from spacy_punct.reading.sentences import WORDS_ONLY
from spacy_punct.text.casing import has_capital
from spacy_punct.text.writer import NO_SPACES

_PRIOR_SENTENCES = 20
"""How many sentences what is expected of a text weighs as much as."""
_LINE_ODDS = 4.0
"""Factor on the odds of a beginning where a line begins."""
_STRAIGHT = frozenset({'"', "'"})
"""Quotes whose shape does not tell whether they open or close."""
_OPENING = frozenset({"``", "`", "¿", "¡"})
_CLOSING = frozenset({"''"})


def has_signs(doc: Doc) -> bool:
    """Whether any token looks like a mark or breaks a line, unless all are known to be
    words."""
    if doc.user_data.get(WORDS_ONLY, False):
        return False
    texts = [token.text for token in doc]
    return any("\n" in text or is_mark(text) for text in texts)


def marked_starts(
    doc: Doc, probabilities: np.ndarray, threshold: float, missing: float, inner: float
) -> np.ndarray:
    """Where the sentences of a text with marks or lines begin.

    After an end mark, or a blank line, a sentence begins. Anywhere else its end mark
    would be missing, and the fewer of them are missing, the more probable it must be
    by its words: their odds are multiplied by the share of sentences without a mark.
    That share is what the words let expect and the marks do not confirm, together
    with what is known of other texts. At the beginning of a line they are better.

    doc (Doc): The text.
    probabilities (np.ndarray): How probable it is, by the words, that each token
        begins a sentence.
    threshold (float): How probable a beginning must be where marks say nothing.
    missing (float): The share of sentences without an end mark in other texts.
    inner (float): Factor on the odds after a mark that should not end a sentence.
    RETURNS (np.ndarray): Whether each token begins a sentence. None begins with a
        mark but an opening one, a dash or an ellipsis.
    """
    slots, rest = _slots(doc)
    starts = np.zeros(len(doc), dtype=bool)
    starts[:1] = True
    if not slots:
        return starts
    by_words = np.array([probabilities[s.word.i] for s in slots], dtype=np.float64)
    expected = 1 + by_words[1:].sum()
    n_ends = sum(slot.has_end for slot in slots) + any(is_end(t.text) for t in rest)
    share = 1.0
    if n_ends:
        without = max(expected - n_ends, 0) + missing * _PRIOR_SENTENCES
        share = without / (expected + _PRIOR_SENTENCES)
    cased = any(has_capital(slot.word.text) for slot in slots)
    for slot, p in zip(slots[1:], by_words[1:], strict=True):
        factor = share * slot.factor(inner)
        if slot.ends_sentence(cased=cased) or (
            p * factor * (1 - threshold) > (1 - p) * threshold
        ):
            starts[slot.start()] = True
    return starts


@dataclass(frozen=True)
class _Slot:
    """What stands before a word.

    tokens (Sequence[Token]): Marks and white space.
    word (Token): The word.
    """

    tokens: Sequence[Token]
    word: Token

    @cached_property
    def marks(self) -> list[Token]:
        return [token for token in self.tokens if not token.is_space]

    @cached_property
    def has_end(self) -> bool:
        return any(is_end(mark.text) for mark in self.marks)

    def ends_sentence(self, *, cased: bool) -> bool:
        """Whether an end mark or a blank line says that a sentence ended.

        The mark of `"Really?" he asked` does not, if the text has capitals.

        cased (bool): Whether it has.
        """
        if any(token.text.count("\n") > 1 for token in self.tokens):
            return True
        closed = bool(self.marks) and _closes(self.marks[-1])
        goes_on = cased and closed and self.word.text[:1].islower()
        return self.has_end and not goes_on

    def factor(self, inner: float) -> float:
        """What the marks multiply the odds of a beginning by, if they do not end."""
        if self._is_within_word() or (self.marks and _opens(self.marks[-1])):
            return 0.0
        neutral = all(is_dash(m.text) or is_ellipsis(m.text) for m in self.marks)
        odds = 1.0 if neutral and not self._is_after_abbreviation() else inner
        return odds * _LINE_ODDS if any("\n" in t.text for t in self.tokens) else odds

    def start(self) -> int:
        """The first token of a sentence that begins here."""
        start = self.word.i
        for mark in reversed(self.marks):
            if not _may_begin(mark):
                break
            start = mark.i
        return start

    def _is_after_abbreviation(self) -> bool:
        first = self.tokens[0] if self.tokens else self.word
        return first.i > 0 and is_abbreviation(first.nbor(-1).text)

    def _is_within_word(self) -> bool:
        """Whether the words around are written together: `do|n't`, `well|-|known`."""
        if self.word.vocab.lang in NO_SPACES:
            return False
        return not any(map(_has_space_before, (*self.tokens, self.word)))


def _slots(doc: Doc) -> tuple[list[_Slot], list[Token]]:
    """What stands before each word, and after the last one."""
    slots: list[_Slot] = []
    between: list[Token] = []
    for token in doc:
        if token.is_space or is_mark(token.text):
            between.append(token)
        else:
            slots.append(_Slot(between, token))
            between = []
    return slots, between


def _has_space_before(token: Token) -> bool:
    if token.i == 0:
        return True
    before = token.nbor(-1)
    return token.is_space or before.is_space or bool(before.whitespace_)


def _opens(mark: Token) -> bool:
    if mark.text in _STRAIGHT:
        return _has_space_before(mark)
    return is_opener(mark.text) or mark.text in _OPENING


def _closes(mark: Token) -> bool:
    if mark.text in _STRAIGHT:
        return not _has_space_before(mark)
    return is_closer(mark.text) or mark.text in _CLOSING


def _may_begin(mark: Token) -> bool:
    """Whether a sentence may begin with a mark."""
    if is_ellipsis(mark.text):
        return _has_space_before(mark) and not mark.whitespace_
    if is_dash(mark.text):
        return _has_space_before(mark)
    return _opens(mark)
