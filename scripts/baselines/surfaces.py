"""The strings of marks that a tagger chooses among, and those it has to spell."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

import numpy as np

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.data.treebank import count_marks
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.inventory import MIN_MARK_COUNT, known_marks, with_unknown

OTHER = 0
"""The class that all rare and unseen strings share."""
_SPELLED = 0.5
"""Share of that class for strings that are spelled mark by mark."""
_LEAST = 1e-6
"""Less probable strings are left out of what may stand in a slot."""


@dataclass(frozen=True)
class Surfaces:
    """Surface strings as classes: each frequent one has its own.

    Any other string belongs to the class OTHER. Given that class, its probability is
    its share among the rare strings of the training data, mixed with that of being
    spelled: a geometric length, and marks drawn one by one. So every string of known
    marks has a probability, and those of all strings sum to one.

    marks (Mapping[str, int]): The known marks and their counts. UNK is one of them.
    frequent, rare (Mapping[Puncteme, int]): Strings with and without a class of their
        own, and their counts.
    final (Puncteme): What most sentences end in; empty if they have no marks there.
    """

    marks: Mapping[str, int]
    frequent: Mapping[Puncteme, int]
    rare: Mapping[Puncteme, int]
    final: Puncteme

    @classmethod
    def estimate(
        cls,
        examples: Sequence[PunctuatedTree],
        *,
        min_mark_count: int = MIN_MARK_COUNT,
        min_count: int = 3,
    ) -> "Surfaces":
        """Read the strings off training data.

        examples (Sequence[PunctuatedTree]): Training data; the trees are not read.
        min_mark_count (int): Marks seen less often become UNK, as in an `Inventory`.
        min_count (int): Strings seen less often share the class OTHER.
        RETURNS (Surfaces): The strings.
        """
        if not examples:
            raise PunctError(Errors.P020)
        known = known_marks(count_marks(examples), min_mark_count)
        slots = [with_unknown(example.slots, known) for example in examples]
        strings = Counter(string for sentence in slots for string in sentence)
        counts = Counter(mark for sentence in slots for s in sentence for mark in s)
        ends = Counter(sentence[-1] for sentence in slots if sentence[-1])
        return cls(
            {mark: counts[mark] for mark in known},
            {s: n for s, n in strings.most_common() if n >= min_count},
            {s: n for s, n in strings.most_common() if n < min_count},
            ends.most_common(1)[0][0] if ends else (),
        )

    def __len__(self) -> int:
        """The number of classes."""
        return len(self.frequent) + 1

    def known(self, slots: Slots) -> Slots:
        """The slots with unknown marks replaced by UNK."""
        return with_unknown(slots, self.marks)

    def classes(self, slots: Slots, observed: Slots | None = None) -> list[int]:
        """The class of each of a sentence's strings, unknown marks read as UNK.

        slots (Slots): The strings.
        observed (Slots | None): What a writer put there. A string that is as observed
            and has no class of its own gets one more class, the number of which is
            that of all others: any string can be left as it is.
        RETURNS (list[int]): The classes.
        """
        classes = [self._index.get(string, OTHER) for string in self.known(slots)]
        if observed is None:
            return classes
        return [
            len(self) if string == seen and string not in self.frequent else k
            for string, seen, k in zip(slots, observed, classes, strict=True)
        ]

    def describe(self, observed: Slots) -> list[tuple[int, int, int]]:
        """What is read of observed strings: class, first and last mark.

        Zeros are left for where nothing is observed; empty strings have a class.
        """
        numbers = self._mark_numbers
        return [
            (k, numbers[string[0]], numbers[string[-1]]) if string else (k, 0, 0)
            for k, string in zip(
                self.classes(observed, observed), self.known(observed), strict=True
            )
        ]

    @property
    def observed_sizes(self) -> tuple[int, int, int]:
        """How many numbers each column of `describe` needs."""
        return len(self) + 1, len(self.marks) + 1, len(self.marks) + 1

    def log_prob_of_others(self, slots: Slots, observed: Slots | None = None) -> float:
        """log p(strings | classes): 0 unless some have no class of their own."""
        classes = self.classes(slots, observed)
        strings = zip(self.known(slots), classes, strict=True)
        others = [self._prob_in_other(s) for s, k in strings if k == OTHER]
        return float(np.log(others).sum())

    def marginal(self, probs: np.ndarray) -> dict[Puncteme, float]:
        """The probability of each string of the training data, given it is one.

        probs (np.ndarray): Of each class.
        RETURNS (dict[Puncteme, float]): They sum to one, the most probable first.
        """
        spread = np.concatenate([probs[1:], probs[OTHER] * self._rare_probs])
        order = np.argsort(-spread, kind="stable")
        order = order[: max(int((spread >= _LEAST).sum()), 1)]
        values = spread[order] / spread[order].sum()
        return {self._seen[k]: float(p) for k, p in zip(order, values, strict=True)}

    def marginal_given(
        self, probs: np.ndarray, observed: Puncteme
    ) -> dict[Puncteme, float]:
        """The same as `marginal`, if the last class is that of the observed string."""
        marginal, kept = self.marginal(probs[:-1]), float(probs[-1])
        if kept < _LEAST:
            return marginal
        mixed = {string: (1 - kept) * p for string, p in marginal.items()}
        mixed[observed] = mixed.get(observed, 0.0) + kept
        return dict(sorted(mixed.items(), key=itemgetter(1), reverse=True))

    @cached_property
    def _mark_numbers(self) -> dict[str, int]:
        return {mark: k for k, mark in enumerate(self.marks, start=1)}

    @cached_property
    def _index(self) -> dict[Puncteme, int]:
        return {string: k for k, string in enumerate(self.frequent, start=OTHER + 1)}

    @cached_property
    def _seen(self) -> tuple[Puncteme, ...]:
        return (*self.frequent, *self.rare)

    @cached_property
    def _rare_probs(self) -> np.ndarray:
        return np.array([self._prob_in_other(string) for string in self.rare])

    @cached_property
    def _growth(self) -> float:
        """The probability that a spelled string has one more mark."""
        n_marks = sum(n * len(string) for string, n in self.rare.items())
        return (n_marks + 1) / (n_marks + sum(self.rare.values()) + 2)

    @cached_property
    def _spelled_frequent(self) -> float:
        """Mass that spelling would waste on strings that have a class."""
        return sum(map(self._prob_of_spelling, self.frequent))

    def _prob_of_spelling(self, string: Puncteme) -> float:
        total = sum(self.marks.values()) + len(self.marks)
        marks = [self._growth * (self.marks[mark] + 1) / total for mark in string]
        return (1 - self._growth) * float(np.prod(marks))

    def _prob_in_other(self, string: Puncteme) -> float:
        spelled = self._prob_of_spelling(string) / (1 - self._spelled_frequent)
        if not self.rare:
            return spelled
        share = self.rare.get(string, 0) / sum(self.rare.values())
        return (1 - _SPELLED) * share + _SPELLED * spelled
