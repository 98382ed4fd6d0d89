"""What in a line is speech, and what stays where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.errors import PunctError
from spacy_punct.transcripts.speech import Line, seconds


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
        ("R&amp;D {maybe}", "R&D {maybe}"),
        ("Hello, there.", "Hello, there."),
        ("你好", "你好"),
        ("<i></i>", ""),
        ("[music] hello [ __ ] there", "hello there"),
        ("hello (laughter) there *sighs*", "hello there"),
        ("(door slams)", ""),
        ("hello (or so) there", "hello (or so) there"),
        ("take a[i] now", "take a[i] now"),
        (">> hello >> hi", "hello hi"),
        (">>> ANNA: hello", "hello"),
        ("&gt;&gt; hello", "hello"),
        ("SPEAKER 1: hello", "hello"),
        ("SPEAKER_00: hello", "hello"),
        ("[SPEAKER_00]: hello", "hello"),
        ("speaker 2: hello", "hello"),
        ("WOMAN #2: hello", "hello"),
        ("so #2: hello", "so #2: hello"),
        ("Dr. Anna Smith: hello", "hello"),
        ("Anna Smith  0:05", ""),
        ("he said: hello", "he said: hello"),
        ("Note: hello", "Note: hello"),
        ("it is 12:30: hello", "it is 12:30: hello"),
        ("[00:01:02] hello", "hello"),
        ("[00:00:00.000 --> 00:00:05.000] hello", "hello"),
        ("(00:01:02) hello", "hello"),
        ("00:01:02 ANNA: hello at 12:30", "hello at 12:30"),
        ("0:05", ""),
        ("see https://a.org/b_c?d=e now", "see https://a.org/b_c?d=e now"),
    ],
)
def test_speech_is_what_is_not_markup_labels_times_and_sounds(text, words):
    assert Line(text).words == tuple(words.split())
    assert "".join(run.text for run in Line(text).runs) == text


@pytest.mark.parametrize("text", ["12:30", "Anna:", "-", "(yes)"])
def test_speech_words_of_a_recogniser_begin_no_line(text):
    assert Line(text, is_word=True).words == (text,)


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
        ("r&amp;d [music] now", "R&D, now.", "R&amp;D, [music] now."),
        ("[0:05] ANNA: hi >> so", "Hi. So.", "[0:05] ANNA: Hi. >> So."),
    ],
)
def test_speech_words_are_replaced_one_by_one(text, new, expected):
    assert Line(text).with_words(new.split()).text == expected


def test_speech_words_that_are_gone_leave_no_gap():
    assert Line("twenty one years").with_words(["Twenty-one", "", "years."]).text == (
        "Twenty-one years."
    )


def test_speech_rejects_words_that_do_not_fit():
    with pytest.raises(PunctError, match=r"\[P062\].*2 words was given 1"):
        Line("hello there").with_words(["Hello"])
    with pytest.raises(PunctError, match=r"\[P063\].*'a\\nb'"):
        Line("hello").with_words(["a\nb"])


@pytest.mark.parametrize(
    ("clock", "expected"),
    [("1:02:03.5", 3723.5), ("[02:03,500]", 123.5), ("<00:03.480>", 3.48), ("0:05", 5)],
)
def test_speech_times(clock, expected):
    assert seconds(clock) == expected


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "entry",
    [
        " ",
        "<i>",
        "<a",
        "{\\",
        "<br ",
        "-",
        "1",
        "1:",
        "\\N",
        "[",
        "(",
        "A ",
        ">>",
        "*a",
    ],
)
def test_speech_long_lines_take_no_long_time(entry):
    line = Line(entry * 20_000 + "x")
    assert line.with_words(line.words).text == line.text
    assert "".join(run.text for run in line.runs) == line.text


ODD = "<i> </i> {\\an8} <br> &nbsp; &amp; - >> [music] (laughs) ANNA: 0:05 [ ] ( ) < >"
PARTS = st.sampled_from([*ODD.split(), "<v Bob>"])
LINES = st.lists(
    PARTS | st.just(" ") | st.text(st.characters(exclude_categories=["C", "Z"]))
).map("".join)


@given(LINES)
def test_speech_the_same_words_are_the_same_line(text):
    line = Line(text)
    assert "".join(run.text for run in line.runs) == text
    assert line.with_words(line.words).text == text
    assert not any(set(word) & set(" \t") for word in line.words)


@given(LINES, st.data())
def test_speech_new_words_are_all_there(text, data):
    line = Line(text.replace("[", " ["), is_word=True)
    n = len(line.words)
    words = st.text(st.sampled_from("abcxyz"), min_size=1)
    new = data.draw(st.lists(words, min_size=n, max_size=n))
    assert line.with_words(new).words == tuple(new)
