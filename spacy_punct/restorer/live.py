"""Words that keep coming, restored a few words after they came."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spacy.language import Language

from spacy_punct.data.marks import TERMINALS
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.pipe.base import PunctuationPipe
from spacy_punct.restorer.component import PunctuationRestorer, Restoration
from spacy_punct.restorer.texts import (
    RestoredWord,
    bundled_pipeline,
    owners,
    words_of,
)
from spacy_punct.text.pairs import PAIRS, QUOTES, balanced, unpaired

LOOKAHEAD = 10
_LEAST_STEP = 12
"""A reading has a cost of its own, however few words it is for."""
_MOST_CONTEXT = 24
"""How many stable words of an unfinished sentence are read again."""


class Live(NamedTuple):
    """What is known of words that keep coming.

    stable (list[str]): Words with their marks that were not stable before and will not
        change any more. As in `restore_words`, there is one for each word, which is
        empty if it is now written together with the one before.
    tail (list[str]): The words after them, as they look for now.
    """

    stable: list[str]
    tail: list[str]


def live(
    words: Iterable[str | None],
    nlp: Language | None = None,
    *,
    lookahead: int = LOOKAHEAD,
    step: int | None = None,
) -> Iterator[Live]:
    """Restore words that keep coming, such as those of live captions.

    words (Iterable[str | None]): The words, without white space in them. None ends a
        sentence: use it when somebody else speaks, or after a long pause.
    nlp (Language | None): A pipeline with a `punctuation_restorer`; None for the
        bundled English one.
    lookahead (int): How many words must follow a word before it becomes stable.
    step (int | None): How many words become stable together. By default as many as
        `lookahead`, but at least 12. With fewer they are stable sooner, and each of
        them costs more.
    YIELDS (Live): One for each word as it comes, and one at the end, when all words
        are stable.
    """
    restorer = LiveRestorer(nlp or bundled_pipeline(), lookahead=lookahead, step=step)
    for word in words:
        yield restorer.add([word])
    yield restorer.end()


class LiveRestorer:
    """Takes words as they come, and gives them out when they are stable.

    The pipeline reads the words that are not stable yet, after the stable ones that
    their sentence begins with. It is told that the sentence begins there and goes on,
    and the marks of the stable words stay. So what follows always goes with what was
    given out: capitals with ends of sentences, closing brackets with opening ones.

    nlp (Language): A pipeline with a `punctuation_restorer`, which is `component`.
    lookahead (int), step (int | None): See `live`.
    """

    def __init__(
        self, nlp: Language, *, lookahead: int = LOOKAHEAD, step: int | None = None
    ) -> None:
        self.lookahead = lookahead
        self.step = max(lookahead, _LEAST_STEP) if step is None else step
        check_range("lookahead", self.lookahead, 1)
        check_range("step", self.step, 1)
        self._nlp = nlp
        self._others = [k for k, p in nlp.pipeline if isinstance(p, PunctuationPipe)]
        self.component = _restorer_of(nlp)
        self._given: list[_Given] = []
        self._open: list[str] = []
        self._waiting: list[str] = []
        self._tail: list[str] = []

    def add(self, words: Iterable[str | None]) -> Live:
        """Take the next words.

        words (Iterable[str | None]): Any number of them; None ends a sentence.
        RETURNS (Live): What became stable, and what did not.
        """
        stable: list[str] = []
        for word in words:
            if word is None:
                stable += self.end().stable
            elif word.split() == [word]:
                self._waiting.append(word)
                self._tail.append(word)
            else:
                raise PunctError(Errors.P200.format(word=repr(word)))
        if len(self._waiting) >= self.lookahead + self.step:
            stable += self._give(len(self._waiting) - self.lookahead)
        return Live(stable, list(self._tail))

    def end(self) -> Live:
        """End the sentence, and with it the tail."""
        stable = self._give(len(self._waiting)) if self._waiting else []
        self._given, self._open = [], []
        return Live(stable, [])

    def _give(self, n: int) -> list[str]:
        """Read the words that wait, and give out about n of them."""
        # New words are forgotten again, so that memory does not grow with them.
        with self._nlp.memory_zone():
            reading = self._read(ends=n == len(self._waiting))
        found = reading.words[len(self._given) :]
        n = _uncut(found, n)
        texts = [word.text for word in found]
        self._tail = texts[n:]
        self._remember(reading, n)
        del self._waiting[:n]
        return texts[:n]

    def _read(self, *, ends: bool) -> "_Reading":
        words = [*(given.word for given in self._given), *self._waiting]
        known = [marks for given in self._given for marks in given.after]
        doc = self._nlp.make_doc(" ".join(words))
        if known:
            for token in doc[: len(known) + 1]:
                token.is_sent_start = token.i == 0
        doc = self._nlp(doc, disable=self._others)
        (answers,) = self.component.propose([doc])
        answers = [self._settled(answer, known) for answer in answers]
        if answers and not ends:  # it is not known yet what the last word is before
            answers[-1] = answers[-1].having((*answers[-1].slots[:-1], ()))
        self.component.set_annotations([doc], [answers])
        owner = owners(doc, words)
        return _Reading(words_of(doc, owner, len(words)), owner, answers)

    def _settled(
        self, answer: Restoration, known: Sequence[Puncteme | None]
    ) -> Restoration:
        """A sentence with the marks that were given out, and others that go with them.

        answer (Restoration): What the model says of the sentence.
        known (Sequence[Puncteme | None]): What was given out after each token.
        RETURNS (Restoration): The sentence.
        """
        slots = list(answer.slots)
        first = 0
        for k, token in enumerate(answer.source.positions, start=1):
            if token < len(known):
                first = k + 1
                marks = known[token]
                slots[k] = slots[k] if marks is None else marks
        # What is open stands before the slots that may still change.
        before = tuple(self._open) if first else ()
        fixed = {0, *(k + 1 - first for k in answer.fixed if k >= first)}
        found = balanced((before, *slots[first:]), fixed, ({}, *answer.chances[first:]))
        opened = [before[k] for i, k in unpaired(found, fixed) if i == 0]
        rest = closed(found[1:], opened) if first < len(slots) else ()
        return answer.having((*slots[:first], *rest))

    def _remember(self, reading: "_Reading", n: int) -> None:
        """Keep what the next reading has to know of the n words that are given out."""
        first = len(self._given)
        cut = first + n
        after = reading.after()
        words = [*(given.word for given in self._given), *self._waiting[:n]]
        start, opened = cut, []
        for answer in reading.answers:
            mine = [reading.owner[i] for i in answer.source.positions]
            if mine[0] < cut <= mine[-1]:  # the sentence goes on
                old = sum(word < first for word in mine)
                new = sum(word < cut for word in mine)
                start = mine[0]
                since = answer.slots[old + 1 if old else 0 : new + 1]
                opened = _still_open(self._open if old else (), since)
        start = max(start, cut - _MOST_CONTEXT)
        self._given = [_Given(words[k], after[k]) for k in range(start, cut)]
        self._open = opened


@dataclass(frozen=True)
class _Given:
    """A word that was given out.

    word (str): The word as it came.
    after (list[Puncteme | None]): What stands after each of its tokens, if that is a
        word.
    """

    word: str
    after: list[Puncteme | None]


@dataclass(frozen=True)
class _Reading:
    """What the pipeline says of some words.

    words (list[RestoredWord]): The words with their marks.
    owner (list[int]): The word that each token is a part of.
    answers (list[Restoration]): The sentences.
    """

    words: list[RestoredWord]
    owner: list[int]
    answers: list[Restoration]

    def after(self) -> list[list[Puncteme | None]]:
        """What stands after each token of each word."""
        marks = {
            token: marks
            for answer in self.answers
            for token, marks in zip(
                answer.source.positions, answer.slots[1:], strict=True
            )
        }
        found: list[list[Puncteme | None]] = [[] for _ in self.words]
        for token, word in enumerate(self.owner):
            found[word].append(marks.get(token))
        return found


def _restorer_of(nlp: Language) -> PunctuationRestorer:
    for _, pipe in nlp.components:
        if isinstance(pipe, PunctuationRestorer):
            return pipe
    names = ", ".join(nlp.component_names) or "nothing"
    raise PunctError(Errors.P052.format(model=nlp.meta["name"], names=names))


def _uncut(words: Sequence[RestoredWord], n: int) -> int:
    """A number of words close to n that no word written together lies across."""

    def is_inside(k: int) -> bool:
        return k < len(words) and bool(words[k].tokens) and not words[k].text

    best = next((k for k in range(n, 0, -1) if not is_inside(k)), 0)
    if not best and n:
        best = next(k for k in range(n, len(words) + 1) if not is_inside(k))
    return best


def closed(slots: Slots, opened: Iterable[str]) -> Slots:
    """The marks of a sentence with a partner for those that are open at its end.

    slots (Slots): The marks.
    opened (Iterable[str]): What is open, the innermost last.
    RETURNS (Slots): The marks.
    """
    last = list(slots[-1])
    for mark in reversed([*opened]):
        end = len(last)
        while mark not in QUOTES and end and last[end - 1] in TERMINALS:
            end -= 1
        last.insert(end, PAIRS[mark])
    return (*slots[:-1], tuple(last))


def _still_open(opened: Iterable[str], slots: Slots) -> list[str]:
    """What is open after some slots, if nothing is closed that was not open."""
    stack = list(opened)
    for mark in (mark for slot in slots for mark in slot):
        if mark in PAIRS:
            stack.append(mark)
        elif stack and PAIRS[stack[-1]] == mark:
            stack.pop()
    return stack
