"""Cues can be read while they are shown; pages have paragraphs."""

import pytest

from spacy_punct.transcripts.cues import LINE_LENGTH, LONGEST, make_cues, wrapped
from spacy_punct.transcripts.formats import read, write
from spacy_punct.transcripts.pages import split_paragraphs, write_markdown
from spacy_punct.transcripts.sentences import ends_sentence, split_sentences
from spacy_punct.transcripts.transcript import Word, restored
from tests.transcripts.builders import MAKERS, dumped, restore, said, whisper


@pytest.fixture(scope="module")
def talk():
    return restored(read(dumped(whisper)(said(2000)), "talk.json"), restore)


def test_cues_fit_and_keep_all_words_and_their_times(talk):
    cues = make_cues(talk, "talk")
    words = [word for cue in cues for line in cue.lines for word in line.split()]
    assert words == [word.text for word in talk.words()]
    starts = {word.start for word in talk.words()}
    for cue, after in zip(cues, [*cues[1:], None], strict=True):
        assert 1 <= len(cue.lines) <= 2
        assert max(map(len, cue.lines)) <= LINE_LENGTH
        assert 0 < cue.end - cue.start <= LONGEST
        assert cue.start in starts
        assert after is None or cue.end <= after.start
    ends = [ends_sentence(cue.lines[-1].split()[-1], "X") for cue in cues]
    assert sum(ends) > 0.6 * len(ends)


def test_cues_of_subtitles_stay():
    srt = MAKERS["srt"][2](said(40))
    as_vtt = write(restored(read(srt, "a.srt"), restore), "vtt", "a.srt")
    assert as_vtt.count("-->") == srt.count("-->")
    assert "<i>So when the rain stops anna,</i>" in as_vtt
    assert srt.splitlines()[1].replace(",", ".") in as_vtt


def test_cues_name_speakers():
    vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Tom &amp; Co>R&amp;D <b>now</b>\n"
    transcript = read(vtt, "a.vtt")
    assert "\nTom & Co: R&amp;D <b>now</b>\n" in write(transcript, "srt", "a.vtt")
    back = write(read(write(transcript, "srt", "a.vtt"), "a.srt"), "vtt", "a.srt")
    assert "<v Tom &amp; Co>R&amp;D <b>now</b>" in back
    diarised = read(MAKERS["deepgram"][2](said(60, turn=20)), "a.json")
    assert write(diarised, "srt", "a").count("Speaker 0: ") == 2
    assert write(diarised, "vtt", "a").count("<v Speaker 1>") >= 1


def test_cues_one_long_word_is_shown_whole():
    word = Word("a" * 100, 0.0, 9.0)
    assert wrapped([word]) == ["a" * 100]


@pytest.mark.parametrize(
    ("word", "after", "expected"),
    [
        ("so.", "It", True),
        ('so?"', "It", True),
        ("Mr.", "Smith", False),
        ("J.", "Smith", False),
        ("so,", "it", False),
        ("etc.", None, True),
        ("so…", "it", True),
    ],
)
def test_sentences_end_with_marks(word, after, expected):
    assert ends_sentence(word, after) is expected


# Pages


def test_paragraphs_are_whole_sentences_of_a_readable_length(talk):
    words = talk.words()
    paragraphs = split_paragraphs(words, "auto")
    assert [word for paragraph in paragraphs for word in paragraph] == words
    starts = {id(sentence[0]) for sentence in split_sentences(words)}
    assert all(id(paragraph[0]) in starts for paragraph in paragraphs)
    sizes = sorted(map(len, paragraphs))
    assert sizes[len(sizes) // 2] >= 40
    assert sizes[-1] <= 200
    assert len(split_paragraphs(words, "none")) == 1
    assert split_paragraphs([], "none") == split_paragraphs([], "auto") == []


def test_paragraphs_follow_the_source_the_speaker_and_pauses():
    given = read("so it goes\n\nand on\n", "a.txt")
    assert write(given, "txt", "a", "auto") == "so it goes\n\nand on\n"
    speakers = read("ANNA: so\nTOM: yes\n", "a.txt")
    assert write(speakers, "txt", "a", "speaker") == "ANNA: so\n\nTOM: yes\n"
    paused = [Word("So.", 0.0, 1.0), Word("Yes.", 7.0, 8.0)]
    assert len(split_paragraphs(paused, "auto")) == 2
    assert len(split_paragraphs(paused, "speaker")) == 1


def test_paragraphs_end_where_the_topic_changes():
    def sentences(words: str, start: int) -> list[Word]:
        text = [*words.split()[:-1], words.split()[-1] + "."]
        return [
            Word(w, (start + k) / 3, (start + k + 1) / 3) for k, w in enumerate(text)
        ]

    sea = "The boats sailed over the stormy ocean towards distant islands."
    bread = "Bakers knead dough until morning and their ovens smell wonderful."
    words: list[Word] = []
    for text in [sea] * 8 + [bread] * 8:
        words += sentences(text, len(words))
    first, *_ = split_paragraphs(words, "auto")
    assert len(first) == 80


def test_markdown_is_escaped():
    page = write_markdown(read("a*b _c_ `d` <e f_g\n\n# so\n", "a.txt"))
    assert page == "a\\*b \\_c\\_ \\`d\\` \\<e f_g\n\n\\# so\n"
