"""Underlying trees: words with the punctemes of their constituents. They are recovered
from a punctuated sentence, edited, and turned into a sentence again."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from spacy_punct.data.marks import ABBREVIATION_DOT, UNK
from spacy_punct.data.tree import ROOT, Puncteme, Slots, Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.channel import Channel
from spacy_punct.model.inventory import Inventory, Pair, with_own_marks
from spacy_punct.model.rewrites import underlying_slots
from spacy_punct.text.pairs import PAIRED

Surfaces = dict[Puncteme, float]
"""Surface string -> probability."""

_LONGEST = 8
"""The number of ways to rewrite a string grows exponentially with its length."""


@dataclass(frozen=True)
class UnderlyingTree:
    """An underlying tree T'.

    The dot of an abbreviation is spelling: it is part of its word, not a puncteme.

    tree (Tree): The words, projective; abbreviations with their dots.
    pairs (tuple[Pair, ...]): The left and right puncteme of each word's constituent.
    sources (tuple[int, ...]): A number for each word, which it keeps when it moves; by
        default its position.
    """

    tree: Tree
    pairs: tuple[Pair, ...]
    sources: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.tree.check_projective()
        sources = tuple(self.sources or range(len(self.tree)))
        object.__setattr__(self, "sources", sources)
        sizes = (len(self.tree), len(self.pairs), len(sources), len(set(sources)))
        if len(set(sizes)) != 1:
            raise PunctError(Errors.P140.format(sizes=sizes))

    def __len__(self) -> int:
        return len(self.tree)

    @property
    def words(self) -> tuple[str, ...]:
        return self.tree.words

    @property
    def strings(self) -> Slots:
        """The underlying string of each slot, ^ and abbreviation dots included."""
        dots = [(), *(_dot(word) for word in self.words)]
        slots = underlying_slots(self.tree, self.pairs)
        return tuple(dot + slot for dot, slot in zip(dots, slots, strict=True))

    def items(self, i: int) -> tuple[int, ...]:
        """The word i and its dependents, from left to right."""
        return tuple(sorted((i, *self.tree.children[i])))

    def rearranged(
        self, items: Callable[[int], Sequence[int]], root: int | None = None
    ) -> "UnderlyingTree":
        """The tree in another order, or part of it.

        items (Callable): Word -> itself and those of its dependents that are to stay,
            as they are to stand.
        root (int | None): The word to begin with; None for the root. Another one takes
            the root's relation and punctemes: it is the sentence now.
        RETURNS (UnderlyingTree): The words that were reached.
        """
        top = self.tree.root if root is None else root
        order = linear(top, items)
        place = {word: k for k, word in enumerate(order)}
        own = {word: word for word in order} | {top: self.tree.root}
        tree = Tree(
            words=tuple(self.words[i] for i in order),
            tags=tuple(self.tree.tags[i] for i in order),
            heads=tuple(ROOT if i == top else place[self.tree.heads[i]] for i in order),
            relations=tuple(self.tree.relations[own[i]] for i in order),
        )
        return replace(
            self,
            tree=tree,
            pairs=tuple(self.pairs[own[i]] for i in order),
            sources=tuple(self.sources[i] for i in order),
        )


def linear(top: int, items: Callable[[int], Sequence[int]]) -> list[int]:
    """The words of a constituent from left to right.

    top (int): Its head.
    items (Callable): Word -> itself and its dependents, as they are to stand.
    RETURNS (list[int]): The words.
    """
    order: list[int] = []
    waiting = [(top, True)]
    while waiting:
        word, is_whole = waiting.pop()
        if is_whole:
            waiting += [(item, item != word) for item in reversed(items(word))]
        else:
            order.append(word)
    return order


def recover(
    tree: Tree,
    pairs: Sequence[Pair],
    slots: Slots,
    inventory: Inventory,
    words: Sequence[str],
    sources: Sequence[int] = (),
) -> UnderlyingTree:
    """Make an underlying tree of what a model found behind a sentence's punctuation.

    Marks that the model does not know get their names back, by their place.

    tree (Tree): The sentence, projective.
    pairs (Sequence[Pair]): What was found by `spacy_punct.pipe.base.underlying`: the
        punctemes of each word's constituent.
    slots (Slots): The punctuation, abbreviation dots included.
    inventory (Inventory): The marks that the model knows.
    words (Sequence[str]): The words as they are written.
    sources (Sequence[int]): See `UnderlyingTree`.
    RETURNS (UnderlyingTree): The tree.
    """
    rare = [iter(inventory.unknown(slot)) for slot in slots]
    left, right = [list(side) for side in zip(*pairs, strict=True)]
    # The right punctemes of a slot come first, those of the innermost words before
    # others; then the left ones, those of the outermost words first.
    for i in reversed(tree.top_down):
        right[i] = _written(right[i], rare[tree.spans[i][1]])
    for i in tree.top_down:
        left[i] = _written(left[i], rare[tree.spans[i][0]])
    return UnderlyingTree(
        Tree(tuple(words), tree.tags, tree.heads, tree.relations),
        tuple(zip(left, right, strict=True)),
        tuple(sources),
    )


def _written(puncteme: Puncteme, rare: Iterator[str]) -> Puncteme:
    """A puncteme without abbreviation dots, with the rare marks next in its slot."""
    marks = with_own_marks(puncteme, rare)
    return tuple(mark for mark in marks if mark not in (UNK, ABBREVIATION_DOT))


def regenerate(
    strings: Iterable[Puncteme],
    channel: Channel,
    rng: np.random.Generator | None = None,
    *,
    keep_brackets: bool = False,
) -> Slots:
    """Surface punctuation of underlying strings.

    strings (Iterable[Puncteme]): See `UnderlyingTree.strings`.
    channel (Channel): NOISYCHANNEL.
    rng (Generator | None): To draw from the channel; None for the most probable.
    keep_brackets (bool): Let no bracket or quote be lost or change sides with another.
    RETURNS (Slots): The surface, without ^ and abbreviation dots.
    """
    surface = []
    for i, string in enumerate(strings):
        outcomes = rewritten(channel, string)
        if keep_brackets:
            brackets = _brackets(string)
            whole = {s: p for s, p in outcomes.items() if _brackets(s) == brackets}
            outcomes = whole or outcomes
        marks = _drawn(outcomes, rng)
        without = marks[1:] if i == 0 else marks
        surface.append(tuple(mark for mark in without if mark != ABBREVIATION_DOT))
    return tuple(surface)


def rewritten(channel: Channel, string: Puncteme) -> Surfaces:
    """`Channel.rewrite` of a string that may have marks it does not know.

    A string of more than `_LONGEST` marks stays as it is.
    """
    if not 2 <= len(string) <= _LONGEST:
        return {string: 1.0}
    rare = [mark for mark in string if mark not in channel.marks]
    if not rare:
        return channel.rewrite(string)
    outcomes = channel.rewrite([UNK if mark in rare else mark for mark in string])
    result: Surfaces = {}
    for surface, p in outcomes.items():
        marks = with_own_marks(surface, iter(rare))
        result[marks] = result.get(marks, 0.0) + p
    return result


def _drawn(outcomes: Surfaces, rng: np.random.Generator | None) -> Puncteme:
    surfaces = list(outcomes)
    if rng is None or len(surfaces) == 1:
        return max(surfaces, key=outcomes.__getitem__)
    weights = np.array(list(outcomes.values()))
    return surfaces[rng.choice(len(surfaces), p=weights / weights.sum())]


def _brackets(string: Puncteme) -> Puncteme:
    return tuple(mark for mark in string if mark in PAIRED)


def _dot(word: str) -> Puncteme:
    is_abbreviated = word.endswith(".") and len(word) > 1
    return (ABBREVIATION_DOT,) if is_abbreviated else ()
