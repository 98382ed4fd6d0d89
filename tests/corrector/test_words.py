import pytest
import spacy
from spacy.tokens import Doc

from spacy_punct.corrector.changes import CorrectedSentence, applied
from spacy_punct.corrector.words import merged, word_edits
from spacy_punct.data.apostrophes import label_of
from spacy_punct.reading.attributes import APOSTROPHE_GUESSES
from spacy_punct.reading.sentences import bare_sentences

NLP = spacy.blank("en")


def mended(text: str, **guesses: tuple[str, float]) -> str:
    doc = NLP(text)
    doc.user_data[APOSTROPHE_GUESSES] = [
        list(guesses.get(token.text, ("", 0.0))) for token in doc
    ]
    edits = [edit for edit in word_edits(doc, []) if edit["probability"] > 0.5]
    return applied(text, merged([], edits))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I dont know, they cant.", "I don't know, they can't."),
        ("Im sure theyre here.", "I'm sure they're here."),
        ("Yes, im here.", "Yes, I'm here."),
        ("I dont  know", "I don't know"),
        ("“Doesnt it?” – that’s it", "“Doesn’t it?” – that’s it"),
        ("at the station ,and then", "at the station, and then"),
        ("on Friday ?", "on Friday?"),
        ("was friendly.She said", "was friendly. She said"),
        ("two  words", "two words"),
    ],
)
def test_rules(text, expected):
    assert mended(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It's 3.5 percent, from $1,200 at 9:30.",
        "Rock 'n' roll in the '50s ... and more",
        "see node.js and U.S.A. e.g. this",
        "two.  Three",
        "the CANT and WONT flags",
        "We call os.Exit and exec.Command.",
    ],
)
def test_rules_leave_alone(text):
    assert mended(text) == text


def test_what_a_tagger_says():
    sure = ("1", 0.9)
    assert mended("Its raining", Its=sure) == "It's raining"
    assert mended("Toms hat", Toms=sure) == "Tom's hat"
    assert mended("Toms hat", Toms=("1", 0.4)) == "Toms hat"
    assert mended("my parents car", parents=("end", 0.9)) == "my parents' car"
    assert mended("The photo's are", photo=("", 0.9)) == "The photos are"
    assert mended("the girls' books", girls=("1", 0.9)) == "the girls' books"
    assert mended("was his", was=sure, his=sure) == "was his", "no such words"


@pytest.mark.parametrize(
    ("text", "word", "guess", "kind"),
    [
        ("he dont", "dont", "1", "missing-apostrophe"),
        ("lets go", "lets", "1", "missing-apostrophe"),
        ("that’s how well go", "well", "2", "missing-apostrophe"),
        ("its here", "its", "1", "its"),
        ("Toms hat", "Toms", "1", "possessive"),
        ("two photo's here", "photo", "", "superfluous-apostrophe"),
    ],
)
def test_kinds_of_apostrophes(text, word, guess, kind):
    doc = NLP(text)
    doc.user_data[APOSTROPHE_GUESSES] = [
        [guess, 0.9] if token.text == word else [label_of(token.text), 0.9]
        for token in doc
    ]
    (found,) = (c for c in word_edits(doc, []) if c["before"][0].startswith(word))
    assert found["kind"] == kind
    assert word.startswith(doc[found["word"]].text)


@pytest.mark.parametrize(
    ("words", "tags", "wrong"),
    [
        ("our stem's are", "PRON NOUN AUX", "stem's"),
        ("two stem's lie", "NUM NOUN VERB", "stem's"),
        ("these stem's lie", "DET NOUN VERB", "stem's"),
        ("the stem's lie", "DET NOUN VERB", None),
        ("the stem's a plant", "DET NOUN DET NOUN", None),
        ("each other's names", "DET ADJ NOUN", None),
        ("our professors’ lectures", "PRON NOUN NOUN", None),
        ("our cat's", "PRON NOUN", "cat's"),
        ("our photo's of", "PRON NOUN ADP", "photo's"),
        ("our photo's in", "PRON NOUN ADP", None),
    ],
)
def test_what_may_own_keeps_its_apostrophe(words, tags, wrong):
    texts = words.split()
    doc = Doc(NLP.vocab, words=texts, pos=tags.split())
    doc.user_data[APOSTROPHE_GUESSES] = [["", 0.99]] * len(doc)
    found = [c["before"][0] for c in word_edits(doc, [])]
    assert found == [wrong] * bool(wrong)


