"""Treebanks: files -> trees and slots -> tokens."""

from spacy_punct.data.conllu import (
    Sentence,
    Token,
    parse_conllu,
    read_conllu,
    write_conllu,
)
from spacy_punct.data.depunctuation import (
    PunctuatedTree,
    depunctuate,
    repunctuate,
    unpunctuated_sentence,
)
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.data.treebank import Treebank, make_treebank, read_treebank

__all__ = [
    "Puncteme",
    "PunctuatedTree",
    "Sentence",
    "Slots",
    "Token",
    "Tree",
    "Treebank",
    "depunctuate",
    "make_treebank",
    "parse_conllu",
    "read_conllu",
    "read_treebank",
    "repunctuate",
    "unpunctuated_sentence",
    "write_conllu",
]
