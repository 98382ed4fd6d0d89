"""The true case of words, where the references of examples tell it."""

from collections.abc import Iterator

from spacy.tokens import Doc, Span, Token
from spacy.training import Example

from spacy_punct.text.casing import case_of, is_pronoun_i, recased

_SHOUT = 3
"""From how many words on an upper-case sentence says nothing of its words."""


def true_forms(example: Example) -> list[str | None]:
    """How the predicted tokens are written mid-sentence, by the reference.

    example (Example): An example; only the case of the predicted words may differ.
    RETURNS (list[str | None]): None where the reference does not tell, and for tokens
        that are cut otherwise there.
    """
    forms = known_forms(example.reference)
    x2y, y2x = example.alignment.x2y, example.alignment.y2x
    result: list[str | None] = []
    for token, n in zip(example.predicted, x2y.lengths, strict=True):
        form = None
        if n == 1 and y2x.lengths[found := x2y[token.i][0]] == 1:
            form = forms[found]
        result.append(form if form and len(form) == len(token.text) else None)
    return result


def known_forms(doc: Doc) -> list[str | None]:
    """The words of a reference whose case is their own, not that of their place.

    Left out are addresses and what has no case, long sentences in upper case, and the
    first words of sentences, unless they are names, the pronoun I or acronyms.

    doc (Doc): A reference, with sentence bounds if it has several sentences, and
        parts of speech to know names by.
    RETURNS (list[str | None]): The words, None for those left out.
    """
    forms: list[str | None] = [None] * len(doc)
    for sentence in _sentences(doc):
        words = [t for t in sentence if case_of(t.text, doc.vocab.lang)]
        is_shout = all(map(_is_upper, words))
        if is_shout and len(words) >= _SHOUT:
            continue
        first = next((t.i for t in sentence if _has_letters(t)), None)
        for token in words:
            if token.i != first or is_capital_anywhere(token, is_shout):
                forms[token.i] = token.text
    return forms


def _sentences(doc: Doc) -> Iterator[Doc | Span]:
    if doc.has_annotation("SENT_START"):
        yield from doc.sents
    else:
        yield doc


def _is_upper(token: Token) -> bool:
    return recased(token.text, "upper", token.vocab.lang) == token.text


def _has_letters(token: Token) -> bool:
    return any(map(str.isalnum, token.text))


def is_capital_anywhere(first: Token, is_shout: bool) -> bool:
    """Whether the first word of a sentence would be written alike mid-sentence."""
    if first.pos_ == "PROPN" or is_pronoun_i(first.text, first.vocab.lang):
        return True
    n_letters = sum(map(str.isalpha, first.text))
    return n_letters > 1 and not is_shout and _is_upper(first)
