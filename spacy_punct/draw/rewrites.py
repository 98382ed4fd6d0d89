"""Style "rewrites": how probable a channel holds the edits of two marks, as SVG."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from xml.etree.ElementTree import Element

from spacy_punct.data.marks import BOS, UNK
from spacy_punct.data.tree import Puncteme
from spacy_punct.draw.markup import (
    GREY,
    PALE,
    drawing,
    element,
    glyphs_of,
    identifier,
    label,
    percent,
    text_width,
)
from spacy_punct.model.channel import Channel
from spacy_punct.model.rewrites import Bigram, Rewrite, learned_rewrites, rewrite

_PANEL, _HEIGHT, _BAR, _COLUMNS = 190, 150, 34, 4
_FULL = 74
"""The height of a bar of probability one."""
_NAMES = ("keep", "absorb left", "absorb right", "transpose")
_LOOKS = dict(zip(_NAMES, ("#0072b2", "#e69f00", "#cc79a7", "#00795a"), strict=True))


@dataclass(frozen=True)
class RewritesOptions:
    """What to draw.

    n (int): How many bigrams.
    """

    n: int = 12


def frequent_rewrites(
    channel: Channel, counts: Counter[Bigram] | None, n: int
) -> tuple[Rewrite, ...]:
    """The rewrites of the most frequent bigrams.

    channel (Channel): A trained channel, which has its marks by frequency.
    counts (Counter[Bigram] | None): How often they were found underlying.
    n (int): How many.
    RETURNS (tuple[Rewrite, ...]): The most frequent first. Without counts, those of
        the most frequent marks.
    """
    if counts:
        known = set(channel.marks)
        counts = Counter({ab: m for ab, m in counts.items() if known >= set(ab)})
        return learned_rewrites(channel, counts, min_count=1)[:n]
    marks = [mark for mark in channel.marks if mark not in (BOS, UNK)]
    places = range(min(n + 1, len(marks)))
    pairs = [(i, j) for i in places for j in places if i != j]
    pairs.sort(key=lambda ij: ((ij[0] + 1) * (ij[1] + 1), ij))
    return tuple(rewrite(channel, (marks[i], marks[j])) for i, j in pairs[:n])


def rewrites_picture(
    rewrites: Sequence[Rewrite],
    *,
    language: str = "en",
    key: object = None,
) -> Element:
    """Draw the outcomes of bigrams as bars.

    rewrites (Sequence[Rewrite]): What was learned.
    language (str): Says how marks are shown.
    key (object): Tells it from other pictures on a page.
    RETURNS (Element): The SVG.
    """
    columns = max(1, min(_COLUMNS, len(rewrites)))
    rows = ceil(len(rewrites) / columns)
    width, height = columns * _PANEL + 20, rows * _HEIGHT + 40
    width = max(width, 420)
    glyphs = glyphs_of(language)
    name = identifier([entry.underlying for entry in rewrites], key)
    best = "; ".join(
        f"{_shown(r.underlying, glyphs)} → {_shown(r.best.surface, glyphs)} "
        f"{percent(r.best.p)}"
        for r in rewrites
    )
    panels = []
    for k, entry in enumerate(rewrites):
        panel = _panel(entry, glyphs)
        left, top = 10 + k % columns * _PANEL, 34 + k // columns * _HEIGHT
        panel.set("transform", f"translate({left} {top})")
        panels.append(panel)
    return drawing(
        _legend(),
        *panels,
        title="What becomes of two marks",
        description=best,
        name=name,
        width=width,
        height=height,
        class_="spacy-punct-rewrites",
    )


def _shown(marks: Puncteme, glyphs: dict[str, str]) -> str:
    return " ".join(glyphs.get(mark, mark) for mark in marks)


def _edit(underlying: Bigram, surface: Puncteme) -> str:
    _, b = underlying
    if surface == underlying:
        return "keep"
    if len(surface) == 2:
        return "transpose"
    return "absorb left" if surface == (b,) else "absorb right"


def _legend() -> Element:
    parts = []
    for k, (name, colour) in enumerate(_LOOKS.items()):
        parts.append(
            element("rect", x=10 + k * 100, y=8, width=10, height=10, fill=colour)
        )
        parts.append(label(name, 24 + k * 100, 17, 11, fill=GREY, anchor="start"))
    return element("g", *parts, class_="legend")


def _panel(entry: Rewrite, glyphs: dict[str, str]) -> Element:
    floor = 28 + _FULL + 10
    header = _shown(entry.underlying, glyphs)
    parts = [
        label(header, 8, 18, 17, anchor="start", font_weight="bold", class_="bigram")
    ]
    if entry.count is not None:
        count = f"{entry.count:,}×"
        parts.append(label(count, _PANEL - 20, 18, 10, fill=GREY, anchor="end"))
    for k, outcome in enumerate(entry.outcomes):
        name = _edit(entry.underlying, outcome.surface)
        x = 8 + k * (_BAR + 8)
        height, share = _FULL * outcome.p, percent(outcome.p)
        shown = _shown(outcome.surface, glyphs)
        size = 14 if text_width(shown, 14) <= _BAR + 8 else 9
        parts.append(
            element(
                "g",
                element("title", f"{header} → {shown} ({name}): {share}"),
                element(
                    "rect",
                    x=x,
                    y=floor - height,
                    width=_BAR,
                    height=height,
                    fill=_LOOKS[name],
                ),
                label(share, x + _BAR / 2, floor - height - 3, 9, fill=GREY),
                label(shown, x + _BAR / 2, floor + 17, size, font_weight="bold"),
                class_="outcome",
                data_p=f"{outcome.p:.4f}",
            )
        )
    line = f"M4,{floor} H{_PANEL - 18}"
    parts.append(element("path", d=line, stroke=PALE, stroke_width=1))
    return element("g", *parts, class_="panel")
