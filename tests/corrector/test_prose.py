import pytest

from spacy_punct.corrector.prose import Prose


@pytest.mark.parametrize(
    "text",
    [
        "print(x, y)",
        "`a, b`",
        "https://example.com/help?id=12",
        "anna.smith@example.org",
        r"C:\Users\anna\notes.txt",
        "spacy_punct.load",
        "<b class='x'>",
        "[a, b](c.md)",
        "$a, b$",
        ":-)",
        "@anna-b",
        "--n-process",
        "x = y",
    ],
)
def test_what_is_not_prose_stays(text):
    whole = f"We saw {text} there"
    prose = Prose(whole)
    start = whole.index(text)
    inside = range(start + 1, start + len(text))
    assert not any(prose.allows(i, i, "missing-comma-list") for i in inside)
    for place in (3, len(whole)):
        assert prose.allows(place, place, "missing-comma-list")


@pytest.mark.parametrize(
    "line",
    [
        "# A heading",
        "- milk and bread",
        "2. eggs",
        "Dear Anna,",
        "Best wishes,",
        "Chapter 3: The Long Way Home",
    ],
)
def test_lines_that_need_no_end(line):
    text = f"{line}\nThis is text"
    prose = Prose(text)
    bare = len(line.rstrip(","))
    assert not prose.allows(bare, len(line), "missing-end")
    assert prose.allows(len(text), len(text), "missing-end")
    assert prose.allows(bare, bare, "statement")


@pytest.mark.parametrize(
    ("line", "is_reference"),
    [
        ("Tan, Amy. Where the Past Begins: A Writer’s Memoir. Ecco, 2017.", True),
        ("Hill, Ann, and Tom Lee. “On Walls.” Walls, vol. 1, Jan. 1990, p. 3.", True),
        ("Smith, J., & Doe, A. (2010). On walls. The Wall 12, 1-2.", True),
        ("Rain. Directed by Ann Hill, Snow Brothers, 1942.", True),
        ("It rained. She came from Dayton, Ohio, in 1912.", False),
        ("However, Mr. Smith left in 1990 and came back.", False),
        ("However, Anna left. In 1990, she was there.", False),
    ],
)
def test_lines_of_bibliographies_stay(line, is_reference):
    prose = Prose(f"We read on\n{line}\nand on")
    allowed = prose.allows(20, 20, "missing-comma-list")
    assert allowed != is_reference
    assert prose.allows(5, 5, "missing-comma-list")


@pytest.mark.parametrize("bullet", ["- ", "* ", "2. ", "10) "])
def test_bullets_stay(bullet):
    text = f"We need:\n\n{bullet}bread - and milk"
    prose = Prose(text)
    start = text.index(bullet)
    assert not prose.allows(start, start + len(bullet), "superfluous-hyphen")
    dash = text.index(" - and")
    assert prose.allows(dash, dash + 3, "superfluous-hyphen")


def test_verse_and_code_blocks():
    verse = "Shall I compare thee to\nThou art more lovely and\nRough winds do shake"
    first = verse.index("\n")
    assert not Prose(verse).allows(first, first, "run-on")
    code = "See:\n\n```\na, b c\n```\n\nDone"
    place = code.index(" c")
    assert not Prose(code).allows(place, place, "missing-comma-list")
