"""SRT, WebVTT and SBV in blocks, and rolling captions."""

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.errors import PunctError
from spacy_punct.transcripts.formats import read as read_file
from spacy_punct.transcripts.formats import write
from spacy_punct.transcripts.subtitles import Block, overlap, read_blocks
from spacy_punct.transcripts.transcript import restored
from tests.transcripts.builders import restore

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
    return list(read_blocks(text.splitlines(keepends=True), name="f"))


def cues(text: str) -> list[Block]:
    return [block for block in read(text) if block.is_cue]


def shown(text: str) -> list[tuple[str, ...]]:
    return [cue.lines for cue in cues(text)]


def together(blocks: list[Block]) -> str:
    return "".join(block.text for block in blocks)


def test_subtitles_srt_cues():
    first, second = cues(SRT)
    assert first.head == ("1", TIMING)
    assert first.lines == ("<i>hello</i> there", "how are you")
    assert second.head[1].endswith("04.000 X1:40 X2:600 Y1:20 Y2:50")
    assert second.times == (3.0, 4.0)


def test_subtitles_vtt_cues_and_what_is_none():
    blocks = read(VTT)
    others = [block.other[0].split()[0] for block in blocks if not block.is_cue]
    assert others == ["WEBVTT", "STYLE", "REGION", "NOTE"]
    first, second = cues(VTT)
    assert first.head == ("intro", "00:01.000 --> 00:02.500 align:start")
    assert second.head == ("01:00:03.000 --> 01:00:04.000",)
    assert second.times == (3603.0, 3604.0)


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
        blocks = list(read_blocks(file))
    assert together(blocks).encode() == path.read_bytes()
    assert [block.lines for block in blocks if block.is_cue] == shown(text)


def test_subtitles_changed_words_leave_the_rest_of_the_file_alone():
    def louder(texts):
        return ([word.upper() for word in words] for words in texts)

    new = write(restored(read_file(VTT, "f.vtt"), louder), None, "f.vtt")
    expected = VTT.replace(">hello", ">HELLO").replace("there", "THERE")
    assert new == expected.replace("fine", "FINE")


def test_subtitles_a_cue_may_have_no_text():
    first, second = cues(f"1\n{TIMING}\n\n2\n{TIMING}\nhello\n")
    assert (first.head, first.lines) == (("1", TIMING), ())
    assert second.lines == ("hello",)


def test_subtitles_a_cue_of_marks_alone_stays():
    text = f"1\n{TIMING}\n...\n"
    nothing = restored(read_file(text, "f.srt"), lambda texts: ([""] for _ in texts))
    assert write(nothing, None, "f.srt") == text


def test_subtitles_a_missing_blank_line_is_no_harm():
    text = f"1\n{TIMING}\nhello\n2\n{TIMING}\nthere\n{TIMING}\nyou\n"
    assert [(cue.head, cue.lines) for cue in cues(text)] == [
        (("1", TIMING), ("hello",)),
        (("2", TIMING), ("there",)),
        ((TIMING,), ("you",)),
    ]
    header = f"WEBVTT\nKind: captions\n{TIMING}\nhello"
    assert shown(header) == [("hello",)]
    assert together(read(text + header)) == text + header


def test_subtitles_text_after_a_blank_line_is_shown_in_srt_only():
    text = f"1\n{TIMING}\nhello\n\nthere\n"
    assert (cues(text)[1].head, cues(text)[1].lines) == ((), ("there",))
    assert shown(f"WEBVTT\n\n{text}") == [("hello",)]


def test_subtitles_white_space_makes_a_line_blank():
    text = f"1\n{TIMING}\nhello\n \t\n2\n{TIMING}\nthere\n"
    assert shown(text) == [("hello",), ("there",)]
    assert together(read(text)) == text


def test_subtitles_arrows_and_times_in_text_are_text():
    text = f"1\n{TIMING}\ngo --> there\n1:23.456\n12:30 -> 5\n"
    assert shown(text)[0] == ("go --> there", "1:23.456", "12:30 -> 5")


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

    blocks = read_blocks(endless())
    for _ in range(100):
        block = next(blocks)
    assert block.text == f"100\n{TIMING}\nhello\n\n"
    assert taken == 401


SBV = "0:00:01.000,0:00:02.500\nhello there\n\n0:00:03.000,0:00:04.000\nfine\n"


def test_subtitles_sbv():
    assert [cue.times for cue in cues(SBV)] == [(1.0, 2.5), (3.0, 4.0)]
    assert read_file(SBV, "-").format == "sbv"


# Rolling captions

