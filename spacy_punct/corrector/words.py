"""Corrections of words and spaces: apostrophes, capitals, spacing and rows of dots. No
letter changes but its case."""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from spacy.tokens import Doc, Span, Token

from spacy_punct.corrector.changes import CorrectedSentence, CorrectionData
from spacy_punct.data.apostrophes import (
    AMBIGUOUS,
    APOSTROPHES,
    CONTRACTIONS,
    ITS,
    bare,
    label_of,
    may_change,
    spelt,
)
from spacy_punct.data.marks import is_end
from spacy_punct.data.written import STARTERS, is_often_abbreviated
from spacy_punct.reading.attributes import APOSTROPHE_GUESSES
from spacy_punct.text.casing import capitalised, is_pronoun_i

_WORD = re.compile(r"(?<![\w@/.'’-])[A-Za-z]+(?:['’][A-Za-z]{1,2}|['’])?(?![\w@/'’-])")
_BEFORE_MARK = re.compile(r"(?<=\w)[ \t]+(?!\.[ \t]\.)(?=[,;.?!](?:[\s\"”’)]|$))")
_BEFORE_GLUED = re.compile(r"(?<=\w)[ \t]+,(?=[A-Za-z])")
_AFTER_MARK = re.compile(r"(?<=[a-z])[,;?!](?=[A-Za-z])")
_AFTER_DOT = re.compile(r"(?<=[a-z]{2})\.(?=([A-Z][a-z]+)\b(?!\.))")
_DOUBLED = re.compile(r"(?<=\w)  +(?=\w)")
_TWO_DOTS = re.compile(r"(?<=[a-z])\.\.(?=\s|$)")
_MANY_DOTS = re.compile(r"(?<=\w)\.{4,}(?=\s+[a-z])")
_SURE, _LIKELY = 0.99, 0.9
"""How probable corrections are that a rule makes."""

_OWNERS = frozenset({"NOUN", "PROPN", "PRON", "X", ""})
"""The parts of speech of words that may own something."""


_MANY = frozenset(
    ("all", "both", "few", "many", "most", "several", "some", "these", "those")
)
_EACH = frozenset(("another", "each", "one", "other"))
_NOT_OWNED = frozenset({"AUX", "CCONJ", "PUNCT", "SCONJ", "SPACE", ""})


def word_edits(
    doc: Doc, sentences: Sequence[CorrectedSentence]
) -> Iterator[CorrectionData]:
    """What may be corrected of words and spaces.

    doc (Doc): The text.
    sentences (Sequence[CorrectedSentence]): Its sentences.
    YIELDS (CorrectionData): Corrections in any order, none if the text is not English.
    """
    if doc.lang_ != "en":
        return
    for match in _WORD.finditer(doc.text):
        yield from _apostrophe(doc, match)
    yield from _capitals(doc, sentences)
    yield from _spaces(doc)


def _spaces(doc: Doc) -> Iterator[CorrectionData]:
    starts = [token.idx for token in doc]
    for pattern, kind, new in (
        (_BEFORE_GLUED, "missing-space", ", "),
        (_BEFORE_MARK, "space-before-mark", ""),
        (_DOUBLED, "doubled-space", " "),
        (_TWO_DOTS, "doubled-mark", "."),
        (_MANY_DOTS, "ellipsis", "..."),
    ):
        for match in pattern.finditer(doc.text):
            word = bisect(starts, match.start() - 1) - 1
            yield _edit(doc, word, kind, match.start(), match.end(), new, _SURE)
    dots = _AFTER_DOT.finditer(doc.text)
    # What begins with another word is a name: os.Exit.
    real = (match for match in dots if match[1].lower() in STARTERS)
    for match in chain(_AFTER_MARK.finditer(doc.text), real):
        word = bisect(starts, match.start() - 1) - 1
        end = match.end()
        yield _edit(doc, word, "missing-space", end, end, " ", _LIKELY)


def _apostrophe(doc: Doc, match: re.Match[str]) -> Iterator[CorrectionData]:
    word, start, end = match[0], *match.span()
    span = doc.char_span(start, end, alignment_mode="expand")
    if span is None:
        return
    letters = bare(word).lower()
    mark = "’" if "’" in doc.text else "'"
    sure = CONTRACTIONS.get(letters)
    guesses = doc.user_data.get(APOSTROPHE_GUESSES)
    if sure and letters == word.lower() and not word.isupper():
        label, probability = label_of(sure), _SURE
    elif guesses is not None and may_change(word):
        label, probability = guesses[span.start]
    else:
        return
    new = spelt(word, label, mark) if label != label_of(word) else None
    if new is not None:
        kind = _kind(word, new)
        if kind == "possessive" and not _may_own(span[0], label_of(word)):
            return
        if kind == "superfluous-apostrophe" and not _is_plural(doc, span):
            return
        new = capitalised(new) if is_pronoun_i(new, "en") else new
        yield _edit(doc, span.start, kind, start, end, new, probability)


