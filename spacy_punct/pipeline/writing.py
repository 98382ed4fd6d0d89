"""Restored sentences -> the pieces of a text, with what the source had around."""

from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Slots
from spacy_punct.model.inventory import Pair
from spacy_punct.pipeline.restored import PieceData
from spacy_punct.pipeline.trees import ParsedSentence
from spacy_punct.text.casing import Casing, cased
from spacy_punct.text.writer import Gap, Writer


@dataclass(frozen=True)
class RestoredSentence:
    """What the model says of a sentence.

    source (ParsedSentence): The sentence.
    slots (Slots): Its restored punctuation.
    confidence (tuple[float, ...]): The probability of each slot.
    pairs (tuple[Pair, ...]): The underlying pair of each word.
    """

    source: ParsedSentence
    slots: Slots
    confidence: tuple[float, ...]
    pairs: tuple[Pair, ...]


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
    texts = [[doc[i].text for i in s.source.positions] for s in sentences]
    pieces: list[PieceData] = []
    if sentences[0].source.before:
        pieces.append(["", sentences[0].source.before, 0, None])
    for number, (restored, words) in enumerate(
        zip(sentences, cased(texts, casing, language), strict=True)
    ):
        source = restored.source
        is_last = number == len(sentences) - 1
        written = writer.write(
            words,
            restored.slots,
            tags=source.tree.tags,
            gaps=[_gap(restored, i) for i in range(len(source.gaps))],
            glyphs=_glyphs(restored),
            after=source.after if source.after or is_last else writer.space,
        )
        for piece in written:
            token = None if piece.source is None else source.positions[piece.source]
            pieces.append([piece.text, piece.space, number, token])
    return pieces


def without_second_dots(words: Sequence[str], slots: Slots) -> Slots:
    """The slots without the dots that words such as `etc.` bring along."""
    result = list(slots)
    for i, word in enumerate(words, start=1):
        if word.endswith(".") and len(word) > 1:
            kept = tuple(m for m in result[i] if m != ABBREVIATION_DOT)
            result[i] = kept[1:] if kept[:1] == (".",) else kept
    return tuple(result)


def _gap(restored: RestoredSentence, slot: int) -> Gap:
    """The source's white space, if what stands there is what stood there."""
    gap = restored.source.gaps[slot]
    if gap is None or restored.slots[slot] == restored.source.marks[slot]:
        return gap
    if not restored.source.marks[slot]:
        return gap
    breaks = tuple(piece for piece in gap if "\n" in piece)
    return breaks or None


def _glyphs(restored: RestoredSentence) -> dict[tuple[int, int], str]:
    """The source's writing of the marks, in slots that are as they were."""
    same = {
        i for i, slot in enumerate(restored.slots) if slot == restored.source.marks[i]
    }
    return {
        place: text
        for place, text in restored.source.glyphs.items()
        if place[0] in same
    }
