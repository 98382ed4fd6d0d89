"""What should stand in slots, by Bayes' rule: what a tagger expects of the words, times
how often people then write what is written."""

from dataclasses import replace

from spacy_punct.data.corruption import RATES
from spacy_punct.data.kinds import kind_of
from spacy_punct.data.marks import (
    ABBREVIATION_DOT,
    HYPHENS,
    is_dash,
    is_ellipsis,
    n_unmatched,
)
from spacy_punct.data.tree import Puncteme
from spacy_punct.data.written import DASH, ELLIPSIS
from spacy_punct.model.inventory import Inventory
from spacy_punct.reading.sentences import BareSentence, Guess

_LEAST = 1e-3
"""The probability of what is written if the tagger does not mention it."""
_RARE = 1e-4
"""How often people make the errors that nobody has counted."""
_KEPT = 0.5
"""The weight of what is written against these rates, chosen on corrected text."""
_PAIRS = ("unpaired-quote", "unpaired-bracket")


def with_expected(sentence: BareSentence, inventory: Inventory) -> BareSentence:
    """A sentence whose guesses have regard to what is written.

    Nothing is expected where words are joined by a hyphen, which the tagger does not
    know, and no other brackets or quotes where each has its partner.

    sentence (BareSentence): With the guesses of a tagger that reads words alone.
    inventory (Inventory): The marks that are known.
    RETURNS (BareSentence): With the probability of each string given words and marks;
        the same if there are no guesses.
    """
    if sentence.guesses is None:
        return sentence
    tree = sentence.tree.projective()
    known = inventory.known(sentence.observed)
    rates = RATES | dict.fromkeys(_PAIRS, 0.0) if _is_paired(sentence) else RATES
    guesses = []
    for slot, guess in enumerate(sentence.guesses):
        written = tuple(map(_plain, sentence.marks[slot]))
        found: Guess = {known[slot]: _KEPT * guess.get(written, _LEAST)}
        if HYPHENS.isdisjoint(sentence.marks[slot]):
            for right, probability in guess.items():
                if right != written:
                    rate = rates.get(kind_of(tree, slot, written, right), _RARE)
                    found[_dotted(right, known[slot])] = probability * rate
        total = sum(found.values())
        guesses.append({marks: p / total for marks, p in found.items()})
    return replace(sentence, guesses=tuple(guesses))


def in_marks_of(sentence: BareSentence, inventory: Inventory) -> BareSentence:
    """A sentence whose guesses are in the notation of a model.

    sentence (BareSentence): With the guesses of a `mark_reader`.
    inventory (Inventory): The marks that are known.
    RETURNS (BareSentence): The same if there are no guesses.
    """
    if sentence.guesses is None:
        return sentence
    known = inventory.known(sentence.observed)
    guesses: list[Guess] = [
        {
            own if marks == written else _dotted(marks, own): probability
            for marks, probability in guess.items()
        }
        for written, own, guess in zip(
            sentence.marks, known, sentence.guesses, strict=True
        )
    ]
    return replace(sentence, guesses=tuple(guesses))


def _is_paired(sentence: BareSentence) -> bool:
    return n_unmatched([sentence.marks]) == 0


def _plain(mark: str) -> str:
    """A mark as the tagger calls it: it has one kind of dash and one of ellipsis."""
    if is_ellipsis(mark):
        return ELLIPSIS
    return DASH if is_dash(mark) else mark


def _dotted(right: Puncteme, known: Puncteme) -> Puncteme:
    return (*known[:1], *right) if known[:1] == (ABBREVIATION_DOT,) else right
