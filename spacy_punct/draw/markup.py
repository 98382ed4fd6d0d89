"""What drawings of all styles are made of: elements, colours, widths of texts, pages.

Elements are built as trees and written by the standard library, so whatever a text
holds is escaped, and everything is well-formed XML as well as HTML.
"""

import re
import zlib
from collections.abc import Iterable
from unicodedata import combining, east_asian_width
from xml.etree.ElementTree import Element, tostring

from spacy_punct.data.marks import ABBREVIATION_DOT, UNK
from spacy_punct.text.writer import glyph_table

COLOURS = (
    *("#0072b2", "#c04a00", "#00795a", "#882255"),
    *("#8a6d00", "#332288", "#b0468f", "#117799"),
)
"""Told apart by colour-blind people too, and dark enough for thin lines."""
INK, GREY, PALE = "#222222", "#666666", "#dddddd"
FONTS = "'DejaVu Sans', 'Noto Sans', Arial, sans-serif"

_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW, _BROAD = frozenset("iIjl.,;:!|'`()[]ft "), frozenset("mwMW@—…")

_PAGE = """<!DOCTYPE html>
<html lang="{lang}" dir="{dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
</head>
<body style="margin: 2rem; background: #ffffff; color: {ink}; font-family: {fonts}">
{content}
</body>
</html>
"""


def element(
    tag: str, *content: Element | str, **attributes: str | float | None
) -> Element:
    """An element of HTML or SVG.

    tag (str): Its name.
    content (Element | str): What is inside; texts are escaped when it is written.
    attributes (str | float | None): `font_size` is font-size, `class_` class; None
        leaves one out.
    RETURNS (Element): The element.
    """
    made = Element(tag)
    for name, value in attributes.items():
        if value is not None:
            text = clean(value) if isinstance(value, str) else number(value)
            made.set(name.rstrip("_").replace("_", "-"), text)
    for part in content:
        append(made, part)
    return made


def label(
    text: str,
    x: float,
    y: float,
    size: float,
    *,
    fill: str = INK,
    anchor: str = "middle",
    **attributes: str | None,
) -> Element:
    """A text in an SVG; `anchor` says which point of it is at x."""
    return element(
        "text",
        text,
        x=x,
        y=y,
        fill=fill,
        font_size=size,
        text_anchor=anchor,
        **attributes,
    )


def drawing(
    *content: Element,
    title: str,
    description: str,
    name: str,
    width: float,
    height: float,
    direction: str = "ltr",
    class_: str,
) -> Element:
    """A whole SVG, which screen readers can describe.

    content (Element): What is drawn.
    title, description (str): What it shows.
    name (str): Tells it from others on a page; see `identifier`.
    width, height (float): Its size.
    direction (str): "rtl" for scripts that run from right to left.
    class_ (str): For style sheets.
    RETURNS (Element): The SVG.
    """
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", description, id=f"{name}-desc"),
        *content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=round(width),
        height=round(height),
        class_=class_,
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        direction=direction,
        font_family=FONTS,
        style=f"max-width: none; background: #ffffff; direction: {direction}",
    )


def styled_text(*content: Element, css: str, class_: str, language: str) -> Element:
    """A text with a style sheet of its own, as a part of a page."""
    return element(
        "figure",
        element("style", css),
        *content,
        class_=class_,
        lang=language,
        style="margin: 0 0 1.5rem 0",
    )


def append(parent: Element, part: Element | str) -> None:
    """Add an element, or text, at the end of another."""
    if isinstance(part, Element):
        parent.append(part)
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + clean(part)
    else:
        parent.text = (parent.text or "") + clean(part)


def clean(text: str) -> str:
    """A text without the characters that no XML may hold, and with plain line ends."""
    return _NOT_XML.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def number(value: float) -> str:
    """A number with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(probability: float) -> str:
    """A probability as people read it: 100% is not said of what may be wrong."""
    if 0.995 <= probability < 1:
        return ">99%"
    return "<1%" if 0 < probability < 0.005 else f"{100 * probability:.0f}%"


def glyphs_of(language: str) -> dict[str, str]:
    """How marks are shown, where that is not as they are named."""
    special = {ABBREVIATION_DOT: "abbr", UNK: "\ufffd"}
    return {**glyph_table(language, "typographic"), **special}


def mark_size(glyph: str, size: float) -> float:
    """The size of the font of a mark: less for one that has a name instead."""
    return 0.65 * size if glyph.isalpha() else size


def text_width(text: str, size: float) -> float:
    """About how wide a text is, rather more than less: there is no font to ask."""
    return size * sum(map(_char_width, text))


def _char_width(char: str) -> float:
    if combining(char):
        return 0.0
    if east_asian_width(char) in "WF":
        return 1.0
    if char in _NARROW:
        return 0.38
    return 0.95 if char in _BROAD or char.isupper() else 0.62


def identifier(*parts: object) -> str:
    """A name for use in markup that the same content has in every run."""
    return f"sp{zlib.crc32(repr(parts).encode('utf-8', 'replace')):08x}"


def written(element: Element, *, minify: bool = False) -> str:
    """An element as markup.

    element (Element): The element.
    minify (bool): Whether to leave out the line breaks in drawings.
    RETURNS (str): The markup.
    """
    if not minify:
        for svg in element.iter("svg"):
            svg.text = "\n"
            for child in svg:
                child.tail = "\n"
    return tostring(element, encoding="unicode", short_empty_elements=False)


def page(content: str, *, title: str, language: str, direction: str) -> str:
    """A whole HTML page around markup."""
    return _PAGE.format(
        content=content,
        title=title,
        lang=re.sub(r"[^\w-]", "", language) or "en",
        dir="rtl" if direction == "rtl" else "ltr",
        ink=INK,
        fonts=FONTS,
    )


def stacked(drawings: Iterable[Element], *, gap: float = 16) -> Element:
    """Drawings one below the other, as one."""
    drawings = list(drawings)
    width = max((float(d.get("width", 0)) for d in drawings), default=0.0)
    namespace, style = "http://www.w3.org/2000/svg", "background: #ffffff"
    outer = element("svg", xmlns=namespace, width=width, style=style)
    top = 0.0
    for drawing in drawings:
        drawing.set("y", number(top))
        if drawing.get("direction") == "rtl":
            drawing.set("x", number(width - float(drawing.get("width", 0))))
        outer.append(drawing)
        top += float(drawing.get("height", 0)) + gap
    height = max(top - gap, 0)
    outer.set("height", number(height))
    outer.set("viewBox", f"0 0 {number(width)} {number(height)}")
    return outer
