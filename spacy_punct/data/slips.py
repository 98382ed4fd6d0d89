"""Punctuation as people get it wrong, made in plain text, where there are no trees.

The errors are those of `spacy_punct.data.corruption`, told from the words around a slot
instead of the tree, at rates of the same order. A writer is careful or careless
throughout a text.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.data.written import STARTERS, WrittenWord, written_slots

_CARE = (0.0, 0.0, 0.0, 0.0, 1.0, 1.5, 2.0, 2.5)
"""What rates are multiplied by: half of the texts are right. The more of a careful
writer's text there is to see, the surer is what is written."""
_LOST_AGAIN = 2.0
"""How much likelier a comma is missing if the one before it in the sentence is: the two
may be those of an insertion."""
_COORDINATORS = frozenset(("and", "but", "or", "so", "yet", "nor"))
_LINKS = frozenset(
    ("that", "because", "which", "who", "when", "if", "while", "although", "where")
)
_STOPS = frozenset(".?!")
_QUOTES = frozenset(("``", "''"))
_BRACKETS = frozenset("()[]")
_TURNED = {"?": ".", ".": "?", "!": "."}
_COMPOUND = re.compile(r"[A-Za-z]{2,}(?:-[A-Za-z]{2,})+")
_NO_CAPITALS, _SMALL_STARTS, _SMALL_I = 0.05, 0.04, 0.04


@dataclass(frozen=True)
class SlippedText:
    """A text as it should be, and as somebody wrote it.

    words (list[str]): The words, with the dots of abbreviations.
    slots (Slots): The marks that should be between them.
    seen (list[str]): The words as they are written; only their case may differ.
    written (Slots): The marks that are written.
    """

    words: list[str]
    slots: Slots
    seen: list[str]
    written: Slots


def with_slips(words: Sequence[WrittenWord], rng: random.Random) -> SlippedText:
    """Write a text as people do.

    words (Sequence[WrittenWord]): The words of a text, with the right marks.
    rng (random.Random): Decides.
    RETURNS (SlippedText): Both. Compounds are cut at their hyphens, which are marks.
    """
    parts = [part for word in words for part in _parts(word)]
    right = written_slots(parts)
    forms = [part.form for part in parts]
    care = rng.choice(_CARE)
    written = list(right)
    is_lost = False
    for i, marks in enumerate(right):
        before = forms[i - 1].lower() if i else ""
        after = forms[i].lower() if i < len(forms) else ""
        point, reach = rng.random(), 0.0
        for rate, slip in _slips(marks, before, after):
            again = _LOST_AGAIN if is_lost and marks == (",",) and not slip else 1.0
            reach += rate * care * again
            if point < reach:
                written[i] = slip
                break
        if "," in marks:
            is_lost = "," not in written[i]
        elif not _STOPS.isdisjoint(marks):
            is_lost = False
    return SlippedText(forms, right, _seen(forms, right, written, rng), tuple(written))


def _parts(word: WrittenWord) -> list[WrittenWord]:
    """A word with the dot of its abbreviation, or the parts of a compound."""
    if word.after[:1] == (ABBREVIATION_DOT,):
        return [replace(word, form=word.form + ".", after=word.after[1:])]
    if not _COMPOUND.fullmatch(word.form):
        return [word]
    first, *inner, last = word.form.split("-")
    return [
        replace(word, form=first, after=("-",)),
        *(WrittenWord(form, (), ("-",)) for form in inner),
        WrittenWord(last, (), word.after),
    ]


def _slips(
    right: Puncteme, before: str, after: str
) -> Iterator[tuple[float, Puncteme]]:
    """What people write in a slot instead of the right marks, and how often.

    right (Puncteme): The right marks.
    before, after (str): The words around; empty for none.
    """
    if not right:
        if before and after:
            is_likely = after in _COORDINATORS or after in _LINKS
            yield (0.025 if is_likely else 0.005), (",",)
            yield (0.006 if is_likely else 0.001), (".",)
        return
    for k, mark in enumerate(right):
        head, tail = right[:k], right[k + 1 :]
        without = (*head, *tail)
        if mark == ",":
            are_numbers = before[-1:].isdigit() and after[:1].isdigit()
            yield (0.1 if are_numbers else 0.3), without
            yield 0.01, (*head, ".", *tail)
            yield 0.005, (*head, ";", *tail)
            if tail[:1] == ("''",):
                yield 0.03, (*head, "''", ",", *tail[1:])
        elif mark in _STOPS:
            is_inner = bool(after) and not tail
            yield (0.1 if is_inner else 0.02), (*head, ",", *tail)
            yield (0.1 if is_inner else 0.15), without
            yield 0.01, (*head, mark, mark, *tail)
            yield (0.15 if mark == "?" else 0.012), (*head, _TURNED[mark], *tail)
            if tail[:1] == ("''",):
                yield 0.06, (*head, "''", mark, *tail[1:])
        elif mark == ";":
            yield 0.2, (*head, ",", *tail)
            yield 0.05, without
        elif mark == ":":
            yield 0.12, (*head, ",", *tail)
            yield 0.06, without
            yield 0.04, (*head, ";", *tail)
        elif mark in _QUOTES:
            yield 0.1, without
        elif mark in _BRACKETS:
            yield 0.15, without
        elif mark == "-":
            yield 0.2, without


def _seen(
    forms: Sequence[str], right: Slots, written: Sequence[Puncteme], rng: random.Random
) -> list[str]:
    """How the words are capitalised by somebody who takes their own marks for right,
    and sometimes forgets."""
    no_capitals = rng.random() < _NO_CAPITALS
    forgets_i = rng.random() < _SMALL_I
    found = []
    for form, slot, own in zip(forms, right, written, strict=False):
        ended, ends = (not _STOPS.isdisjoint(marks) for marks in (slot, own))
        forgets = not ends or rng.random() < _SMALL_STARTS
        if no_capitals or (forgets_i and form == "I"):
            form = form.lower()
        elif ends and not ended:
            form = form[:1].upper() + form[1:]
        elif ended and forgets and form != "I" and form.lower() in STARTERS:
            form = form.lower()
        found.append(form)
    return found
