from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.subtitles import Block, Cue, is_subtitles, read_cues, write_blocks
from spacy_punct.errors import PunctError

TIMING = "00:00:01,000 --> 00:00:02,500"

SRT = f"""\
1
{TIMING}
<i>hello</i> there
how are you

2
00:00:03.000 --> 00:00:04.000 X1:40 X2:600 Y1:20 Y2:50
{{\\an8}}- fine
- and you
"""

VTT = """\
WEBVTT - a film
Kind: captions

STYLE
::cue { color: red }

REGION
id:fred

NOTE nobody reads
this

intro
00:01.000 --> 00:02.500 align:start
<v Bob>hello <b>there</b>

01:00:03.000 --> 01:00:04.000
fine
"""


def read(text: str) -> list[Block]:
    return list(read_cues(text.splitlines(keepends=True), name="f"))


def cues(text: str) -> list[Cue]:
    return [block.cue for block in read(text) if block.cue]


def line(text: str) -> Cue:
    return Cue((TIMING,), (text,))


def test_subtitles_srt_cues():
    first, second = cues(SRT)
    assert first.head == ("1", TIMING)
    assert first.lines == ("<i>hello</i> there", "how are you")
    assert second.head[1].endswith("04.000 X1:40 X2:600 Y1:20 Y2:50")
    assert second.words() == ("fine", "and", "you")


def test_subtitles_vtt_cues_and_what_is_none():
    blocks = read(VTT)
    others = [block.other[0].split()[0] for block in blocks if block.cue is None]
    assert others == ["WEBVTT", "STYLE", "REGION", "NOTE"]
    first, second = cues(VTT)
    assert first.head == ("intro", "00:01.000 --> 00:02.500 align:start")
    assert second.head == ("01:00:03.000 --> 01:00:04.000",)
    assert first.words() == ("hello", "there")


@pytest.mark.parametrize("text", [SRT, VTT])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\ufeff\n", "\n\n"])
@pytest.mark.parametrize("finish", ["", "\n", "\n\n\n"])
def test_subtitles_files_come_back_byte_for_byte(tmp_path, text, end, start, finish):
    path = tmp_path / "film.srt"
    blanks = text.replace("\n\n", "\n\n\n", 1)
    content = start + blanks.removesuffix("\n") + finish
    path.write_bytes(content.replace("\n", end).encode())
    with path.open(encoding="utf-8", newline="") as file:
        blocks = list(read_cues(file))
    assert "".join(write_blocks(blocks)).encode() == path.read_bytes()
    expected = [cue.lines for cue in cues(text)]
    assert [block.cue.lines for block in blocks if block.cue] == expected


def test_subtitles_changed_words_leave_the_rest_of_the_file_alone():
    blocks = [
        replace(block, cue=block.cue.with_words([w.upper() for w in block.cue.words()]))
        if block.cue
        else block
        for block in read(VTT)
    ]
    expected = VTT.replace(">hello", ">HELLO").replace("there", "THERE")
    assert "".join(write_blocks(blocks)) == expected.replace("fine", "FINE")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello there", "hello there"),
        ("  hello\tthere ", "hello there"),
        ("<i>hello</i> there", "hello there"),
        ("<font color='#fff'>hello</font>", "hello"),
        ("{\\an8}hello", "hello"),
        ("<v Roger Bingham>hello", "hello"),
        ("<v.loud Bob>hello<v Mary>hi</v>", "hello hi"),
        ("hello<00:00:00.480><c> there</c>", "hello there"),
        ("<i>un</i>heard of", "unheard of"),
        ("hello<br/>there\\Nyou&nbsp;two", "hello there you two"),
        ("- hello", "hello"),
        ("-hello", "hello"),
        ("– hello", "hello"),
        ("<i>- hello</i>", "hello"),
        ("{\\an8}-<i>hello</i>", "hello"),
        ("-", ""),
        ("-5 degrees", "-5 degrees"),
        ("-- and then", "-- and then"),
        ("well-known", "well-known"),
        ("♪ la la ♪", "la la"),
        ("i <3 you", "i <3 you"),
        ("a < b and c > d", "a < b and c > d"),
        ("R&amp;D {maybe}", "R&amp;D {maybe}"),
        ("Hello, there.", "Hello, there."),
        ("你好", "你好"),
        ("<i></i>", ""),
    ],
)
def test_subtitles_words_are_text_without_markup(text, words):
    assert line(text).words() == tuple(words.split())


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("hello there", "Hello, there.", "Hello, there."),
        ("  hello\tthere ", "Hello, there.", "  Hello,\tthere. "),
        ("<i>hello</i> there", "Hello, there.", "<i>Hello,</i> there."),
        ("- hello", '"Hello."', '- "Hello."'),
        ("hello<00:00:00.480><c> there</c>", "Oh, you", "Oh,<00:00:00.480><c> you</c>"),
        ("<i>un</i>heard", "(Unheard,", "<i>(Un</i>heard,"),
        ("<i>un</i>hea<b>rd</b>", '"Unheard".', '<i>"Un</i>hea<b>rd".</b>'),
        ("<i>un</i>heard", "no", "<i>no</i>"),
    ],
)
def test_subtitles_words_are_replaced_one_by_one(text, new, expected):
    assert line(text).with_words(new.split()) == line(expected)