def _may_own(token: Token, label: str) -> bool:
    """Whether an apostrophe of ownership may come to a word, or move within it.

    Whether one or several own something (girl's, girls') the words around do not tell,
    and of a name of several words the last one has the apostrophe.

    token (Token): The word.
    label (str): Where it has its apostrophe: see `label_of`.
    RETURNS (bool): Whether it may.
    """
    goes_on = any(child.dep_ == "flat" for child in token.rights)
    return not label and not goes_on and token.pos_ in _OWNERS


def _is_plural(doc: Doc, span: Span) -> bool:
    """Whether a word in 's or s' may be a mere plural: it is counted, or nothing after
    it can be what it owns or what it is."""
    before = doc[span.start - 1] if span.start else None
    if before is not None and before.lower_ in _EACH:
        return False
    if before is not None and (before.pos_ == "NUM" or before.lower_ in _MANY):
        return True
    after = doc[span.end] if span.end < len(doc) else None
    return after is None or after.pos_ in _NOT_OWNED or after.lower_ == "of"


def _kind(word: str, new: str) -> str:
    letters = bare(word).lower()
    if letters == ITS:
        return ITS
    if not any(mark in new for mark in APOSTROPHES):
        return "superfluous-apostrophe"
    is_contraction = letters in CONTRACTIONS or letters in AMBIGUOUS
    return "missing-apostrophe" if is_contraction else "possessive"


def _capitals(
    doc: Doc, sentences: Sequence[CorrectedSentence]
) -> Iterator[CorrectionData]:
    ended = False
    for sentence in sentences:
        source = sentence.source
        for k, i in enumerate(source.positions):
            token = doc[i]
            starts = k == 0 and ended and token.is_alpha and not source.marks[0]
            is_i = is_pronoun_i(token.text, doc.lang_) and _amid(doc, i)
            new = capitalised(token.text) if starts or is_i else token.text
            if new != token.text:
                at = token.idx
                yield _edit(doc, i, "missing-capital", at, at + 1, new[0], _LIKELY)
        # An end that is there, and is not corrected to something else.
        marks = (source.marks[-1], sentence.shown[-1])
        ended = all(found and is_end(found[-1]) for found in marks)
        last = source.texts[-1]
        ended = ended and not (last.endswith(".") or is_often_abbreviated(last))
        ended = ended and source.marks[-1].count(".") < 2


def _amid(doc: Doc, i: int) -> bool:
    """Whether a token stands between words, or begins the text before one."""
    following = doc[i + 1].text if i + 1 < len(doc) else ""
    before = doc[i - 1].text if i else "a"
    return following[:1].isalpha() or (
        following[:1] in APOSTROPHES and before.isalpha()
    )


def _edit(
    doc: Doc, word: int, kind: str, start: int, end: int, new: str, probability: float
) -> CorrectionData:
    return {
        "kind": kind,
        "slot": None,
        "before": [doc.text[start:end]],
        "after": [new],
        "probability": probability,
        "word": word,
        "start": start,
        "end": end,
        "text": new,
    }


def merged(
    slots: Sequence[CorrectionData], words: Iterable[CorrectionData]
) -> list[CorrectionData]:
    """Corrections of slots and of words in order; where they meet, those of slots.

    slots (Sequence[CorrectionData]): In order.
    words (Iterable[CorrectionData]): In any order.
    RETURNS (list[CorrectionData]): No two of them touch the same characters, or the
        same gap between words.
    """
    found = list(slots)
    for edit in words:
        if not any(_meet(edit, other) for other in found):
            found.append(edit)
    return sorted(found, key=lambda c: (c["start"], c["end"]))


def _meet(one: CorrectionData, two: CorrectionData) -> bool:
    if one["start"] < two["end"] and two["start"] < one["end"]:
        return True
    are_beside = one["start"] <= two["end"] and two["start"] <= one["end"]
    return are_beside and not (_is_of_word(one) or _is_of_word(two))


def _is_of_word(correction: CorrectionData) -> bool:
    return correction["slot"] is None and any(map(str.isalpha, correction["before"][0]))
