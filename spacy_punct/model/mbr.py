"""The answer of minimum Bayes risk (section 6.1, eq. 10), and its loss."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from operator import itemgetter

from spacy_punct.data.marks import FULL_STOPS, TERMINALS
from spacy_punct.data.tree import Puncteme, Slots

Marginal = Mapping[Puncteme, float]

_TRIED = 48
"""Strings whose risk is computed for a slot at most."""


@lru_cache(maxsize=1 << 16)
def edit_distance(written: Puncteme, truth: Puncteme, missing: float = 1.0) -> float:
    """Levenshtein distance between two strings of marks.

    written (Puncteme): What is written.
    truth (Puncteme): What should be.
    missing (float): What a mark costs that is not written but should be. One that
        should not be costs 1, and one in place of another the average of the two. In
        the paper all cost 1.
    RETURNS (float): The least cost.
    """
    wrong = (1 + missing) / 2
    previous = [missing * k for k in range(len(truth) + 1)]
    for i, a in enumerate(written, start=1):
        current = [float(i)]
        for k, b in enumerate(truth, start=1):
            substitution = previous[k - 1] + wrong * (a != b)
            current.append(min(previous[k] + 1, current[k - 1] + missing, substitution))
        previous = current
    return previous[-1]


def total_edit_distance(first: Slots, second: Slots) -> int:
    """The loss: edit distance summed over slots."""
    return round(sum(edit_distance(a, b) for a, b in zip(first, second, strict=True)))


def pooled(first: Marginal, second: Marginal, share: float) -> dict[Puncteme, float]:
    """Two opinions of a slot as one: a linear pool, in which the second has a share."""
    strings = dict.fromkeys([*first, *second])
    return {
        s: (1 - share) * first.get(s, 0.0) + share * second.get(s, 0.0) for s in strings
    }


def tempered(marginal: Marginal, temperature: float) -> Marginal:
    """A marginal whose probabilities are raised to the power of 1 / temperature.

    What is missing to one counts as one more string.
    """
    if temperature == 1:
        return marginal
    others = max(0.0, 1.0 - sum(marginal.values()))
    powers = {s: p ** (1 / temperature) for s, p in marginal.items()}
    total = sum(powers.values()) + others ** (1 / temperature)
    return {s: p / total for s, p in powers.items()}


def best_slot(marginal: Marginal, missing: float = 1.0) -> Puncteme:
    """The string of least risk among the likeliest of a slot.

    By the triangle inequality, no string beats one that has half of the probability.
    (If marks that are missing cost more than others, it must have more than half.)

    Otherwise: strings are at least as many edits apart as their lengths differ, and
    one edit if they differ at all. That bounds a string's risk from below. We go
    through the strings by that bound and raise it, one possible truth after the
    other, to the risk itself, unless it passes the least risk found before. Ties go
    to the lower bound, which among strings of one length means the more probable.
    At most 48 strings are tried: where more could still have less risk, as under a
    hardly trained channel, the answer is the best of those.

    marginal (Marginal): What may stand in the slot, and how probably.
    missing (float): See `edit_distance`.
    RETURNS (Puncteme): The string.
    """
    top = max(marginal, key=marginal.__getitem__)
    dearest = max(missing, 1 / missing)
    if marginal[top] >= dearest / (1 + dearest):
        return top
    wrong = (1 + missing) / 2

    def apart(written: int, true: int) -> float:
        return missing * (true - written) if true > written else written - true

    by_length: dict[int, float] = defaultdict(float)
    for surface, probability in marginal.items():
        by_length[len(surface)] += probability
    bound_at = {
        n: sum(p * apart(n, k) for k, p in by_length.items()) + wrong * by_length[n]
        for n in by_length
    }
    bounds = {s: bound_at[len(s)] - wrong * p for s, p in marginal.items()}
    truths = sorted(marginal.items(), key=lambda item: -item[1])
    best: Puncteme = ()
    least = float("inf")
    for surface in sorted(bounds, key=bounds.__getitem__)[:_TRIED]:
        expected = bounds[surface]
        if expected >= least:
            break
        for truth, probability in truths:
            bound = apart(len(surface), len(truth)) or wrong * (surface != truth)
            cost = edit_distance(surface, truth, missing)
            expected += probability * (cost - bound)
            if expected >= least:
                break
        if expected < least - 1e-12:
            best, least = surface, expected
    return best


def restricted(
    marginals: Iterable[Marginal], allowed: Set[str]
) -> list[dict[Puncteme, float]]:
    """The slots' marginals when only some marks may be written.

    A mark that may not is left out, except that what ends a sentence becomes a full
    stop, if that is allowed.

    marginals (Iterable[Marginal]): A marginal for each slot.
    allowed (Set[str]): The marks that may be written.
    RETURNS (list[dict[Puncteme, float]]): The marginals of what is written instead,
        the most probable first.
    """
    marks = frozenset(allowed)
    found = []
    for marginal in marginals:
        result = marginal
        if not all(map(marks.issuperset, marginal)):
            result = defaultdict(float)
            for surface, probability in marginal.items():
                result[_written(surface, marks)] += probability
        found.append(dict(sorted(result.items(), key=itemgetter(1), reverse=True)))
    return found


@lru_cache(maxsize=1 << 16)
def _written(surface: Puncteme, allowed: frozenset[str]) -> Puncteme:
    """What is written of a string when only some marks may be."""
    stop = next((mark for mark in FULL_STOPS if mark in allowed), None)
    written: list[str] = []
    for mark in surface:
        if mark in allowed:
            written.append(mark)
        elif stop and mark in TERMINALS and written[-1:] != [stop]:
            written.append(stop)
    return tuple(written)


def best_by_slot(marginals: Sequence[Marginal], missing: float = 1.0) -> Slots:
    """MBR slot by slot, since the loss is a sum over slots; see `best_slot`."""
    return tuple(best_slot(marginal, missing) for marginal in marginals)
