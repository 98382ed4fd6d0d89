import pytest

from scripts.encoder import trees
from scripts.encoder.trees import LOWER_CASE, TreeDrawer, slot_string, word_labels
from scripts.encoder.windows import IGNORE
from spacy_punct.data.conllu import parse_conllu
from spacy_punct.data.depunctuation import depunctuate
from spacy_punct.encoder.wordpieces import LOWER, TITLE
from tests.scripts.encoder.builders import PIECES, SLOTS

CONLLU = """\
1\tMr.\tMr.\tPROPN\tNNP\t_\t2\tcompound\t_\t_
2\tSmith\tSmith\tPROPN\tNNP\t_\t3\tnsubj\t_\t_
3\tmade\tmake\tVERB\tVBD\tTense=Past\t0\troot\t_\t_
4\tlong\tlong\tADJ\tJJ\t_\t6\tamod\t_\tSpaceAfter=No
5\t-\t-\tPUNCT\tHYPH\t_\t4\tpunct\t_\tSpaceAfter=No
6\tplans\tplan\tNOUN\tNNS\t_\t3\tobj\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

1\t"\t"\tPUNCT\t``\t_\t2\tpunct\t_\tSpaceAfter=No
2\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
3\t"\t"\tPUNCT\t''\t_\t2\tpunct\t_\t_
"""
EXAMPLES = [depunctuate(sentence) for sentence in parse_conllu(CONLLU.split("\n"))]
LABELS = {
    "slots": SLOTS,
    "relations": ["root", "nsubj", "obj", "amod"],
    "morphs": ["VERB|Tense=Past", "VERB|_"],
    "tags": ["NNP", "VB"],
}


@pytest.fixture
def drawer() -> TreeDrawer:
    return TreeDrawer([EXAMPLES], LABELS, PIECES, seed=1)


def test_marks_are_those_of_written_text():
    assert slot_string(("<abbr>", "...", "--")) == "… —"
    assert slot_string(("!!", "-")) == "! -"
    assert slot_string(()) == ""


def test_labels_that_are_seen_twice():
    found = word_labels([*EXAMPLES, EXAMPLES[1]])
    assert found["relations"] == ["root"]
    assert found["morphs"] == ["PROPN|_", "VERB|_"]
    assert found["tags"] == ["NNP", "VB"]


@pytest.mark.parametrize("keeps_hyphens", [True, False])
def test_labels_of_a_run(drawer, monkeypatch, keeps_hyphens):
    monkeypatch.setattr(trees, "_HYPHENS_KEPT", float(keeps_hyphens))
    monkeypatch.setattr(trees, "_DOTS_KEPT", 0.0)
    window, places = drawer.window(EXAMPLES, "written")
    marks = [SLOTS[i] if i != IGNORE else None for i in window.slots]
    hyphen = ["", ""] if keeps_hyphens else [None]
    assert marks == ["", "", "", "", *hyphen, ". ``", "''"]
    at = 4 + keeps_hyphens
    assert [i for i, start in enumerate(window.starts) if start == 1] == [0, at + 1]
    assert window.cases[:4] == [IGNORE, TITLE, LOWER, LOWER]
    assert window.cases[-1] == IGNORE
    firsts = [PIECES(word).ids[0] for word in ("mr", "smith", "made", "long", "plans")]
    assert [window.ids[i] for i in places[0]] == firsts
    assert [len(found) for found in places] == [5, 1]
    assert set(window.shapes) == {LOWER}


def test_dots_are_kept_in_some(drawer, monkeypatch):
    sizes = set()
    for share in (0.0, 1.0):
        monkeypatch.setattr(trees, "_DOTS_KEPT", share)
        window, _ = drawer.window(EXAMPLES[1:] + EXAMPLES[:1], "cased")
        sizes.add(window.firsts[2] - window.firsts[1])
    assert sizes == {len(PIECES("mr").ids), len(PIECES("mr.").ids)}


def test_trees_are_side_by_side(drawer):
    batch = drawer.collate([EXAMPLES, EXAMPLES[1:]], LOWER_CASE)
    assert batch.heads.tolist() == [
        [2, 3, 0, 5, 3],
        [0, *[IGNORE] * 4],
        [0, *[IGNORE] * 4],
    ]
    assert batch.relations[0].tolist() == [IGNORE, 1, 0, 3, 2]
    assert batch.morphs[:, 2].tolist() == [0, IGNORE, IGNORE]
    assert batch.tags[0].tolist() == [0, 0, IGNORE, IGNORE, IGNORE]
    flat = batch.ids.flatten()
    go = PIECES("go").ids[0]
    assert [int(flat[batch.words[row, 0]]) for row in (1, 2)] == [go, go]


def test_drawn_batches_are_of_the_size_that_is_asked_for(drawer):
    for _ in range(10):
        batch = drawer.batch(192)
        assert batch.ids.numel() <= 192
        assert (batch.heads != IGNORE).any()
