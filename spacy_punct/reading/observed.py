"""Docs with the marks that a writer put there, right or wrong."""

from collections.abc import Sequence
from typing import NamedTuple

from spacy.tokens import Doc

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.reading.gold import (
    first_opener,
    gold_slots,
    gold_spaces,
    has_gold,
    set_gold,
)
from spacy_punct.reading.sentences import MARKS, parsed_sentences
from spacy_punct.reading.writing import joined_slots
from spacy_punct.text.writer import Writer


class _Token(NamedTuple):
    """A token to be: its text, the space after it, the mark it is (empty for a word)
    and the word it is or hangs on."""

    text: str
    space: bool
    mark: str
    word: int


def with_marks(doc: Doc, slots: Slots, writer: Writer) -> Doc:
    """A Doc of words with marks between them, as tokens.

    Marks hang on the word before them, openers on the one after. The true marks of
    the Doc stay what they are.

    doc (Doc): The words, with or without a tree.
    slots (Slots): The marks to be written: `n + 1` strings for `n` words.
    writer (Writer): How they are written.
    RETURNS (Doc): A new Doc, which knows its marks.
    """
    tokens = _tokens([token.text for token in doc], slots, writer)
    place = {token.word: k for k, token in enumerate(tokens) if not token.mark}
    words = [doc[token.word] for token in tokens]
    annotation = {}
    if doc.has_annotation("DEP"):
        annotation["heads"] = [
            place[token.word] if token.mark else place[word.head.i]
            for token, word in zip(tokens, words, strict=True)
        ]
        annotation["deps"] = [
            "punct" if token.mark else word.dep_
            for token, word in zip(tokens, words, strict=True)
        ]
    elif doc.has_annotation("SENT_START"):
        starts = {token.i for token in doc if token.is_sent_start}
        annotation["sent_starts"] = [
            token.word in starts and (k == 0 or tokens[k - 1].word != token.word)
            for k, token in enumerate(tokens)
        ]
    if doc.has_annotation("POS"):
        annotation["pos"] = [
            "PUNCT" if token.mark else word.pos_
            for token, word in zip(tokens, words, strict=True)
        ]
    marked = Doc(
        doc.vocab,
        words=[token.text for token in tokens],
        spaces=[token.space for token in tokens],
        user_data={MARKS: [token.mark for token in tokens]},
        **annotation,
    )
    for k, word in enumerate(words):
        if not tokens[k].mark and word.norm != word.lex.norm:
            marked[k].norm_ = word.norm_
    if has_gold(doc):
        set_gold(marked, gold_slots(doc), gold_spaces(doc))
    return marked


def observed_slots(doc: Doc) -> Slots:
    """The marks of a parsed Doc, with the dots of abbreviations."""
    sentences = parsed_sentences(doc, "a corrector")
    return tuple(joined_slots(sentence.tree.observed for sentence in sentences))


def _tokens(words: Sequence[str], slots: Slots, writer: Writer) -> list[_Token]:
    pieces = writer.write(words, slots)
    marks = [_owned(slot, i) for i, slot in enumerate(slots)]
    waiting = [mark for found in marks for mark in found]
    tokens: list[_Token] = []
    for piece in pieces:
        if piece.source is not None:
            tokens.append(_Token(piece.text, bool(piece.space), "", piece.source))
            continue
        mark, word = waiting.pop(0)
        if mark == ABBREVIATION_DOT:
            text = tokens[-1].text + piece.text
            tokens[-1] = tokens[-1]._replace(text=text, space=bool(piece.space))
        else:
            word = min(word, len(words) - 1)
            tokens.append(_Token(piece.text, bool(piece.space), mark, word))
    return tokens


def _owned(slot: Puncteme, i: int) -> list[tuple[str, int]]:
    """The marks of a slot, with the word that each hangs on."""
    first = first_opener(slot)
    return [(mark, i if k >= first or not i else i - 1) for k, mark in enumerate(slot)]
