"""Slots and words put together as text."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from spacy_punct.data.tree import Slots
from spacy_punct.errors import Errors, PunctError
from spacy_punct.text.glyphs import Quotes, glyph_table
from spacy_punct.text.spacing import NO_SPACES, Spacing

Gap = tuple[str, ...] | None
"""The pieces of white space that are to stand in a slot, or None: as is usual."""


@dataclass(frozen=True)
class Piece:
    """A word or mark as written, and the white space after it.

    source (int | None): The word's position; None for a mark.
    """

    text: str
    space: str
    source: int | None


@dataclass(frozen=True)
class Writer:
    """Writes sentences of one language.

    spacing (Spacing): Where spaces stand, and in which language.
    quotes (Quotes): How quotes look.
    """

    spacing: Spacing
    quotes: Quotes = "straight"

    @cached_property
    def _glyphs(self) -> dict[str, str]:
        return glyph_table(self.spacing.language, self.quotes)

    @cached_property
    def _guillemets(self) -> dict[str, str]:
        """Quote -> glyph, in French, which puts spaces inside guillemets only."""
        glyphs = self._glyphs if self.spacing.language == "fr" else {}
        return {mark: glyph for mark, glyph in glyphs.items() if glyph in ("«", "»")}

    @cached_property
    def space(self) -> str:
        """What stands between two words."""
        return "" if self.spacing.language in NO_SPACES else " "

    def write(
        self,
        words: Sequence[str],
        slots: Slots,
        *,
        tags: Sequence[str] | None = None,
        gaps: Sequence[Gap] | None = None,
        glyphs: Mapping[tuple[int, int], str] | None = None,
        white: Mapping[int, Sequence[str]] | None = None,
        after: str = "",
    ) -> list[Piece]:
        """Write one sentence.

        words (Sequence[str]): The words.
        slots (Slots): The marks before, between and after them.
        tags (Sequence[str] | None): The words' parts of speech, which tell a hyphen
            from a dash; optional.
        gaps (Sequence[Gap] | None): For each slot the white space it must hold, if
            that is known: `()` for two words that are written as one.
        glyphs (Mapping | None): (slot, position) -> how this mark is written.
        white (Mapping | None): Slot -> the white space before each of its marks and
            after the last, where that is known to the letter.
        after (str): White space after the sentence.
        RETURNS (list[Piece]): The words and marks in order.
        """
        n = len(words)
        _check_lengths(n, slots, tags, gaps)
        tags = ("", *(tags or [""] * n), "")
        gaps = gaps or [None] * (n + 1)
        glyphs, white = glyphs or {}, white or {}
        pieces: list[Piece] = []
        for i, slot in enumerate(slots):
            if not slot and not white.get(i):
                if i:
                    space = self._gap(words, i, gaps[i])
                    pieces.append(Piece(words[i - 1], space, i - 1))
                continue
            spaced_as = tuple(self._guillemets.get(mark, mark) for mark in slot)
            chances = self.spacing.places(spaced_as, (tags[i], tags[i + 1]))
            # Before the first and after the last mark of a sentence is no place.
            places = range(i == 0, len(chances) - (i == n))
            spaces = white.get(i) or self._spaces(chances, places, gaps[i])
            if i:
                pieces.append(Piece(words[i - 1], spaces[0], i - 1))
            for k, mark in enumerate(slot):
                glyph = glyphs.get((i, k), self._glyphs.get(mark, mark))
                pieces.append(Piece(glyph, spaces[k + 1], None))
        if pieces:
            pieces[-1] = replace(pieces[-1], space=after)
        return pieces

    def _gap(self, words: Sequence[str], slot: int, gap: Gap) -> str:
        """What stands in a slot without marks, after its word."""
        if gap is not None:
            return "".join(gap)
        if self.space or slot == len(words):
            return self.space
        # Where others have no space between them, Latin words do.
        around = words[slot - 1][-1:] + words[slot][:1]
        return " " if all(char.isascii() and char.isalnum() for char in around) else ""

    def _spaces(self, chances: list[float], places: range, gap: Gap) -> list[str]:
        """The white space before each mark of a slot and after the last."""
        spaces = [""] * len(chances)
        if gap is None:
            pieces = {k: self.space for k in places if chances[k] > 0.5}
        else:
            likeliest = sorted(places, key=lambda k: (-chances[k], -k))[: len(gap)]
            pieces = dict(zip(sorted(likeliest), gap, strict=False))
            if pieces:
                pieces[max(pieces)] += "".join(gap[len(pieces) :])
        for k, piece in pieces.items():
            spaces[k] = piece
        return spaces


def _check_lengths(
    n: int,
    slots: Slots,
    tags: Sequence[str] | None,
    gaps: Sequence[Gap] | None,
) -> None:
    """Raise unless there is a slot and a gap more than words, and a tag for each."""
    if len(slots) != n + 1:
        raise PunctError(Errors.P014.format(words=n, expected=n + 1, n=len(slots)))
    for name, given, expected in (("tags", tags, n), ("gaps", gaps, n + 1)):
        if given and len(given) != expected:
            raise PunctError(
                Errors.P024.format(
                    name=f"The number of {name}", condition=expected, value=len(given)
                )
            )


def joined(pieces: Iterable[Piece]) -> str:
    """The text of pieces."""
    return "".join(piece.text + piece.space for piece in pieces)