LINES = [
    "so when the rain",
    "stops anna will visit",
    "us in the old house",
    "by the river [Music]",
    "and we will talk",
]


def rolling() -> str:
    """Automatic captions as YouTube's are downloaded."""
    blocks = ["WEBVTT\nKind: captions\nLanguage: en\n"]
    before = " "
    for k, line in enumerate(LINES):
        first, *others = line.split()
        times = (f"<00:00:{2 * k:02}.{j:02}0>" for j in range(20, 90, 10))
        timed = first + "".join(
            f"{time}<c> {word}</c>" for time, word in zip(times, others, strict=False)
        )
        head = f"00:00:{2 * k:02}.000 --> 00:00:{2 * k + 1:02}.990 align:start"
        tail = f"00:00:{2 * k + 1:02}.990 --> 00:00:{2 * k + 2:02}.000 align:start"
        blocks += [f"{head}\n{before}\n{timed}\n", f"{tail}\n{line}\n \n"]
        before = line
    return "\n".join(blocks)


def growing() -> str:
    """Live captions, each of which has one word more."""
    words = " ".join(LINES[:2]).split()
    return "\n".join(
        f"{k}\n00:00:{k:02},000 --> 00:00:{k + 1:02},000\n{' '.join(words[:k])}\n"
        for k in range(1, len(words) + 1)
    )


def test_subtitles_rolling_captions_are_written_once():
    transcript = read_file(rolling(), "talk.vtt")
    said = " ".join(LINES).replace(" [Music]", "").split()
    assert transcript.texts() == [said]
    words = transcript.words()
    assert [word.text for word in words] == " ".join(LINES).split()
    starts = [word.start for word in words]
    assert starts == sorted(starts)
    assert starts[:3] == [0.0, 0.2, 0.3]
    new = write(restored(transcript, restore), None, "talk.vtt")
    again = read_file(new, "talk.vtt")
    assert len(again.texts()[0]) == len(said)
    assert again.has_cues
    assert len(again.segments) < 5


def test_subtitles_growing_captions_are_written_once():
    transcript = read_file(growing(), "talk.srt")
    assert transcript.texts() == [" ".join(LINES[:2]).split()]
    assert [word.start for word in transcript.words()] == list(range(1, 9))


def test_subtitles_a_refrain_is_not_rolling():
    text = growing().replace("so when the", "la la la")
    blocks = text.split("\n\n")
    same = f"1\n{TIMING}\nla la\n\n2\n{TIMING}\nla la\n\n{blocks[-1]}"
    assert read_file(same, "song.srt").has_cues


@pytest.mark.parametrize(
    ("before", "after", "n"),
    [("a b c", "b c d", 2), ("a b", "c d", 0), ("a a", "a a a", 2), ("", "a", 0)],
)
def test_subtitles_overlap(before, after, n):
    assert overlap(before.split(), after.split()) == n


ENDS = st.sampled_from(["\n", "\r\n"])
BLANKS = st.lists(st.sampled_from(["", " "]), max_size=2).map(lambda more: ["", *more])
TEXTS = st.lists(
    st.sampled_from(["<i>", "<v Bob>", "- ", " ", "<", ">"])
    | st.text(st.characters(exclude_categories=["C", "Z"]))
)
CUE_LINES = TEXTS.map("".join).filter(str.strip)
HEADS = st.sampled_from([(TIMING,), ("7", TIMING), ("id x", "00:01.0 --> 00:02.0 a:b")])
CUES = st.tuples(HEADS, st.lists(CUE_LINES, max_size=3).map(tuple))


@given(st.lists(st.tuples(CUES, BLANKS, ENDS)), st.sampled_from(["", "\ufeff"]))
def test_subtitles_any_cues_are_read_and_written_as_they_are(items, start):
    lines = [
        text + end
        for (head, own), blanks, end in items
        for text in (*head, *own, *blanks)
    ]
    lines[:1] = [start + first for first in lines[:1]]
    blocks = list(read_blocks(lines))
    assert together(blocks) == "".join(lines)
    assert [block.lines for block in blocks] == [own for (_, own), _, _ in items]


ANY_LINES = st.sampled_from(
    ["", "1", TIMING, "hello", "WEBVTT", "NOTE x", "\ufeff", "-->"]
)


@given(st.lists(st.tuples(ANY_LINES | st.text("a1:,.-> \ufeff"), ENDS).map("".join)))
def test_subtitles_any_file_comes_back_or_is_refused(lines):
    try:
        blocks = list(read_blocks(lines))
    except PunctError as error:
        assert str(error).startswith(("[P060]", "[P061]"))
    else:
        assert together(blocks) == "".join(lines)
