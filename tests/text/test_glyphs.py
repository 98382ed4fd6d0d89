import pytest

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.text.writer import glyph_table

QUOTES = ("``", "''", "`", "'")


@pytest.mark.parametrize("language", ["en", "de", "fr", "zh", "xx"])
def test_glyphs_straight_quotes_look_the_same_everywhere(language):
    table = glyph_table(language, "straight")
    assert [table.get(mark, mark) for mark in QUOTES] == ['"', '"', "'", "'"]


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "“”‘’"),
        ("zh", "“”‘’"),
        ("xx", "“”‘’"),
        ("de", "„“‚‘"),
        ("cs", "„“‚‘"),
        ("pl", "„”‚’"),
        ("fr", "«»“”"),
        ("es", "«»“”"),
        ("ru", "«»„“"),
        ("sv", "””’’"),
        ("nb", "«»‘’"),
        ("ja", "「」『』"),
    ],
)
def test_glyphs_typographic_quotes_are_the_languages(language, expected):
    table = glyph_table(language, "typographic")
    assert [table[mark] for mark in QUOTES] == list(expected)


@pytest.mark.parametrize(
    ("language", "marks", "expected"),
    [
        ("en", ",.;?!:()", ",.;?!:()"),
        ("zh", ",.;?!:()、", "，。；？！：（）、"),
        ("ja", ",.?！", "、。？！"),
        ("ar", ",;?.!", "،؛؟.!"),
        ("fa", ",;?", "،؛؟"),
        ("hi", ",।?", ",।?"),
        ("es", "¿?¡!", "¿?¡!"),
    ],
)
@pytest.mark.parametrize("quotes", ["straight", "typographic"])
def test_glyphs_marks_take_the_form_of_the_script(language, marks, expected, quotes):
    table = glyph_table(language, quotes)
    assert "".join(table.get(mark, mark) for mark in marks) == expected


@pytest.mark.parametrize("language", ["en", "zh", "ar", "hi"])
def test_glyphs_the_abbreviation_dot_is_a_dot(language):
    assert glyph_table(language, "straight")[ABBREVIATION_DOT] == "."


def test_glyphs_of_one_language_are_no_others():
    assert glyph_table("zh", "typographic")["."] == "。"
    assert "." not in glyph_table("en", "typographic")
    assert glyph_table("en", "straight")["``"] == '"'
