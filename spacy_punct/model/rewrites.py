"""How the channel rewrites marks: what it learned, what it did, what Nunberg says.

Nunberg's rules of how English marks interact are the paper's Table 1. The paper says
that his schemata (*The Linguistics of Punctuation*, 1990) range over 16 marks and come
to 192 edit rules, but prints specimens only. We generate the rules from its caption: of
two marks next to each other the weaker is absorbed, in the order `? ! ( ) `` ''` > `.`
> `; :` > `-` > `,`, except that brackets and quotes do not absorb what is outside of
the material they bracket. Our 16 marks are those 11, the other pairs of brackets `[ ]`
and of quotes `` ` ' `` and the abbreviation dot.

Two points of the same strength are left alone unless they are the same mark, as are
marks at either side of an abbreviation dot other than a period, and two brackets. That
makes 90 rules. Whatever 16 marks are taken, each pair of brackets exempts 32 bigrams
that stand outside or are brackets only, so with four pairs no more than 128 and the
transpositions can be edited: the paper's 192 rules would need just two pairs, and 12
other marks nearly all of which absorb each other.

As in the paper, rules are single edits of two marks: `''.` becomes `.''`, and it is
another question what becomes of an underlying `.''`, where the caption lets the quotes
absorb the period.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from math import inf, log

from spacy_punct.data.marks import ABBREVIATION_DOT, BOS, UNK
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.model.channel import (
    ABSORB_LEFT,
    ABSORB_RIGHT,
    KEEP,
    TRANSPOSE,
    Channel,
)
from spacy_punct.model.inventory import Pair

CERTAIN = 0.75
"""The paper's bound: how probable an edit is that a model is certain of."""

Bigram = tuple[str, str]
"""Two marks next to each other."""

# What the channel learned


@dataclass(frozen=True)
class Outcome:
    """A surface string, and how probable it is."""

    surface: Puncteme
    p: float


@dataclass(frozen=True)
class Rewrite:
    """What the channel makes of two underlying marks.

    underlying (Bigram): ab.
    count (int | None): How often ab was found underlying, if it was counted.
    outcomes (tuple[Outcome, ...]): a, b, ab and ba, the most probable first.
    """

    underlying: Bigram
    count: int | None
    outcomes: tuple[Outcome, ...]

    @property
    def best(self) -> Outcome:
        return self.outcomes[0]


def rewrite(channel: Channel, underlying: Bigram, count: int | None = None) -> Rewrite:
    """The learned distribution of an underlying bigram's surface."""
    surfaces = channel.rewrite(underlying)
    return Rewrite(underlying, count, tuple(Outcome(s, p) for s, p in surfaces.items()))


def learned_rewrites(
    channel: Channel, counts: Counter[Bigram] | None = None, *, min_count: int = 25
) -> tuple[Rewrite, ...]:
    """The rewrites that there was enough data to learn, in any language.

    channel (Channel): A trained channel.
    counts (Counter[Bigram] | None): How often bigrams were found underlying, see
        `survey`.
    min_count (int): Rarer ones are left out.
    RETURNS (tuple[Rewrite, ...]): The most frequent first. Without counts, those
        whose best outcome has more than 3/4 of the probability, the surest first.
    """
    if counts is not None:
        frequent = [(ab, n) for ab, n in counts.items() if n >= min_count]
        frequent.sort(key=lambda item: (-item[1], item[0]))
        return tuple(rewrite(channel, ab, n) for ab, n in frequent)
    marks = [mark for mark in channel.marks if mark not in (BOS, UNK)]
    found = [rewrite(channel, ab) for ab in product(marks, marks)]
    sure = [entry for entry in found if entry.best.p > CERTAIN]
    return tuple(sorted(sure, key=lambda entry: (-entry.best.p, entry.underlying)))


# What is underlying a surface, and how it became that


def underlying_slots(tree: Tree, pairs: Sequence[Pair]) -> Slots:
    """The underlying string of each slot, the sentence-initial mark included.

    tree (Tree): A projective tree.
    pairs (Sequence[Pair]): The punctemes of each word.
    RETURNS (Slots): At each slot the right punctemes of what ends there, innermost
        first, then the left ones of what begins there, outermost first.
    """
    ending: list[Puncteme] = [()] * (len(tree) + 1)
    beginning: list[Puncteme] = [(BOS,), *ending[1:]]
    for i in tree.top_down:
        (first, end), (left, right) = tree.spans[i], pairs[i]
        beginning[first] += left
        ending[end] = right + ending[end]
    return tuple(r + l for r, l in zip(ending, beginning, strict=True))