def test_spaces_are_of_the_word_before():
    doc = NLP("It rained  here ,then it stopped.We left .")
    found = [(c["kind"], doc[c["word"]].text) for c in word_edits(doc, [])]
    assert found == [
        ("missing-space", "here"),
        ("space-before-mark", "left"),
        ("doubled-space", "rained"),
        ("missing-space", "stopped"),
    ]


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("It rained.. We left..", "It rained. We left."),
        ("It rained.... but we left", "It rained... but we left"),
        ("It rained.... We left...", "It rained.... We left..."),
        ("See ../a..b and .. there", "See ../a..b and .. there"),
        ("It rained . . . but we left", "It rained . . . but we left"),
    ],
)
def test_rows_of_dots_have_one_or_three(text, mended):
    doc = NLP(text)
    assert applied(text, merged([], word_edits(doc, []))) == mended


@pytest.mark.parametrize(
    ("end", "expected"), [((".",), ["W"]), (("!",), ["W"]), ((",",), [])]
)
def test_capitals_follow_ends_that_stay(end, expected):
    words = ["It", "rained", ".", "we", "left"]
    heads = [1, 1, 1, 4, 4]
    deps = ["nsubj", "ROOT", "punct", "nsubj", "ROOT"]
    doc = Doc(NLP.vocab, words=words, heads=heads, deps=deps)
    first, second = bare_sentences(doc, "a test")
    sentences = [
        CorrectedSentence(first, (*first.marks[:-1], end), {}, (1.0,) * 3),
        CorrectedSentence(second, second.marks, {}, (1.0,) * 3),
    ]
    capitals = [c for c in word_edits(doc, sentences) if c["kind"] == "missing-capital"]
    assert [c["text"] for c in capitals] == expected


@pytest.mark.parametrize("dots", [["."], [".", ".", "."]])
@pytest.mark.parametrize("last", ["rained", "qtd", "ed"])
def test_no_capital_follows_the_dot_of_an_abbreviation_or_spaced_dots(last, dots):
    words = ["It", last, *dots, "we", "left"]
    n = len(dots)
    heads = [1, 1, *[1] * n, n + 3, n + 3]
    deps = ["nsubj", "ROOT", *["punct"] * n, "nsubj", "ROOT"]
    doc = Doc(NLP.vocab, words=words, heads=heads, deps=deps)
    sentences = [
        CorrectedSentence(found, found.marks, {}, (1.0,) * 3)
        for found in bare_sentences(doc, "a test")
    ]
    kinds = [c["kind"] for c in word_edits(doc, sentences)]
    assert ("missing-capital" in kinds) == (last == "rained" and n == 1)


def edit(start: int, end: int, text: str, slot: int | None = None, before: str = ""):
    places = {"start": start, "end": end, "text": text}
    return {**places, "slot": slot, "before": [before]}


def test_merged_prefers_slots():
    slot = edit(2, 3, ",", slot=1, before=";")
    beside = edit(3, 4, "", before=" ")
    apart = edit(0, 1, "A", before="a")
    assert merged([slot], [beside, apart]) == [apart, slot]
    capital = edit(2, 5, ". B", slot=1)
    assert merged([capital], [edit(4, 6, "b'c", before="bc")]) == [capital]


def test_merged_mends_words_beside_slots():
    """“I dont  he said” and a comma."""
    word, comma = edit(2, 6, "don't", before="dont"), edit(6, 6, ",", slot=2)
    spaces = edit(6, 8, " ", before="  ")
    assert merged([comma], [spaces, word]) == [word, comma]
    assert merged([], [spaces, word]) == [word, spaces]
    following = edit(6, 8, "I'm", before="im")
    assert merged([comma], [following]) == [comma, following]
