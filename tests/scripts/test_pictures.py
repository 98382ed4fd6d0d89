"""Pictures are written, whatever the script, and are the same every time."""

import subprocess
import sys
import warnings

import pytest

from scripts.pictures import (
    Baselines,
    Curve,
    aed_curves,
    require_matplotlib,
    rewrite_bars,
    shown,
)
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
CURVES = [
    Curve("en", "full", [(0.6, 0.12), (0.7, 0.1), (0.8, 0.09)], 0.08),
    Curve("en", "no channel", [(0.6, 0.13), (0.8, 0.1)], 0.085),
    Curve("हिन्दी", "full", [], 0.02),
]
BASELINES = [Baselines("en", 0.1, 0.108), Baselines("العربية", trivial=0.06)]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What labels other than marks are written in is the user's business.
        warnings.filterwarnings("ignore", "Glyph|Matplotlib currently does not")
        yield


def draw(kind: str, path):
    if kind == "aed":
        return aed_curves(CURVES, path, baselines=BASELINES)
    models = {"en": MANY, "en_cesl": MANY[1:4]} if kind == "two" else {"en": MANY}
    return rewrite_bars(models, path)


@pytest.mark.parametrize("kind", ["one", "two", "aed"])
def test_files_are_whole_and_reproducible(kind, tmp_path):
    png, svg = draw(kind, tmp_path / "deep" / "a.b")
    assert (png.name, svg.name) == ("a.b.png", "a.b.svg")
    assert png.read_bytes().startswith(PNG)
    assert len(png.read_bytes()) > 5000
    assert svg.read_text("utf8").rstrip().endswith("</svg>")
    again = draw(kind, tmp_path / "again")
    assert png.read_bytes() == again[0].read_bytes()
    assert svg.read_bytes() == again[1].read_bytes()


def test_pictures_show_the_data(tmp_path):
    first, _ = rewrite_bars({"en": [entry(",", ".", p=0.9)]}, tmp_path / "a")
    other, _ = rewrite_bars({"en": [entry(",", ".", p=0.6)]}, tmp_path / "b")
    assert first.read_bytes() != other.read_bytes()
    first, _ = aed_curves(CURVES, tmp_path / "c")
    other, _ = aed_curves(CURVES, tmp_path / "d", baselines=BASELINES)
    assert first.read_bytes() != other.read_bytes()


def test_the_users_settings_stay(tmp_path):
    import matplotlib

    with matplotlib.rc_context({"font.size": 31, "svg.hashsalt": "mine"}):
        png, svg = draw("one", tmp_path / "a")
        assert matplotlib.rcParams["font.size"] == 31
        assert matplotlib.rcParams["svg.hashsalt"] == "mine"
    again = draw("one", tmp_path / "b")
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
    with pytest.raises(PunctError, match="P096"):
        rewrite_bars({"en": []}, tmp_path / "a")
    with pytest.raises(PunctError, match="P096"):
        aed_curves([Curve("en", "full", [])], tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (require_matplotlib, lambda: draw("one", tmp_path / "a")):
        with pytest.raises(PunctError, match=r"P095.*spacy-punct\[plot\]"):
            call()


def test_commands_do_not_need_matplotlib():
    code = (
        "import sys; import spacy_punct.cli, scripts.pictures;"
        "sys.exit('matplotlib' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
