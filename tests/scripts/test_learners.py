"""What learners wrote beside its corrections, written out by hand."""

from pathlib import Path

import pytest

from scripts.learners import (
    MarkedTokens,
    marked_tokens,
    part_of,
    read_aligned,
    read_parallel,
    read_text,
)
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
    with pytest.raises(PunctError, match=r"do not align.*3 sentences against 4"):
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
        (WRITTEN[:1], CORRECTED[1:2], r"do not align.*no sentence id in common"),
        (WRITTEN[1:], CORRECTED[1:], r"do not align.*none of 3 pairs"),
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
    with pytest.raises(PunctError, match="for every word"):
        read_aligned(path, path)


def test_aligned_says_that_the_corrections_have_no_text(write):
    silent = block("_ VERB 0 root", "_ ADV 1 advmod", comment="#ID=/0100/doc2.xml 1")
    with pytest.raises(PunctError, match="for every word"):
        read_aligned(*write(WRITTEN, [silent]))


def marks(text: str, *quotes: str) -> str:
    found = marked_tokens(text.split(), set(quotes))
    return " ".join(mark or "." * (token == ".") or "w" for token, mark in shown(found))


def shown(found: MarkedTokens) -> list[tuple[str, str]]:
    return list(zip(found.tokens, found.marks, strict=True))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("He said , yes .", "w w , w ."),
        ('" Yes , " he said .', "`` w , '' w w ."),
        ("`` Yes , '' he said .", "`` w , '' w w ."),
        ("“ Yes , ” he said .", "`` w , '' w w ."),
        ("Yes , '' he said `` no .", "w , '' w w `` w ."),
        ("'' Yes '' he said", "`` w '' w w"),
        ("' Yes ' he said", "` w ' w w"),
        ("twenty years ' time", "w w w w"),
        ("the ' old students ' here", "w ` w w ' w"),
        ("do n't , it 's 5 %", "w w , w w w w"),
        (":-) - ... ?! e.g.", "w - ... ?! w"),
    ],
)
def test_marks_and_words(text, expected):
    assert marks(text) == expected


def test_quotes_of_the_text_tell_what_closes():
    assert marks("Yes '' he said") == "w `` w w"
    assert marks("Yes '' he said", "``") == "w '' w w"


def test_words_and_slots():
    found = marked_tokens(['"', "Well", ",", '"', "he", "said", "..."])
    assert found.words == ("Well", "he", "said")
    assert found.slots == (("``",), (",", "''"), (), ("...",))


@pytest.fixture
def files(tmp_path):
    """A text and two corrections of it."""
    lines = {
        "src": ["I think that it rains", "He go home .", "", "yes '' .", "Stop , now"],
        "ref0": ["I think that it rains .", "He goes home .", "", "`` yes '' .", ". ."],
        "ref1": ["i think , that it rains .", "He went .", "A", "Yes .", "stop now"],
    }
    paths = []
    for name, content in lines.items():
        paths.append(tmp_path / f"a.{name}")
        paths[-1].write_text("".join(f"{line}\n" for line in content), "utf-8")
    return paths


def test_pairs_differ_in_punctuation_and_case_alone(files):
    text = read_parallel(files[0], files[1:])
    first, second, third = text.sentences
    assert first.source.tokens == ("I", "think", "that", "it", "rains")
    assert first.source.slots == ((),) * 6
    assert first.references == (
        ((), (), (), (), (), (".",)),
        ((), (), (",",), (), (), (".",)),
    )
    # That '' closes is known from the other file.
    assert second.source.slots == ((), ("''", "."))
    assert second.references == ((("``",), ("''", ".")), ((), (".",)))
    assert third.references == (((), (), ()),)
    assert (text.n_sents, text.n_pairs, text.n_pairs_used) == (5, 10, 5)


def test_bad_files(files, tmp_path):
    short = tmp_path / "short"
    short.write_text("one\n")
    with pytest.raises(PunctError, match="lines, but the text"):
        read_parallel(files[0], [files[1], short])
    other = tmp_path / "other"
    other.write_text("x\n" * 5)
    with pytest.raises(PunctError, match="has the same words"):
        read_parallel(files[0], [other])
    other.write_bytes(b"caf\xe9\n" * 5)
    with pytest.raises(PunctError, match="P003"):
        read_parallel(files[0], [other])


M2 = """\
S When I was young I dont know , it rained .
A 4 4|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 5 6|||R:SPELL|||do n't|||REQUIRED|||-NONE-|||0
A 7 9|||R:PUNCT|||. It|||REQUIRED|||-NONE-|||0
A 7 8|||U:PUNCT||||||REQUIRED|||-NONE-|||1

S All is well .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
"""


def test_m2_leaves_punctuation_to_differ(tmp_path):
    path = tmp_path / "a.m2"
    path.write_text(M2)
    text = read_text(path, [])
    first, second = text.sentences
    assert first.source.words[4:8] == ("I", "do", "n't", "know")
    (right,) = first.references
    changed = {
        i: marks for i, marks in enumerate(right) if marks != first.source.slots[i]
    }
    assert changed == {4: (",",), 8: (".",)}
    assert second.references == (second.source.slots,)
    halves = [part_of(text, part).sentences for part in ("first", "second", "all")]
    assert halves == [(first,), (second,), (first, second)]
