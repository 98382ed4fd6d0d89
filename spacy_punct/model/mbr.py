"""The answer of minimum Bayes risk (section 5.1, eq. 9), and its loss."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.model.sampling import Samples, pooled_marginals

Marginal = Mapping[Puncteme, float]


@lru_cache(maxsize=1 << 16)
def edit_distance(first: Puncteme, second: Puncteme) -> int:
    """Levenshtein distance between two strings of marks."""
    if not first or not second:
        return len(first) + len(second)
    previous = list(range(len(second) + 1))
    for i, a in enumerate(first, start=1):
        current = [i]
        for k, b in enumerate(second, start=1):
            substitution = previous[k - 1] + (a != b)
            current.append(min(previous[k] + 1, current[k - 1] + 1, substitution))
        previous = current
    return previous[-1]


def total_edit_distance(first: Slots, second: Slots) -> int:
    """The loss: edit distance summed over slots."""
    return sum(edit_distance(a, b) for a, b in zip(first, second, strict=True))


def risk(surface: Puncteme, marginal: Marginal) -> float:
    """Expected edit distance between a string and a slot's unknown truth."""
    return sum(p * edit_distance(surface, truth) for truth, p in marginal.items())


def best_slot(marginal: Marginal) -> Puncteme:
    """The string of least risk among those with some probability.

    A string with at least half the mass is a median, whatever the metric. Ties go
    to the more probable string, then to the one listed first.
    """
    mode = max(marginal, key=marginal.__getitem__)
    if marginal[mode] >= 0.5:
        return mode
    return min(marginal, key=lambda s: (round(risk(s, marginal), 12), -marginal[s]))


def best_by_slot(marginals: Sequence[Marginal]) -> Slots:
    """MBR slot by slot: exact, because the loss is a sum over slots."""
    return tuple(map(best_slot, marginals))


def best_sequence(samples: Sequence[Samples]) -> Slots:
    """MBR over whole sampled sequences, as in eq. (9).

    With samples for several candidate trees of one sentence they are pooled (the
    paper's footnote on sampling T). By linearity of expectation a sequence's risk
    is the sum of its slots' risks, so this takes O(m) instead of O(m²) time.
    """
    marginals = pooled_marginals([s.marginals() for s in samples])
    risks = [{s: risk(s, marginal) for s in marginal} for marginal in marginals]
    best, least = None, np.inf
    for sample in samples:
        total = np.zeros(len(sample))
        for numbers, slot in zip(sample.surfaces, risks, strict=True):
            if numbers is None:
                total += slot[()]
            else:
                distinct, places = np.unique(numbers, return_inverse=True)
                total += np.array([slot[sample.string(k)] for k in distinct])[places]
        k = int(total.argmin())
        if total[k] < least - 1e-12:
            best, least = sample.slots(k), total[k]
    return best
