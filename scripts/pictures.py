"""Pictures of what was learned and measured, as PNG and SVG files.

The same data gives the same files, byte for byte, with the same matplotlib and fonts.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import Errors, PunctError
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
_INK, _PALE = "#333333", "#dddddd"
_LINES = ("-", "--", ":", "-.")

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


def require_matplotlib() -> None:
    """Raise P095 unless there is matplotlib."""
    if find_spec("matplotlib") is None:
        raise PunctError(Errors.P095)


# The channel


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
        raise PunctError(Errors.P096.format(what="no rewrites"))
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


# Restoration


@dataclass(frozen=True)
class Curve:
    """How good a model's punctuation is with better and worse trees.

    language, model (str): What it is about.
    parsed (Sequence[tuple[float, float]]): LAS and AED with trees of parsers, the
        worst first and the one trained on all data last; LAS from 0 to 1, as `punct
        evaluate` has it.
    gold (float | None): AED with gold trees.
    """

    language: str
    model: str
    parsed: Sequence[tuple[float, float]]
    gold: float | None = None


@dataclass(frozen=True)
class Baselines:
    """AED without trees, for one language: the trivial answer and a tagger's."""

    language: str
    trivial: float | None = None
    tagger: float | None = None


def aed_curves(
    curves: Sequence[Curve],
    path: str | Path,
    *,
    baselines: Sequence[Baselines] = (),
) -> tuple[Path, Path]:
    """Draw edit distance by the quality of trees (the paper's Figure 4).

    A colour is a language, a kind of line a model. Hollow points are parsers trained
    on a part of the data, the filled one on all; gold trees are at LAS 100, and
    baselines right of them.

    curves (Sequence[Curve]): The lines.
    path (str | Path): Where to write, without the ending.
    baselines (Sequence[Baselines]): The symbols at the right.
    RETURNS (tuple[Path, Path]): The PNG and the SVG file.
    """
    if not any(curve.parsed or curve.gold is not None for curve in curves):
        raise PunctError(Errors.P096.format(what="no point of a curve"))
    languages = list(dict.fromkeys(entry.language for entry in (*curves, *baselines)))
    models = list(dict.fromkeys(curve.model for curve in curves))
    colour = {name: _COLOURS[k % len(_COLOURS)] for k, name in enumerate(languages)}
    line = {name: _LINES[k % len(_LINES)] for k, name in enumerate(models)}
    with _style():
        figure = _figure(7.2, 4.5)
        axes = figure.subplots()
        axes.axvline(100, color=_PALE, linewidth=1, zorder=0)
        for curve in curves:
            _draw_curve(axes, curve, colour[curve.language], line[curve.model])
        for entry in baselines:
            for value, place, marker, size in (
                (entry.trivial, 102.5, "D", 30),
                (entry.tagger, 104.5, "*", 80),
            ):
                if value is not None:
                    axes.scatter(
                        [place],
                        [value],
                        s=size,
                        c=colour[entry.language],
                        marker=marker,
                        linewidths=0,
                        zorder=3,
                    )
        axes.set_xlabel("LAS of the trees")
        axes.set_ylabel("edits a slot (AED)")
        ticks = [tick for tick in axes.get_xticks() if tick < 100]
        axes.set_xticks([*ticks, 100], [*(f"{tick:g}" for tick in ticks), "gold"])
        lowest = min((100 * las for c in curves for las, _ in c.parsed), default=90)
        axes.set_xlim(lowest - 2, 106)
        axes.set_ylim(bottom=0)
        axes.yaxis.grid(True, color=_PALE, linewidth=0.6)
        handles = [_patch(colour[name], name) for name in languages]
        if len(models) > 1:
            handles += [_line(name, linestyle=line[name]) for name in models]
        handles.append(
            _line("parser, part of the data", marker="o", mfc="white", linestyle="")
        )
        handles.append(_line("parser, all data; gold trees", marker="o", linestyle=""))
        if any(entry.trivial is not None for entry in baselines):
            handles.append(_line("trivial", marker="D", linestyle=""))
        if any(entry.tagger is not None for entry in baselines):
            handles.append(_line("tagger", marker="*", linestyle="", markersize=9))
        figure.legend(handles=handles, loc="outside right upper")
        return _save(figure, path)


def _draw_curve(axes: "Axes", curve: Curve, colour: str, line: str) -> None:
    points = [(100 * las, aed) for las, aed in curve.parsed]
    if curve.gold is not None:
        points.append((100, curve.gold))
    x, y = zip(*points, strict=True)
    axes.plot(x, y, line, color=colour, linewidth=1.4, zorder=2)
    for k, (las, aed) in enumerate(points):
        is_full = k >= len(curve.parsed) - 1
        fill = colour if is_full else "white"
        size = 26 if is_full else 18
        axes.scatter([las], [aed], s=size, c=fill, edgecolors=colour, zorder=3)


# What they share


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
    require_matplotlib()
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


def _line(label: str, **look: Any) -> "Artist":
    from matplotlib.lines import Line2D

    return Line2D([], [], color="#777777", label=label, **look)


def _save(figure: "Figure", path: str | Path) -> tuple[Path, Path]:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    png, svg = (path.with_name(f"{path.name}.{end}") for end in ("png", "svg"))
    figure.savefig(png, dpi=160, metadata={"Software": None})
    figure.savefig(svg, metadata={"Date": None, "Creator": None})
    return png, svg
