"""Pairs of treebanks, written out by hand."""

from pathlib import Path

import pytest

from scripts.aligned import read_aligned
from spacy_punct.errors import PunctError


def block(*rows: str, comment: str = "") -> str:
    """A sentence of "form upos head relation" rows."""
    lines = [comment] if comment else []
    for i, row in enumerate(rows, start=1):
        form, upos, head, relation = row.split()
        columns = [i, form, "_", upos, "_", "_", head, relation, "_", "_"]
        lines.append("\t".join(map(str, columns)))
    return "\n".join([*lines, "", ""])


WRITTEN = [
    block(
        "If PRON 3 mark",
        "it PRON 3 nsubj",
        "rain VERB 6 advcl",
        "I PRON 6 nsubj",
        "will AUX 6 aux",
        "stay VERB 0 root",
        ". PUNCT 6 punct",
        ", PUNCT 6 punct",
        comment="#ID=/0100/doc1.xml 6",
    ),
    block("Go VERB 0 root", "home ADV 1 advmod", comment="#ID=/0100/doc2.xml 1"),
    block(
        "I PRON 2 nsubj",
        "go VERB 0 root",
        "school NOUN 2 obj",
        comment="#ID=/0100/doc3.xml 2",
    ),
    block("! PUNCT 0 root", comment="#ID=/0100/doc3.xml 3"),
]
CORRECTED = [
    block(
        "If SCONJ 3 mark",
        "it PRON 3 nsubj",
        "rains VERB 7 advcl",
        ", PUNCT 7 punct",
        "I PRON 7 nsubj",
        "will AUX 7 aux",
        "stay VERB 0 root",
        ". PUNCT 7 punct",
        comment="#ID=/0100/doc1.xml 6",
    ),
    block("Go VERB 2 dep", "home NOUN 0 root", comment="#ID=/0100/doc2.xml 1"),
    block(
        "I PRON 2 nsubj",
        "go VERB 0 root",
        "to ADP 4 case",
        "school NOUN 2 obl",
        ". PUNCT 2 punct",
        comment="#ID=/0100/doc3.xml 2",
    ),
    block("! PUNCT 0 root", comment="#ID=/0100/doc3.xml 3"),
]


@pytest.fixture
def write(tmp_path):
    def write_pair(written: list[str], corrected: list[str]) -> tuple[Path, Path]:
        paths = tmp_path / "written.conllu", tmp_path / "corrected.conllu"
        for path, blocks in zip(paths, (written, corrected), strict=True):
            path.write_text("".join(blocks), encoding="utf-8")
        return paths

    return write_pair


def test_aligned_examples_have_the_original_tree_and_the_right_marks(write):
    """Of the pairs, one has another head, one another word, and one no word."""
    treebank = read_aligned(*write(WRITTEN, CORRECTED))
    (example,) = treebank.examples
    assert len(treebank) == 1
    assert treebank.n_pairs == 4
    assert treebank.share == 1 / 4
    tree = example.tree
    assert tree.words == ("If", "it", "rain", "I", "will", "stay")
    assert tree.tags[0] == "PRON"
    assert tree.heads == (2, 2, 5, 5, 5, -1)
    assert tree.observed == ((), (), (), (), (), (), (".", ","))
    assert example.slots == ((), (), (), (",",), (), (), (".",))
    assert [token.form for token in example.tokens] == list(tree.words)
    assert tree.observed_pairs is None


def test_aligned_sentences_go_by_their_ids(write):
    treebank = read_aligned(*write(WRITTEN[:2], CORRECTED[::-1]))
    assert treebank.n_pairs == 2
    assert treebank.examples[0].slots[3] == (",",)


@pytest.mark.parametrize("side", [0, 1])
def test_aligned_sentences_go_by_their_order_where_ids_are_missing(write, side):
    bare = [WRITTEN, CORRECTED]
    bare[side] = [text.replace("#ID=", "# about ", 1) for text in bare[side]]
    treebank = read_aligned(*write(*bare))
    assert (len(treebank), treebank.n_pairs) == (1, 4)
    with pytest.raises(PunctError, match=r"\[P125\].*3 sentences against 4"):
        read_aligned(*write(bare[0][:3], bare[1]))


def test_aligned_sentences_with_one_id_twice_go_by_their_order(write):
    treebank = read_aligned(*write([WRITTEN[0]] * 2, [CORRECTED[0]] * 2))
    assert len(treebank) == treebank.n_pairs == 2


def test_aligned_trees_are_made_projective(write):
    crossing = block(
        "a X 3 dep", "b X 4 dep", "c X 4 dep", "d X 0 root", "! PUNCT 4 punct"
    )
    plain = crossing.replace("!", ".")
    (example,) = read_aligned(*write([crossing], [plain])).examples
    assert example.tree.is_projective
    assert example.tree.observed[-1] == ("!",)
    assert example.slots[-1] == (".",)


def test_aligned_abbreviations_are_marks(write):
    """A missing dot is an error of punctuation, not of a word."""
    written = block("Dr NOUN 0 root", "Hill PROPN 1 flat")
    corrected = written.replace("Dr", "Dr.")
    (example,) = read_aligned(*write([written], [corrected])).examples
    assert example.tree.observed[1] == ()
    assert len(example.slots[1]) == 1


@pytest.mark.parametrize(
    ("written", "corrected", "said"),
    [
        (WRITTEN[:1], CORRECTED[1:2], r"\[P125\].*no sentence id in common"),
        (WRITTEN[1:], CORRECTED[1:], r"\[P125\].*none of 3 pairs"),
        ([], [], r"\[P006\].*written"),
    ],
)
def test_aligned_says_what_does_not_align(write, written, corrected, said):
    with pytest.raises(PunctError, match=said):
        read_aligned(*write(written, corrected))


def test_aligned_says_that_there_is_no_text(write, treebanks):
    path = treebanks / "en_esl" / "dev.conllu"
    if not path.is_file():
        pytest.skip("no en_esl")
    with pytest.raises(PunctError, match=r"\[P127\].*en_esl"):
        read_aligned(path, path)


def test_aligned_says_that_the_corrections_have_no_text(write):
    silent = block("_ VERB 0 root", "_ ADV 1 advmod", comment="#ID=/0100/doc2.xml 1")
    with pytest.raises(PunctError, match=r"\[P127\].*corrected"):
        read_aligned(*write(WRITTEN, [silent]))
