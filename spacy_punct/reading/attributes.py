"""The keys of what is kept in `Doc.user_data`, and the attributes that show it.

Everything is kept as strings, numbers and lists, so that it survives `to_bytes`,
`DocBin` and worker processes.
"""

from typing import Any

from spacy.tokens import Doc, Token

PIECES = "spacy_punct.pieces"
"""Key of the written words and marks."""
CORRECTIONS = "spacy_punct.corrections"
"""Key of the corrections, as plain data."""
TRUECASED = "spacy_punct.truecased"
"""Key of the text with true capitals: as long as the text, whatever its tokens."""
APOSTROPHES = "spacy_punct.true_apostrophes"
"""Key, on references, of where the word that begins with each token should have its
apostrophe; None where no word begins, or none that may have one."""
APOSTROPHE_GUESSES = "spacy_punct.apostrophes"
"""Key of where the word that begins with each token has its apostrophe, one of
`spacy_punct.data.apostrophes.LABELS`, and how probably."""


def register(kind: type[Doc] | type[Token], **attributes: dict[str, Any]) -> None:
    """Register extension attributes; a user's own of the same names are left alone.

    kind (type): `Doc` or `Token`.
    attributes (dict[str, Any]): What `set_extension` is given for each name.
    """
    for name, options in attributes.items():
        if not kind.has_extension(name):
            kind.set_extension(name, **options)
