"""Pictures of what the model sees, as displaCy draws parses: SVG and HTML."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Literal
from xml.etree.ElementTree import Element

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import is_in_jupyter

from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.draw.confidence import ConfidenceOptions, confidence_strip
from spacy_punct.draw.corrections import corrections_view
from spacy_punct.draw.explained import (
    UnderlyingSentence,
    explained_sentences,
    restored_sentences,
    touching,
)
from spacy_punct.draw.markup import element, stacked, written
from spacy_punct.draw.markup import page as whole_page
from spacy_punct.draw.rewrites import (
    RewritesOptions,
    frequent_rewrites,
    rewrites_picture,
)
from spacy_punct.draw.underlying import (
    SURFACES,
    UnderlyingOptions,
    underlying_picture,
)
from spacy_punct.errors import Errors, PunctError
from spacy_punct.pipe.base import find_pipe
from spacy_punct.reading.attributes import CORRECTIONS
from spacy_punct.reading.bare import parsed_well
from spacy_punct.reading.sentences import bare_sentences
from spacy_punct.restorer.component import PunctuationRestorer

Style = Literal["underlying", "confidence", "corrections", "rewrites"]
DRAWN: tuple[Style, ...] = ("underlying", "rewrites")
"""The styles that are SVG; the others are HTML."""

Texts = Doc | Span | Iterable[Doc | Span]


@dataclass(frozen=True)
class _NoOptions:
    """For the style that has none."""


_OPTIONS: dict[str, type] = {
    "underlying": UnderlyingOptions,
    "confidence": ConfidenceOptions,
    "corrections": _NoOptions,
    "rewrites": RewritesOptions,
}


def render(
    docs: Texts,
    style: Style = "underlying",
    page: bool = False,
    minify: bool = False,
    jupyter: bool | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    nlp: Language | None = None,
) -> str | None:
    """Draw what the model sees in Docs.

    docs (Doc | Span | Iterable[Doc | Span]): What to draw; of a Span, its sentences.
    style (Style): "underlying" for trees with the punctemes of their constituents and
        what became of them in each slot; "confidence" for restored texts with the
        probability of each mark; "corrections" for texts with what a corrector would
        change; "rewrites" for what the channel has learned to do to pairs of marks
        that often meet underneath the Docs.
    page (bool): Whether to make a whole HTML page.
    minify (bool): Whether to leave out line breaks.
    jupyter (bool | None): Whether to display the picture in a notebook; None to find
        out whether this is one.
    options (Mapping[str, Any] | None): How to draw; see `UnderlyingOptions`,
        `ConfidenceOptions` and `RewritesOptions`.
    nlp (Language | None): A pipeline whose restorer or corrector is asked about Docs
        that it has not seen. With one, "underlying" explains the punctuation that a
        Doc has, if any, rather than what was restored.
    RETURNS (str | None): The markup; None if it was displayed.
    """
    spans = _spans(docs)
    blocks = [
        _block(drawing) if drawing.tag == "svg" else drawing
        for drawing in _Renderer(style, options, nlp).drawings(spans)
    ]
    content = ("" if minify else "\n").join(
        written(block, minify=minify) for block in blocks
    )
    if page:
        language, direction = _script(spans[0].doc) if spans else ("en", "ltr")
        content = whole_page(
            content,
            title=f"Punctuation: {style}",
            language=language,
            direction=direction,
        )
    if jupyter or (jupyter is None and is_in_jupyter()):
        from IPython.display import HTML, display

        # Dollar signs in a text are not formulas.
        display(HTML(f'<span class="tex2jax_ignore">{content}</span>'))
        return None
    return content


def render_svg(
    docs: Texts,
    style: Style = "underlying",
    options: Mapping[str, Any] | None = None,
    *,
    nlp: Language | None = None,
) -> str:
    """Draw what the model sees as one SVG file, sentence below sentence.

    docs, style, options, nlp: See `render`. The style is one of `DRAWN`.
    RETURNS (str): The file.
    """
    check_choice("The style of an SVG file", style, DRAWN)
    drawings = _Renderer(style, options, nlp).drawings(_spans(docs))
    return written(drawings[0] if len(drawings) == 1 else stacked(drawings)) + "\n"


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise P148 if a value is not one of those that are possible."""
    if value not in choices:
        raise PunctError(
            Errors.P148.format(name=name, value=value, choices=", ".join(choices))
        )


