"""Corrected sentences -> the corrections of a text: which characters change, and
which word is behind."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from spacy.tokens import Doc

from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.model.inventory import Pair
from spacy_punct.pipeline.corrected import CorrectionData
from spacy_punct.pipeline.trees import ParsedSentence
from spacy_punct.pipeline.writing import without_second_dots, write_sentence
from spacy_punct.text.writer import Writer


@dataclass(frozen=True)
class CorrectedSentence:
    """What the model says of a sentence.

    source (ParsedSentence): The sentence.
    slots (Slots): Its punctuation, corrected, with the dots of abbreviations.
    shown (Slots): The same without the dots that its words bring along.
    words (dict[int, int]): The slots that change, and the word that explains each.
    probabilities (tuple[float, ...]): Of each slot as it is now.
    """

    source: ParsedSentence
    slots: Slots
    shown: Slots
    words: dict[int, int]
    probabilities: tuple[float, ...]


def shown_slots(source: ParsedSentence, slots: Slots) -> Slots:
    """Corrected marks without the dots that words such as `etc.` bring along.

    source (ParsedSentence): The sentence as it was.
    slots (Slots): Its corrected marks, with the dots of abbreviations.
    RETURNS (Slots): The marks to write; as they were where nothing is corrected.
    """
    return tuple(
        marks if slot == old else new
        for marks, slot, old, new in zip(
            source.marks,
            slots,
            source.tree.observed,
            without_second_dots(source.texts, slots),
            strict=True,
        )
    )


def blamed_word(
    tree: Tree,
    slot: int,
    observed: Puncteme,
    corrected: Puncteme,
    before: Sequence[Pair],
    after: Sequence[Pair],
) -> int:
    """The word whose constituent explains a correction.

    A new mark is explained by a constituent that bears it underneath, at this slot,
    in the best underlying tree of the corrected sentence. If there is none, a mark
    that goes is explained by one that bears it in the best underlying tree of what
    was written. Of several, the largest. Without any, the largest constituent that
    begins or ends here.

    tree (Tree): The words.
    slot (int): Where.
    observed, corrected (Puncteme): What was and what is to be there.
    before, after (Sequence[Pair]): The underlying pairs of both sentences.
    RETURNS (int): The word.
    """
    new, old = _only(corrected, observed), _only(observed, corrected)
    size = [right - left for left, right in tree.spans]
    here = sorted(
        (i for i, span in enumerate(tree.spans) if slot in span), key=lambda i: -size[i]
    )
    for marks, pairs in ((new, after), (old, before)):
        for i in here:
            sides = zip(tree.spans[i], pairs[i], strict=True)
            if any(edge == slot and marks & set(side) for edge, side in sides):
                return i
    return here[0]


def _only(marks: Puncteme, others: Puncteme) -> set[str]:
    """The marks of which there are more than in another string."""
    return {mark for mark in marks if marks.count(mark) > others.count(mark)}


def correction_data(
    doc: Doc, sentences: Iterable[CorrectedSentence], writer: Writer
) -> list[CorrectionData]:
    """The corrections of a Doc, in order.

    doc (Doc): The Doc.
    sentences (Iterable[CorrectedSentence]): Its sentences.
    writer (Writer): How new marks are written.
    RETURNS (list[CorrectionData]): See `Correction`.
    """
    found: list[CorrectionData] = []
    first = 0
    for sentence in sentences:
        if sentence.words:
            gaps = list(_written_gaps(sentence, writer))
            for slot, word in sentence.words.items():
                start, end = _place(doc, sentence.source, slot)
                change = _trimmed(doc.text[start:end], gaps[slot], start)
                found.append(
                    {
                        "slot": first + slot,
                        "before": list(sentence.source.marks[slot]),
                        "after": list(sentence.shown[slot]),
                        "probability": sentence.probabilities[slot],
                        "word": sentence.source.positions[word],
                        **change,
                    }
                )
        first += len(sentence.source.positions)
    return found


def _written_gaps(sentence: CorrectedSentence, writer: Writer) -> Iterator[str]:
    """What is to stand before each word and after the last."""
    source = sentence.source
    gap = ""
    for piece in write_sentence(
        source, sentence.shown, source.texts, writer, _glyphs(sentence)
    ):
        if piece.source is None:
            gap += piece.text + piece.space
        else:
            yield gap
            gap = piece.space
    yield gap


def _glyphs(sentence: CorrectedSentence) -> dict[tuple[int, int], str]:
    """How the marks that stay are written."""
    source = sentence.source
    glyphs = {}
    for i, (before, after) in enumerate(zip(source.marks, sentence.shown, strict=True)):
        matcher = SequenceMatcher(a=before, b=after, autojunk=False)
        for old, new, size in matcher.get_matching_blocks():
            for k in range(size):
                glyphs[i, new + k] = source.glyphs[i, old + k]
    return glyphs


def _place(doc: Doc, source: ParsedSentence, slot: int) -> tuple[int, int]:
    """The characters of a slot: between its words, without what is outside the
    sentence."""
    marks = (source.glyphs[slot, k] for k in range(len(source.marks[slot])))
    size = sum(map(len, (*source.white[slot], *marks)))
    if slot == 0:
        end = doc[source.positions[0]].idx
        return end - size, end
    word = doc[source.positions[slot - 1]]
    start = word.idx + len(word)
    return start, start + size


def _trimmed(old: str, new: str, start: int) -> dict[str, Any]:
    """The characters that change, without those that do not around them."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    limit = min(len(old), len(new)) - head
    while tail < limit and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return {
        "start": start + head,
        "end": start + len(old) - tail,
        "text": new[head : len(new) - tail],
    }
