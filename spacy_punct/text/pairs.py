"""Brackets and quotes come in pairs: which of them lack their partner, and what to do
about it. Whatever is written goes through here first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set

from spacy_punct.data.marks import BRACKETS
from spacy_punct.data.tree import Puncteme, Slots

PAIRS = {mark: end for mark, end in BRACKETS.items() if end not in ("?", "!")}
"""Opening -> closing mark. What ¿ and ¡ open, others may close elsewhere."""
QUOTES = frozenset({"``", "`", "“", "‘", "„", "‚", "«", "‹"})
"""Opening quotes. No quote stands directly inside one of the same kind."""
PAIRED = PAIRS.keys() | PAIRS.values()
"""The marks that need a partner."""
_OPENING = {
    end: [mark for mark in PAIRS if PAIRS[mark] == end] for end in PAIRS.values()
}
"""Closing mark -> what it may close."""

Place = tuple[int, int]
"""A slot, and a position in it."""


def unpaired(slots: Slots, fixed: Set[int] = frozenset()) -> list[Place]:
    """The brackets and quotes of a text that have no partner.

    slots (Slots): The marks.
    fixed (Set[int]): Slots that stay as they are. Their marks find their partners among
        themselves first, and other pairs do not cross them.
    RETURNS (list[Place]): Their places, in order.
    """
    return _unpaired(_marked(slots), fixed)


def _marked(slots: Slots) -> dict[int, Puncteme]:
    """The slots that have brackets or quotes."""
    return {i: slot for i, slot in enumerate(slots) if not PAIRED.isdisjoint(slot)}


def _unpaired(marked: Mapping[int, Puncteme], fixed: Set[int]) -> list[Place]:
    """See `unpaired`: what costs time are the slots with brackets or quotes alone."""
    marks = [
        ((i, k), mark)
        for i in sorted(marked)
        for k, mark in enumerate(marked[i])
        if mark in PAIRED
    ]
    firm = _partners([item for item in marks if item[0][0] in fixed], fixed, {})
    found = _partners(marks, fixed, firm)
    return [place for place, _ in marks if place not in found]


def _partners(
    marks: Iterable[tuple[Place, str]], fixed: Set[int], firm: Mapping[Place, Place]
) -> dict[Place, Place]:
    """The partner of each mark that has one; `firm` is known already."""
    partners = dict(firm)
    opened: list[tuple[Place, str]] = []
    for place, mark in marks:
        if mark in PAIRS:
            if mark in QUOTES and opened and opened[-1][1] == mark:
                around = opened[-1][0]
                if around in firm and place not in firm:
                    continue
                if around[0] not in fixed:
                    opened.pop()
            opened.append((place, mark))
            continue
        for depth in reversed(range(len(opened))):
            start, opener = opened[depth]
            is_free = place not in firm and start not in firm
            if firm.get(place) == start or (is_free and PAIRS[opener] == mark):
                partners[start], partners[place] = place, start
                del opened[depth:]
                break
            if place not in firm and start[0] in fixed:
                break
    return partners


def opened_by(marks: Iterable[str]) -> int:
    """How many more brackets and quotes some marks open than they close."""
    return sum((mark in PAIRS) - (mark in _OPENING) for mark in marks)


def is_balanced(slots: Slots) -> bool:
    """Whether every bracket and quote has its partner."""
    return not unpaired(slots)


def balanced(
    slots: Slots,
    fixed: Set[int] = frozenset(),
    chances: Sequence[Mapping[Puncteme, float]] = (),
) -> Slots:
    """The marks of a text with a partner for each bracket and quote, but for those in
    fixed slots.

    A mark that lacks its partner gets one if the two are more probable than not on
    average, which lowers the expected number of errors. Otherwise it is left out.

    slots (Slots): The marks.
    fixed (Set[int]): Slots that stay as they are.
    chances (Sequence[Mapping[Puncteme, float]]): What else may stand in each slot, and
        how probable it is. By default nothing is added.
    RETURNS (Slots): The marks.
    """
    if not (single := unpaired(slots, fixed)):
        return slots
    if chances:
        addable = _addable(fixed, chances)
        while more := _with_partner(slots, single, fixed, chances, addable):
            slots, single = more
    gone = {place for place in single if place[0] not in fixed}
    return tuple(
        tuple(mark for k, mark in enumerate(slot) if (i, k) not in gone)
        for i, slot in enumerate(slots)
    )


Addable = Mapping[str, Sequence[tuple[float, int, Puncteme]]]
"""Bracket or quote -> probability, slot and string of each way to write it."""


def _addable(
    fixed: Set[int], chances: Sequence[Mapping[Puncteme, float]]
) -> defaultdict[str, list[tuple[float, int, Puncteme]]]:
    addable: defaultdict[str, list[tuple[float, int, Puncteme]]] = defaultdict(list)
    for i, chance in enumerate(chances):
        for string, p in chance.items() if i not in fixed else ():
            for mark in {*string}.intersection(PAIRED):
                addable[mark].append((p, i, string))
    return addable


def _with_partner(
    slots: Slots,
    single: Sequence[Place],
    fixed: Set[int],
    chances: Sequence[Mapping[Puncteme, float]],
    addable: Addable,
) -> tuple[Slots, list[Place]] | None:
    """The slots with a partner for one of the marks that lack it, and the marks that
    still do; None if no partner is probable enough."""
    marked = _marked(slots)
    for i, k in single:
        if i in fixed:
            continue
        mark = slots[i][k]
        own = chances[i].get(slots[i], 0.0)
        wanted = [PAIRS[mark]] if mark in PAIRS else _OPENING[mark]
        options = [
            (p, at, string)
            for partner in wanted
            for p, at, string in addable.get(partner, ())
            if own + p > 1
            and (at > i) == (mark in PAIRS)
            and has_one_more(string, slots[at], partner)
        ]
        for _, at, string in sorted(options, reverse=True):
            if len(left := _unpaired(marked | {at: string}, fixed)) < len(single):
                return (*slots[:at], string, *slots[at + 1 :]), left
    return None


def has_one_more(string: Puncteme, other: Puncteme, mark: str) -> bool:
    """Whether a string is another with one more mark."""
    return len(string) == len(other) + 1 and any(
        string[k] == mark and string[:k] + string[k + 1 :] == other
        for k in range(len(string))
    )
