"""Restoring a transcript: turns, words that become one, and words that stay whole."""

import re
from string import ascii_lowercase as LETTERS

import pytest

from spacy_punct.errors import PunctError
from spacy_punct.transcripts.formats import read, write
from spacy_punct.transcripts.transcript import (
    Entry,
    Segment,
    Transcript,
    interpolated,
    restored,
    restored_each,
    whole,
)
from tests.transcripts.builders import dumped, restore, said, whisper


def text(*lines: str) -> Transcript:
    return read("\n".join(lines) + "\n", "talk.txt", join=True)


def test_transcript_a_change_of_the_speaker_ends_a_sentence():
    talk = text("ANNA: so it goes", "on and on", "TOM: yes >> no", "- maybe", "ANNA: x")
    assert talk.texts() == [
        ["so", "it", "goes", "on", "and", "on"],
        ["yes"],
        ["no"],
        ["maybe"],
        ["x"],
    ]
    speakers = [word.speaker for word in talk.words()]
    assert speakers == [*["ANNA"] * 6, "TOM", None, None, "ANNA"]
    assert write(restored(talk, restore), None, "talk.txt") == (
        "ANNA: So it goes\non and on,.\nTOM: Yes? >> No?\n- Maybe?\nANNA: X?\n".replace(
            ",.", "."
        )
    )


def test_transcript_no_sentence_goes_on_into_a_song():
    talk = text("so it goes", "♪ over the", "rainbow ♪", "♪ way up ♪", "[music]", "so")
    assert list(map(" ".join, talk.texts())) == [
        "so it goes",
        "over the rainbow way up",
        "so",
    ]
    cues = "1\n00:00:01,000 --> 00:00:02,000\n♪ over the\nrainbow ♪\n"
    assert read(cues, "talk.srt").texts() == [["over", "the", "rainbow"]]
    assert not any(word.is_turn for word in talk.words()[1:])


@pytest.mark.parametrize("target", ["md", "txt"])
def test_transcript_songs_are_seen_on_pages(target):
    lines = ("so it goes", "♪ over the", "rainbow ♪", "[music]", "♫ way up ♫", "right")
    cues = "".join(
        f"{k}\n00:00:0{k},000 --> 00:00:0{k},900\n{line}\n\n"
        for k, line in enumerate(lines, 1)
    )
    page = write(restored(read(cues, "a.srt"), restore), target, "a.srt")
    plain = re.sub(r"[,.?`*]|\d\d:\d\d:\d\d ?", "", page).lower().split()
    expected = "so it goes ♪ over the rainbow ♪ [music] ♪ way up ♪ right"
    assert " ".join(plain) == expected


def test_transcript_the_same_voice_goes_on():
    cues = "WEBVTT\n\n" + "\n".join(
        f"00:0{k}.000 --> 00:0{k + 1}.000\n<v {name}>word{k}\n"
        for k, name in enumerate(["Anna", "Anna", "Tom"])
    )
    assert read(cues, "a.vtt").texts() == [["word0", "word1"], ["word2"]]


def test_transcript_words_that_a_hyphen_ties_stay_in_their_places():
    def tied(texts):
        for words in texts:
            assert words == ["twenty", "one", "years"]
            yield ["Twenty-one", "", "years."]

    spoken = ["twenty", "one", "years"]
    words = [w._replace(word=t) for w, t in zip(said(3), spoken, strict=True)]
    new = restored(read(dumped(whisper)(words), "a.json"), tied)
    assert [entry.text for entry in new.entries] == [" Twenty-", "one", " years."]
    assert [(p.start, p.end) for p in new.entries] == [w[1:3] for w in words]
    written = write(new, None, "a.json")
    assert written.count('" Twenty-one years."') == 2
    assert read(written, "a.json").texts() == [["Twenty-one", "years."]]
    assert write(new, "txt", "a.json") == "Twenty-one years.\n"
    in_line = restored(text("twenty one years"), tied)
    assert write(in_line, None, "a.txt") == "Twenty-one years.\n"


def test_transcript_words_that_a_recogniser_cut_are_one_word():
    cut = Entry("-one", joined=True, is_word=True)
    talk = Transcript((Segment((Entry(" twenty"), cut, Entry(" men"))),))
    assert talk.texts() == [["twenty-one", "men"]]
    new = restored(talk, lambda texts: ([f"({w.title()}," for w in t] for t in texts))
    assert [entry.text for entry in new.entries] == [" (Twenty", "-One,", " (Men,"]


@pytest.mark.parametrize(
    ("word", "new", "expected"),
    [
        ("hello", '"Hello,', '"Hello,'),
        ("https://a.org/b", "Https://a.org/b.", "https://a.org/b."),
        ("me@a.org", "Me@a.org,", "me@a.org,"),
        ("#nofilter", "#Nofilter!", "#nofilter!"),
        ("main.py", "Main. py.", "main.py."),
        ("3.5", "3. 5,", "3.5,"),
        ("$1,000", '"$1000."', '"$1,000."'),
        ("foo_bar", "Foo_bar", "foo_bar"),
        ("iPhone", "Iphone?", "iPhone?"),
        ("it's", "It's", "It's"),
        ("--", "", ""),
    ],
)
def test_transcript_words_stay_whole(word, new, expected):
    assert whole(word, new) == expected


def test_transcript_says_when_words_are_missing():
    with pytest.raises(PunctError, match="P062"):
        restored(text("so it goes"), lambda texts: [["So"] for _ in texts])


def test_transcripts_come_as_they_are_done():
    read_so_far = 0

    def many():
        nonlocal read_so_far
        for k in range(26):
            read_so_far += 1
            yield text(f"{LETTERS[k]} >> so") if k % 3 else text("[music]")

    done = restored_each(many(), restore)
    for k, transcript in enumerate(done):
        expected = f"{LETTERS[k].upper()}? >> So?" if k % 3 else "[music]"
        assert transcript.entries[0].text == expected
        assert read_so_far <= k + 3
    assert read_so_far == 26


def test_transcript_times_are_shared_out_by_length():
    times = interpolated([(1.0, None), (None, None), (4.0, 5.0)], [2, 4, 9], 0, 9)
    assert times == [(1.0, 2.0), (2.0, 4.0), (4.0, 5.0)]
    assert interpolated([(None, None)] * 2, [1, 1], 1.0, 3.0) == [(1, 2), (2, 3)]
    assert interpolated([(None, None)], [1], None, None) == [(None, None)]


def test_transcript_times_in_text_are_times():
    talk = text("[0:05] ANNA: so it goes", "00:01:02 TOM: yes [laughter]")
    starts = {w.text: w.start for w in talk.words() if w.start is not None}
    assert starts == {"so": 5.0, "yes": 62.0}
    page = write(restored(talk, restore), "md", "a.txt")
    assert page == (
        "`00:00:05` **ANNA:** So it goes.\n\n`00:01:02` **TOM:** Yes? *[laughter]*\n"
    )
