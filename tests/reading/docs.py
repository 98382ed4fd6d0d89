"""Docs to restore, and a restorer that is soon trained."""

from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_punct.restorer.component import PunctuationRestorer

WORDS = ["If", "the", "rain", "stops", "Anna", "will", "visit", "Dr", "Hill"]
POS = ["SCONJ", "DET", "NOUN", "VERB", "PROPN", "AUX", "VERB", "PROPN", "PROPN"]
DEPS = ["mark", "det", "nsubj", "advcl", "nsubj", "aux", "ROOT", "obj", "flat"]


def parsed_doc(vocab: Vocab, **changes) -> Doc:
    """A sentence of the sample's kind, with a tree and parts of speech."""
    annotation = {
        "words": WORDS,
        "pos": POS,
        "heads": [3, 2, 3, 6, 6, 6, 6, 6, 7],
        "deps": DEPS,
    }
    return Doc(vocab, **{**annotation, **changes})


def with_marks(vocab: Vocab) -> Doc:
    """The same sentence with a semicolon, where a comma would do, and two spaces."""
    return Doc(
        vocab,
        words=[*WORDS[:4], ";", *WORDS[4:], "!"],
        spaces=[True, True, True, True, True, *[True] * 4, False, False],
        pos=[*POS[:4], "PUNCT", *POS[4:], "PUNCT"],
        heads=[3, 2, 3, 7, 7, 7, 7, 7, 7, 8, 7],
        deps=[*DEPS[:4], "punct", *DEPS[4:], "punct"],
    )


def add_log_linear(
    nlp: Language, model: dict[str, Any] | None = None, **settings: Any
) -> PunctuationRestorer:
    """Add a restorer with the paper's model, untrained, in whatever language."""
    architecture = {"@architectures": "spacy_punct.LogLinearAttach.v1"}
    config = {"model": {**architecture, **(model or {})}, **settings}
    return nlp.add_pipe("punctuation_restorer", config=config)


ODD = ("(", ":", ")", "?", ";", ")", "!")
"""Marks at the end that no underlying tree explains."""


def with_odd_marks(vocab: Vocab) -> Doc:
    """The words, parsed, and after them the odd marks."""
    bare = parsed_doc(vocab)
    return Doc(
        vocab,
        words=[*WORDS, *ODD],
        pos=[*(t.pos_ for t in bare), *["PUNCT"] * len(ODD)],
        heads=[*(t.head.i for t in bare), *[6] * len(ODD)],
        deps=[*(t.dep_ for t in bare), *["punct"] * len(ODD)],
    )