def test_subtitles_replaced_words_keep_the_lines():
    cue = Cue(("7", TIMING), ("- is it you", "- yes"))
    new = cue.with_words(["Is", "it", "you?", "Yes!"])
    assert new == Cue(("7", TIMING), ("- Is it you?", "- Yes!"))


def test_subtitles_reject_words_that_do_not_fit():
    with pytest.raises(PunctError, match=r"\[P062\].*2 words was given 1"):
        line("hello there").with_words(["Hello"])
    with pytest.raises(PunctError, match=r"\[P063\].*'a\\nb'"):
        line("hello").with_words(["a\nb"])
    (block, _) = read(SRT)
    with pytest.raises(PunctError, match=r"\[P064\].*4 lines has 5"):
        replace(block, cue=line("hello there"), other=("", ""))


def test_subtitles_a_cue_may_have_no_text():
    first, second = cues(f"1\n{TIMING}\n\n2\n{TIMING}\nhello\n")
    assert first == Cue(("1", TIMING), ())
    assert first.with_words([]) == first
    assert second.lines == ("hello",)


def test_subtitles_a_missing_blank_line_is_no_harm():
    text = f"1\n{TIMING}\nhello\n2\n{TIMING}\nthere\n{TIMING}\nyou\n"
    assert cues(text) == [
        Cue(("1", TIMING), ("hello",)),
        Cue(("2", TIMING), ("there",)),
        Cue((TIMING,), ("you",)),
    ]
    header = f"WEBVTT\nKind: captions\n{TIMING}\nhello"
    assert cues(header) == [line("hello")]
    assert "".join(write_blocks(read(text + header))) == text + header


def test_subtitles_text_after_a_blank_line_is_shown_in_srt_only():
    text = f"1\n{TIMING}\nhello\n\nthere\n"
    assert cues(text)[1] == Cue((), ("there",))
    assert [cue.lines for cue in cues(f"WEBVTT\n\n{text}")] == [("hello",)]


def test_subtitles_white_space_makes_a_line_blank():
    text = f"1\n{TIMING}\nhello\n \t\n2\n{TIMING}\nthere\n"
    assert [cue.lines for cue in cues(text)] == [("hello",), ("there",)]
    assert "".join(write_blocks(read(text))) == text


def test_subtitles_arrows_and_times_in_text_are_text():
    text = f"1\n{TIMING}\ngo --> there\n1:23.456\n12:30 -> 5\n"
    assert cues(text)[0].lines == ("go --> there", "1:23.456", "12:30 -> 5")


def test_subtitles_of_nothing():
    assert read("") == []
    assert cues("\n\n") == cues("WEBVTT") == cues("\ufeffWEBVTT\n\nNOTE x\n") == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("once upon a time\nthere was a file", 1),
        ("\n\n1\nhello\n", 3),
        ("NOTE\nan SRT file has no notes\n", 1),
        (f"WEBVTT\n\nhello\n\n{TIMING}\nthere\n", 3),
        ("WEBVTTX\n", 1),
    ],
)
def test_subtitles_reject_text_without_a_timing(text, number):
    with pytest.raises(PunctError, match=rf"\[P060\] f, line {number}:"):
        read(text)


