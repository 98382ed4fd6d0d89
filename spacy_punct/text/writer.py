"""Words and slots written as text.

Marks have glyphs: quotes, and the forms that a script has of its own. Spaces stand
around them by rule, and better where a treebank tells.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Literal

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import ABBREVIATION_DOT, SPECIAL_GLYPHS, is_opener
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError

Quotes = Literal["straight", "typographic"]
QUOTES: tuple[Quotes, ...] = ("straight", "typographic")

_QUOTE_MARKS = ("``", "''", "`", "'")
_ENGLISH = "“”‘’"
_TYPOGRAPHIC = {
    **dict.fromkeys(["de", "cs", "sk", "sl", "is", "et", "lt", "bg"], "„“‚‘"),
    **dict.fromkeys(["fr", "es", "it", "pt", "ca", "el", "hy", "fa"], "«»“”"),
    **dict.fromkeys(["ru", "uk", "be"], "«»„“"),
    **dict.fromkeys(["pl", "ro", "hu", "hr", "sr"], "„”‚’"),
    **dict.fromkeys(["sv", "fi"], "””’’"),
    **dict.fromkeys(["da", "nb", "nn"], "«»‘’"),
    "ja": "「」『』",
}
"""By language: double opening, double closing, single opening, single closing."""

_ARABIC = {",": "،", ";": "؛", "?": "؟"}
_FULL_WIDTH = dict(zip(",?!:;()", "，？！：；（）", strict=True))
_SCRIPT = {
    "zh": {**_FULL_WIDTH, ".": "。"},
    "ja": {**_FULL_WIDTH, ",": "、", ".": "。"},
    "ar": _ARABIC,
    "fa": _ARABIC,
    "ur": {**_ARABIC, ".": "۔"},
    "ug": _ARABIC,
}
"""By language: Latin mark -> the script's own."""


def glyph_table(language: str, quotes: Quotes) -> dict[str, str]:
    """Mark -> glyph, for the marks that are not their own.

    language (str): A two-letter code.
    quotes (Quotes): Straight, or as the language's typography has them.
    RETURNS (dict[str, str]): The glyphs.
    """
    table = {**SPECIAL_GLYPHS, **_SCRIPT.get(language, {})}
    if quotes == "typographic":
        glyphs = _TYPOGRAPHIC.get(language, _ENGLISH)
        table |= dict(zip(_QUOTE_MARKS, glyphs, strict=True))
    return table


def quotes_of(text: str) -> Quotes:
    """How the quotes of a text are written; straight if it has none."""
    has_double = any(char in text for char in "“”„«»")
    return "typographic" if has_double else "straight"


NO_SPACES = frozenset({"zh", "ja", "th", "lo", "my", "km", "bo", "yue", "lzh"})
"""Languages that write words together."""

_OPENERS = frozenset({"``", "`", "¿", "¡", "<", "<<", "#", "„", "‚"})
_TIGHT = frozenset({"-", "/", "\\", "‐", "‑", "_", "~"})
_LOOSE = frozenset({"=", "+", "|", "*", "•", "·", "--", "---", "==", ">", ">>"})
_SPACED_BEFORE = {"fr": frozenset("?!:;»"), "nb": frozenset("–")}
_SPACED_AFTER = {"fr": frozenset("«")}
_RUN = frozenset("?!")
"""Marks that stand together in every language."""
_NO_TAG = ""

Place = tuple[Puncteme, int]
"""A slot's marks, and how many of them stand before the place."""
Context = tuple[str, str]
"""The tags of the words around a slot; empty at the ends of a sentence."""


