import pytest

from spacy_punct.data.marks import BRACKETS, SYMMETRIC, is_symmetric, is_unmatched

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