_WEIGHTS = {KEEP: 0.0, ABSORB_LEFT: -4.0, ABSORB_RIGHT: -4.0, TRANSPOSE: -6.0}
"""Without a channel, the fewer edits the better."""
_UNEXPLAINED = -1e6
"""A string that no edits lead to is worse than any that some do."""

Weight = Callable[[int, str, str], float]
"""Edit, mark held back and mark just read -> log-probability."""


@dataclass(frozen=True)
class Rewriting:
    """How an underlying string became a surface string.

    underlying, surface (Puncteme): The strings.
    origins (tuple[int | None, ...]): Which underlying mark each surface mark is; None
        if no edit explains it.
    absorbers (dict[int, int | None]): Each underlying mark that is not on the surface,
        and the one that absorbed it.
    log_weight (float): How likely the edits are.
    """

    underlying: Puncteme
    surface: Puncteme
    origins: tuple[int | None, ...]
    absorbers: dict[int, int | None]
    log_weight: float

    @property
    def moved(self) -> frozenset[int]:
        """The underlying marks that stand before or after another one than before."""
        there = [k for k in self.origins if k is not None]
        return frozenset(
            mark
            for i, a in enumerate(there)
            for b in there[i + 1 :]
            if a > b
            for mark in (a, b)
        )


@dataclass(frozen=True)
class _Partial:
    """Edits so far: what was written and what was absorbed by what."""

    log_weight: float
    written: tuple[int, ...] = ()
    absorbed: tuple[tuple[int, int], ...] = ()


def best_rewriting(
    underlying: Puncteme, surface: Puncteme, channel: Channel | None = None
) -> Rewriting:
    """The likeliest edits between two strings.

    underlying (Puncteme): What is underneath, with the sentence-initial mark if any.
    surface (Puncteme): What is seen, with that mark too.
    channel (Channel | None): Says how likely edits are; None for as few as possible.
    RETURNS (Rewriting): The edits; if there are none, the marks in common.
    """
    if not underlying and not surface:
        return Rewriting(underlying, surface, (), {}, 0.0)
    found = [
        _slid(underlying, surface, weight, is_reversed)
        for weight, is_reversed in _ways(channel)
    ]
    if possible := [way for way in found if way is not None]:
        best = max(possible, key=lambda way: way.log_weight)
        return Rewriting(
            underlying, surface, best.written, dict(best.absorbed), best.log_weight
        )
    return _in_common(underlying, surface)


def _ways(channel: Channel | None) -> list[tuple[Weight, bool]]:
    if channel is None:
        return [(lambda edit, held, mark: _WEIGHTS[edit], way) for way in (False, True)]
    tables = channel.window_tables()
    index = {mark: k for k, mark in enumerate(channel.marks)}

    def weight(edit: int, held: str, mark: str) -> float:
        if held not in index or mark not in index:
            return _WEIGHTS[edit]
        p = float(tables[edit, index[held], index[mark]])
        return log(p) if p > 0 else -inf

    return [(weight, channel.is_reversed)]


def _slid(
    underlying: Puncteme, surface: Puncteme, weight: Weight, is_reversed: bool
) -> _Partial | None:
    """The best edits of a window that slides over a string, if there are any."""
    if not underlying:
        return None
    step = -1 if is_reversed else 1
    order = range(len(underlying))[::step]
    target = surface[::step]

    def fits(position: int, written: Sequence[int]) -> bool:
        if len(written) >= len(target):
            return False
        return underlying[position] in (UNK, target[len(written)])

    partial: dict[tuple[int, int], _Partial] = {(order[0], 0): _Partial(0.0)}
    for k in order[1:]:
        following: dict[tuple[int, int], _Partial] = {}
        for (held, _), so_far in partial.items():
            written, absorbed = so_far.written, so_far.absorbed
            steps = [
                (ABSORB_LEFT, k, written, (*absorbed, (held, k))),
                (ABSORB_RIGHT, held, written, (*absorbed, (k, held))),
            ]
            if fits(held, written):
                steps.append((KEEP, k, (*written, held), absorbed))
            if fits(k, written):
                steps.append((TRANSPOSE, held, (*written, k), absorbed))
            for edit, holds, out, gone in steps:
                new = weight(edit, underlying[held], underlying[k])
                new += so_far.log_weight
                key = holds, len(out)
                if new > -inf and (
                    key not in following or new > following[key].log_weight
                ):
                    following[key] = _Partial(new, out, gone)
        partial = following
    done = [
        _Partial(p.log_weight, (*p.written, held)[::step], p.absorbed)
        for (held, _), p in partial.items()
        if fits(held, p.written) and len(p.written) + 1 == len(target)
    ]
    return max(done, key=lambda way: way.log_weight, default=None)


