"""`punct rephrase`, as people run it."""

import spacy

from spacy_punct import rephrase
from spacy_punct.reading.bare import parse_words
from spacy_punct.rephrasing.edits import delete, move

TEXT = "If the rain stops, Anna will visit us."


def test_rephrase_edits(invoke, full_path):
    nlp = spacy.load(full_path)
    doc = parse_words(nlp, TEXT)
    below = [t for t in doc if t.is_alpha and t.head != t]
    gone = next(t for t in below if not list(t.children)).text
    moved = next(t for t in below if t.text != gone).text
    done = invoke(
        *("rephrase", "-m", full_path, TEXT, TEXT),
        *("--delete", gone, "--last", moved),
    )
    expected = rephrase(TEXT, delete(gone) | move(moved, -1), nlp).text
    assert done.output == f"{expected}\n{expected}\n"
    assert gone.lower() not in expected.lower().split()
