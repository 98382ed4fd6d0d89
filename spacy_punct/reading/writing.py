"""Restored sentences -> the pieces of a text, with what the source had around."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.inventory import Pair
from spacy_punct.reading.attributes import truecased
from spacy_punct.reading.restored import PieceData
from spacy_punct.reading.sentences import ParsedSentence
from spacy_punct.text.casing import Casing, cased
from spacy_punct.text.writer import Gap, Piece, Writer

Ranked = tuple[tuple[Puncteme, float], ...]
"""What may stand in a slot, with its probability; the most probable first."""


@dataclass(frozen=True)
class RestoredSentence:
    """What the model says of a sentence.

    source (ParsedSentence): The sentence.
    slots (Slots): Its restored punctuation.
    kept (tuple[bool, ...]): Which slots were not restored but are as they were.
    confidence (tuple[float, ...]): The probability of each slot.
    pairs (tuple[Pair, ...]): The underlying pair of each word.
    likely (tuple[Ranked, ...]): For each slot its most probable marks, if they are
        known.
    """

    source: ParsedSentence
    slots: Slots
    kept: tuple[bool, ...]
    confidence: tuple[float, ...]
    pairs: tuple[Pair, ...]
    likely: tuple[Ranked, ...] = ()


def write_pieces(
    doc: Doc, sentences: Sequence[RestoredSentence], writer: Writer, casing: Casing
) -> list[PieceData]:
    """The words and marks of a whole text, as written.

    doc (Doc): The source.
    sentences (Sequence[RestoredSentence]): Its restored sentences.
    writer (Writer), casing (Casing): How to write.
    RETURNS (list[PieceData]): The pieces. If there are no words, the source's tokens.
    """
    if not sentences:
        return [[token.text, token.whitespace_, 0, token.i] for token in doc]
    language = writer.spacing.language
    texts = [s.source.texts for s in sentences]
    forms = None
    if casing in ("auto", "truecase"):
        forms = [[truecased(doc[i]) for i in s.source.positions] for s in sentences]
        if any(form is None for sentence in forms for form in sentence):
            forms = None
    if casing == "truecase" and forms is None:
        raise PunctError(Errors.P075)
    capitals = cased(texts, casing, language, forms)
    pieces: list[PieceData] = []
    if sentences[0].source.before:
        pieces.append(["", sentences[0].source.before, 0, None])
    for number, (restored, words) in enumerate(zip(sentences, capitals, strict=True)):
        source = restored.source
        after = source.after
        if number < len(sentences) - 1 and after in ("", " "):
            after = writer.space
        glyphs = {
            place: text
            for place, text in source.glyphs.items()
            if restored.kept[place[0]]
        }
        written = write_sentence(source, restored.slots, words, writer, glyphs, after)
        for piece in written:
            token = None if piece.source is None else source.positions[piece.source]
            pieces.append([piece.text, piece.space, number, token])
    return pieces


def write_sentence(
    source: ParsedSentence,
    slots: Slots,
    words: Sequence[str],
    writer: Writer,
    glyphs: Mapping[tuple[int, int], str],
    after: str = "",
) -> list[Piece]:
    """The words and marks of a sentence, as written.

    source (ParsedSentence): The sentence as it was.
    slots (Slots): Its marks now.
    words (Sequence[str]): How its words are written.
    writer (Writer): How to write.
    glyphs (Mapping): (slot, position) -> how a mark is written.
    after (str): White space after it.
    RETURNS (list[Piece]): The pieces.
    """
    return writer.write(
        words,
        slots,
        tags=source.tree.tags,
        gaps=[_gap(source, i) for i in range(len(source.white))],
        glyphs=glyphs,
        white={
            i: white
            for i, white in enumerate(source.white)
            if source.marks[i] and slots[i] == source.marks[i]
        },
        after=after,
    )


def joined_slots(sentences: Iterable[Slots]) -> list[Puncteme]:
    """The slots of a text: where two sentences meet, those of both."""
    slots: list[Puncteme] = [()]
    for first, *others in sentences:
        slots[-1] += first
        slots += others
    return slots


def without_second_dots(words: Sequence[str], slots: Slots) -> Slots:
    """The slots without the dots that words such as `etc.` bring along."""
    result = list(slots)
    for i, word in enumerate(words, start=1):
        if word.endswith(".") and len(word) > 1:
            kept = tuple(m for m in result[i] if m != ABBREVIATION_DOT)
            result[i] = kept[1:] if kept[:1] == (".",) else kept
    return tuple(result)


def _gap(source: ParsedSentence, slot: int) -> Gap:
    """The source's white space between two words, unless it is an ordinary space.

    Where marks stood that do not stand there now, only line breaks are kept.
    """
    marks, white = source.marks[slot], source.white[slot]
    if marks:
        return tuple(piece for piece in white if "\n" in piece) or None
    is_inner = 0 < slot < len(source.positions)
    if not is_inner or white == (" ",):
        return None
    return tuple(piece for piece in white if piece)
