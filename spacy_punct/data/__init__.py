"""Treebanks: files -> trees and slots -> tokens."""

from spacy_punct.data.aligned import AlignedTreebank, read_aligned
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
from spacy_punct.data.edits import Edit, apply_edits, edits, slot_edits
from spacy_punct.data.m2 import M2Sentence, m2_sentence, read_m2, write_m2
from spacy_punct.data.splits import Splits, read_splits
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.data.treebank import Treebank, make_treebank, read_treebank

__all__ = [
    "AlignedTreebank",
    "Edit",
    "M2Sentence",
    "NoiseRates",
    "Puncteme",
    "PunctuatedTree",
    "Sentence",
    "Slots",
    "Splits",
    "Token",
    "Tree",
    "Treebank",
    "apply_edits",
    "corrupt",
    "corrupted",
    "depunctuate",
    "edits",
    "m2_sentence",
    "make_treebank",
    "parse_conllu",
    "read_aligned",
    "read_conllu",
    "read_m2",
    "read_splits",
    "read_treebank",
    "repunctuate",
    "slot_edits",
    "unpunctuated_sentence",
    "write_conllu",
    "write_m2",
]
