import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.text.paragraphs import paragraphs

LINES = st.lists(
    st.sampled_from(["a\n", "\n", "# b\n", "- c\n", "```\n", "| d |\n", " \r\n", "e"])
)


@given(LINES)
def test_paragraphs_are_the_file(lines):
    assert "".join(paragraphs(lines)) == "".join(lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\n\nc\n", ["a\nb\n\n", "c\n"]),
        ("# a\nb\n", ["# a\n", "b\n"]),
        ("a:\n- b\n  c\n- d\n", ["a:\n", "- b\n  c\n", "- d\n"]),
        ("a\n```\nb\n\nc\n```\nd\n", ["a\n", "```\nb\n\nc\n```\n", "d\n"]),
    ],
)
def test_where_paragraphs_begin(text, expected):
    assert list(paragraphs(text.splitlines(keepends=True))) == expected