def _in_common(underlying: Puncteme, surface: Puncteme) -> Rewriting:
    origins: list[int | None] = [None] * len(surface)
    matcher = SequenceMatcher(a=underlying, b=surface, autojunk=False)
    for a, b, size in matcher.get_matching_blocks():
        for k in range(size):
            origins[b + k] = a + k
    gone: dict[int, int | None] = {
        k: None for k in range(len(underlying)) if k not in origins
    }
    lost = len(gone) + origins.count(None)
    return Rewriting(underlying, surface, tuple(origins), gone, _UNEXPLAINED * lost)


# What Nunberg says

STRENGTH = {",": 1, "-": 2, ";": 3, ":": 3, ".": 4, "?": 5, "!": 5}
"""How strong a point is; the strongest are as strong as brackets."""
NUNBERG_BRACKETS = {"(": ")", "[": "]", "``": "''", "`": "'"}
"""Opening brackets and quotes, and the closing ones."""
NUNBERG_MARKS = (
    *STRENGTH,
    ABBREVIATION_DOT,
    *NUNBERG_BRACKETS,
    *NUNBERG_BRACKETS.values(),
)
"""The 16 marks that the rules are about."""


@dataclass(frozen=True)
class Schema:
    """A family of rules: any of the left marks before any of the right ones.

    name (str): Nunberg's name for it.
    left, right (tuple[str, ...]): The marks it ranges over.
    edit (Callable): The bigram -> what is left of it, or the bigram itself.
    """

    name: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    edit: Callable[[str, str], Puncteme]


@dataclass(frozen=True)
class Rule:
    """One of Nunberg's rules: what becomes of two underlying marks.

    underlying (Bigram): ab.
    surface (Puncteme): a, b or ba.
    schema (str): The schema that it is an instance of.
    """

    underlying: Bigram
    surface: Puncteme
    schema: str


def _left(a: str, b: str) -> Puncteme:
    return (a,)


def _right(a: str, b: str) -> Puncteme:
    return (b,)


def _swapped(a: str, b: str) -> Puncteme:
    return (b, a)


def _stronger(a: str, b: str) -> Puncteme:
    """The stronger of two points; both if they are different but as strong."""
    if a == b or STRENGTH[a] > STRENGTH[b]:
        return (a,)
    return (b,) if STRENGTH[b] > STRENGTH[a] else (a, b)


_POINTS = tuple(STRENGTH)
_WEAK = (",", "-", ";", ":", ".")
_OPENERS, _CLOSERS = tuple(NUNBERG_BRACKETS), tuple(NUNBERG_BRACKETS.values())

SCHEMATA = (
    Schema("quote transposition", ("''", "'"), (",", "."), _swapped),
    Schema("period absorption", (".",), ("?", "!"), _right),
    Schema("period absorption", ("?", "!", ABBREVIATION_DOT), (".",), _left),
    Schema("point absorption", _POINTS, _POINTS, _stronger),
    Schema("bracket absorption", _WEAK, _CLOSERS, _right),
    Schema("bracket absorption", _OPENERS, _WEAK, _left),
)
"""What the rules are generated from; the first that has a bigram decides."""


def nunberg_rules() -> dict[Bigram, Rule]:
    """All rules, by the bigram that they rewrite; other bigrams stay as they are."""
    rules: dict[Bigram, Rule] = {}
    for schema in SCHEMATA:
        for a, b in product(schema.left, schema.right):
            surface = schema.edit(a, b)
            if surface != (a, b):
                rules.setdefault((a, b), Rule((a, b), surface, schema.name))
    return rules
