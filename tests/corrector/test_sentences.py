"""Sixty sentences with ordinary mistakes and sixty difficult ones without.

`wrong.tsv` has a kind, a sentence, and one or more ways to mend it; `right.txt` has
sentences that must stay as they are. Both were written before the corrector that they
are to judge was trained.
"""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
WRONG = [
    line.split("\t") for line in (HERE / "wrong.tsv").read_text("utf8").split("\n")
]
WRONG = [fields for fields in WRONG if fields != [""]]
RIGHT = (HERE / "right.txt").read_text("utf8").splitlines()


def letters(text):
    return "".join(filter(str.isalnum, text)).lower()


def test_sentences_are_sixty_and_sixty():
    assert len(WRONG) == len({fields[1] for fields in WRONG}) == 60
    assert len(set(RIGHT)) == 60
    assert not {fields[1] for fields in WRONG} & set(RIGHT)


@pytest.mark.parametrize("fields", WRONG, ids=lambda fields: fields[1][:30])
def test_sentences_are_mended_without_other_letters(fields):
    _, sentence, *mended = fields
    assert mended
    for other in mended:
        assert other != sentence
        assert letters(other) == letters(sentence)
