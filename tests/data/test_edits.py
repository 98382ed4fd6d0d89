import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.edits import SlotEdit, edits, slot_edits
from spacy_punct.model.mbr import edit_distance

STRINGS = st.lists(st.sampled_from(",.?"), max_size=4).map(tuple)
SLOTS = st.lists(STRINGS, min_size=2, max_size=5).map(tuple)


def all_edits(before: tuple, after: tuple, i: int = 0, k: int = 0, open_=None) -> list:
    """All ways to tell a change as edits, with their number of changed marks."""
    results = []
    closed = [open_] if open_ else []
    if i == len(before) and k == len(after):
        return [(0, closed)]
    if i < len(before) and k < len(after) and before[i] == after[k]:
        for n, rest in all_edits(before, after, i + 1, k + 1):
            results.append((n, closed + rest))
    for di, dk in ((1, 1), (1, 0), (0, 1)):
        if i + di <= len(before) and k + dk <= len(after):
            start, _, marks = open_ or (i, i, ())
            longer = (start, i + di, marks + after[k : k + dk])
            for n, rest in all_edits(before, after, i + di, k + dk, longer):
                results.append((n + 1, rest))
    return results


@given(STRINGS, STRINGS)
def test_edits_are_minimal(before, after):
    ways = all_edits(before, after)
    fewest = min((n, len(way)) for n, way in ways)
    found = edits(before, after, 7)
    assert fewest == (edit_distance(before, after), len(found))
    best = [way for n, way in ways if (n, len(way)) == fewest]
    told = [(edit.start, edit.end, edit.replacement) for edit in found]
    assert told in best
    starts = [start for start, _, _ in told]
    assert starts == max([start for start, _, _ in way] for way in best)
    assert all(edit.slot == 7 for edit in found)


@given(st.data())
def test_edits_make_the_change(data):
    before = data.draw(SLOTS)
    size = len(before)
    after = tuple(data.draw(st.lists(STRINGS, min_size=size, max_size=size)))
    found = slot_edits(before, after)
    slots = list(before)
    for edit in reversed(found):
        slots[edit.slot] = (
            *slots[edit.slot][: edit.start],
            *edit.replacement,
            *slots[edit.slot][edit.end :],
        )
    assert tuple(slots) == after
    assert found == sorted(found)
    assert slot_edits(before, before) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", []),
        ("", ",", [(0, 0, ",")]),
        (",", "", [(0, 1, "")]),
        (",", ";", [(0, 1, ";")]),
        (".", ". .", [(1, 1, ".")]),
        (". .", ".", [(1, 2, "")]),
        # Changing places is one edit, though it could be told as two.
        (". ''", "'' .", [(0, 2, "'' .")]),
        ("", ", ``", [(0, 0, ", ``")]),
        ("( .", "`` ( . ''", [(0, 0, "``"), (2, 2, "''")]),
    ],
)
def test_edits_of_a_slot(before, after, expected):
    found = edits(tuple(before.split()), tuple(after.split()), 3)
    assert list(found) == [
        SlotEdit(3, start, end, tuple(marks.split())) for start, end, marks in expected
    ]
