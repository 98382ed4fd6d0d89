"""Docs -> sentences with their underlying punctuation, as plain data to draw."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from spacy.tokens import Doc

from spacy_punct.data.marks import ABBREVIATION_DOT, BOS
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.channel import Channel
from spacy_punct.model.inventory import Pair
from spacy_punct.model.rewrites import Rewriting, best_rewriting, underlying_slots
from spacy_punct.pipe.base import PunctuationPipe
from spacy_punct.reading.sentences import BareSentence, bare_sentences
from spacy_punct.restorer.component import Restoration

_COMPONENT = "punctuation_restorer"


@dataclass(frozen=True)
class UnderlyingSentence:
    """A sentence with what is underneath its punctuation.

    tree (Tree): Its words, projective.
    positions (tuple[int, ...]): The token of each word.
    words (tuple[str, ...]): How they are shown: the dot of an abbreviation is a mark
        if the model took it for one.
    pairs (tuple[Pair, ...]): The punctemes of each word's constituent.
    bearers (tuple[tuple[int | None, ...], ...]): For each slot the word that bears
        each of its underlying marks; None for the sentence-initial mark.
    rewritings (tuple[Rewriting, ...]): What became of each slot.
    """

    tree: Tree
    positions: tuple[int, ...]
    words: tuple[str, ...]
    pairs: tuple[Pair, ...]
    bearers: tuple[tuple[int | None, ...], ...]
    rewritings: tuple[Rewriting, ...]


def explained_sentences(doc: Doc, pipe: PunctuationPipe) -> list[UnderlyingSentence]:
    """What is underneath the punctuation that a Doc has.

    doc (Doc): A parsed Doc.
    pipe (PunctuationPipe): Whose model is asked.
    RETURNS (list[UnderlyingSentence]): The sentences.
    """
    result = []
    for source, pairs in pipe.explain(doc):
        tree = source.tree.projective()
        surface = _with_start(source.tree.observed)
        found = tuple(
            best_rewriting(below, above, pipe.channel)
            for below, above in zip(underlying_slots(tree, pairs), surface, strict=True)
        )
        result.append(_sentence(source, tree, pairs, found))
    return result


def restored_sentences(
    doc: Doc, channel: Channel | None = None
) -> list[UnderlyingSentence]:
    """What is underneath the punctuation that a restorer gave to a Doc.

    doc (Doc): A restored Doc.
    channel (Channel | None): The restorer's, to tell its edits; without, they are
        taken to be as few as possible.
    RETURNS (list[UnderlyingSentence]): The sentences.
    """
    slots = doc._.restored_slots
    sources = bare_sentences(doc, _COMPONENT) if slots is not None else []
    size = sum(len(source.positions) for source in sources)
    if slots is None or len(slots) != size + 1:
        raise PunctError(Errors.P146)
    if not sources:
        return []
    trees = [source.tree.projective() for source in sources]
    pairs = [
        tuple(
            (tuple(doc[i]._.left_puncteme), tuple(doc[i]._.right_puncteme))
            for i in source.positions
        )
        for source in sources
    ]
    below = [underlying_slots(tree, p) for tree, p in zip(trees, pairs, strict=True)]
    shown = _Slots(sources, [tuple(slot) for slot in slots], below, channel)
    return [
        _sentence(source, tree, found, rewritings)
        for source, tree, found, rewritings in zip(
            sources, trees, pairs, shown.rewritings(), strict=True
        )
    ]


def answered_sentence(answer: Restoration, channel: Channel) -> UnderlyingSentence:
    """What is underneath a restored sentence that is not yet part of a Doc.

    answer (Restoration): The sentence.
    channel (Channel): The restorer's.
    RETURNS (UnderlyingSentence): The sentence.
    """
    source = answer.source
    tree = source.tree.projective()
    strings = underlying_slots(tree, answer.pairs)
    rewritings = [
        _best_in_slot(source, i, below, marks, channel)
        for i, (below, marks) in enumerate(zip(strings, answer.slots, strict=True))
    ]
    return _sentence(source, tree, answer.pairs, rewritings)


class _Slots:
    """The slots of a restored text, to be told apart by sentence.

    The slot where two sentences meet has the marks of both, and the dots that words
    bring along are not in slots. What goes best with the underlying marks is right.
    """

    def __init__(
        self,
        sources: Sequence[BareSentence],
        slots: Sequence[Puncteme],
        below: Sequence[Slots],
        channel: Channel | None,
    ) -> None:
        self._sources, self._slots, self._below = sources, slots, below
        self._channel = channel

    def rewritings(self) -> Iterator[tuple[Rewriting, ...]]:
        starts = [0]
        for source in self._sources:
            starts.append(starts[-1] + len(source.positions))
        first = self._best(0, 0, self._slots[0])
        for number, (start, end) in enumerate(pairwise(starts)):
            inner = [
                self._best(number, i - start, self._slots[i])
                for i in range(start + 1, end)
            ]
            last, following = self._parted(number, end - start, self._slots[end])
            yield (first, *inner, last)
            first = following

    def _parted(
        self, number: int, slot: int, marks: Puncteme
    ) -> tuple[Rewriting, Rewriting | None]:
        """The last slot of a sentence, and the first of the next."""
        if number + 1 == len(self._sources):
            return self._best(number, slot, marks), None
        ways = [
            (self._best(number, slot, marks[:k]), self._best(number + 1, 0, marks[k:]))
            for k in range(len(marks), -1, -1)
        ]
        return max(ways, key=lambda way: way[0].log_weight + way[1].log_weight)

    def _best(self, number: int, slot: int, marks: Puncteme) -> Rewriting:
        below = self._below[number][slot]
        return _best_in_slot(self._sources[number], slot, below, marks, self._channel)


def _best_in_slot(
    source: BareSentence,
    slot: int,
    below: Puncteme,
    marks: Puncteme,
    channel: Channel | None,
) -> Rewriting:
    """What became of a slot, whose marks are without the dots that words bring."""
    surfaces = [_with_start([marks])[0] if slot == 0 else marks]
    if slot and source.texts[slot - 1] != source.tree.words[slot - 1]:
        surfaces += [(dot, *marks) for dot in (ABBREVIATION_DOT, ".")]
    ways = [best_rewriting(below, surface, channel) for surface in surfaces]
    return max(ways, key=lambda way: way.log_weight)


def _with_start(slots: Sequence[Puncteme]) -> Slots:
    """Surface slots with the sentence-initial mark, as underlying ones have it."""
    return ((BOS, *slots[0]), *slots[1:])


def _sentence(
    source: BareSentence,
    tree: Tree,
    pairs: Sequence[Pair],
    rewritings: Sequence[Rewriting],
) -> UnderlyingSentence:
    numbers = [
        ((str(i),) * len(left), (str(i),) * len(right))
        for i, (left, right) in enumerate(pairs)
    ]
    bearers = tuple(
        tuple(None if name == BOS else int(name) for name in slot)
        for slot in underlying_slots(tree, numbers)
    )
    words = [
        stem if set(rewriting.surface[:1]) & {ABBREVIATION_DOT, "."} else text
        for stem, text, rewriting in zip(
            tree.words, source.texts, rewritings[1:], strict=True
        )
    ]
    return UnderlyingSentence(
        tree, source.positions, tuple(words), tuple(pairs), bearers, tuple(rewritings)
    )


def touching(
    sentences: Iterable[UnderlyingSentence], start: int, end: int
) -> list[UnderlyingSentence]:
    """The sentences that have words among some tokens."""
    return [s for s in sentences if any(start <= i < end for i in s.positions)]
