"""Brackets and quotes: every one has its partner, and what must stay stays."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.text.pairs import PAIRS, balanced, is_balanced, unpaired

MARKS = ("``", "''", "`", "'", "(", ")", "[", "]", ",", ".", "?", "¿")
STRINGS = st.lists(st.sampled_from(MARKS), max_size=3).map(tuple)
SLOTS = st.lists(STRINGS, min_size=1, max_size=8).map(tuple)
CHANCES = st.dictionaries(STRINGS, st.floats(0, 1), max_size=4)


def left_open(slots) -> list[str] | None:
    """What is open at the end, by reading marks off; None if a closer has no opener."""
    stack: list[str] = []
    for mark in (mark for slot in slots for mark in slot):
        if mark in PAIRS:
            stack.append(mark)
        elif mark in PAIRS.values() and (not stack or PAIRS[stack.pop()] != mark):
            return None
    return stack


def others(slots) -> list[list[str]]:
    """The marks that need no partner."""
    paired = {*PAIRS, *PAIRS.values()}
    return [[mark for mark in slot if mark not in paired] for slot in slots]


@given(SLOTS, st.data())
def test_whatever_is_proposed_is_balanced(slots, data):
    chances = data.draw(st.lists(CHANCES, min_size=len(slots), max_size=len(slots)))
    for found in (balanced(slots), balanced(slots, chances=chances)):
        assert left_open(found) == []
        assert is_balanced(found)
        assert others(found) == others(slots)
        assert balanced(found) == found


@given(SLOTS, st.data())
def test_fixed_slots_stay_and_the_rest_goes_with_them(slots, data):
    fixed = data.draw(st.sets(st.integers(0, len(slots) - 1)))
    chances = data.draw(st.lists(CHANCES, min_size=len(slots), max_size=len(slots)))
    found = balanced(slots, fixed, chances)
    assert all(found[i] == slots[i] for i in fixed)
    assert all(i in fixed for i, _ in unpaired(found, fixed))
    kept = [slot if i in fixed else () for i, slot in enumerate(slots)]
    if left_open(kept) == []:
        assert left_open(found) == []


@given(SLOTS)
def test_what_is_balanced_stays(slots):
    # Quotes directly inside quotes of the same kind cannot be told from two pairs.
    flat = [mark for slot in slots for mark in slot if mark not in others([slot])[0]]
    doubled = any(a == b and a in ("``", "`") for a, b in pairwise(flat))
    if left_open(slots) == [] and not doubled:
        assert balanced(slots) == slots


def test_halves_are_left_out():
    slots = (("(",), ("``",), (")",), ("''", "."), ("(",))
    assert not is_balanced(slots)
    assert balanced(slots) == (("(",), (), (")",), (".",), ())
    assert is_balanced((("(", "``"), ("''",), (")", "?")))
    assert not is_balanced(((")",), ("(",)))
    assert is_balanced((("?",), ("!",)))


def test_a_quote_does_not_begin_inside_another():
    slots = (("``",), (), ("``",), ("''",), (), ("''",))
    assert balanced(slots) == ((), (), ("``",), ("''",), (), ())


def test_speech_goes_on_across_slots_and_misses_no_partner_that_is_probable():
    slots = (("``",), (".",), (",",))
    chances = [{("``",): 0.8}, {(".",): 0.9}, {(",",): 0.6, (",", "''"): 0.3}]
    assert balanced(slots, chances=chances) == (("``",), (".",), (",", "''"))
    chances[0] = {("``",): 0.6}
    assert balanced(slots, chances=chances) == ((), (".",), (",",))
    assert balanced(slots, {0}) == slots
    closers = ((), (".",), (".", "''"))
    chances = [{(): 0.7, ("``",): 0.3}, {}, {(".", "''"): 0.75}]
    assert balanced(closers, chances=chances) == (("``",), (".",), (".", "''"))
    assert balanced(closers, {0}, chances) == ((), (".",), (".",))


def test_restored_pairs_do_not_cross_those_that_are_kept():
    slots = (("(",), ("``",), (")",), ("''",))
    assert balanced(slots, {0, 2}) == (("(",), (), (")",), ())
    assert balanced(slots, {1, 3}) == ((), ("``",), (), ("''",))
    assert balanced((("``",), ("``",), ("''",), ("''",)), {0, 3}) == (
        ("``",),
        (),
        (),
        ("''",),
    )
