from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.corruption import corrupted
from spacy_punct.data.m2 import m2_block, m2_sentence
from spacy_punct.data.marks import ABBREVIATION_DOT, SPECIAL_GLYPHS
from spacy_punct.data.treebank import read_treebank
from tests.data.tokens import corrected, read_m2, repunctuate

DOT = ABBREVIATION_DOT
WORDS = ("He", "left", "etc", "I", "think")
OBSERVED = ((), (",",), (), (DOT, "."), (), (".", "''"))
FIRST = ((), (), (), (DOT, ";"), (), ("''", "."))
SECOND = (("``",), (",",), (), (".",), (), (".", "''"))


def test_m2_lines():
    right = m2_sentence(["Go"], ((), ("!",)), [((), ("!",))])
    blocks = [m2_sentence(WORDS, OBSERVED, [FIRST, OBSERVED, SECOND]), right]
    assert "\n".join(map(m2_block, blocks)).split("\n") == [
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
def test_corrections_lead_to_the_references(observed, references):
    words = ("a", "b")
    sentence = m2_sentence(words, *as_slots(observed, references))
    for annotator, reference in enumerate(references):
        expected = m2_sentence(words, *as_slots(reference, [reference])).tokens
        assert corrected(sentence, annotator) == list(expected)
    assert list(read_m2(m2_block(sentence))) == [sentence]


def as_slots(observed, references):
    return tuple(map(tuple, observed)), [tuple(map(tuple, r)) for r in references]


def test_the_sample_goes_there_and_back(sample):
    noisy = corrupted(read_treebank(sample / "dev.conllu").examples)
    sentences = [m2_sentence(x.tree.words, x.tree.observed, [x.slots]) for x in noisy]
    found = list(read_m2("\n".join(map(m2_block, sentences))))
    assert found == sentences
    for sentence, example in zip(found, noisy, strict=True):
        straight = [SPECIAL_GLYPHS.get(t, t) for t in corrected(sentence)]
        plain = [
            SPECIAL_GLYPHS.get(t, t) for t in repunctuate(example.tree, example.slots)
        ]
        assert straight == plain
