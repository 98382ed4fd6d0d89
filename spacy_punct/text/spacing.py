"""Where spaces stand around marks: by rule, and better where a treebank tells."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import ABBREVIATION_DOT, is_opener
from spacy_punct.data.tree import Puncteme

NO_SPACES = frozenset({"zh", "ja", "th", "lo", "my", "km", "bo", "yue", "lzh"})
"""Languages that write words together."""

_OPENERS = frozenset({"``", "`", "¿", "¡", "<", "<<", "#", "„", "‚"})
_TIGHT = frozenset({"-", "/", "\\", "‐", "‑", "_", "~"})
_LOOSE = frozenset({"=", "+", "|", "*", "•", "·", "--", "---", "==", ">", ">>"})
_SPACED_BEFORE = {"fr": frozenset("?!:;»"), "nb": frozenset("–")}
_SPACED_AFTER = {"fr": frozenset("«")}
_RUN = frozenset("?!")
"""Marks that stand together in every language."""
_NO_TAG = ""

Place = tuple[Puncteme, int]
"""A slot's marks, and how many of them stand before the place."""
Context = tuple[str, str]
"""The tags of the words around a slot; empty at the ends of a sentence."""


@dataclass(frozen=True)
class Spacing:
    """How likely a space is at each place of a slot.

    language (str): A two-letter code.
    learned (dict[Place, dict[Context | None, float]]): What a treebank says: for
        the marks in the slot, and for those between words of certain tags. Only
        what the next coarser entry, or the rule, would get wrong is kept.
    """

    language: str
    learned: dict[Place, dict[Context | None, float]] = field(default_factory=dict)

    def places(self, slot: Puncteme, context: Context) -> list[float]:
        """The probability of a space before each mark of a slot and after the last.

        slot (Puncteme): The marks.
        context (Context): The tags of the words around.
        RETURNS (list[float]): One more than there are marks.
        """
        return [self._place(slot, k, context) for k in range(len(slot) + 1)]

    def _place(self, slot: Puncteme, k: int, context: Context) -> float:
        known = self.learned.get((slot, k), {})
        if context in known:
            return known[context]
        if None in known:
            return known[None]
        return 0.9 if self._by_rule(slot, k) else 0.1

    def _by_rule(self, slot: Puncteme, k: int) -> bool:
        """A space wants both its neighbours to allow it."""
        if self.language in NO_SPACES:
            return False
        if 0 < k < len(slot) and _RUN.issuperset(slot[k - 1 : k + 1]):
            return False
        left_allows = k == 0 or self._allows_after(slot[k - 1])
        right_allows = k == len(slot) or self._allows_before(slot[k])
        return left_allows and right_allows

    def _allows_before(self, mark: str) -> bool:
        if mark in _SPACED_BEFORE.get(self.language, ()):
            return True
        return mark in _OPENERS or mark in _LOOSE or _category(mark) in ("open", "dash")

    def to_data(self) -> dict[str, Any]:
        """As lists, strings and numbers."""
        learned = [
            [list(slot), k, [[context, p] for context, p in table.items()]]
            for (slot, k), table in self.learned.items()
        ]
        return {"language": self.language, "learned": learned}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Spacing":
        """What `to_data` gave."""
        learned = {
            (tuple(slot), k): {
                None if context is None else tuple(context): p for context, p in table
            }
            for slot, k, table in data["learned"]
        }
        return cls(data["language"], learned)

    def _allows_after(self, mark: str) -> bool:
        if mark in _SPACED_AFTER.get(self.language, ()):
            return True
        return not (mark in _OPENERS or mark in _TIGHT or _category(mark) == "open")

    @classmethod
    def learn(
        cls,
        language: str,
        examples: Iterable[PunctuatedTree],
        *,
        min_count: int = 3,
        strength: float = 4.0,
    ) -> "Spacing":
        """Count spaces around marks in a treebank.

        language (str): A two-letter code.
        examples (Iterable[PunctuatedTree]): Sentences; only those with `spaces`
            count, and if they have a space after every token, as treebanks that
            do not record spaces seem to, there is nothing to learn.
        min_count (int): How often a place must have been seen.
        strength (float): Weight of the coarser estimate, in occurrences.
        RETURNS (Spacing): Learned; by rule alone if nothing could be.
        """
        by_rule = cls(language)
        counts: dict[Place, Counter[tuple[Context | None, bool]]] = defaultdict(Counter)
        recorded = False
        for example in examples:
            for slot, spaces, context in _observed(example):
                # No space can precede the sentence, or an abbreviation's dot.
                first = not context[0] or slot[0] == ABBREVIATION_DOT
                recorded = recorded or not all(spaces[first:])
                for k, space in enumerate(spaces):
                    # Nothing follows the last mark of a sentence, or precedes the
                    # first.
                    if (context[0] or k) and (context[1] or k < len(slot)):
                        counts[slot, k][context, space] += 1
                        counts[slot, k][None, space] += 1
        learned: dict[Place, dict[Context | None, float]] = {}
        for place, seen in counts.items() if recorded else ():
            parent = by_rule._place(*place, ("", ""))
            table: dict[Context | None, float] = {}
            known: list[Context | None] = [None, *(context for context, _ in seen)]
            for place_context in dict.fromkeys(known):
                yes, no = seen[place_context, True], seen[place_context, False]
                if yes + no < min_count:
                    continue
                p = (yes + strength * parent) / (yes + no + strength)
                if (p > 0.5) != (parent > 0.5):
                    table[place_context] = round(p, 3)
                if place_context is None:
                    parent = p
            if table:
                learned[place] = table
        return cls(language, learned)


def _observed(
    example: PunctuatedTree,
) -> Iterator[tuple[Puncteme, Sequence[bool], Context]]:
    """The slots with marks whose spaces are known, and the tags around them."""
    tags = (_NO_TAG, *example.tree.tags, _NO_TAG)
    for i, spaces in enumerate(example.spaces):
        if example.slots[i]:
            yield example.slots[i], spaces, (tags[i], tags[i + 1])


@cache
def _category(mark: str) -> str:
    """Whether a mark opens, is a dash, or belongs to the word before it."""
    if is_opener(mark):
        return "open"
    is_dash = all(unicodedata.category(char) == "Pd" for char in mark)
    if is_dash and mark not in _TIGHT:
        return "dash"
    return "close"
