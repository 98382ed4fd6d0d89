"""Where the parts of an underlying sentence stand in its picture.

Places are counted from the side where the sentence begins. Whoever draws for a script
that runs from right to left mirrors them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from spacy_punct.data.marks import BOS
from spacy_punct.data.tree import ROOT
from spacy_punct.draw.explained import UnderlyingSentence
from spacy_punct.draw.markup import mark_size, text_width

WORD, TAG, RELATION, MARK = 16, 10, 10.5, 16
"""Sizes of the fonts."""
MARGIN = 14
SIDE = 84
"""The room beside rows, where the names of the lines of marks stand."""
_GAP = 9
_FAN = 5
"""Between the arcs of one head, where they leave it."""


@dataclass(frozen=True)
class Row:
    """A part of a sentence that stands in one line.

    start, end (int): Its words.
    words (dict[int, float]): The middle of each.
    slots (dict[int, float]): The middle of each slot: one after each word, and the
        first in the first row.
    begin, width (float): Where words begin, and where the row is at its end.
    """

    start: int
    end: int
    words: dict[int, float]
    slots: dict[int, float]
    begin: float
    width: float


class Layout:
    """The rows of a sentence, and the heights of arcs and constituents.

    sentence (UnderlyingSentence): The sentence.
    glyphs (Mapping[str, str]): How marks are shown.
    width (float | None): Where to begin a new row; None for one row in any case.
    """

    def __init__(
        self,
        sentence: UnderlyingSentence,
        glyphs: Mapping[str, str],
        width: float | None,
    ) -> None:
        self.sentence = sentence
        self._glyphs = glyphs
        self._limit = width

    def cells(self, marks: Iterable[str]) -> list[float]:
        """The width of each mark of a slot; the sentence-initial one has none."""
        return [0.0 if mark == BOS else self._cell(mark) for mark in marks]

    def _cell(self, mark: str) -> float:
        glyph = self._glyphs.get(mark, mark)
        return max(18.0, text_width(glyph, mark_size(glyph, MARK)) + 8)

    def places(self, marks: Sequence[str], middle: float) -> list[float]:
        """The middle of each mark of a slot."""
        cells = self.cells(marks)
        result, start = [], middle - sum(cells) / 2
        for cell in cells:
            result.append(start + cell / 2)
            start += cell
        return result

    @cached_property
    def arcs(self) -> dict[int, tuple[int, int]]:
        """Each dependent, and the first and last word of its arc."""
        heads = self.sentence.tree.heads
        return {
            i: (min(i, head), max(i, head))
            for i, head in enumerate(heads)
            if head != ROOT
        }

    @cached_property
    def arc_levels(self) -> dict[int, int]:
        """The height of each dependent's arc, above all that it spans."""
        return _levels({i: range(*arc) for i, arc in self.arcs.items()})

    @cached_property
    def bar_levels(self) -> dict[int, int]:
        """The depth of each constituent with punctemes, below all that it holds."""
        spans = self.sentence.tree.spans
        marked = [i for i, pair in enumerate(self.sentence.pairs) if any(pair)]
        return _levels({i: range(*spans[i]) for i in marked})

    @cached_property
    def fans(self) -> dict[int, float]:
        """How far from the middle of its head each dependent's arc leaves."""
        result = {}
        for head, children in enumerate(self.sentence.tree.children):
            for side in (-1, 1):
                here = [i for i in children if (i - head) * side > 0]
                here.sort(key=lambda i: -abs(i - head))
                step = min(_FAN, self.word_widths[head] / 2 / (len(here) + 1))
                for k, i in enumerate(here, start=1):
                    result[i] = side * step * k
        return result

    @cached_property
    def word_widths(self) -> list[float]:
        tags = self.sentence.tree.tags
        return [
            max(text_width(word, WORD), text_width(tag, TAG), 12.0)
            for word, tag in zip(self.sentence.words, tags, strict=True)
        ]

    @cached_property
    def _slot_widths(self) -> list[float]:
        widths = [
            2 * _GAP
            + max(sum(self.cells(r.underlying)), sum(self.cells(r.surface)), 0.0)
            for r in self.sentence.rewritings
        ]
        relations = self.sentence.tree.relations
        for i, (first, last) in self.arcs.items():
            if last - first == 1:
                words = (self.word_widths[first] + self.word_widths[last]) / 2
                wanted = text_width(relations[i], RELATION) + 24
                widths[last] = max(widths[last], wanted - words)
        return widths

    @cached_property
    def rows(self) -> list[Row]:
        rows: list[Row] = []
        n = len(self.sentence.words)
        start = 0
        while start < n:
            words: dict[int, float] = {}
            slots: dict[int, float] = {}
            x = float(SIDE)
            if start == 0:
                slots[0] = x + self._slot_widths[0] / 2
                x += self._slot_widths[0]
            for i in range(start, n):
                needed = self.word_widths[i] + self._slot_widths[i + 1]
                if words and self._limit and x + needed + MARGIN > self._limit:
                    break
                words[i] = x + self.word_widths[i] / 2
                slots[i + 1] = x + self.word_widths[i] + self._slot_widths[i + 1] / 2
                x += needed
            rows.append(Row(start, start + len(words), words, slots, SIDE, x + MARGIN))
            start += len(words)
        return rows

    @cached_property
    def width(self) -> float:
        return max(row.width for row in self.rows)

    def arcs_in(self, row: Row) -> dict[int, int]:
        """The dependents whose arcs are seen in a row, and the height of each."""
        return _closed_up(
            {
                i: self.arc_levels[i]
                for i, (first, last) in self.arcs.items()
                if first < row.end and last >= row.start
            }
        )

    def arc_ends(self, row: Row, i: int) -> dict[int, float]:
        """Where the words at the ends of a dependent's arc are met, in a row."""
        return {
            word: row.words[word] + (0 if word == i else self.fans[i])
            for word in self.arcs[i]
            if word in row.words
        }

    def arc_extent(self, row: Row, i: int) -> tuple[float, float]:
        """From where to where a dependent's arc is seen in a row."""
        ends = self.arc_ends(row, i)
        first, last = self.arcs[i]
        return ends.get(first, row.begin - 6), ends.get(last, row.width)

    @cached_property
    def named(self) -> dict[int, int]:
        """The row in which each dependent's arc has most room for its name."""
        widest: dict[int, tuple[float, int]] = {}
        for k, row in enumerate(self.rows):
            for i in self.arcs_in(row):
                left, right = self.arc_extent(row, i)
                widest[i] = max(widest.get(i, (0.0, 0)), (right - left, -k))
        return {i: -k for i, (_, k) in widest.items()}

    def bars_in(self, row: Row) -> dict[int, int]:
        """The constituents with punctemes that are seen in a row, be it that of the
        slot before them alone, and the depth of each."""
        return _closed_up(
            {
                i: level
                for i, level in self.bar_levels.items()
                if self._first_place(i) < row.end
                and self.sentence.tree.spans[i][1] > row.start
            }
        )

    def _first_place(self, i: int) -> int:
        """The word at whose side a constituent's line begins."""
        first, _ = self.sentence.tree.spans[i]
        left, _ = self.sentence.pairs[i]
        return first - 1 if left else first


def _levels(ranges: Mapping[int, range]) -> dict[int, int]:
    """A level for each range, from 1: above those of shorter ones it overlaps."""
    top: dict[int, int] = {}
    levels = {}
    for key, covered in sorted(ranges.items(), key=lambda item: len(item[1])):
        levels[key] = 1 + max((top.get(place, 0) for place in covered), default=0)
        top.update(dict.fromkeys(covered, levels[key]))
    return levels


def _closed_up(levels: Mapping[int, int]) -> dict[int, int]:
    """Levels without those that nothing is on."""
    rank = {level: k for k, level in enumerate(sorted(set(levels.values())), start=1)}
    return {key: rank[level] for key, level in levels.items()}
