"""Tokenised text beside its corrections, one sentence a line."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from spacy_punct.data.marks import directed_quotes, is_mark
from spacy_punct.data.tree import Slots
from spacy_punct.errors import Errors, PunctError

_APOSTROPHES = frozenset({"'", "’"})
_PENN_OPENER, _PENN_CLOSER = "``", "''"


class _Clue(NamedTuple):
    """See `spacy_punct.data.marks.QuoteToken`."""

    form: str
    xpos: str
    head: int = 0


@dataclass(frozen=True)
class MarkedTokens:
    """A sentence cut into tokens.

    tokens (tuple[str, ...]): The tokens.
    marks (tuple[str, ...]): The mark that each is, with quotes that open and close;
        empty for words.
    """

    tokens: tuple[str, ...]
    marks: tuple[str, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        pairs = zip(self.tokens, self.marks, strict=True)
        return tuple(token for token, mark in pairs if not mark)

    @cached_property
    def slots(self) -> Slots:
        slots: list[list[str]] = [[]]
        for mark in self.marks:
            if mark:
                slots[-1].append(mark)
            else:
                slots.append([])
        return tuple(map(tuple, slots))


@dataclass(frozen=True)
class ParallelSentence:
    """A sentence, and the right marks in the opinion of one annotator or more."""

    source: MarkedTokens
    references: tuple[Slots, ...]


@dataclass(frozen=True)
class ParallelText:
    """The pairs of a corrected text in which nothing but marks and capitals differs.

    sentences (tuple[ParallelSentence, ...]): Those with such a reference.
    n_sents, n_pairs (int): All sentences, and all pairs of one and a reference.
    """

    sentences: tuple[ParallelSentence, ...]
    n_sents: int
    n_pairs: int

    @property
    def n_pairs_used(self) -> int:
        return sum(len(sentence.references) for sentence in self.sentences)


def marked_tokens(
    tokens: Sequence[str], quotes: AbstractSet[str] = frozenset()
) -> MarkedTokens:
    """Tell the marks of a tokenised sentence from its words, by their looks.

    An apostrophe after s, x or z that closes no quote is a word: `the students '`.

    tokens (Sequence[str]): The tokens.
    quotes (AbstractSet[str]): Quotes that the text has elsewhere. If `` is there or in
        the sentence, '' closes, else it may open as well.
    RETURNS (MarkedTokens): The tokens with their marks.
    """
    marks = {}
    is_open = False
    for i, token in enumerate(tokens):
        if not is_mark(token):
            continue
        if token in _APOSTROPHES and not is_open and i:
            before = tokens[i - 1]
            if not is_mark(before) and before[-1].lower() in "sxz":
                continue
        if token in _APOSTROPHES or token in ("`", "‘"):
            is_open = not is_open
        closes = token == _PENN_CLOSER and _PENN_OPENER in {*quotes, *tokens}
        marks[i] = _Clue(token, _PENN_CLOSER if closes else "")
    found = {i: clue.form for i, clue in marks.items()} | directed_quotes(marks)
    return MarkedTokens(
        tuple(tokens), tuple(found.get(i, "") for i in range(len(tokens)))
    )


def read_parallel(source: str | Path, references: Sequence[str | Path]) -> ParallelText:
    """Read a text and its corrections, and keep what differs in punctuation alone.

    Words are compared without regard to case.

    source (str | Path): The text, in UTF-8: a sentence a line, its tokens apart by
        white space.
    references (Sequence[str | Path]): The same sentences, corrected, one file for
        each annotator.
    RETURNS (ParallelText): The sentences of which some correction has the same words.
    """
    texts = [_read_lines(Path(path)) for path in (source, *references)]
    n_sents = len(texts[0])
    for path, lines in zip(references, texts[1:], strict=True):
        if len(lines) != n_sents:
            raise PunctError(
                Errors.P136.format(path=path, n=len(lines), expected=n_sents)
            )
    quotes = {_PENN_OPENER} & set(chain.from_iterable(chain.from_iterable(texts)))
    sentences = []
    for tokens, *corrected in zip(*texts, strict=True):
        written = marked_tokens(tokens, quotes)
        opinions = [marked_tokens(other, quotes) for other in corrected]
        words = _folded(written)
        usable = tuple(o.slots for o in opinions if words and _folded(o) == words)
        if usable:
            sentences.append(ParallelSentence(written, usable))
    if not sentences:
        raise PunctError(Errors.P137.format(path=source))
    return ParallelText(tuple(sentences), n_sents, n_sents * len(references))


def _folded(sentence: MarkedTokens) -> list[str]:
    return [word.casefold() for word in sentence.words]


def _read_lines(path: Path) -> list[list[str]]:
    """The tokens of each line."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        message = Errors.P003.format(where=path, reason=error.reason)
        raise PunctError(message) from None
    return [line.split() for line in text.removesuffix("\n").split("\n")]
