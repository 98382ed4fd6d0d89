"""The extension attributes on `Doc` and `Token`, and how they are kept.

Everything is kept in `Doc.user_data` as strings, numbers and lists, so that it
survives `to_bytes`, `DocBin` and worker processes.
"""

from typing import Any

from spacy.tokens import Doc, Token

from spacy_punct.pipeline.restored import restored_doc

PIECES = "spacy_punct.pieces"
"""Key of the written words and marks in `Doc.user_data`."""


def _restored_doc(doc: Doc) -> Doc | None:
    pieces = doc.user_data.get(PIECES)
    return None if pieces is None else restored_doc(doc, pieces)


_DOC: dict[str, dict[str, Any]] = {
    "restored_text": {"default": None},
    "restored_slots": {"default": None},
    "restored_confidence": {"default": None},
    "restored_doc": {"getter": _restored_doc},
}
_TOKEN: dict[str, dict[str, Any]] = {
    "left_puncteme": {"default": ()},
    "right_puncteme": {"default": ()},
    "source_index": {"default": None},
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
