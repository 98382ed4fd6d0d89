"""The keys of what is kept in `Doc.user_data`, and the attributes that show it.

Everything is kept as strings, numbers and lists, so that it survives `to_bytes`,
`DocBin` and worker processes.
"""

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from spacy.tokens import Doc, Token

from spacy_punct.text.casing import same_letters

PIECES = "spacy_punct.pieces"
"""Key of the written words and marks."""
CORRECTIONS = "spacy_punct.corrections"
"""Key of the corrections, as plain data."""
TRUECASED = "spacy_punct.truecased"
"""Key of the text with true capitals: as long as the text, whatever its tokens."""


def register(kind: type[Doc] | type[Token], **attributes: dict[str, Any]) -> None:
    """Register extension attributes; a user's own of the same names are left alone.

    kind (type): `Doc` or `Token`.
    attributes (dict[str, Any]): What `set_extension` is given for each name.
    """
    for name, options in attributes.items():
        if not kind.has_extension(name):
            kind.set_extension(name, **options)


def truecased(token: Token) -> str | None:
    """How the truecaser writes a token mid-sentence; None if it did not see it."""
    forms = truecased_words([token])
    return None if forms is None else forms[0]


def truecased_words(words: Sequence[Token]) -> list[str] | None:
    """How the truecaser writes words mid-sentence; None unless it saw all of them.

    words (Sequence[Token]): Tokens of one Doc.
    RETURNS (list[str] | None): The words.
    """
    text = words[0].doc.user_data.get(TRUECASED) if words else None
    if text is None:
        return None
    forms = [text[word.idx : word.idx + len(word.text)] for word in words]
    texts = [word.text for word in words]
    # User data may have been copied to a Doc of another text.
    is_same = all(map(same_letters, forms, texts, repeat(words[0].vocab.lang)))
    return forms if is_same else None
