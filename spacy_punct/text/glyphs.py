"""How marks are written: quotes, and marks that a script has its own forms of."""

from typing import Literal

from spacy_punct.data.marks import SPECIAL_GLYPHS

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
