"""What was done to punctuation, as edits of slots."""

from dataclasses import dataclass
from functools import lru_cache

from spacy_punct.data.tree import Puncteme, Slots


@dataclass(frozen=True, order=True)
class SlotEdit:
    """Marks of one slot that give way to others.

    slot (int): The slot.
    start, end (int): Which of its marks go, as a half-open range; none if equal.
    replacement (Puncteme): The marks that come in their place.
    """

    slot: int
    start: int
    end: int
    replacement: Puncteme


@lru_cache(maxsize=1 << 16)
def edits(before: Puncteme, after: Puncteme, slot: int = 0) -> tuple[SlotEdit, ...]:
    """The edits that turn a slot's marks into others.

    As few marks as possible are inserted, deleted or replaced. Changes with no mark
    between them are one edit; where there is a choice we take the fewest edits, and
    then the latest.

    before, after (Puncteme): The slot's marks.
    slot (int): The slot.
    RETURNS (tuple[SlotEdit, ...]): From left to right; none if nothing was changed.
    """
    # best[i, j, changing]: (marks changed, edits, their negated starts, the edits) to
    # turn before[:i] into after[:j], `changing` if the last step changed a mark. An
    # edit is (start, end, first and last position of what replaces it).
    best: dict[tuple[int, int, bool], tuple] = {(0, 0, False): (0, 0, (), ())}
    for i in range(len(before) + 1):
        for k in range(len(after) + 1):
            for changing in (False, True):
                label = best.get((i, k, changing))
                if label is None:
                    continue
                if before[i : i + 1] == after[k : k + 1] != ():
                    _improve(best, (i + 1, k + 1, False), label)
                for di, dk in ((1, 1), (1, 0), (0, 1)):
                    if i + di <= len(before) and k + dk <= len(after):
                        changed = _change(label, changing, (i, i + di, k, k + dk))
                        _improve(best, (i + di, k + dk, True), changed)
    ends = [best.get((len(before), len(after), changing)) for changing in (False, True)]
    *_, found = min(end for end in ends if end is not None)
    return tuple(SlotEdit(slot, i, end, after[k:stop]) for i, end, k, stop in found)


def _improve(best: dict, state: tuple, label: tuple) -> None:
    if state not in best or label < best[state]:
        best[state] = label


def _change(label: tuple, changing: bool, step: tuple[int, int, int, int]) -> tuple:
    """A label after one more change, a new edit unless it goes on with the last."""
    marks, n, starts, found = label
    if not changing:
        return marks + 1, n + 1, (*starts, -step[0]), (*found, step)
    *others, (start, _, first, _) = found
    return marks + 1, n, starts, (*others, (start, step[1], first, step[3]))


def slot_edits(before: Slots, after: Slots) -> list[SlotEdit]:
    """The edits that turn the marks of a sentence into others, slot by slot."""
    pairs = zip(before, after, strict=True)
    return [edit for i, (a, b) in enumerate(pairs) if a != b for edit in edits(a, b, i)]
