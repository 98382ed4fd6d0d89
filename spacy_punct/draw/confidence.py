"""Style "confidence": a restored text, with how sure each mark is, as HTML."""

from dataclasses import dataclass
from itertools import pairwise
from xml.etree.ElementTree import Element

from spacy.tokens import Doc

from spacy_punct.draw.markup import append, element, identifier, percent, styled_text
from spacy_punct.errors import Errors, PunctError
from spacy_punct.reading.attributes import PIECES

_SCALE = (
    (0.5, "#b2182b", "#ffffff"),
    (0.7, "#f4a582", "#222222"),
    (0.85, "#f7f0d0", "#222222"),
    (0.95, "#92c5de", "#222222"),
    (1.01, "#2166ac", "#ffffff"),
)
"""Probabilities below which marks have a colour, and the ink on it. Red to blue by way
of pale is told apart by colour-blind people too."""

_CSS = """
.{id} .text {{ line-height: 2; white-space: pre-wrap; font-size: 1.1rem; }}
.{id} mark {{ padding: 0.1em 0.25em; margin: 0 0.05em; border-radius: 0.25em; }}
.{id} .tick {{ display: inline-block; width: 0; height: 1em; margin: 0 1px;
  vertical-align: text-bottom; border-inline-start: 2px dotted #7b3294; }}
.{id} .legend {{ font-size: 0.8rem; color: #666666; }}
.{id} .legend span {{ margin-inline-end: 1em; white-space: nowrap; }}
.{id} sub {{ font-size: 0.6em; color: #666666; }}
"""


@dataclass(frozen=True)
class ConfidenceOptions:
    """How to draw.

    tick (float): Slots without marks have a tick if this was less probable.
    numbers (bool): Whether probabilities are written out, too.
    """

    tick: float = 0.8
    numbers: bool = False


def confidence_strip(
    doc: Doc,
    *,
    start: int = 0,
    end: int | None = None,
    direction: str = "ltr",
    options: ConfidenceOptions | None = None,
    legend: bool = True,
    key: object = None,
) -> Element:
    """Show how sure a restored text is.

    doc (Doc): A restored Doc.
    start, end (int): Of which tokens; their whole sentences are shown.
    direction (str): "rtl" for scripts that run from right to left.
    options (ConfidenceOptions | None): How to draw.
    legend (bool): Whether to say what colours mean.
    key (object): Tells it from others on a page.
    RETURNS (Element): The HTML.
    """
    options = options or ConfidenceOptions()
    pieces, confidence = doc.user_data.get(PIECES), doc._.restored_confidence
    if pieces is None or confidence is None:
        raise PunctError(Errors.P146)
    end = len(doc) if end is None else end
    wanted = {
        sentence
        for _, _, sentence, token in pieces
        if token is not None and start <= token < end
    }
    text = element("div", class_="text", dir=direction)
    slot = 0
    for (form, space, sentence, token), following in pairwise([*pieces, None]):
        is_word = token is not None
        slot += is_word
        if wanted and sentence not in wanted:
            continue
        # A text without words has no slots between them.
        p = confidence[slot] if slot < len(confidence) else 1.0
        if is_word or not form:
            append(text, form)
        else:
            _append_mark(text, form, p, options)
        is_empty = following is None or following[3] is not None
        if is_word and is_empty and p < options.tick:
            text.append(_tick(p))
        append(text, space)
    name = identifier(doc.text, start, end, key)
    return styled_text(
        text,
        *([_legend(options)] if legend else []),
        css=_CSS.format(id=name),
        class_=f"spacy-punct-confidence {name}",
        language=doc.lang_,
    )


def _append_mark(
    text: Element, form: str, p: float, options: ConfidenceOptions
) -> None:
    label = f"{form} {percent(p)}"
    text.append(element("mark", form, title=label, aria_label=label, style=_look(p)))
    if options.numbers:
        text.append(element("sub", percent(p)))


def _look(p: float) -> str:
    colour, ink = next((c, i) for limit, c, i in _SCALE if p < limit)
    return f"background: {colour}; color: {ink}"


def _tick(p: float) -> Element:
    """A sign for a mark that is not there; the less sure, the darker."""
    label = f"no mark {percent(p)}"
    opacity = f"opacity: {min(1.0, 0.35 + (1 - p)):.2f}"
    return element(
        "span", class_="tick", role="img", title=label, aria_label=label, style=opacity
    )


def _legend(options: ConfidenceOptions) -> Element:
    parts: list[Element | str] = ["probability of a mark: "]
    least = 0.0
    for limit, _, _ in _SCALE:
        text = f" {100 * least:.0f}–{min(100 * limit, 100):.0f}%"
        sample = element("mark", "\u2002", style=_look(least))
        parts.append(element("span", sample, text))
        least = limit
    share = percent(1 - options.tick)
    text = f" no mark, though one has more than {share}"
    parts.append(element("span", _tick(0.5), text))
    return element("p", *parts, class_="legend", dir="ltr")