class _Renderer:
    """Draws in one style."""

    def __init__(
        self, style: str, options: Mapping[str, Any] | None, nlp: Language | None
    ) -> None:
        check_choice("style", style, list(_OPTIONS))
        known = [field.name for field in fields(_OPTIONS[style])]
        for name in options or {}:
            check_choice(f"An option of the style '{style}'", name, known or ["none"])
        self._style = style
        self._options = _OPTIONS[style](**(options or {}))
        self._nlp = nlp
        self._restorer = None if nlp is None else find_pipe(nlp, PunctuationRestorer)

    def drawings(self, spans: Sequence[Span]) -> list[Element]:
        if self._style == "rewrites":
            return [self._rewrites(spans)]
        draw = {
            "underlying": self._underlying,
            "confidence": self._confidence,
            "corrections": self._corrections,
        }[self._style]
        return [drawing for k, span in enumerate(spans) for drawing in draw(span, k)]

    def _underlying(self, span: Span, number: int) -> list[Element]:
        check_choice("The option surface", self._options.surface, SURFACES)
        language, direction = _script(span.doc)
        return [
            underlying_picture(
                sentence,
                language=language,
                direction=direction,
                options=self._options,
                key=(number, k),
            )
            for k, sentence in enumerate(self._sentences(span, self._options.surface))
        ]

    def _sentences(self, span: Span, surface: str) -> list[UnderlyingSentence]:
        doc, restorer = span.doc, self._restorer
        if (
            self._nlp is not None
            and restorer is not None
            and (surface == "written" or (surface == "auto" and _has_marks(doc)))
        ):
            found = explained_sentences(parsed_well(doc, self._nlp), restorer)
        else:
            channel = None if restorer is None else restorer.channel
            found = restored_sentences(self._restored(doc), channel)
        return touching(found, span.start, span.end)

    def _restored(self, doc: Doc) -> Doc:
        """The Doc if it is restored, else a copy that is."""
        if doc._.restored_slots is None and self._restorer is not None:
            return self._restorer(doc.copy())
        return doc

    def _confidence(self, span: Span, number: int) -> list[Element]:
        strip = confidence_strip(
            self._restored(span.doc),
            start=span.start,
            end=span.end,
            direction=_script(span.doc)[1],
            options=self._options,
            legend=number == 0,
            key=number,
        )
        return [strip]

    def _corrections(self, span: Span, number: int) -> list[Element]:
        doc = span.doc
        if CORRECTIONS not in doc.user_data and self._nlp is not None:
            corrector = find_pipe(self._nlp, PunctuationCorrector)
            doc = doc if corrector is None else corrector(doc.copy())
        view = corrections_view(
            doc,
            start=span.start,
            end=span.end,
            direction=_script(doc)[1],
            key=number,
        )
        return [view]

    def _rewrites(self, spans: Sequence[Span]) -> Element:
        if self._restorer is None:
            names = "nothing" if self._nlp is None else ", ".join(self._nlp.pipe_names)
            raise PunctError(Errors.P149.format(given=names))
        counts = Counter(
            bigram
            for span in spans
            for sentence in self._sentences(span, "auto")
            for rewriting in sentence.rewritings
            for bigram in pairwise(rewriting.underlying)
        )
        found = frequent_rewrites(self._restorer.channel, counts, self._options.n)
        language = spans[0].doc.lang_ if spans else "en"
        return rewrites_picture(found, language=language)


def _spans(docs: Texts) -> list[Span]:
    given: list[Any] = [docs] if isinstance(docs, Doc | Span) else list(docs)
    for item in given:
        if not isinstance(item, Doc | Span):
            check_choice("What is drawn", type(item).__name__, ("Doc", "Span"))
    return [item[:] if isinstance(item, Doc) else item for item in given]


def _has_marks(doc: Doc) -> bool:
    return any(any(sentence.marks) for sentence in bare_sentences(doc, "render"))


def _script(doc: Doc) -> tuple[str, str]:
    """The language of a Doc, and which way it is written."""
    return doc.lang_, doc.vocab.writing_system.get("direction", "ltr")


def _block(drawing: Element) -> Element:
    """A drawing in a page, which scrolls if it is too wide."""
    return element("figure", drawing, style="margin: 0 0 1.5rem 0; overflow-x: auto")
