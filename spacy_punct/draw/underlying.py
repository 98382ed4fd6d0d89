"""Style "underlying": a tree, the punctemes that its constituents sprout, and what
the channel makes of them, as SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from spacy_punct.data.marks import ABBREVIATION_DOT, BOS
from spacy_punct.draw.explained import UnderlyingSentence
from spacy_punct.draw.layout import (
    MARGIN,
    MARK,
    RELATION,
    TAG,
    WORD,
    Layout,
    Row,
)
from spacy_punct.draw.markup import (
    COLOURS,
    GREY,
    INK,
    drawing,
    element,
    glyphs_of,
    identifier,
    label,
    mark_size,
    text_width,
)
from spacy_punct.model.rewrites import Rewriting

_LEVEL = 21
"""Between arcs."""
_BAR = 25
"""Between constituents."""
_ABOVE = 16
"""Above the highest arc."""
_CORNER = 7
_CHIP = 20
_REWRITE = 46
"""From the underlying marks to the surface."""

SURFACES = ("auto", "restored", "written")


@dataclass(frozen=True)
class UnderlyingOptions:
    """How to draw trees.

    width (float | None): Where to go on in a new row; None for never, so that the
        picture scrolls.
    tags (bool): Whether parts of speech are shown.
    surface (str): "restored" for what the restorer wrote, "written" for the
        punctuation that the Doc has, "auto" for the latter if there is any and a
        pipeline is given.
    """

    width: float | None = 1000
    tags: bool = True
    surface: str = "auto"


def underlying_picture(
    sentence: UnderlyingSentence,
    *,
    language: str = "en",
    direction: str = "ltr",
    options: UnderlyingOptions | None = None,
    key: object = None,
) -> Element:
    """Draw a sentence.

    sentence (UnderlyingSentence): The sentence.
    language (str): Its language, which says how marks are shown.
    direction (str): "rtl" for scripts that run from right to left.
    options (UnderlyingOptions | None): How to draw.
    key (object): Tells it from other pictures on a page.
    RETURNS (Element): The SVG.
    """
    return _Picture(sentence, language, direction, options, key).svg()


class _Picture:
    def __init__(
        self,
        sentence: UnderlyingSentence,
        language: str,
        direction: str,
        options: UnderlyingOptions | None,
        key: object,
    ) -> None:
        self._options = options or UnderlyingOptions()
        self._sentence, self._tree = sentence, sentence.tree
        self._language, self._direction = language, direction
        self._glyphs = glyphs_of(language)
        self._layout = Layout(sentence, self._glyphs, self._options.width)
        self._name = identifier(sentence.words, sentence.pairs, key)
        marked = [i for i, pair in enumerate(sentence.pairs) if any(pair)]
        self._colours = {i: COLOURS[k % len(COLOURS)] for k, i in enumerate(marked)}

    # Whole

    def svg(self) -> Element:
        rows: list[Element] = []
        top = 0.0
        for row in self._layout.rows:
            drawn, height = self._row(row)
            drawn.set("transform", f"translate(0 {top:g})")
            rows.append(drawn)
            top += height
        return drawing(
            *rows,
            title=f"Underlying punctuation: {' '.join(self._sentence.words)}",
            description=self._description(),
            name=self._name,
            width=self._layout.width,
            height=top,
            direction=self._direction,
            class_="spacy-punct-underlying",
        )

    def _description(self) -> str:
        lines = []
        for i in self._colours:
            left, right = map(self._shown, self._sentence.pairs[i])
            word, relation = self._sentence.words[i], self._tree.relations[i]
            sides = [f"begins with {left}"] * bool(left)
            sides += [f"ends with {right}"] * bool(right)
            lines.append(f"{word} ({relation}) {' and '.join(sides)}.")
        for slot, rewriting in enumerate(self._sentence.rewritings):
            if _is_shown(rewriting):
                where = (
                    f"after {self._sentence.words[slot - 1]}" if slot else "at first"
                )
                lines.append(f"{self._change(rewriting)} {where}.")
        return " ".join(lines)

    def _change(self, rewriting: Rewriting) -> str:
        below, above = map(self._shown, (rewriting.underlying, rewriting.surface))
        return f"{below or 'nothing'} → {above or 'nothing'}"

    def _shown(self, marks: Sequence[str]) -> str:
        return " ".join(self._glyphs.get(m, m) for m in marks if m != BOS)

    # Rows

    def _row(self, row: Row) -> tuple[Element, float]:
        arcs, bars = self._layout.arcs_in(row), self._layout.bars_in(row)
        has_root = row.start <= self._tree.root < row.end
        base = _ABOVE + max(*arcs.values(), int(has_root), 0) * _LEVEL + 12
        words = base + WORD + 4
        tags = words + 14 * self._options.tags
        below = tags + max(bars.values(), default=0) * _BAR + 34
        above = below + _REWRITE
        drops = {i: tags + level * _BAR - 6 for i, level in bars.items()}
        drawn = [
            self._arc(row, i, base, base - level * _LEVEL) for i, level in arcs.items()
        ]
        if has_root:
            drawn.append(self._root(row, base))
        drawn += [self._word(row, i, words, tags, above) for i in row.words]
        drawn += [self._bar(row, i, y) for i, y in drops.items()]
        drawn += [
            self._slot(row, slot, drops, below, above)
            for slot in row.slots
            if _is_shown(self._sentence.rewritings[slot])
        ]
        for name, y in (("underlying", below), ("surface", above)):
            drawn.append(self._text(name, MARGIN, y, 11, fill=GREY, anchor="start"))
        return element("g", *drawn, class_="row"), above + 26

    def _x(self, x: float) -> float:
        return self._layout.width - x if self._direction == "rtl" else x

    def _text(
        self, text: str, x: float, y: float, size: float, **attributes: str
    ) -> Element:
        return label(text, self._x(x), y, size, **attributes)

    # The tree

    def _word(
        self, row: Row, i: int, words: float, tags: float, above: float
    ) -> Element:
        x, text = row.words[i], self._sentence.words[i]
        parts = [self._text(text, x, words, WORD, class_="word")]
        if self._options.tags:
            tag = self._tree.tags[i]
            parts.append(self._text(tag, x, tags, TAG, fill=GREY, class_="tag"))
        parts.append(
            self._text(text, x, above, WORD - 2, fill="#8a8a8a", aria_hidden="true")
        )
        return element("g", *parts, class_="token", data_word=i)

    def _arc(self, row: Row, i: int, base: float, y: float) -> Element:
        first, last = self._layout.arcs[i]
        ends = self._layout.arc_ends(row, i)
        left, right = self._layout.arc_extent(row, i)
        corner = min(_CORNER, (right - left) / 2)
        x = self._x
        path = f"M{x(left):.1f},{y:.1f}"
        if first in ends:
            path = (
                f"M{x(left):.1f},{base:.1f} V{y + corner:.1f} "
                f"Q{x(left):.1f},{y:.1f} {x(left + corner):.1f},{y:.1f}"
            )
        path += f" H{x(right - corner if last in ends else right):.1f}"
        if last in ends:
            path += (
                f" Q{x(right):.1f},{y:.1f} {x(right):.1f},{y + corner:.1f} V{base:.1f}"
            )
        colour = self._colours.get(i, "#777777")
        parts = [
            element(
                "path",
                d=path,
                fill="none",
                stroke=colour,
                stroke_width=2 if i in self._colours else 1.2,
            )
        ]
        if i in ends:
            parts.append(_arrowhead(x(ends[i]), base, colour))
        if self._layout.rows[self._layout.named[i]] is row:
            parts.append(self._relation(i, (left + right) / 2, y + 3.5, colour))
        return element("g", *parts, class_="arc", data_word=i)

    def _relation(self, i: int, x: float, y: float, colour: str) -> Element:
        """The name of a relation, with white around so that lines do not cross it."""
        return self._text(
            self._tree.relations[i],
            x,
            y,
            RELATION,
            fill=colour if i in self._colours else GREY,
            class_="relation",
            stroke="#ffffff",
            stroke_width="5",
            paint_order="stroke",
            stroke_linejoin="round",
        )

    def _root(self, row: Row, base: float) -> Element:
        root = self._tree.root
        colour = self._colours.get(root, "#777777")
        x = self._x(row.words[root])
        line = element(
            "path",
            d=f"M{x:.1f},6 V{base:.1f}",
            stroke=colour,
            stroke_width=2 if root in self._colours else 1.2,
        )
        # The highest arcs begin beside it: there is room above them only.
        name = self._relation(root, row.words[root], 12, colour)
        head = _arrowhead(x, base, colour)
        return element("g", line, head, name, class_="arc", data_word=root)

    # Punctemes

    def _bar(self, row: Row, i: int, y: float) -> Element:
        """A constituent, and what it sprouts at its edges."""
        first, last = self._tree.spans[i]
        left, right = self._sentence.pairs[i]
        begin, end = row.begin - 6, row.width
        chips, bare = [], []
        if left and first in row.slots:
            chip, begin = self._chip(row, i, first, "left", y)
            chips.append(chip)
        elif not left and first in row.words:
            begin = row.words[first] - self._layout.word_widths[first] / 2
            bare.append(begin)
        if right and last in row.slots and last > row.start:
            chip, end = self._chip(row, i, last, "right", y)
            chips.append(chip)
        elif last - 1 in row.words:
            end = row.words[last - 1] + self._layout.word_widths[last - 1] / 2
            bare.append(end)
        path = f"M{self._x(begin):.1f},{y:.1f} H{self._x(end):.1f}"
        line = element(
            "path",
            d=" ".join([path, *(f"M{self._x(x):.1f},{y - 4:.1f} v8" for x in bare)]),
            fill="none",
            stroke=self._colours[i],
            stroke_width=2,
            stroke_opacity=0.75,
        )
        word, relation = self._sentence.words[i], self._tree.relations[i]
        title = element("title", f"{word} ({relation})")
        return element("g", title, line, *chips, class_="constituent", data_word=i)

    def _chip(
        self, row: Row, i: int, slot: int, side: str, y: float
    ) -> tuple[Element, float]:
        """The label of a puncteme, and where its constituent's line meets it."""
        rewriting = self._sentence.rewritings[slot]
        marks = self._sentence.pairs[i][side == "right"]
        cells = self._layout.cells(rewriting.underlying)
        places = self._layout.places(rewriting.underlying, row.slots[slot])
        mine = [k for k, word in enumerate(self._sentence.bearers[slot]) if word == i]
        start = places[mine[0]] - cells[mine[0]] / 2 + 1
        end = places[mine[-1]] + cells[mine[-1]] / 2 - 1
        colour = self._colours[i]
        box = element(
            "rect",
            x=min(self._x(start), self._x(end)),
            y=y - _CHIP / 2,
            width=end - start,
            height=_CHIP,
            rx=5,
            fill="#ffffff",
            stroke=colour,
            stroke_width=1.6,
        )
        texts = [
            self._mark(mark, places[k], y + 5, fill=colour)
            for k, mark in zip(mine, marks, strict=True)
        ]
        chip = element(
            "g", box, *texts, class_=f"puncteme {side}", data_word=i, data_slot=slot
        )
        return chip, end if side == "left" else start

    def _mark(self, mark: str, x: float, y: float, **attributes: str) -> Element:
        glyph = self._glyphs.get(mark, mark)
        size = mark_size(glyph, MARK)
        return self._text(glyph, x, y, size, font_weight="bold", **attributes)

    # Slots

    def _slot(
        self,
        row: Row,
        slot: int,
        drops: Mapping[int, float],
        below: float,
        above: float,
    ) -> Element:
        """Underlying marks, surface marks, and the edits between them."""
        rewriting = self._sentence.rewritings[slot]
        middle = row.slots[slot]
        under = self._layout.places(rewriting.underlying, middle)
        over = self._layout.places(rewriting.surface, middle)
        parts = [element("title", self._change(rewriting))]
        for k, mark in enumerate(rewriting.underlying):
            if mark != BOS:
                word = self._sentence.bearers[slot][k]
                drop = None if word is None else drops[word] + _CHIP / 2
                colour = INK if word is None else self._colours[word]
                parts += self._underlying(rewriting, k, under[k], drop, below, colour)
        for k, mark in enumerate(rewriting.surface):
            if mark == BOS:
                continue
            origin = rewriting.origins[k]
            if origin is not None:
                is_moved = origin in rewriting.moved
                parts += self._path(under[origin], over[k], below, above, is_moved)
            # On the surface, the dot of an abbreviation is a dot.
            shown = "." if mark == ABBREVIATION_DOT else mark
            parts.append(self._mark(shown, over[k], above, class_="surface"))
        return element("g", *parts, class_="rewrite", data_slot=slot)

    def _underlying(
        self,
        rewriting: Rewriting,
        k: int,
        x: float,
        drop: float | None,
        below: float,
        colour: str,
    ) -> list[Element]:
        """An underlying mark, below the label that it comes from."""
        mark = rewriting.underlying[k]
        name = "underlying moved" if k in rewriting.moved else "underlying"
        parts = []
        if drop is not None:
            line = f"M{self._x(x):.1f},{drop + 1:.1f} V{below - 15:.1f}"
            parts.append(
                element(
                    "path",
                    d=line,
                    stroke=colour,
                    stroke_width=1,
                    stroke_dasharray="1 3",
                )
            )
        if k not in rewriting.absorbers:
            return [*parts, self._mark(mark, x, below, fill=colour, class_=name)]
        glyph = self._glyphs.get(mark, mark)
        half = max(text_width(glyph, mark_size(glyph, MARK)) / 2, 5) + 2
        strike = f"M{self._x(x) - half:.1f},{below + 3:.1f} l{2 * half:.1f},-13"
        parts.append(
            element(
                "path", d=strike, class_="strike", stroke="#e0808a", stroke_width=2.5
            )
        )
        text = self._mark(mark, x, below, fill=colour, class_="underlying absorbed")
        by = rewriting.absorbers[k]
        if by is not None:
            absorber = rewriting.underlying[by]
            other = "the beginning" if absorber == BOS else self._shown([absorber])
            text.append(element("title", f"{glyph} is absorbed by {other}"))
        return [*parts, text]

    def _path(
        self, x: float, end: float, below: float, above: float, is_moved: bool
    ) -> list[Element]:
        """From an underlying mark to the same on the surface."""
        start, end = self._x(x), self._x(end)
        top, bottom = below + 7, above - 18
        colour = "#c04a00" if is_moved else "#aaaaaa"
        bend = (top + bottom) / 2
        line = element(
            "path",
            d=f"M{start:.1f},{top:.1f} C{start:.1f},{bend:.1f} "
            f"{end:.1f},{bend - 4:.1f} {end:.1f},{bottom:.1f}",
            class_="moved" if is_moved else "kept",
            fill="none",
            stroke=colour,
            stroke_width=1.6 if is_moved else 1,
        )
        return [line, _arrowhead(end, bottom + 3, colour)] if is_moved else [line]


def _arrowhead(x: float, y: float, colour: str) -> Element:
    return element(
        "path", d=f"M{x:.1f},{y + 2:.1f} l-4,-7 h8 z", fill=colour, stroke="none"
    )


def _is_shown(rewriting: Rewriting) -> bool:
    """Whether there are marks in a slot, underneath or above."""
    return any(m != BOS for m in (*rewriting.underlying, *rewriting.surface))
