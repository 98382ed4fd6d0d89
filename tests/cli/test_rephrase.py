"""`punct rephrase`, as people run it."""

import spacy
from typer.testing import CliRunner

from spacy_punct import rephrase
from spacy_punct.cli import punct
from spacy_punct.reading.by_words import parse_words
from spacy_punct.rephrasing.edits import delete, move

TEXT = "If the rain stops, Anna will visit us."


def invoke(*args: object):
    return CliRunner().invoke(punct, ["rephrase", *map(str, args)])


def test_rephrase_edits(full_path):
    nlp = spacy.load(full_path)
    doc = parse_words(nlp, TEXT)
    below = [t for t in doc if t.is_alpha and t.head != t]
    gone = next(t for t in below if not list(t.children)).text
    moved = next(t for t in below if t.text != gone).text
    done = invoke("-m", full_path, TEXT, TEXT, "--delete", gone, "--last", moved)
    expected = rephrase(TEXT, delete(gone) | move(moved, -1), nlp).text
    assert done.output == f"{expected}\n{expected}\n"
    assert gone.lower() not in expected.lower().split()


def test_rephrase_permutes(full_path, sample):
    options = ("-m", full_path, TEXT, "--permute", sample / "dev.conllu", "--seed")
    found = {invoke(*options, seed).output for seed in range(6)}
    assert len(found) > 1
    words = sorted(TEXT.lower().replace(",", "").strip(".").split())
    for text in found:
        letters = "".join(c if c.isalnum() else " " for c in text.lower())
        assert sorted(letters.split()) == words
    assert invoke(*options, 3).output in found


def test_rephrase_says_what_is_wrong(full_path, tmp_path):
    done = invoke("-m", full_path, TEXT, "--delete", "snow")
    assert done.exit_code == 1
    assert "P141" in done.output
    done = invoke("-m", full_path, TEXT, "--permute", tmp_path / "none.conllu")
    assert done.exit_code == 1
    assert "P053" in done.output


def test_rephrase_help():
    shown = invoke("--help")
    assert shown.exit_code == 0
    assert "python -m spacy punct rephrase" in shown.output
