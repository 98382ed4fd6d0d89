"""Pictures of what a channel learned, as PNG and SVG files.

The same data gives the same files, byte for byte, with the same matplotlib and fonts.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import PunctError
from spacy_punct.model.rewrites import Rewrite

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOUR, _INK = "#0072b2", "#333333"

_FONTS = (
    *("DejaVu Sans", "Noto Sans", "Noto Sans CJK SC", "Noto Sans SC", "PingFang SC"),
    *("Microsoft YaHei", "WenQuanYi Zen Hei", "Noto Sans Devanagari", "Nirmala UI"),
    *("Kohinoor Devanagari", "Lohit Devanagari", "Arial Unicode MS", "Unifont"),
)
"""Whichever are there are asked for each character, in this order."""

_ABBREVIATION = "abbr"
_LEFT_TO_RIGHT = "\u200e"
_SHORT, _NARROW = 7, 5
"""Headers, and strings below bars, of more characters are written small."""


def rewrite_bars(
    rewrites: Sequence[Rewrite], path: str | Path, *, columns: int = 4
) -> tuple[Path, Path]:
    """Draw how a channel rewrites two marks (the paper's Figure 3).

    There is a panel for each underlying bigram, with a bar for each surface string;
    its header has the bigram and how often it was found.

    rewrites (Sequence[Rewrite]): What the model learned.
    path (str | Path): Where to write, without the ending.
    columns (int): Panels in a row.
    RETURNS (tuple[Path, Path]): The PNG and the SVG file.
    """
    if not rewrites:
        raise PunctError("There are no rewrites to draw.")
    columns = min(columns, len(rewrites))
    rows = ceil(len(rewrites) / columns)
    with _style():
        figure = _figure(2.1 * columns + 0.4, 1.75 * rows + 0.7)
        panels = figure.subplots(rows, columns, sharey=True, squeeze=False)
        for axes in panels.flat[len(rewrites) :]:
            axes.set_axis_off()
        for axes, rewrite in zip(panels.flat, rewrites, strict=False):
            _draw_rewrite(axes, rewrite)
        for axes in panels[:, 0]:
            axes.set_ylabel("probability")
        return _save(figure, path)


def _draw_rewrite(axes: "Axes", rewrite: Rewrite) -> None:
    """A panel: which of a, b, ab and ba there are."""
    a, b = rewrite.underlying
    found = {outcome.surface: outcome.p for outcome in rewrite.outcomes}
    candidates: list[Puncteme] = [(a,), (b,), (a, b), (b, a)]
    surfaces = [s for s in dict.fromkeys(candidates) if s in found]
    heights = [found[surface] for surface in surfaces]
    bars = axes.bar(range(len(surfaces)), heights, 0.66, color=_COLOUR, zorder=2)
    percent = [f"{100 * height:.0f}" for height in heights]
    axes.bar_label(bars, percent, padding=1.5, fontsize=7, color=_INK)
    header = shown(rewrite.underlying)
    size = 15.0 if len(header) <= _SHORT else 8.0
    axes.set_title(header, fontsize=size, fontweight="bold", loc="left", pad=6)
    if rewrite.count is not None:
        axes.set_title(f"{rewrite.count:,}", fontsize=8, loc="right", color="#777777")
    labels = [shown(surface) for surface in surfaces]
    weight, size = "bold", 13.0
    if max(map(len, labels)) > _NARROW:
        labels = [label.replace(" ", "\n") for label in labels]
        longest = max(len(line) for label in labels for line in label.split("\n"))
        weight, size = "normal", 10.0 if longest < _NARROW else 6.5
    axes.set_xticks(range(len(surfaces)), labels, fontsize=size, fontweight=weight)
    middle = (len(surfaces) - 1) / 2
    axes.set_xlim(middle - 2.1, middle + 2.1)
    axes.set_ylim(0, 1.12)
    axes.set_yticks([0, 0.5, 1])


def shown(marks: Puncteme) -> str:
    """Marks as they can be drawn, from left to right in any script.

    marks (Puncteme): The marks.
    RETURNS (str): Marks that no font has are given by their number.
    """
    names = [_shown_mark(mark) for mark in marks]
    if any(bidirectional(char) in ("R", "AL") for name in names for char in name):
        names = [_LEFT_TO_RIGHT + name for name in names]
    return " ".join(names)


def _shown_mark(mark: str) -> str:
    if mark == ABBREVIATION_DOT:
        return _ABBREVIATION
    if all(map(_has_glyph, mark)):
        return mark
    return "+".join(f"U+{ord(char):04X}" for char in mark)


@cache
def _has_glyph(char: str) -> bool:
    from matplotlib.font_manager import findfont, get_font

    return any(get_font(findfont(f)).get_char_index(ord(char)) for f in _families())


@cache
def _families() -> tuple[str, ...]:
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return tuple(family for family in _FONTS if family in installed)


@contextmanager
def _style() -> Iterator[None]:
    """The settings of all pictures, for a while."""
    import matplotlib

    settings: dict[Any, Any] = {
        "font.family": list(_families()),
        "font.size": 9,
        "text.parse_math": False,
        "text.color": _INK,
        "axes.edgecolor": "#999999",
        "axes.labelcolor": _INK,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.bottom": False,
        "ytick.left": False,
        "xtick.color": _INK,
        "ytick.color": _INK,
        "legend.frameon": False,
        "svg.hashsalt": "spacy_punct",
    }
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        yield


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
    figure = Figure((width, height), layout=layout, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: "Figure", path: str | Path) -> tuple[Path, Path]:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    png, svg = (path.with_name(f"{path.name}.{end}") for end in ("png", "svg"))
    figure.savefig(png, dpi=160, metadata={"Software": None})
    figure.savefig(svg, metadata={"Date": None, "Creator": None})
    return png, svg
