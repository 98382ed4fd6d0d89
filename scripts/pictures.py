"""Pictures of what was learned and measured, as PNG and SVG files.

The same data gives the same files, byte for byte, with the same matplotlib and fonts.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import bidirectional

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import PunctError
from spacy_punct.model.rewrites import Bigram, Rewrite

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#d55e00"),
    *("#cc79a7", "#56b4e9", "#882255", "#999933"),
)
"""Told apart by colour-blind people too (mostly Okabe and Ito's)."""
_INK = "#333333"

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
    models: Mapping[str, Sequence[Rewrite]], path: str | Path, *, columns: int = 4
) -> tuple[Path, Path]:
    """Draw how channels rewrite two marks (the paper's Figure 3).

    There is a panel for each underlying bigram, with a bar for each surface string
    and model; its header has the bigram and how often each model found it.

    models (Mapping[str, Sequence[Rewrite]]): What each model learned, by its name.
    path (str | Path): Where to write, without the ending.
    columns (int): Panels in a row.
    RETURNS (tuple[Path, Path]): The PNG and the SVG file.
    """
    bigrams = list(
        dict.fromkeys(r.underlying for found in models.values() for r in found)
    )
    if not bigrams:
        raise PunctError("There are no rewrites to draw.")
    by_model = {
        name: {rewrite.underlying: rewrite for rewrite in found}
        for name, found in models.items()
    }
    columns = min(columns, len(bigrams))
    rows = ceil(len(bigrams) / columns)
    with _style():
        figure = _figure(2.1 * columns + 0.4, 1.75 * rows + 0.7)
        panels = figure.subplots(rows, columns, sharey=True, squeeze=False)
        for axes in panels.flat[len(bigrams) :]:
            axes.set_axis_off()
        for axes, bigram in zip(panels.flat, bigrams, strict=False):
            _draw_rewrites(
                axes, bigram, [found.get(bigram) for found in by_model.values()]
            )
        for axes in panels[:, 0]:
            axes.set_ylabel("probability")
        if len(models) > 1:
            handles = [
                _patch(_COLOURS[k % len(_COLOURS)], name)
                for k, name in enumerate(models)
            ]
            figure.legend(handles=handles, loc="outside upper left", ncols=len(models))
        return _save(figure, path)


def _draw_rewrites(
    axes: "Axes", bigram: Bigram, rewrites: Sequence[Rewrite | None]
) -> None:
    """A panel: which of a, b, ab and ba there are, for each model."""
    a, b = bigram
    possible = {o.surface for entry in rewrites if entry for o in entry.outcomes}
    candidates: list[Puncteme] = [(a,), (b,), (a, b), (b, a)]
    surfaces = [s for s in dict.fromkeys(candidates) if s in possible]
    width = 0.72 / len(rewrites)
    for k, entry in enumerate(rewrites):
        if entry is None:
            continue
        found = {outcome.surface: outcome.p for outcome in entry.outcomes}
        heights = [found.get(surface, 0.0) for surface in surfaces]
        shift = (k - (len(rewrites) - 1) / 2) * width
        places = [i + shift for i in range(len(surfaces))]
        colour = _COLOURS[k % len(_COLOURS)]
        bars = axes.bar(places, heights, width * 0.92, color=colour, zorder=2)
        if len(rewrites) == 1:
            labels = [f"{100 * height:.0f}" for height in heights]
            axes.bar_label(bars, labels, padding=1.5, fontsize=7, color=_INK)
    counts = [
        "–" if entry is None or entry.count is None else f"{entry.count:,}"
        for entry in rewrites
    ]
    header = shown(bigram)
    size = 15 if len(header) <= _SHORT else 8
    axes.set_title(header, fontsize=size, fontweight="bold", loc="left", pad=6)
    if any(count != "–" for count in counts):
        axes.set_title(" / ".join(counts), fontsize=8, loc="right", color="#777777")
    labels = [shown(surface) for surface in surfaces]
    weight, size = "bold", 13
    if max(map(len, labels)) > _NARROW:
        labels = [label.replace(" ", "\n") for label in labels]
        longest = max(len(line) for label in labels for line in label.split("\n"))
        weight, size = "normal", 10 if longest < _NARROW else 6.5
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

    settings = {
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

    figure = Figure((width, height), layout="constrained", facecolor="white")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    FigureCanvasAgg(figure)
    return figure


def _patch(colour: str, label: str) -> "Artist":
    from matplotlib.patches import Patch

    return Patch(color=colour, label=label)


def _save(figure: "Figure", path: str | Path) -> tuple[Path, Path]:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    png, svg = (path.with_name(f"{path.name}.{end}") for end in ("png", "svg"))
    figure.savefig(png, dpi=160, metadata={"Software": None})
    figure.savefig(svg, metadata={"Date": None, "Creator": None})
    return png, svg
