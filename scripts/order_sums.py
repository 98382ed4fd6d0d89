"""Sums over all orders of a word and its dependents, without enumerating them.

A score adds up what each two items have by their order. Given which dependents stand on
the left of the head, and which on the right, the two sides do not know of each other;
and on one side, what the next item adds depends on the set of those before it and on
the last of them. So sets are enumerated, and not orders: of seven items there are 5,040
orders, but six dependents have 64 sets.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations

import torch
from torch import Tensor


@dataclass(frozen=True)
class _Level:
    """The sets of one size; and all pairs of a set and the item of it that is last.

    members (Tensor): (sets, size) the items of each set.
    last (Tensor): (pairs) the last item.
    others (Tensor): (pairs, size - 1) the other items of the set.
    previous (Tensor): (pairs, size - 1) the pair of a smaller set that each of the
        others is last in.
    """

    members: Tensor
    last: Tensor
    others: Tensor
    previous: Tensor


@dataclass(frozen=True)
class _Sets:
    """All sets of some items, the empty one first, then by size.

    levels (list[_Level]): Those of one item, of two, and so on.
    inside (Tensor): (sets, items) 1 if an item is in a set.
    rest (Tensor): (sets) the number of the set of all other items.
    """

    levels: list[_Level]
    inside: Tensor
    rest: Tensor


@cache
def _sets(n: int) -> _Sets:
    items = range(n)
    by_size = [list(combinations(items, size)) for size in range(n + 1)]
    every = list(chain.from_iterable(by_size))
    number = {chosen: k for k, chosen in enumerate(every)}
    levels = []
    for size, level in enumerate(by_size[1:]):
        pairs = [(i, _without(chosen, [i])) for chosen in level for i in chosen]
        place = {chosen: size * k for k, chosen in enumerate(by_size[size])}
        levels.append(
            _Level(
                members=torch.tensor(level),
                last=torch.tensor([i for i, _ in pairs]),
                others=torch.tensor([others for _, others in pairs]),
                previous=torch.tensor(
                    [[place[others] + k for k in range(size)] for _, others in pairs]
                ),
            )
        )
    return _Sets(
        levels,
        torch.tensor([[float(i in chosen) for i in items] for chosen in every]),
        torch.tensor([number[_without(items, chosen)] for chosen in every]),
    )


def _without(items: Iterable[int], gone: Sequence[int]) -> tuple[int, ...]:
    return tuple(i for i in items if i not in gone)


def log_sum(
    before: Tensor, beside: Tensor, left: Tensor, around: Tensor, right: Tensor
) -> Tensor:
    """log Σ exp score over all orders of k items.

    Item 0 is the head. [:, a, b] is what is added if item a stands before item b; in
    `beside`, if it does so immediately, and rows and columns k and k + 1 are the right
    and the left border; in the last three, if both are on the left of the head, on
    different sides, or on the right.

    before, left, around, right (Tensor): (families, k, k).
    beside (Tensor): (families, k + 2, k + 2).
    RETURNS (Tensor): (families).
    """
    k = before.shape[1]
    sets = _sets(k - 1)
    among, end, start = before[:, 1:, 1:], k, k + 1
    inner = beside[:, 1:k, 1:k]
    lefts = _side(
        beside[:, start, 1:k],
        inner,
        beside[:, 1:k, 0],
        among + left[:, 1:, 1:],
        beside[:, start, 0],
    )
    rights = _side(
        beside[:, 0, 1:k],
        inner,
        beside[:, 1:k, end],
        among + right[:, 1:, 1:],
        beside[:, 0, end],
    )
    lefts = lefts + before[:, 1:, 0] @ sets.inside.T
    rights = rights + before[:, 0, 1:] @ sets.inside.T
    across = (sets.inside @ (among + around[:, 1:, 1:]) * (1 - sets.inside)).sum(dim=2)
    return (lefts + rights[:, sets.rest] + across).logsumexp(dim=1)


def _side(
    first: Tensor, beside: Tensor, last: Tensor, pairs: Tensor, empty: Tensor
) -> Tensor:
    """(families, sets): the sum over the orders of each set, on one side of the head.

    first, last (Tensor): (families, items) what an item adds that is first, or last.
    beside (Tensor): (families, items, items) what two add that are neighbours.
    pairs (Tensor): (families, items, items) what any two add.
    empty (Tensor): (families) the sum if there is none.
    """
    sets = _sets(first.shape[1])
    found = [empty[:, None]]
    # The sums by set and last item, for all sets of one size.
    sums = first
    for level in sets.levels:
        if level.others.numel():
            new = level.last[:, None]
            sums = (sums[:, level.previous] + beside[:, level.others, new]).logsumexp(2)
            sums = sums + pairs[:, level.others, new].sum(2)
        ends = last[:, level.members]
        found.append((sums.reshape(ends.shape) + ends).logsumexp(2))
    return torch.cat(found, dim=1)
