"""Which edits of the channel lead from an underlying string to its surface."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import inf, log

from spacy_punct.data.marks import UNK
from spacy_punct.data.tree import Puncteme
from spacy_punct.model.channel import (
    ABSORB_LEFT,
    ABSORB_RIGHT,
    KEEP,
    TRANSPOSE,
    Channel,
)

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
    gone = {k: None for k in range(len(underlying)) if k not in origins}
    lost = len(gone) + origins.count(None)
    return Rewriting(underlying, surface, tuple(origins), gone, _UNEXPLAINED * lost)
