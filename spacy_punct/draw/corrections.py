"""Style "corrections": a text with its corrections, as HTML."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from spacy.tokens import Doc

from spacy_punct.corrector.changes import Correction
from spacy_punct.draw.markup import (
    append,
    element,
    glyphs_of,
    identifier,
    percent,
    styled_text,
)
from spacy_punct.errors import Errors, PunctError

_CSS = """
.{id} {{ line-height: 2; white-space: pre-wrap; font-size: 1.1rem; }}
.{id} del {{ color: #b2182b; background: #fde8dc; text-decoration: line-through 2px;
  padding: 0 0.15em; border-radius: 0.2em; }}
.{id} ins {{ color: #0b4f8a; background: #e0eefa; text-decoration: underline 2px;
  text-underline-offset: 0.2em; padding: 0 0.15em; border-radius: 0.2em;
  font-weight: bold; }}
.{id} .correction {{ cursor: help; outline-offset: 2px; }}
.{id} span {{ border-radius: 0.2em; }}
"""
_HOVER = """
.{id}:has(.correction-{k}:hover) .constituent-{k},
.{id}:has(.correction-{k}:focus) .constituent-{k} {{ background: #fff0b8; }}
.{id}:has(.correction-{k}:hover) .head-{k},
.{id}:has(.correction-{k}:focus) .head-{k} {{ box-shadow: inset 0 -2px #8a6d00; }}
"""


def corrections_view(
    doc: Doc,
    *,
    start: int = 0,
    end: int | None = None,
    direction: str = "ltr",
    key: object = None,
) -> Element:
    """Show the corrections of a text.

    doc (Doc): A Doc with corrections.
    start, end (int): Of which tokens; their whole sentences are shown.
    direction (str): "rtl" for scripts that run from right to left.
    key (object): Tells it from others on a page.
    RETURNS (Element): The HTML. Where the pointer is on a correction, the constituent
        that explains it is marked, without scripts.
    """
    corrections = doc._.corrections
    if corrections is None:
        raise PunctError(Errors.P147)
    first, last = _characters(doc, start, len(doc) if end is None else end)
    shown = [c for c in corrections if first <= c.start and c.end <= last]
    name = identifier(doc.text, start, end, key)
    css = _CSS.format(id=name)
    css += "".join(_HOVER.format(id=name, k=k) for k in range(len(shown)))
    text = element("div", class_=name, dir=direction)
    for part in _parts(doc, shown, first, last):
        append(text, part)
    return styled_text(
        text, css=css, class_="spacy-punct-corrections", language=doc.lang_
    )


def _characters(doc: Doc, start: int, end: int) -> tuple[int, int]:
    """The characters of the sentences that have some tokens."""
    if (start, end) == (0, len(doc)) or start >= end:
        return 0, len(doc.text)
    first, last = doc[start].sent, doc[end - 1].sent
    return first.start_char, last.end_char


def _parts(
    doc: Doc, corrections: Sequence[Correction], start: int, end: int
) -> list[Element | str]:
    """The text from cut to cut: where corrections and constituents begin and end."""
    spans = [_constituent(correction) for correction in corrections]
    heads = [(c.word.idx, c.word.idx + len(c.word)) for c in corrections]
    changed = {place for c in corrections for place in range(c.start + 1, c.end)}
    cuts = {start, end}
    for correction, span, head in zip(corrections, spans, heads, strict=True):
        cuts |= {correction.start, correction.end, *span, *head}
    # What is replaced is replaced as a whole.
    order = sorted(cut for cut in cuts - changed if start <= cut <= end)
    starts: dict[int, list[int]] = {}
    for k, correction in enumerate(corrections):
        starts.setdefault(correction.start, []).append(k)
    parts: list[Element | str] = []
    for place, following in zip(order, [*order[1:], end], strict=True):
        until = place
        for k in starts.get(place, ()):
            inside = _classes(place, corrections[k].end, spans, heads)
            parts.append(_correction(doc, corrections[k], k, inside))
            until = max(until, corrections[k].end)
        if until < following:
            classes = _classes(until, following, spans, heads)
            text = doc.text[until:following]
            parts.append(element("span", text, class_=classes) if classes else text)
    return parts


def _constituent(correction: Correction) -> tuple[int, int]:
    """The characters of the constituent that explains a correction."""
    word = correction.word
    last = word.right_edge
    return word.left_edge.idx, last.idx + len(last)


def _classes(
    start: int,
    end: int,
    spans: Sequence[tuple[int, int]],
    heads: Sequence[tuple[int, int]],
) -> str:
    """Which constituents, and heads, some characters are in."""
    return " ".join(
        f"{name}-{k}"
        for name, places in (("constituent", spans), ("head", heads))
        for k, (first, last) in enumerate(places)
        if first <= start and end <= last
    )


def _correction(doc: Doc, correction: Correction, k: int, classes: str) -> Element:
    label = _label(doc, correction)
    made = element(
        "span",
        class_=f"correction correction-{k} {classes}".strip(),
        title=label,
        aria_label=label,
        role="group",
        tabindex="0",
    )
    if old := doc.text[correction.start : correction.end]:
        made.append(element("del", old))
    if correction.text:
        made.append(element("ins", correction.text))
    return made


def _label(doc: Doc, correction: Correction) -> str:
    """What is done, how sure it is, and why."""
    glyphs = glyphs_of(doc.lang_)
    before, after = (
        " ".join(glyphs.get(mark, mark) for mark in marks)
        for marks in (correction.before, correction.after)
    )
    change = f"{before or 'nothing'} → {after or 'nothing'}"
    word = correction.word
    edge = "at the edge of" if correction.after else "not at the edge of"
    why = f"{edge} “{word.text}” ({word.dep_})"
    if correction.slot is None:
        change, why = f"“{before}” → “{after}”", correction.message
    return f"{change}, {percent(correction.probability)}: {why}"
