"""What the API answers, as models that OpenAPI describes, and how it is computed."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from pydantic import BaseModel, ConfigDict
from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.corrector.changes import CorrectedSentence
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.data.marks import BOS
from spacy_punct.data.tree import ROOT, Slots
from spacy_punct.draw.explained import UnderlyingSentence, answered_sentence
from spacy_punct.pipe.base import PunctuationPipe
from spacy_punct.reading.attributes import PIECES
from spacy_punct.reading.bare import parse_words
from spacy_punct.reading.pieces import PieceData
from spacy_punct.rephrasing.rephrase import rephrased_pieces, rephrased_sentences
from spacy_punct.restorer.component import PunctuationRestorer, Restoration
from spacy_punct.restorer.texts import owners, words_of
from spacy_punct.serve.requests import (
    CorrectBody,
    EditedBody,
    RestoreBody,
    SpokenWord,
    WordsBody,
)

_DOUBTFUL = 0.8
"""An empty slot is mentioned if the probability that it is empty is below this."""


class Piece(BaseModel):
    """A word or a mark as it is written.

    text, space (str): The piece, and the white space after it.
    word (int | None): If it is a word, its number in the sentence.
    slot (int | None): If it is a mark, the slot where it stands.
    constituent (int | None): If it is a mark, the word whose constituent put it there;
        null if the model cannot tell.
    """

    text: str
    space: str
    word: int | None = None
    slot: int | None = None
    constituent: int | None = None


class Word(BaseModel):
    """A word, with the constituent that it heads.

    text (str): The word.
    token (int): Its token in the text.
    head (int | None): The number of its head in the sentence; null for the root.
    relation, tag (str): Its relation and its part of speech.
    start, end (int): Its constituent, as a half-open range of words.
    left, right (list[str]): The underlying punctemes of the constituent.
    """

    text: str
    token: int
    head: int | None
    relation: str
    tag: str
    start: int
    end: int
    left: list[str]
    right: list[str]


class Choice(BaseModel):
    """Marks that may stand in a slot, and their probability."""

    marks: list[str]
    probability: float


class RestoredSlot(Choice):
    """A slot that has marks, or nearly had some.

    slot (int): Its number.
    alternatives (list[Choice]): What else might stand there.
    """

    slot: int
    alternatives: list[Choice]


class UnderlyingSlot(BaseModel):
    """What became of the underlying marks of a slot.

    underlying (list[str]): The underlying marks.
    bear (list[int]): The word whose constituent bears each of them.
    absorbed (list[int]): Which of them are absorbed.
    surface (list[str]): The marks that are written.
    """

    underlying: list[str]
    bear: list[int]
    absorbed: list[int]
    surface: list[str]


class SentenceAnswer(BaseModel):
    """A sentence as it is written, with the tree of its words."""

    text: str
    pieces: list[Piece]
    words: list[Word]


class RestoredSentenceAnswer(SentenceAnswer):
    """A restored sentence."""

    slots: list[RestoredSlot]


class UnderlyingSentenceAnswer(SentenceAnswer):
    """A sentence with its underlying marks."""

    slots: list[UnderlyingSlot]


class RestoreAnswer(BaseModel):
    """A restored text, and why its marks are where they are."""

    text: str
    sentences: list[RestoredSentenceAnswer]


class UnderlyingAnswer(BaseModel):
    """A text after the edits, and its underlying trees."""

    text: str
    sentences: list[UnderlyingSentenceAnswer]


class Place(BaseModel):
    """A range of characters (code points) of the text that was sent."""

    start: int
    end: int


class CorrectionAnswer(Place):
    """A correction: `text` is to stand from `start` to `end`.

    kind, message (str): What is wrong, by name and for a writer.
    slot (int | None): The slot that changes; null if a word or a space does.
    before, after (list[str]): Its marks, or what is written.
    probability (float): Of those after.
    word, constituent (Place): The word that explains it, and the constituent it heads.
    """

    text: str
    kind: str
    message: str
    slot: int | None
    before: list[str]
    after: list[str]
    probability: float
    word: Place
    constituent: Place


class CorrectAnswer(BaseModel):
    """A corrected text, and its corrections in order."""

    text: str
    corrections: list[CorrectionAnswer]


class RestoredWordAnswer(BaseModel):
    """A word with its marks, and all that belongs to it.

    word (str): The word. It is empty if it is now written together with the one
        before.
    """

    model_config = ConfigDict(extra="allow")

    word: str


class WordsAnswer(BaseModel):
    """Restored words, and the text that they are."""

    text: str
    words: list[RestoredWordAnswer]


def restore(
    nlp: Language, pipe: PunctuationRestorer, body: RestoreBody
) -> RestoreAnswer:
    """Restore the punctuation of a text."""
    doc, answers = _restored(nlp, pipe, body.text, body.settings())
    sentences = [
        RestoredSentenceAnswer(slots=_restored_slots(answer), **fields)
        for answer, _, fields in _sentences(answers, doc.user_data[PIECES], pipe)
    ]
    return RestoreAnswer(text=doc._.restored_text, sentences=sentences)


def restore_words(
    nlp: Language, pipe: PunctuationRestorer, body: WordsBody
) -> WordsAnswer:
    """Restore the punctuation of words; what belongs to them stays with them."""
    found: list[RestoredWordAnswer] = []
    for _, group in groupby(body.words, key=lambda item: item.speaker):
        turn = list(group)
        words = [item.word for item in turn]
        doc, _ = _restored(nlp, pipe, " ".join(words), body.settings())
        restored = words_of(doc, owners(doc, words), len(words))
        found += (
            RestoredWordAnswer(**(_fields(item) | {"word": word.text}))
            for item, word in zip(turn, restored, strict=True)
        )
    text = " ".join(item.word for item in found if item.word)
    return WordsAnswer(text=text, words=found)


def _fields(item: SpokenWord) -> dict[str, Any]:
    return item.model_dump(exclude_unset=True)


def _restored(
    nlp: Language, pipe: PunctuationRestorer, text: str, settings: dict[str, Any]
) -> tuple[Doc, list[Restoration]]:
    """A restored Doc, and what was found of its sentences."""
    doc = nlp(text, disable=punctuation_names(nlp))
    with pipe.having(**settings):
        (answers,) = pipe.predict([doc])
        pipe.set_annotations([doc], [answers])
    return doc, answers


def correct(
    nlp: Language, pipe: PunctuationCorrector, body: CorrectBody
) -> CorrectAnswer:
    """Correct the punctuation of a text."""
    doc = nlp(body.text, disable=punctuation_names(nlp))
    with pipe.having(**body.settings()):
        (answers,) = pipe.predict([doc])
        pipe.set_annotations([doc], [answers])
    constituents = {k: v for answer in answers for k, v in _constituents(answer)}
    corrections = []
    for found in doc._.corrections:
        place = found.word.i
        words = doc[slice(*constituents.get(place, (place, place + 1)))]
        corrections.append(
            CorrectionAnswer(
                start=found.start,
                end=found.end,
                text=found.text,
                kind=found.kind,
                message=found.message,
                slot=found.slot,
                before=list(found.before),
                after=list(found.after),
                probability=round(found.probability, 4),
                word=Place(start=found.word.idx, end=found.word.idx + len(found.word)),
                constituent=Place(start=words.start_char, end=words.end_char),
            )
        )
    return CorrectAnswer(text=doc._.corrected_text, corrections=corrections)


def underlying(
    nlp: Language, pipe: PunctuationRestorer, body: EditedBody
) -> UnderlyingAnswer:
    """Edit the underlying trees of a text; its punctuation follows."""
    doc = parse_words(nlp, body.text)
    answers = rephrased_sentences(doc, body.on_trees(), pipe)
    if not answers:
        return UnderlyingAnswer(text=body.text, sentences=[])
    pieces = rephrased_pieces(doc, answers, pipe)
    sentences = [
        UnderlyingSentenceAnswer(slots=_underlying_slots(sentence), **fields)
        for _, sentence, fields in _sentences(answers, pieces, pipe)
    ]
    return UnderlyingAnswer(text=_joined(pieces), sentences=sentences)


def punctuation_names(nlp: Language) -> list[str]:
    """The components for punctuation, of which each request asks only one."""
    return [name for name, pipe in nlp.pipeline if isinstance(pipe, PunctuationPipe)]


def _sentences(
    answers: Sequence[Restoration],
    pieces: Iterable[PieceData],
    pipe: PunctuationRestorer,
) -> Iterator[tuple[Restoration, UnderlyingSentence, dict[str, Any]]]:
    """Each sentence, what is underneath it, and the fields of its `SentenceAnswer`."""
    written = [list(group) for _, group in groupby(pieces, key=lambda piece: piece[2])]
    for answer, own in zip(answers, written, strict=bool(answers)):
        sentence = answered_sentence(answer, pipe.channel)
        fields = {
            "text": _joined(own),
            "pieces": _pieces(own, answer.slots, sentence),
            "words": _words(sentence),
        }
        yield answer, sentence, fields


def _joined(pieces: Iterable[PieceData]) -> str:
    return "".join(f"{text}{space}" for text, space, *_ in pieces)


def _pieces(
    pieces: Sequence[PieceData], slots: Slots, sentence: UnderlyingSentence
) -> list[Piece]:
    """The words and marks of a sentence in order, with who put them there."""
    bearers = [_bearers(sentence, i, len(slot)) for i, slot in enumerate(slots)]
    result = []
    slot = 0
    for text, space, _, token in pieces:
        piece = Piece(text=str(text), space=str(space))
        if token is not None:
            piece.word = slot
            slot += 1
        elif text:
            piece.slot, piece.constituent = slot, bearers[slot].pop(0)
        result.append(piece)
    return result


def _bearers(sentence: UnderlyingSentence, slot: int, n: int) -> list[int | None]:
    """The words whose constituents put the n marks of a slot there."""
    rewriting, bearers = sentence.rewritings[slot], sentence.bearers[slot]
    # The sentence-initial mark comes first, or the dot that a word brings along.
    origins = rewriting.origins[len(rewriting.surface) - n :]
    return [None if k is None else bearers[k] for k in origins]


def _words(sentence: UnderlyingSentence) -> list[Word]:
    tree = sentence.tree
    return [
        Word(
            text=sentence.words[i],
            token=sentence.positions[i],
            head=None if tree.heads[i] == ROOT else tree.heads[i],
            relation=tree.relations[i],
            tag=tree.tags[i],
            start=tree.spans[i][0],
            end=tree.spans[i][1],
            left=list(left),
            right=list(right),
        )
        for i, (left, right) in enumerate(sentence.pairs)
    ]


def _restored_slots(answer: Restoration) -> list[RestoredSlot]:
    return [
        RestoredSlot(
            slot=i,
            marks=list(marks),
            probability=round(p, 4),
            alternatives=[
                Choice(marks=list(other), probability=round(q, 4))
                for other, q in likely
                if other != marks
            ],
        )
        for i, (marks, p, likely) in enumerate(
            zip(answer.slots, answer.confidence, answer.likely, strict=True)
        )
        if marks or p < _DOUBTFUL
    ]


def _underlying_slots(sentence: UnderlyingSentence) -> list[UnderlyingSlot]:
    result = []
    for rewriting, bearers in zip(sentence.rewritings, sentence.bearers, strict=True):
        start = int(rewriting.underlying[:1] == (BOS,))
        absorbed = (k - start for k in sorted(rewriting.absorbers) if k >= start)
        result.append(
            UnderlyingSlot(
                underlying=list(rewriting.underlying[start:]),
                bear=[word for word in bearers[start:] if word is not None],
                absorbed=list(absorbed),
                surface=[mark for mark in rewriting.surface if mark != BOS],
            )
        )
    return result


def _constituents(answer: CorrectedSentence) -> Iterator[tuple[int, tuple[int, int]]]:
    """The tokens of the constituent of each word that explains something."""
    positions = answer.source.positions
    spans = answer.source.tree.projective().spans
    for word, _ in answer.changes.values():
        first, end = spans[word]
        yield positions[word], (positions[first], positions[end - 1] + 1)
