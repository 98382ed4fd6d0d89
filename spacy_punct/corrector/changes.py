"""Corrections of a text: which characters change, and which word explains it."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any, NamedTuple

from spacy.tokens import Doc, Token

from spacy_punct.data.kinds import MESSAGES, set_off_at
from spacy_punct.data.marks import ABBREVIATION_DOT, COMMAS, TERMINALS, is_opener
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.model.inventory import Pair
from spacy_punct.reading.pieces import (
    joined_slots,
    without_second_dots,
    write_sentence,
)
from spacy_punct.reading.sentences import BareSentence, bare_sentences
from spacy_punct.text.casing import capitalised, is_pronoun_i
from spacy_punct.text.writer import Quotes, Writer, glyph_table, quotes_of

CorrectionData = dict[str, Any]
"""The fields of a `Correction`, as plain data; the word as its position."""


@dataclass(frozen=True)
class Correction:
    """A correction of one slot, or of a word.

    kind (str): What is wrong: one of `spacy_punct.data.kinds.MESSAGES`.
    slot (int | None): Which: 0 is before the first word, n after the last of n words.
        None if a word is written in another way, or a space.
    before, after (tuple[str, ...]): The marks that are there, and those that should
        be; if there is no slot, what is written there.
    probability (float): Of the latter.
    word (Token): The head of the constituent that explains it: that has the new marks
        at its edge or, if there are none, that would have had the old ones. If there
        is no slot, the word itself, or the one before the space.
    start, end (int): The characters of the text that change. If a sentence begins or
        ends there, its first letter is among them.
    text (str): What is to stand there.
    """

    kind: str
    slot: int | None
    before: Puncteme
    after: Puncteme
    probability: float
    word: Token
    start: int
    end: int
    text: str

    @property
    def message(self) -> str:
        """What is wrong, for a writer."""
        return MESSAGES[self.kind]

    @classmethod
    def from_data(cls, doc: Doc, data: CorrectionData) -> "Correction":
        fields = {**data, "word": doc[data["word"]]}
        fields |= {name: tuple(data[name]) for name in ("before", "after")}
        return cls(**fields)


def applied(text: str, corrections: Iterable[CorrectionData]) -> str:
    """A text with its corrections, and every other character as it was."""
    pieces: list[str] = []
    end = 0
    for correction in corrections:
        pieces += [text[end : correction["start"]], correction["text"]]
        end = correction["end"]
    return "".join([*pieces, text[end:]])


class Change(NamedTuple):
    """Why a slot changes.

    word (int): The word whose constituent explains it.
    kind (str): What is wrong.
    """

    word: int
    kind: str


@dataclass(frozen=True)
class CorrectedSentence:
    """What the model says of a sentence.

    source (BareSentence): The sentence.
    slots (Slots): Its punctuation, corrected, with the dots of abbreviations.
    changes (dict[int, Change]): The slots that change.
    probabilities (tuple[float, ...]): Of each slot as it is now.
    """

    source: BareSentence
    slots: Slots
    changes: dict[int, Change]
    probabilities: tuple[float, ...]

    @cached_property
    def shown(self) -> Slots:
        """The slots without the dots that its words bring along."""
        return shown_slots(self.source, self.slots)

    def without(self, dropped: Container[int]) -> "CorrectedSentence":
        """The sentence with some of the slots left as they were."""
        slots = tuple(
            old if i in dropped else new
            for i, (old, new) in enumerate(
                zip(self.source.observed, self.slots, strict=True)
            )
        )
        kept = {i: change for i, change in self.changes.items() if i not in dropped}
        return replace(self, slots=slots, changes=kept)


def shown_slots(source: BareSentence, slots: Slots) -> Slots:
    """Corrected marks without the dots that words such as `etc.` bring along.

    source (BareSentence): The sentence as it was.
    slots (Slots): Its corrected marks, with the dots of abbreviations.
    RETURNS (Slots): The marks to write; as they were where nothing is corrected.
    """
    return tuple(
        marks if slot == old else new
        for marks, slot, old, new in zip(
            source.marks,
            slots,
            source.observed,
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
    begins or ends here. Commas are explained by constituents that commas set off.

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
    if new | old <= COMMAS:
        here = set_off_at(tree, slot) or here
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
    text = doc.text
    sentences = list(sentences)
    starts = {doc[i].idx for s in sentences for i in s.source.positions}
    forms = _forms_mid_sentence(doc, sentences)
    for sentence in sentences:
        if 0 in sentence.changes:  # what is before its first word is its own
            start = doc[sentence.source.positions[0]].idx
            forms = {k: found for k, found in forms.items() if found[0] != start}
    found: list[CorrectionData] = []
    first = 0
    for sentence in sentences:
        if sentence.changes:
            gaps = list(_written_gaps(sentence, writer))
            for slot, (word, kind) in sentence.changes.items():
                start, end = place(doc, sentence.source, slot)
                old, new = text[start:end], gaps[slot]
                if kind == "missing-hyphen":  # it joins, whatever it does elsewhere
                    new = new.strip()
                if old and not new and end < len(text):
                    left = applied(text[:start], found[-1:])[-1:]
                    ends = left and not (left.isspace() or is_opener(left))
                    if ends and (end in starts or is_opener(text[end])):
                        new = writer.space
                # Marks may look the same: the dot of `etc.` and a full stop.
                if old == new:
                    continue
                before, after = sentence.source.marks[slot], sentence.shown[slot]
                edit = _trimmed(old, new, start)
                letter = _new_letter(before, after, forms.get(first + slot))
                if letter is not None and _is_free(
                    sentence, slot, text[end : letter[0]]
                ):
                    i, new_letter = letter
                    edit["text"] += text[edit["end"] : i] + new_letter
                    edit["end"] = i + 1
                found.append(
                    {
                        "kind": kind,
                        "slot": first + slot,
                        "before": list(before),
                        "after": list(after),
                        "probability": sentence.probabilities[slot],
                        "word": sentence.source.positions[word],
                        **edit,
                    }
                )
        first += len(sentence.source.positions)
    return found


def _forms_mid_sentence(
    doc: Doc, sentences: Iterable[CorrectedSentence]
) -> dict[int, tuple[int, str, str]]:
    """For each slot with a word after it, where that begins, how it is written and how
    it would be amid a sentence."""
    found: dict[int, tuple[int, str, str]] = {}
    for sentence in sentences:
        source = sentence.source
        forms = source.forms or source.texts
        for i, form, word in zip(source.positions, forms, source.texts, strict=True):
            found[len(found)] = (doc[i].idx, word, form)
    return found


def _is_free(sentence: CorrectedSentence, slot: int, between: str) -> bool:
    """Whether nothing else may be corrected between a slot and the word after it: they
    are of one sentence, or only an ordinary space is between the two."""
    inside = slot < len(sentence.slots) - 1
    return inside or (between.isspace() and "\n\n" not in between)


def _new_letter(
    before: Puncteme, after: Puncteme, following: tuple[int, str, str] | None
) -> tuple[int, str] | None:
    """The first letter of the word after a slot and where it stands, if the slot now
    ends a sentence and did not, or the other way round."""
    if following is None:
        return None
    ended, ends = (not TERMINALS.isdisjoint(marks) for marks in (before, after))
    start, word, form = following
    if ended == ends or (ended and is_pronoun_i(word, "en")):
        return None
    new = capitalised(word) if ends else form
    return (start, new[0]) if new[0] != word[0] else None


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
        for new, old in _kept(before, after).items():
            glyphs[i, new] = source.glyphs[i, old]
    return glyphs


def _kept(before: Puncteme, after: Puncteme) -> dict[int, int]:
    """The marks that stay: where they are in the new string -> and in the old."""
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    return {
        new + k: old + k
        for old, new, size in matcher.get_matching_blocks()
        for k in range(size)
    }


def place(doc: Doc, source: BareSentence, slot: int) -> tuple[int, int]:
    """The characters of a slot: between its words, without what is outside the
    sentence.

    doc (Doc), source (BareSentence): The text, and a sentence of it.
    slot (int): Which slot of the sentence.
    RETURNS (tuple[int, int]): Where it starts and ends in the text.
    """
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


class WrittenMarks(NamedTuple):
    """A Doc and its correction, as tokens.

    words (list[str]): The words as they are in the text.
    before, after (Slots): The marks between them as they are written; the dot of an
        abbreviation that lacked it is the mark for that.
    """

    words: list[str]
    before: Slots
    after: Slots


def written_marks(
    doc: Doc, corrections: Sequence[Correction], quotes: Quotes | None = None
) -> WrittenMarks:
    """The words and marks of a corrected Doc, for formats that are made of tokens.

    doc (Doc): The Doc.
    corrections (Sequence[Correction]): Those of its corrections to be made, in order;
        those of words are not.
    quotes (Quotes | None): The corrector's setting.
    RETURNS (WrittenMarks): The marks. Without words, all that is written is before
        the first.
    """
    sentences = bare_sentences(doc, "a corrector")
    if not sentences:
        marks = tuple(token.text for token in doc if not token.is_space)
        return WrittenMarks([], (marks,), (marks,))
    table = glyph_table(doc.vocab.lang, quotes or quotes_of(doc.text))
    del table[ABBREVIATION_DOT]
    waiting = [c for c in reversed(corrections) if c.slot is not None]
    before, after = [], []
    first = 0
    for source in sentences:
        old_slots, new_slots = [], []
        for slot, marks in enumerate(source.marks):
            written = tuple(source.glyphs[slot, k] for k in range(len(marks)))
            old_slots.append(written)
            if waiting and _is_here(waiting[-1], doc, source, slot, first):
                new = waiting.pop().after
                kept = _kept(marks, new)
                written = tuple(
                    written[kept[k]] if k in kept else table.get(mark, mark)
                    for k, mark in enumerate(new)
                )
            new_slots.append(written)
        before.append(tuple(old_slots))
        after.append(tuple(new_slots))
        first += len(source.positions)
    words = [text for source in sentences for text in source.texts]
    return WrittenMarks(words, *(tuple(joined_slots(x)) for x in (before, after)))


def _is_here(
    correction: Correction, doc: Doc, source: BareSentence, slot: int, first: int
) -> bool:
    """Whether a correction is of a sentence's slot.

    Where two sentences meet, both have a slot of the same number.
    """
    if correction.slot != first + slot or correction.before != source.marks[slot]:
        return False
    start, end = place(doc, source, slot)
    return start <= correction.start <= end
