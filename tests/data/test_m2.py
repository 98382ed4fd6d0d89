import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.corruption import corrupted
from spacy_punct.data.depunctuation import repunctuate
from spacy_punct.data.m2 import (
    Annotation,
    M2Sentence,
    m2_sentence,
    read_m2,
    write_m2,
)
from spacy_punct.data.marks import ABBREVIATION_DOT, SPECIAL_GLYPHS
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError

DOT = ABBREVIATION_DOT
WORDS = ("He", "left", "etc", "I", "think")
OBSERVED = ((), (",",), (), (DOT, "."), (), (".", "''"))
FIRST = ((), (), (), (DOT, ";"), (), ("''", "."))
SECOND = (("``",), (",",), (), (".",), (), (".", "''"))


def test_m2_lines(tmp_path):
    path = tmp_path / "some.m2"
    right = m2_sentence(["Go"], ((), ("!",)), [((), ("!",))])
    write_m2(path, [m2_sentence(WORDS, OBSERVED, [FIRST, OBSERVED, SECOND]), right])
    assert path.read_text().split("\n") == [
        "S He , left etc. . I think . ''",
        "A 1 2|||U:PUNCT||||||REQUIRED|||-NONE-|||0",
        "A 4 5|||R:PUNCT|||;|||REQUIRED|||-NONE-|||0",
        "A 7 9|||R:PUNCT|||'' .|||REQUIRED|||-NONE-|||0",
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1",
        "A 0 0|||M:PUNCT|||``|||REQUIRED|||-NONE-|||2",
        "A 3 4|||R:SPELL|||etc|||REQUIRED|||-NONE-|||2",
        "",
        "S Go !",
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0",
        "",
    ]


MARKS = st.lists(st.sampled_from([",", ".", "''", DOT]), max_size=3, unique=True)
SLOTS = st.lists(MARKS, min_size=2, max_size=2).map(lambda ends: ([], *ends))


@given(SLOTS, st.lists(SLOTS, min_size=1, max_size=3))
def test_corrections_lead_to_the_references(tmp_path_factory, observed, references):
    words = ("a", "b")
    sentence = m2_sentence(words, *as_slots(observed, references))
    for annotator, reference in enumerate(references):
        expected = m2_sentence(words, *as_slots(reference, [reference])).tokens
        assert sentence.corrected(annotator) == list(expected)
    path = tmp_path_factory.getbasetemp() / "round_trip.m2"
    write_m2(path, [sentence, sentence])
    assert list(read_m2(path)) == [sentence, sentence]


def as_slots(observed, references):
    return tuple(map(tuple, observed)), [tuple(map(tuple, r)) for r in references]


def test_the_sample_goes_there_and_back(sample, tmp_path):
    noisy = corrupted(read_treebank(sample / "dev.conllu").examples)
    sentences = [m2_sentence(x.tree.words, x.tree.observed, [x.slots]) for x in noisy]
    write_m2(tmp_path / "dev.m2", sentences)
    found = list(read_m2(tmp_path / "dev.m2"))
    assert found == sentences
    for sentence, example in zip(found, noisy, strict=True):
        straight = [SPECIAL_GLYPHS.get(t, t) for t in sentence.corrected()]
        plain = [
            SPECIAL_GLYPHS.get(t, t) for t in repunctuate(example.tree, example.slots)
        ]
        assert straight == plain


def test_read_m2_as_others_write_it(tmp_path):
    path = tmp_path / "other.m2"
    path.write_bytes(
        b"S The cat sat at mat .\r\n"
        b"A 3 4|||Prep|||on||upon|||REQUIRED|||-NONE-|||0\r\n"
        b"A 4 4|||ArtOrDet|||the||a|||REQUIRED|||-NONE-|||0\r\n"
        b"A 5 6|||Mec|||-NONE-|||REQUIRED|||-NONE-|||2\r\n"
        b"\r\n"
        b"S Fine .\r\n"
    )
    first, second = read_m2(path)
    assert first.annotators == (0, 2)
    assert first.annotations[0] == Annotation(3, 4, "Prep", ("on", "upon"), 0)
    assert first.corrected() == ["The", "cat", "sat", "on", "the", "mat", "."]
    assert first.corrected(2) == ["The", "cat", "sat", "at", "mat"]
    assert second == M2Sentence(("Fine", "."))


@pytest.mark.parametrize(
    "line",
    [
        "nothing",
        "A 0 1|||U:PUNCT",
        "A 0 1|||U:PUNCT||||||REQUIRED|||-NONE-|||me",
        "A 0 x|||U:PUNCT||||||REQUIRED|||-NONE-|||0",
        "A 1 3|||U:PUNCT||||||REQUIRED|||-NONE-|||0",
        "A 1 0|||U:PUNCT||||||REQUIRED|||-NONE-|||0",
        "A -1 -1|||U:PUNCT||||||REQUIRED|||-NONE-|||0",
        "A",
    ],
)
def test_bad_lines(tmp_path, line):
    path = tmp_path / "bad.m2"
    path.write_text(f"S a b\n{line}\n")
    with pytest.raises(PunctError, match=r"P122.*bad.m2:2"):
        list(read_m2(path))


def test_bad_files(tmp_path):
    with pytest.raises(PunctError, match="P121"):
        list(read_m2(tmp_path / "none.m2"))
    path = tmp_path / "latin.m2"
    path.write_bytes("S é".encode("latin-1"))
    with pytest.raises(PunctError, match="P003"):
        list(read_m2(path))
    path.write_text("A 0 1|||U:PUNCT||||||REQUIRED|||-NONE-|||0\n")
    with pytest.raises(PunctError, match="P122"):
        list(read_m2(path))
