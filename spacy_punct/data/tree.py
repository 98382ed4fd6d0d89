"""Dependency trees without punctuation, and the slots between their words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from spacy_punct.errors import Errors, PunctError

Puncteme = tuple[str, ...]
"""A string of zero or more marks."""
Slots = tuple[Puncteme, ...]
"""The marks before each word and after the last one: n + 1 strings for n words."""

ROOT = -1


@dataclass(frozen=True)
class Tree:
    """An unpunctuated dependency tree T over n words.

    words, tags, relations (tuple[str, ...]): Form, coarse part of speech and
        dependency relation of each word.
    heads (tuple[int, ...]): 0-based position of each word's head; -1 for the root.
    observed (Slots | None): The marks that a writer put into the slots, right or
        wrong, for models that correct them.
    observed_pairs (tuple[tuple[Puncteme, Puncteme], ...] | None): For each word the
        underlying punctemes (l', r') that are thought to be behind those marks.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    observed: Slots | None = field(default=None, compare=False, repr=False)
    observed_pairs: tuple[tuple[Puncteme, Puncteme], ...] | None = field(
        default=None, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        for name in ("words", "tags", "heads", "relations"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        sizes = [len(self.words), len(self.tags), len(self.heads), len(self.relations)]
        if len(set(sizes)) != 1 or not self.words:
            raise PunctError(Errors.P010.format(sizes=sizes))
        n = len(self.words)
        for i, head in enumerate(self.heads):
            if not ROOT <= head < n or head == i:
                raise PunctError(
                    Errors.P011.format(i=i, word=self.words[i], head=head, n=n)
                )
        roots = [i for i, head in enumerate(self.heads) if head == ROOT]
        if len(roots) > 1:
            raise PunctError(Errors.P012.format(n=len(roots), roots=roots))
        if self.observed is not None:
            object.__setattr__(self, "observed", self.check_slots(self.observed))
        if len(self.top_down) != n:
            i = min(set(range(n)) - set(self.top_down))
            raise PunctError(Errors.P013.format(i=i, word=self.words[i]))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The dependents of each word, from left to right."""
        children: list[list[int]] = [[] for _ in self.heads]
        for i, head in enumerate(self.heads):
            if head != ROOT:
                children[head].append(i)
        return tuple(map(tuple, children))

    @cached_property
    def top_down(self) -> tuple[int, ...]:
        """The words in an order in which each follows its head."""
        order = [i for i, head in enumerate(self.heads) if head == ROOT]
        for i in order:
            order.extend(self.children[i])
        return tuple(order)

    @property
    def root(self) -> int:
        return self.top_down[0]

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The outermost words of each constituent, as a half-open range.

        In a projective tree these are also the slots at its left and right edge.
        """
        left, right = list(range(len(self))), [i + 1 for i in range(len(self))]
        for i in reversed(self.top_down[1:]):
            head = self.heads[i]
            left[head] = min(left[head], left[i])
            right[head] = max(right[head], right[i])
        return tuple(zip(left, right, strict=True))

    @cached_property
    def _gap(self) -> int | None:
        """A word whose constituent is discontinuous, the innermost first."""
        sizes = [1] * len(self)
        for i in reversed(self.top_down):
            left, right = self.spans[i]
            if sizes[i] != right - left:
                return i
            if self.heads[i] != ROOT:
                sizes[self.heads[i]] += sizes[i]
        return None

    @property
    def is_projective(self) -> bool:
        return self._gap is None

    def check_projective(self) -> None:
        if self._gap is not None:
            raise PunctError(
                Errors.P016.format(i=self._gap, word=self.words[self._gap])
            )

    def projective(self) -> "Tree":
        """A projective tree of the same words.

        Arcs that cross are lifted, the shortest first, to the head of their head
        until none cross, as in pseudo-projective parsing (Nivre & Nilsson 2005).
        Relations are kept.
        """
        tree = self
        while not tree.is_projective:
            heads = list(tree.heads)
            word = min(tree._crossing(), key=lambda i: (abs(i - heads[i]), i))
            heads[word] = heads[heads[word]]
            tree = replace(tree, heads=tuple(heads))
        return tree

    def _crossing(self) -> Iterable[int]:
        """Words whose arc spans a word that their head does not dominate."""
        below: list[set[int]] = [{i} for i in range(len(self))]
        for i in reversed(self.top_down[1:]):
            below[self.heads[i]] |= below[i]
        for i, head in enumerate(self.heads):
            between = range(min(i, head) + 1, max(i, head))
            if head != ROOT and any(k not in below[head] for k in between):
                yield i

    def check_slots(
        self, slots: Sequence[Sequence[str] | None]
    ) -> tuple[Puncteme | None, ...]:
        """The slots as tuples, if there is one more of them than words.

        None stands for a slot that was not observed.
        """
        if len(slots) != len(self) + 1:
            raise PunctError(
                Errors.P014.format(
                    words=len(self), expected=len(self) + 1, n=len(slots)
                )
            )
        for i, slot in enumerate(slots):
            # Tuples first: asking for a Sequence takes long.
            if not isinstance(slot, tuple) and (
                isinstance(slot, str) or not isinstance(slot, Sequence | None)
            ):
                raise PunctError(Errors.P019.format(slot=i, value=repr(slot)))
        return tuple(None if slot is None else tuple(slot) for slot in slots)
