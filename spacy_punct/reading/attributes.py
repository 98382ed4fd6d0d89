"""The extension attributes on `Doc` and `Token`, and how they are kept.

Everything is kept in `Doc.user_data` as strings, numbers and lists, so that it
survives `to_bytes`, `DocBin` and worker processes.
"""

from typing import Any

from spacy.tokens import Doc, Token

from spacy_punct.reading.corrected import Correction
from spacy_punct.reading.restored import restored_doc
from spacy_punct.text.casing import same_letters

PIECES = "spacy_punct.pieces"
"""Key of the written words and marks in `Doc.user_data`."""
CORRECTIONS = "spacy_punct.corrections"
"""Key of the corrections in `Doc.user_data`, as plain data."""
TRUECASED = "spacy_punct.truecased"
"""Key of the text with true capitals: as long as the text, whatever its tokens."""


def _restored_doc(doc: Doc) -> Doc | None:
    pieces = doc.user_data.get(PIECES)
    return None if pieces is None else restored_doc(doc, pieces)


def _corrections(doc: Doc) -> list[Correction] | None:
    found = doc.user_data.get(CORRECTIONS)
    if found is None:
        return None
    return [Correction.from_data(doc, correction) for correction in found]


def truecased(token: Token) -> str | None:
    """How the truecaser writes a token amid a sentence; None if it did not see it."""
    text = token.doc.user_data.get(TRUECASED)
    if text is None:
        return None
    form = text[token.idx : token.idx + len(token.text)]
    # User data may have been copied to a Doc of another text.
    return form if same_letters(form, token.text, token.vocab.lang) else None


_DOC: dict[str, dict[str, Any]] = {
    "restored_text": {"default": None},
    "restored_slots": {"default": None},
    "restored_confidence": {"default": None},
    "restored_doc": {"getter": _restored_doc},
    "corrected_text": {"default": None},
    "corrected_slots": {"default": None},
    "corrections": {"getter": _corrections},
}
_TOKEN: dict[str, dict[str, Any]] = {
    "left_puncteme": {"default": ()},
    "right_puncteme": {"default": ()},
    "source_index": {"default": None},
    "truecased": {"getter": truecased},
}


def register_attributes() -> None:
    """Register what is not there yet; a user's own attributes are left alone.

    Cheap, and called again before each use: worker processes that were spawned
    know nothing of what their parent registered.
    """
    for kind, attributes in ((Doc, _DOC), (Token, _TOKEN)):
        for name, options in attributes.items():
            if not kind.has_extension(name):
                kind.set_extension(name, **options)
