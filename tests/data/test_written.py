"""Lines of text are taken apart without losing a word, and marks are what they seem."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.written import cleaned, is_english, read_line, written_slots


def taken_apart(line):
    """A line in one string: marks in angle brackets, `|` before sentence starts."""
    words = read_line(line)
    slots = written_slots(words)
    written = "".join(f"<{mark}>" for mark in slots[0])
    for word, slot in zip(words, slots[1:], strict=True):
        start = "|" if word.starts else " "
        written += f"{start}{word.form}" + "".join(f"<{mark}>" for mark in slot)
    return written


@pytest.mark.parametrize(
    "line, expected",
    [
        ("It rained. We left!", "|It rained<.>|We left<!>"),
        ("and so, he said, it goes.", " and so<,> he said<,> it goes<.>"),
        ('He said "stop it" and left.', "|He said<``> stop it<''> and left<.>"),
        ("“Stop!” she said.", "<``>|Stop<!><''> she said<.>"),
        ("“Stop?” I said.", "<``>|Stop<?><''> I said<.>"),
        ("It’s ‘odd’, isn’t it?", "|It's<`> odd<'><,> isn't it<?>"),
        (
            "The dogs' bowl (a big one) broke.",
            "|The dogs' bowl<(> a big one<)> broke<.>",
        ),
        ("Get 'em in the '90s.", "|Get 'em in the '90s<.>"),
        ("Rock 'n' roll is it.", "|Rock 'n' roll is it<.>"),
        ("I -- well, we - left.", "|I<—> well<,> we<—> left<.>"),
        ("a well-known fact—this.", " a well-known fact<—> this<.>"),
        ("Well... You know.. . Yes.", "|Well<…>|You know<…>|Yes<.>"),
        ("Pages 10–12 cost $5.50, 3%.", "|Pages 10-12 cost $5.50<,> 3%<.>"),
        ("Ask Mr. Smith. He knows.", "|Ask Mr<<abbr>> Smith<.>|He knows<.>"),
        ("Apples, pears etc. were sold.", "|Apples<,> pears etc<<abbr>> were sold<.>"),
        ("We sold apples, etc. The end.", "|We sold apples<,> etc<<abbr>>|The end<.>"),
        ("He left the U.S. for good.", "|He left the U.S<<abbr>> for good<.>"),
        ("He loves the U.S.", "|He loves the U.S<<abbr>>"),
        ("J. Smith and I. You know.", "|J<<abbr>> Smith and I<.>|You know<.>"),
        ("See no. 5. It says no. Why?", "|See no<<abbr>> 5<.>|It says no<.>|Why<?>"),
        ("In 1990. 20 men came.", "|In 1990<.>|20 men came<.>"),
        ("He paid , then left .", "|He paid<,> then left<.>"),
        ("Q. Why is it so? It is.", "|Q<:> Why is it so<?>|It is<.>"),
        ("Bread & butter, 5 + 5.", "|Bread & butter<,> 5 + 5<.>"),
    ],
)
def test_written_marks_and_starts(line, expected):
    assert taken_apart(line) == expected


@pytest.mark.parametrize(
    "line, expected",
    [
        ("**Well**, see [this page](https://x.org) now.", "Well, see this page now."),
        ("- A *first* point.", "A first point."),
        ("3. The third point.", "The third point."),
        ("Yes. [laughter] No. (Applause.)", "Yes. No."),
        ("[00:12:30] We begin.", "We begin."),
        ("It&#39;s A&amp;B’s.", "It's A&B’s."),
        ("THE PRESIDENT: Thank you.", "Thank you."),
        ("(DE) Mr President, yes.", "Mr President, yes."),
        ("Run `make` first.", "Run make first."),
        ("the item(s) here.", "the item here."),
    ],
)
def test_written_markup_goes(line, expected):
    assert " ".join(cleaned(line).replace(" .", ".").split()) == expected


@pytest.mark.parametrize(
    "line",
    [
        "",
        "A Heading Without An End",
        "    x = f(y);",
        "if (a == b) { return c_d[e]; }",
        "See https://example.org/page for more.",
        "ALL OF THIS IS SHOUTED.",
        "Das ist ein Satz, den hier niemand lesen wird.",
        "Smith, John. 1999. A Book. London.",
        "Break: 12 minutes.",
        "... !!! --",
    ],
)
def test_written_lines_that_are_no_text(line):
    assert read_line(line) == []


def test_english_is_told_by_common_words():
    assert is_english("This is the house that we had")
    assert is_english("Das ist gut")
    assert not is_english("la casa que teníamos era muy grande entonces")


FORMS = (
    "the dog it's I Anna U.S long-term 25 5.50 don't o'clock of that was Mr etc A "
    "NASA iPhone 1990 no"
)
WORDS = st.lists(st.sampled_from(FORMS.split()), min_size=1, max_size=20)
ENDINGS = ["", "", "", ",", ".", "?", "!", ";", ":", " —", "...", '"', ")"]
MARKS = st.sampled_from(ENDINGS)


@given(WORDS, st.data())
def test_written_words_are_never_changed_lost_or_reordered(words, data):
    line = " ".join(word + data.draw(MARKS) for word in words) + " of the."
    read = read_line(line)
    if not is_english(line):
        assert read == []
        return
    expected = " ".join([*words, "of", "the"])
    assert " ".join(word.form for word in read) == expected
    slots = written_slots(read)
    assert len(slots) == len(read) + 1
    assert slots[0] == ()
    n_dots = sum(mark in (".", ABBREVIATION_DOT) for slot in slots for mark in slot)
    inside = len(re.findall(r"\.(?=\w)", line))
    assert n_dots == line.replace("...", "").count(".") - inside


@given(st.text(max_size=80))
def test_written_any_line_can_be_read(line):
    words = read_line(line)
    slots = written_slots(words)
    assert len(slots) == len(words) + 1
    assert all(word.form and not word.form.isspace() for word in words)