@pytest.mark.parametrize(
    "timing",
    [
        "00:00:01,000 -> 00:00:02,000",
        "00:00:01,000 --> ",
        "00:00:01 --> 00:00:02",
        "00:00:01,000 --> 00:00:99,000",
        "-00:00:01,000 --> 00:00:02,000",
        "00:00:01,000 --> 00:00:02,000x",
        "00:00:01,000 00:00:02,000",
        "00:00:01,000",
        "now --> then",
    ],
)
@pytest.mark.parametrize(
    "start", ["", "1\n", f"1\n{TIMING}\nhello\n\n2\n", "WEBVTT\n\n"]
)
def test_subtitles_reject_a_broken_timing(timing, start):
    number = start.count("\n") + 1
    with pytest.raises(
        PunctError, match=rf"\[P061\] f, line {number}: '{timing.strip()}'"
    ):
        read(f"{start}{timing}\nthere\n")


def test_subtitles_reject_a_broken_timing_after_a_missing_blank_line():
    with pytest.raises(PunctError, match=r"\[P061\] f, line 5"):
        read(f"1\n{TIMING}\nhello\n2\n00:00:03,000 --> 0:4\nthere\n")


def test_subtitles_are_read_and_written_as_they_come():
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        for i in count(1):
            for text in (f"{i}\n", f"{TIMING}\n", "hello\n", "\n"):
                taken += 1
                yield text

    written = write_blocks(read_cues(endless()))
    assert list(islice(written, 400))[-4:] == ["100\n", f"{TIMING}\n", "hello\n", "\n"]
    assert taken == 401


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", [" ", "<i>", "<a", "{\\", "<br ", "-", "1", "1:", "\\N"]
)
def test_subtitles_long_lines_take_no_long_time(piece):
    cue = line(piece * 20_000 + "x")
    assert cue.with_words(cue.words()) == cue
    assert len(read(f"{TIMING}\n{cue.lines[0]}\n")) == 1


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("film.srt", True),
        ("a/film.VTT", True),
        (Path("film.en.srt"), True),
        ("film.txt", False),
        ("srt", False),
        ("film.srt.gz", False),
    ],
)
def test_subtitles_are_told_by_their_suffix(path, expected):
    assert is_subtitles(path) is expected


ENDS = st.sampled_from(["\n", "\r\n"])
BLANKS = st.lists(st.sampled_from(["", " "]), min_size=1, max_size=3)
PIECES = st.sampled_from(
    ["<i>", "</i>", "{\\an8}", "<v Bob>", "<br>", "&nbsp;", "- ", "-", " ", "<", ">"]
)
TEXTS = st.lists(PIECES | st.text(st.characters(exclude_categories=["C", "Z"])))
LINES = TEXTS.map("".join).filter(str.strip)
HEADS = st.sampled_from([(TIMING,), ("7", TIMING), ("id x", "00:01.0 --> 00:02.0 a:b")])
CUES = st.builds(Cue, HEADS, st.lists(LINES, max_size=3).map(tuple))


@given(st.lists(st.tuples(CUES, BLANKS, ENDS)), st.sampled_from(["", "\ufeff"]))
def test_subtitles_any_cues_are_read_and_written_as_they_are(items, start):
    lines = [
        text + end
        for cue, blanks, end in items
        for text in (*cue.head, *cue.lines, *blanks)
    ]
    lines[:1] = [start + first for first in lines[:1]]
    blocks = list(read_cues(lines))
    assert list(write_blocks(blocks)) == lines
    found = [block.cue for block in blocks]
    assert [cue.lines for cue in found] == [cue.lines for cue, _, _ in items]


@given(st.lists(LINES).map(tuple))
def test_subtitles_the_same_words_are_the_same_cue(lines):
    cue = Cue((TIMING,), lines)
    assert cue.with_words(cue.words()) == cue
    assert not any(set(word) & set(" \t") for word in cue.words())


@given(LINES, st.data())
def test_subtitles_new_words_are_all_there(text, data):
    cue = line(text)
    n = len(cue.words())
    words = st.text(st.characters(categories=["L"]), min_size=1)
    new = data.draw(st.lists(words, min_size=n, max_size=n))
    assert cue.with_words(new).words() == tuple(new)


ANY_LINES = st.sampled_from(
    ["", "1", TIMING, "hello", "WEBVTT", "NOTE x", "\ufeff", "-->"]
)


@given(st.lists(st.tuples(ANY_LINES | st.text("a1:,.-> \ufeff"), ENDS).map("".join)))
def test_subtitles_any_file_comes_back_or_is_refused(lines):
    try:
        blocks = list(read_cues(lines))
    except PunctError as error:
        assert str(error).startswith(("[P060]", "[P061]"))
    else:
        assert list(write_blocks(blocks)) == lines
