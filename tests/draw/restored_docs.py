"""Docs as a restorer or a corrector leaves them, made by hand."""

from collections.abc import Mapping, Sequence

import spacy
from spacy.tokens import Doc

from spacy_punct.corrector.changes import CorrectionData, applied
from spacy_punct.data.tree import Puncteme
from spacy_punct.reading.attributes import CORRECTIONS, PIECES
from spacy_punct.reading.gold import first_opener
from spacy_punct.reading.sentences import WORDS_ONLY

WORDS = ("Go", "home", "said", "Tom", "my", "friend")
HEADS = (2, 0, 2, 2, 5, 3)
DEPS = ("ccomp", "advmod", "ROOT", "nsubj", "nmod:poss", "appos")
PUNCTEMES = {
    0: (("``",), ("''", ",")),
    5: ((",",), (",",)),
    2: ((), (".",)),
}
"""“Go home,” said Tom, my friend. The comma moves, and the last one is absorbed."""
SLOTS = (("``",), (), (",", "''"), (), (",",), (), (".",))


def restored_doc(
    words: Sequence[str] = WORDS,
    *,
    heads: Sequence[int] = HEADS,
    deps: Sequence[str] = DEPS,
    punctemes: Mapping[int, tuple[Puncteme, Puncteme]] = PUNCTEMES,
    slots: Sequence[Puncteme] = SLOTS,
    confidence: Sequence[float] | None = None,
    language: str = "en",
) -> Doc:
    """A Doc whose tokens are all words, with punctemes and restored slots."""
    vocab = spacy.blank(language).vocab
    doc = Doc(
        vocab,
        words=list(words),
        heads=list(heads),
        deps=list(deps),
        pos=["X"] * len(words),
    )
    doc.user_data[WORDS_ONLY] = True
    doc._.restored_slots = [list(slot) for slot in slots]
    doc._.restored_confidence = list(confidence or [1.0] * len(slots))
    for i, (left, right) in punctemes.items():
        doc[i]._.left_puncteme, doc[i]._.right_puncteme = list(left), list(right)
    sentence = [doc[i].sent.start for i in range(len(words))]
    numbers = [sorted(set(sentence)).index(start) for start in sentence]
    pieces = [[mark, "", 0, None] for mark in slots[0]]
    for i, word in enumerate(words):
        pieces.append([word, "", numbers[i], i])
        is_last = numbers[i : i + 2] != [numbers[i]] * 2
        for k, mark in enumerate(slots[i + 1]):
            opens = is_last and i + 1 < len(words) and k >= first_opener(slots[i + 1])
            pieces.append([mark, "", numbers[i] + opens, None])
        pieces[-1][1] = " "
    doc.user_data[PIECES] = pieces
    doc._.restored_text = "".join(text + space for text, space, *_ in pieces)
    return doc


def corrected_doc(doc: Doc, corrections: Sequence[CorrectionData]) -> Doc:
    """A Doc with corrections."""
    doc.user_data[CORRECTIONS] = list(corrections)
    doc._.corrected_text = applied(doc.text, corrections)
    return doc
