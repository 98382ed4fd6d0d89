import pytest

from spacy_punct.data.marks import (
    BRACKETS,
    SYMMETRIC,
    ends_sentence,
    is_abbreviation,
    is_closer,
    is_dash,
    is_ellipsis,
    is_end,
    is_one_sided,
    is_symmetric,
    is_unmatched,
)

PAPER = ["{}", "[]", "()", "<>", "¿?", "¡!", "《》", "〈〉", "【】", "『』", "「」"]


def test_marks_cover_the_papers_pairs_and_unicodes():
    for opener, closer in PAPER:
        assert BRACKETS[opener] == closer
    assert BRACKETS["``"] == "''"
    for opener, closer in ["«»", "⟨⟩", "⁅⁆", "〔〕", "❨❩", "“”", "‹›", "（）", "｛｝"]:
        assert BRACKETS[opener] == closer
    assert SYMMETRIC[","] == "," and SYMMETRIC["-"] == "-"
    assert "," not in BRACKETS and "-" not in BRACKETS


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("(", ")", True),
        (",", ",", True),
        ("-", "-", True),
        ("( ``", "'' )", True),
        ("`` (", "'' )", False),
        ("(", "]", False),
        ("", "", False),
        (",", "", False),
        (", (", ") ,", True),
        (".", ".", False),
    ],
)
def test_marks_symmetry(left, right, expected):
    assert is_symmetric(tuple(left.split()), tuple(right.split())) is expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("", "", False),
        (",", "", False),
        (",", ".", False),
        ("(", "", True),
        ("", ")", True),
        ("(", ")", False),
        (": ``", ". ''", False),
        ("( ``", ") ''", True),
        ("``", "'' ''", True),
        ("''", "", True),
        ("", "?", False),
        ("", "! ?", False),
        ("¿", "?", False),
        ("¿", "", True),
        ("¿", ".", True),
    ],
)
def test_marks_unmatched(left, right, expected):
    assert is_unmatched(tuple(left.split()), tuple(right.split())) is expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("", "", False),
        (",", ",", False),
        (", ``", "'' ,", False),
        ("—", "— .", False),
        ("", ". ?", False),
        ("", ",", True),
        (",", "", True),
        (",", "-", True),
        ("``", ", ''", True),
        ("(", "", True),
        (",", "( ,", True),
    ],
)
def test_marks_one_sided(left, right, expected):
    assert is_one_sided(tuple(left.split()), tuple(right.split())) is expected


def test_marks_that_end():
    assert all(map(is_end, [".", "?", "!", "?!", "!!!", "。", "؟", ".?"]))
    assert not any(map(is_end, ["", "..", "...", "…", ",", ";", ")", "Mr.", ".)"]))
    assert is_ellipsis("...") and is_ellipsis("…") and not is_ellipsis(".")
    assert is_dash("--") and not is_dash("-a")
    assert is_closer(")") and is_closer("”") and not is_closer("(")
    assert is_abbreviation("e.g.") and not is_abbreviation("...")


@pytest.mark.parametrize(
    ("slot", "expected"),
    [
        (".", True),
        ("?", True),
        (". ``", True),
        (". ''", True),
        (". '' ``", True),
        ("? ( ", True),
        ("? ''", False),
        ("? )", False),
        (". )", False),
        (",", False),
        ("…", False),
        ("<abbr>", False),
        ("", False),
    ],
)
def test_marks_that_end_a_sentence_between_words(slot, expected):
    assert ends_sentence(slot.split()) == expected
