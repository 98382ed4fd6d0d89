"""Texts of any length, corrected."""

from collections.abc import Iterable, Iterator
from functools import cache

from spacy.language import Language
from spacy.tokens import Doc

from spacy_punct.corrector.changes import CorrectionData, applied
from spacy_punct.pipe.bundled import NEEDLESS, for_one_or_many, load
from spacy_punct.reading.attributes import CORRECTIONS
from spacy_punct.reading.windows import windows


@cache
def _pipeline() -> Language:
    nlp = load("en", exclude=NEEDLESS["punctuation_corrector"])
    nlp.enable_pipe("punctuation_corrector")
    return nlp


@for_one_or_many
def correct(texts: Iterable[str]) -> Iterator[str]:
    """Correct the punctuation of English text with the bundled pipeline.

    It is loaded at the first call.

    texts (str | Iterable[str]): A text of any length, or many.
    RETURNS (str | Iterator[str]): The text with its corrections, or each of them. Every
        other character is as it was.
    """
    nlp = _pipeline()
    parts = (
        (part, (is_whole, is_last))
        for text in texts
        for part, is_whole, is_last in windows(text)
    )
    written, was_whole = "", True
    for doc, (is_whole, is_last) in nlp.pipe(parts, as_tuples=True):
        found = sure_corrections(doc, was_whole, is_whole)
        written, was_whole = written + applied(doc.text, found), is_whole
        if is_last:
            yield written
            written = ""


def sure_corrections(
    doc: Doc, starts_whole: bool, ends_whole: bool
) -> list[CorrectionData]:
    """The corrections of a part of a text, but for those where a sentence was cut.

    doc (Doc): The part, corrected.
    starts_whole, ends_whole (bool): Whether a sentence begins and ends with it.
    RETURNS (list[CorrectionData]): The corrections.
    """
    last = len(doc._.corrected_slots) - 1
    sides = ((0, starts_whole), (last, ends_whole))
    unknown = {slot for slot, is_whole in sides if not is_whole}
    return [c for c in doc.user_data[CORRECTIONS] if c["slot"] not in unknown]
