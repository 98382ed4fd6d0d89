"""Pictures are written, whatever the script, and are the same every time."""

import warnings

import pytest

from scripts.pictures import rewrite_bars, shown
from spacy_punct.errors import PunctError
from spacy_punct.model.rewrites import Outcome, Rewrite

PNG = b"\x89PNG\r\n\x1a\n"


def entry(a: str, b: str, count: int | None = 30, p: float = 0.9) -> Rewrite:
    outcomes = [Outcome((b,), p), Outcome((a, b), 1 - p)]
    return Rewrite((a, b), count, tuple(outcomes))


MANY = [
    *(entry(",", "."), entry("''", ".", 1200), entry(",", ",", None)),
    *(entry("،", "؟"), entry("।", "''"), entry("。", "？"), entry("《", "》")),
    *(entry("$", "$_"), entry("<abbr>", "."), entry("¿", "\\"), entry("^", ",")),
]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What labels other than marks are written in is the user's business.
        warnings.filterwarnings("ignore", "Glyph|Matplotlib currently does not")
        yield


def test_files_are_whole_and_reproducible(tmp_path):
    png, svg = rewrite_bars(MANY, tmp_path / "deep" / "a.b")
    assert (png.name, svg.name) == ("a.b.png", "a.b.svg")
    assert png.read_bytes().startswith(PNG)
    assert len(png.read_bytes()) > 5000
    assert svg.read_text("utf8").rstrip().endswith("</svg>")
    again = rewrite_bars(MANY, tmp_path / "again")
    assert png.read_bytes() == again[0].read_bytes()
    assert svg.read_bytes() == again[1].read_bytes()


def test_pictures_show_the_data(tmp_path):
    first, _ = rewrite_bars([entry(",", ".", p=0.9)], tmp_path / "a")
    other, _ = rewrite_bars([entry(",", ".", p=0.6)], tmp_path / "b")
    assert first.read_bytes() != other.read_bytes()


def test_the_users_settings_stay(tmp_path):
    import matplotlib

    with matplotlib.rc_context({"font.size": 31, "svg.hashsalt": "mine"}):
        png, svg = rewrite_bars(MANY[:2], tmp_path / "a")
        assert matplotlib.rcParams["font.size"] == 31
        assert matplotlib.rcParams["svg.hashsalt"] == "mine"
    again = rewrite_bars(MANY[:2], tmp_path / "b")
    assert png.read_bytes() == again[0].read_bytes()
    assert svg.read_bytes() == again[1].read_bytes()


def test_marks_as_they_are_drawn():
    assert shown(("''", ".")) == "'' ."
    assert shown(("<abbr>", ",")) == "abbr ,"
    # Kept in their order where a program would turn them round.
    assert shown(("،", "؟")) == "\u200e، \u200e؟"
    # No font has what is not a character.
    assert shown(("\U0010fffd", ",")) == "U+10FFFD ,"


def test_nothing_to_draw(tmp_path):
    with pytest.raises(PunctError, match="no rewrites"):
        rewrite_bars([], tmp_path / "a")
    assert not list(tmp_path.iterdir())
