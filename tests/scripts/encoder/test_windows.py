from itertools import islice

import pytest

from scripts.encoder import windows
from scripts.encoder.windows import IGNORE, Drawer, Source, collate, label, with_dots
from spacy_punct.data.written import read_line
from spacy_punct.encoder.wordpieces import LOWER, TITLE, UPPER
from tests.scripts.encoder.builders import PIECES, SLOTS

NUMBERS = {slot: i for i, slot in enumerate(SLOTS)}
LINES = [
    "Well, Mr. Smith went to the U.S. in May.",
    "“Are you there?” He said that it was not so.",
    "And then we came back to the long-term plan of the house.",
]


def window_of(line: str, tokens: list[list[str]], *, keep: bool = True):
    words = with_dots(read_line(line), keep=keep)
    assert len(words) == len(tokens)
    return label(words, tokens, PIECES, NUMBERS)


def test_labels_of_a_sentence():
    tokens = [["well"], ["anna"], ["do", "n't"], ["use"], ["nasa"], ["24"]]
    window = window_of("Well, Anna don't use NASA — 24.", tokens)
    marks = [SLOTS[number] for number in window.slots]
    assert marks == ["", ",", "", "", "", "", "—", "."]
    assert window.starts == [1, 0, 0, 0, 0, 0, 0, IGNORE]
    # The first capital may be that of the sentence, and numbers have no case.
    assert window.cases == [IGNORE, TITLE, LOWER, LOWER, LOWER, UPPER, IGNORE]
    assert len(window.ids) == len(window.shapes)
    assert [window.ids[at] for at in window.firsts] == [
        PIECES(token).ids[0] for word in tokens for token in word
    ]
    assert (window.ids[0], window.ids[-1]) == (PIECES.start, PIECES.end)


def test_second_sentence_and_unknown_marks():
    tokens = [["it"], ["rains"], ["go"], ["now"]]
    window = window_of("It rains. “Go; now.”", tokens)
    assert [SLOTS[i] if i != IGNORE else None for i in window.slots] == [
        *("", "", ". ``", None, None)
    ]
    assert window.starts == [1, 0, 1, 0, IGNORE]


def test_dots_of_abbreviations_belong_to_words():
    words = read_line("Mr. Smith left the U.S. in May, etc.")
    kept, lost = (with_dots(words, keep=keep) for keep in (True, False))
    assert [word.form for word in kept] == [
        *("Mr.", "Smith", "left", "the", "U.S.", "in", "May", "etc.")
    ]
    assert [w.form for w in lost if w.form not in [k.form for k in kept]] == [
        "Mr",
        "etc",
    ]
    # The last dot also ends the sentence.
    assert kept[-1].after == lost[-1].after == (".",)
    assert kept[0].after == ()


def test_batches_point_at_first_pieces():
    short = window_of("Go now.", [["go"], ["now"]])
    long = window_of("We went home.", [["we"], ["went"], ["home"]])
    batch = collate([short, long])
    length = batch.ids.shape[1]
    assert batch.is_piece.sum(1).tolist() == [len(short.ids), len(long.ids)]
    flat = batch.ids.flatten()
    firsts = [PIECES(t).ids[0] for t in ("go", "now", "we", "went", "home")]
    assert flat[batch.tokens].tolist() == firsts
    assert batch.left.tolist()[:3] == [-1, 1, short.firsts[1]]
    assert batch.right.tolist()[:3] == [1, short.firsts[1], -1]
    assert batch.left.tolist()[3:5] == [-1, length + 1]
    assert len(batch.slots) == len(batch.starts) == len(batch.left) == 7
    assert len(batch.cases) == 5


@pytest.mark.parametrize("length", [24, 96])
def test_drawn_windows_fit(length):
    drawer = Drawer({"sample": LINES}, PIECES, SLOTS, seed=1)
    seen = {IGNORE: 0, 1: 0}
    for _ in range(60):
        window = drawer.window(length)
        assert len(window.ids) <= length
        assert len(window.slots) == len(window.starts) == len(window.cases) + 1
        assert (window.slots[0] == IGNORE) or window.starts[0] == 1
        seen[window.starts[0]] += 1
    assert min(seen.values()) > 5  # half begin inside a line


def test_forms(monkeypatch):
    drawer = Drawer({"sample": LINES}, PIECES, SLOTS, seed=1)
    shapes = {}
    for form in windows.FORMS:
        monkeypatch.setattr(windows, "FORMS", {form: 1.0})
        found = [drawer.window(96) for _ in range(10)]
        shapes[form] = {shape for window in found for shape in window.shapes}
        # Whatever is seen, the true case is learned.
        assert {TITLE, LOWER} <= {case for window in found for case in window.cases}
    assert shapes["spoken"] == shapes["written"] == {LOWER}
    assert TITLE in shapes["cased"] and TITLE in shapes["spoken cased"]
    assert UPPER in shapes["capitals"]


def test_lines_follow_each_other_unless_they_do_not(monkeypatch):
    sources = {
        "talk": Source(),
        "chat": Source(connected=False, lines_start=True),
    }
    monkeypatch.setattr(windows, "SOURCES", sources)
    lines = [f"{word} we went on and on." for word in ("one", "two", "three")]
    orders = {}
    for name in sources:
        drawer = Drawer({name: lines}, PIECES, SLOTS, seed=3)
        words = list(islice(drawer._stream(name), 60))
        assert {word.starts for word in words[::6]} == {name == "chat"}
        orders[name] = "".join(word.form[1] for word in words[::6])
    assert orders["talk"] in "nwh" * 5
    assert orders["chat"] not in "nwh" * 5


def test_slots_are_counted():
    counts = Drawer({"sample": LINES * 10}, PIECES).count_slots()
    assert counts[""] > counts["."] > counts[","] > 0
    assert not any("<" in slot for slot in counts)
