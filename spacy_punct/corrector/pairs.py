"""What comes and goes in pairs: the commas around an insertion, brackets."""

from collections.abc import Sequence
from typing import TypeAlias

from spacy_punct.data.kinds import kind_of, other_edge, set_off_at
from spacy_punct.data.marks import BRACKETS, COMMAS
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.model.mbr import Marginal
from spacy_punct.text.pairs import has_one_more, unpaired

Proposal: TypeAlias = tuple[Puncteme, float]
"""What a slot should have instead, and how probable that is."""

_LEAST_SECOND = 0.05
"""How probable the second comma around an insertion must be once there is a first."""
_LEAST_PARTNER = 0.03
"""How probable the partner of a bracket must be, seen by itself, to be proposed."""
_NO_PARTNER = 0.05
"""The odds that a bracket is meant to have no partner."""
_BRACKETS = {"(": ")", "[": "]", ")": "(", "]": "["}


def pair_up(
    proposals: dict[int, Proposal],
    tree: Tree,
    observed: Slots,
    marginals: Sequence[Marginal],
) -> None:
    """Let the commas around an insertion come and go in pairs.

    New ones are both as probable as the surer one; where the second is too improbable,
    there is no first either. Those that go are both as probable as the less sure one.

    proposals (dict[int, Proposal]): By slot; they are changed.
    tree (Tree): The sentence.
    observed (Slots): What is written.
    marginals (Sequence[Marginal]): What may stand in each slot.
    """
    paired: set[int] = set()
    for i, (new, probability) in sorted(proposals.items()):
        if i in paired or probability < _LEAST_SECOND or {*observed[i], *new} - COMMAS:
            continue
        words = set_off_at(tree, i)
        other = other_edge(tree, words[0], i) if words else None
        if other is None or {*observed[other]} - COMMAS:
            continue
        if not new and observed[other]:
            kept = proposals.get(other, (observed[other], 0.0))
            sure = 0.0 if kept[0] else min(probability, kept[1])
            proposals[i] = new, sure
        elif not (observed[other] or observed[i]):
            if kind_of(tree, i, (), new) != "missing-comma-insertion":
                continue
            second = marginals[other].get(new, 0.0)
            both = max(probability, second) if second > _LEAST_SECOND else 0.0
            if both:
                proposals[other] = new, both
                paired.add(other)
            proposals[i] = new, both


def complete(
    proposals: dict[int, Proposal], observed: Slots, marginals: Sequence[Marginal]
) -> None:
    """Give a bracket that lacks its partner one where that is likeliest.

    Marginals are of each slot by itself, and where the partner should be is often
    uncertain. That there is one, or no bracket, is not: given that, one of the slots
    changes, and the others stay. So the chance of each is its odds over the sum of all.

    proposals (dict[int, Proposal]): By slot; they are changed.
    observed (Slots): What is written.
    marginals (Sequence[Marginal]): What may stand in each slot.
    """
    single = [
        (i, observed[i][k])
        for i, k in unpaired(observed)
        if observed[i][k] in _BRACKETS
    ]
    if len(single) != 1:
        return
    place, mark = single[0]
    partner = _BRACKETS[mark]
    is_opener = mark in BRACKETS
    later = range(place + 1, len(observed))
    odds: dict[int, tuple[float, Puncteme]] = {}
    for i in later if is_opener else range(place):
        kept = marginals[i].get(observed[i], 0.0)
        added = [
            (p / max(kept, p), p, string)
            for string, p in marginals[i].items()
            if has_one_more(string, observed[i], partner)
        ]
        if added:
            ratio, p, string = max(added)
            if p > _LEAST_PARTNER:
                odds[i] = ratio, string
    total = _NO_PARTNER + sum(ratio for ratio, _ in odds.values())
    if odds:
        best = max(odds, key=lambda i: odds[i][0])
        ratio, string = odds[best]
        proposals[best] = string, max(ratio / total, marginals[best][string])


def has_even_brackets(text: str) -> bool:
    """Whether a text has as many closing brackets of each kind as opening ones."""
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]"))
