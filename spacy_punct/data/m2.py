"""The M2 format of corrected text, as in the CoNLL-2014 shared task and ERRANT."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spacy_punct.data.edits import edits
from spacy_punct.data.marks import ABBREVIATION_DOT, SPECIAL_GLYPHS
from spacy_punct.data.tree import Puncteme, Slots

_NONE = "-NONE-"
_NOOP = "noop"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A correction by an annotator: one A line.

    start, end (int): The tokens that are replaced, as a half-open range.
    kind (str): The error's type, such as M:PUNCT.
    corrections (tuple[str, ...]): What may stand there instead, tokens apart by a
        space; an empty string if nothing.
    annotator (int): Who says so.
    """

    start: int
    end: int
    kind: str
    corrections: tuple[str, ...]
    annotator: int = 0


@dataclass(frozen=True, slots=True)
class M2Sentence:
    """A sentence and its corrections: one block of lines.

    tokens (tuple[str, ...]): The sentence before correction.
    annotations (tuple[Annotation, ...]): What the annotators change.
    annotators (tuple[int, ...]): All of them, those who change nothing too.
    """

    tokens: tuple[str, ...]
    annotations: tuple[Annotation, ...] = ()
    annotators: tuple[int, ...] = (0,)


def m2_sentence(
    words: Sequence[str], observed: Slots, references: Sequence[Slots]
) -> M2Sentence:
    """A sentence with observed marks and its corrections by one or more annotators.

    Marks are tokens of their own, but the dot of an abbreviation is part of its word.

    words (Sequence[str]): The words.
    observed (Slots): The marks before correction.
    references (Sequence[Slots]): The right marks, one for each annotator.
    RETURNS (M2Sentence): The edits are those of `edits`; where only one has an
        abbreviation dot, the word is misspelt.
    """
    tokens, starts = _tokens(words, observed)
    annotations = []
    for annotator, reference in enumerate(references):
        for slot, (before, after) in enumerate(zip(observed, reference, strict=True)):
            start = starts[slot]
            if slot and _spelling(words[slot - 1], after) != tokens[start - 1]:
                correction = _spelling(words[slot - 1], after)
                annotations.append(
                    Annotation(start - 1, start, "R:SPELL", (correction,), annotator)
                )
            for edit in edits(_marks(before), _marks(after)):
                missing, more = edit.start == edit.end, edit.replacement
                kind = "M:PUNCT" if missing else "R:PUNCT" if more else "U:PUNCT"
                annotations.append(
                    Annotation(
                        start + edit.start,
                        start + edit.end,
                        kind,
                        (" ".join(edit.replacement),),
                        annotator,
                    )
                )
    return M2Sentence(tuple(tokens), tuple(annotations), tuple(range(len(references))))


def _tokens(words: Sequence[str], slots: Slots) -> tuple[list[str], list[int]]:
    """The tokens, and where the marks of each slot start among them."""
    tokens: list[str] = []
    starts = []
    for i, slot in enumerate(slots):
        if i:
            tokens.append(_spelling(words[i - 1], slot))
        starts.append(len(tokens))
        tokens += _marks(slot)
    return tokens, starts


def _spelling(word: str, slot: Puncteme) -> str:
    dotted = ABBREVIATION_DOT in slot
    return word + SPECIAL_GLYPHS[ABBREVIATION_DOT] if dotted else word


def _marks(slot: Puncteme) -> Puncteme:
    return tuple(mark for mark in slot if mark != ABBREVIATION_DOT)


def m2_block(sentence: M2Sentence) -> str:
    """The lines of a sentence and its corrections; an empty one parts two blocks."""
    return "".join(f"{line}\n" for line in _lines(sentence))


def _lines(sentence: M2Sentence) -> Iterator[str]:
    yield " ".join(("S", *sentence.tokens))
    for annotator in sentence.annotators:
        own = [a for a in sentence.annotations if a.annotator == annotator]
        for a in own or [Annotation(-1, -1, _NOOP, (_NONE,), annotator)]:
            corrections = "||".join(a.corrections)
            fields = (a.kind, corrections, "REQUIRED", _NONE, str(annotator))
            yield "|||".join((f"A {a.start} {a.end}", *fields))