@dataclass(frozen=True)
class Spacing:
    """How likely a space is at each place of a slot.

    language (str): A two-letter code.
    learned (dict[Place, dict[Context | None, float]]): What a treebank says: for
        the marks in the slot, and for those between words of certain tags. Only
        what the next coarser entry, or the rule, would get wrong is kept.
    """

    language: str
    learned: dict[Place, dict[Context | None, float]] = field(default_factory=dict)

    def places(self, slot: Puncteme, context: Context) -> list[float]:
        """The probability of a space before each mark of a slot and after the last.

        slot (Puncteme): The marks.
        context (Context): The tags of the words around.
        RETURNS (list[float]): One more than there are marks.
        """
        return [self._place(slot, k, context) for k in range(len(slot) + 1)]

    def _place(self, slot: Puncteme, k: int, context: Context) -> float:
        known = self.learned.get((slot, k), {})
        if context in known:
            return known[context]
        if None in known:
            return known[None]
        return 0.9 if self._by_rule(slot, k) else 0.1

    def _by_rule(self, slot: Puncteme, k: int) -> bool:
        """A space wants both its neighbours to allow it."""
        if self.language in NO_SPACES:
            return False
        if 0 < k < len(slot) and _RUN.issuperset(slot[k - 1 : k + 1]):
            return False
        left_allows = k == 0 or self._allows_after(slot[k - 1])
        right_allows = k == len(slot) or self._allows_before(slot[k])
        return left_allows and right_allows

    def _allows_before(self, mark: str) -> bool:
        if mark in _SPACED_BEFORE.get(self.language, ()):
            return True
        return mark in _OPENERS or mark in _LOOSE or _category(mark) in ("open", "dash")

    def to_data(self) -> dict[str, Any]:
        """As lists, strings and numbers."""
        learned = [
            [list(slot), k, [[context, p] for context, p in table.items()]]
            for (slot, k), table in self.learned.items()
        ]
        return {"language": self.language, "learned": learned}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Spacing":
        """What `to_data` gave."""
        learned = {
            (tuple(slot), k): {
                None if context is None else tuple(context): p for context, p in table
            }
            for slot, k, table in data["learned"]
        }
        return cls(data["language"], learned)

    def _allows_after(self, mark: str) -> bool:
        if mark in _SPACED_AFTER.get(self.language, ()):
            return True
        return not (mark in _OPENERS or mark in _TIGHT or _category(mark) == "open")

    @classmethod
    def learn(
        cls,
        language: str,
        examples: Iterable[PunctuatedTree],
        *,
        min_count: int = 3,
        strength: float = 4.0,
    ) -> "Spacing":
        """Count spaces around marks in a treebank.

        language (str): A two-letter code.
        examples (Iterable[PunctuatedTree]): Sentences; only those with `spaces`
            count, and if they have a space after every token, as treebanks that
            do not record spaces seem to, there is nothing to learn.
        min_count (int): How often a place must have been seen.
        strength (float): Weight of the coarser estimate, in occurrences.
        RETURNS (Spacing): Learned; by rule alone if nothing could be.
        """
        by_rule = cls(language)
        counts: dict[Place, Counter[tuple[Context | None, bool]]] = defaultdict(Counter)
        recorded = False
        for example in examples:
            for slot, spaces, context in _observed(example):
                # No space can precede the sentence, or an abbreviation's dot.
                first = not context[0] or slot[0] == ABBREVIATION_DOT
                recorded = recorded or not all(spaces[first:])
                for k, space in enumerate(spaces):
                    # Nothing follows the last mark of a sentence, or precedes the
                    # first.
                    if (context[0] or k) and (context[1] or k < len(slot)):
                        counts[slot, k][context, space] += 1
                        counts[slot, k][None, space] += 1
        learned: dict[Place, dict[Context | None, float]] = {}
        for place, seen in counts.items() if recorded else ():
            parent = by_rule._place(*place, ("", ""))
            table: dict[Context | None, float] = {}
            known: list[Context | None] = [None, *(context for context, _ in seen)]
            for place_context in dict.fromkeys(known):
                yes, no = seen[place_context, True], seen[place_context, False]
                if yes + no < min_count:
                    continue
                p = (yes + strength * parent) / (yes + no + strength)
                if (p > 0.5) != (parent > 0.5):
                    table[place_context] = round(p, 3)
                if place_context is None:
                    parent = p
            if table:
                learned[place] = table
        return cls(language, learned)


def _observed(
    example: PunctuatedTree,
) -> Iterator[tuple[Puncteme, Sequence[bool], Context]]:
    """The slots with marks whose spaces are known, and the tags around them."""
    tags = (_NO_TAG, *example.tree.tags, _NO_TAG)
    for i, spaces in enumerate(example.spaces):
        if example.slots[i]:
            yield example.slots[i], spaces, (tags[i], tags[i + 1])


@cache
def _category(mark: str) -> str:
    """Whether a mark opens, is a dash, or belongs to the word before it."""
    if is_opener(mark):
        return "open"
    is_dash = all(unicodedata.category(char) == "Pd" for char in mark)
    if is_dash and mark not in _TIGHT:
        return "dash"
    return "close"


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
