"""Tokens of punctuated trees, and of M2 files."""

from collections.abc import Iterator

from spacy_punct.data.depunctuation import Glyphs
from spacy_punct.data.m2 import Annotation, M2Sentence
from spacy_punct.data.marks import ABBREVIATION_DOT, SPECIAL_GLYPHS
from spacy_punct.data.tree import Slots, Tree


def repunctuate(tree: Tree, slots: Slots, glyphs: Glyphs | None = None) -> list[str]:
    """The token sequence of a tree with marks in its slots: depunctuate's inverse.

    tree (Tree): The words.
    slots (Slots): The marks before, between and after them.
    glyphs (Glyphs | None): How marks were written; straight quotes by default.
    RETURNS (list[str]): The tokens in order.
    """
    glyphs = glyphs or {}
    tokens: list[str] = []
    tree.check_slots(slots)
    for i, slot in enumerate(slots):
        if i:
            tokens.append(tree.words[i - 1])
            word = len(tokens) - 1
        for k, mark in enumerate(slot):
            if mark != ABBREVIATION_DOT:
                tokens.append(glyphs.get((i, k), SPECIAL_GLYPHS.get(mark, mark)))
            elif i:
                tokens[word] += SPECIAL_GLYPHS[mark]
            else:
                raise ValueError("no word before an abbreviation dot")
    return tokens


def read_m2(text: str) -> Iterator[M2Sentence]:
    """The sentences of an M2 file."""
    for block in text.strip().split("\n\n"):
        first, *lines = block.strip().split("\n")
        found = []
        for line in lines:
            span, kind, correction, *_, annotator = line[2:].split("|||")
            start, end = map(int, span.split())
            found.append(Annotation(start, end, kind, (correction,), int(annotator)))
        yield M2Sentence(
            tuple(first.split()[1:]),
            tuple(a for a in found if a.kind != "noop"),
            tuple(dict.fromkeys(a.annotator for a in found)),
        )


def corrected(sentence: M2Sentence, annotator: int = 0) -> list[str]:
    """The tokens after an annotator's corrections."""
    tokens = list(sentence.tokens)
    for a in reversed([a for a in sentence.annotations if a.annotator == annotator]):
        tokens[a.start : a.end] = a.corrections[0].split()
    return tokens
