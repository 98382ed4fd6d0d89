"""Docs -> sentences with their underlying punctuation, as plain data to draw."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

from spacy_punct.data.marks import ABBREVIATION_DOT, BOS
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.channel import Channel
from spacy_punct.model.inventory import Pair
from spacy_punct.model.rewrites import Rewriting, best_rewriting, underlying_slots
from spacy_punct.pipe.base import PunctuationPipe
from spacy_punct.reading.attributes import PIECES
from spacy_punct.reading.sentences import BareSentence, bare_sentences
from spacy_punct.restorer.component import Restoration

_COMPONENT = "punctuation_restorer"


@dataclass(frozen=True)
class UnderlyingSentence:
    """A sentence with its underlying punctuation.

    tree (Tree): Its words, projective.
    positions (tuple[int, ...]): The token of each word.
    words (tuple[str, ...]): The words as they are shown: without the dot of an
        abbreviation if the model took it for a mark.
    pairs (tuple[Pair, ...]): The punctemes of each word's constituent.
    bearers (tuple[tuple[int | None, ...], ...]): For each slot, the word whose
        constituent bears each underlying mark; None for the sentence-initial mark.
    rewritings (tuple[Rewriting, ...]): What became of each slot.
    """

    tree: Tree
    positions: tuple[int, ...]
    words: tuple[str, ...]
    pairs: tuple[Pair, ...]
    bearers: tuple[tuple[int | None, ...], ...]
    rewritings: tuple[Rewriting, ...]


def explained_sentences(doc: Doc, pipe: PunctuationPipe) -> list[UnderlyingSentence]:
    """Find what is underneath the punctuation that a Doc has.

    doc (Doc): A parsed Doc.
    pipe (PunctuationPipe): The component whose model is asked.
    RETURNS (list[UnderlyingSentence]): The sentences.
    """
    return [
        _underlying(
            source, pairs, [[slot] for slot in source.tree.observed or ()], pipe.channel
        )
        for source, pairs in pipe.explain(doc)
    ]


def restored_sentences(
    doc: Doc, channel: Channel | None = None
) -> list[UnderlyingSentence]:
    """Find what is underneath the punctuation that a restorer gave to a Doc.

    doc (Doc): A restored Doc.
    channel (Channel | None): The restorer's channel, which knows how likely its edits
        are; None for as few edits as possible.
    RETURNS (list[UnderlyingSentence]): The sentences.
    """
    slots, pieces = doc._.restored_slots, doc.user_data.get(PIECES)
    if slots is None or pieces is None:
        raise PunctError(Errors.P146)
    sources = bare_sentences(doc, _COMPONENT)
    if len(slots) != 1 + sum(len(source.positions) for source in sources):
        raise PunctError(Errors.P146)
    # The slot where two sentences meet has the marks of both. How many of them are
    # before the first word of a sentence, its pieces tell.
    begun = set()
    n_before: Counter[int] = Counter()
    for text, _, number, token in pieces:
        if token is not None:
            begun.add(number)
        elif text and number not in begun:
            n_before[number] += 1
    result = []
    start = 0
    for number, source in enumerate(sources):
        end = start + len(source.positions)
        own = [tuple(slot) for slot in slots[start : end + 1]]
        own[0] = own[0][len(own[0]) - n_before[number] :]
        own[-1] = own[-1][: len(own[-1]) - n_before[number + 1]]
        pairs = [
            (tuple(doc[i]._.left_puncteme), tuple(doc[i]._.right_puncteme))
            for i in source.positions
        ]
        result.append(_underlying(source, pairs, _with_dots(source, own), channel))
        start = end
    return result


def answered_sentence(answer: Restoration, channel: Channel) -> UnderlyingSentence:
    """Find what is underneath a restored sentence that is not part of a Doc yet.

    answer (Restoration): The sentence.
    channel (Channel): The restorer's channel.
    RETURNS (UnderlyingSentence): The sentence.
    """
    surfaces = _with_dots(answer.source, answer.slots)
    return _underlying(answer.source, answer.pairs, surfaces, channel)


def touching(
    sentences: Iterable[UnderlyingSentence], start: int, end: int
) -> list[UnderlyingSentence]:
    """The sentences that have words among some tokens."""
    return [s for s in sentences if any(start <= i < end for i in s.positions)]


def _with_dots(
    source: BareSentence, slots: Slots | Sequence[Puncteme]
) -> list[list[Puncteme]]:
    """What may be the surface of each slot: its marks, with or without the dot that
    the word before brings along."""
    surfaces = [[slot] for slot in slots]
    for i, (text, stem) in enumerate(zip(source.texts, source.tree.words, strict=True)):
        if text != stem:
            surfaces[i + 1] += [(dot, *slots[i + 1]) for dot in (ABBREVIATION_DOT, ".")]
    return surfaces


def _underlying(
    source: BareSentence,
    pairs: Sequence[Pair],
    surfaces: Sequence[Sequence[Puncteme]],
    channel: Channel | None,
) -> UnderlyingSentence:
    """A sentence of which the best of some surfaces is shown in each slot."""
    tree = source.tree.projective()
    rewritings = tuple(
        max(
            (
                best_rewriting(below, above if i else (BOS, *above), channel)
                for above in possible
            ),
            key=lambda way: way.log_weight,
        )
        for i, (below, possible) in enumerate(
            zip(underlying_slots(tree, pairs), surfaces, strict=True)
        )
    )
    numbers = [
        ((str(i),) * len(left), (str(i),) * len(right))
        for i, (left, right) in enumerate(pairs)
    ]
    bearers = tuple(
        tuple(None if name == BOS else int(name) for name in slot)
        for slot in underlying_slots(tree, numbers)
    )
    words = tuple(
        stem if set(rewriting.surface[:1]) & {ABBREVIATION_DOT, "."} else text
        for stem, text, rewriting in zip(
            tree.words, source.texts, rewritings[1:], strict=True
        )
    )
    return UnderlyingSentence(
        tree, source.positions, words, tuple(pairs), bearers, rewritings
    )
