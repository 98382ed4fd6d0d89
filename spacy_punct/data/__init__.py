"""Treebanks: files -> trees and slots -> tokens."""

from spacy_punct.data.conllu import (
    Sentence,
    Token,
    parse_conllu,
    read_conllu,
    write_conllu,
)
from spacy_punct.data.corruption import NoiseRates, corrupt, corrupted
from spacy_punct.data.depunctuation import (
    PunctuatedTree,
    depunctuate,
    repunctuate,
    unpunctuated_sentence,
)
from spacy_punct.data.splits import Splits, read_splits
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.data.treebank import Treebank, make_treebank, read_treebank

__all__ = [
    "NoiseRates",
    "Puncteme",
    "PunctuatedTree",
    "Sentence",
    "Slots",
    "Splits",
    "Token",
    "Tree",
    "Treebank",
    "corrupt",
    "corrupted",
    "depunctuate",
    "make_treebank",
    "parse_conllu",
    "read_conllu",
    "read_splits",
    "read_treebank",
    "repunctuate",
    "unpunctuated_sentence",
    "write_conllu",
]
