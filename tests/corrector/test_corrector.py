"""The component that corrects what is written."""

import gc
import re
from dataclasses import replace
from itertools import pairwise

import hypothesis
import pytest
import spacy
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_punct.corrector.changes import (
    Change,
    CorrectedSentence,
    Correction,
    applied,
    correction_data,
    written_marks,
)
from spacy_punct.corrector.component import CorrectorSettings, PunctuationCorrector
from spacy_punct.corrector.scorer import make_correction_scorer, observed_slots
from spacy_punct.data.apostrophes import bare
from spacy_punct.data.kinds import MESSAGES
from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Slots
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.pipe import bundled as pipelines
from spacy_punct.reading.attributes import CORRECTIONS
from spacy_punct.reading.corpus import make_doc
from spacy_punct.reading.examples import create_correction_corpus, with_marks
from spacy_punct.reading.gold import gold_slots, has_gold
from spacy_punct.reading.pieces import joined_slots
from spacy_punct.reading.sentences import bare_sentences
from spacy_punct.text.writer import Spacing, Writer
from tests.conftest import SAMPLE, SMALL_CNN, SMALL_LEXICAL, learn
from tests.reading.docs import WORDS, parsed_doc
from tests.reading.docs import with_marks as doc_with_marks

NAME = "punctuation_corrector"
EAGER, STRICT = 0.0, 1.0
"""Thresholds: as much as possible, nothing."""
APOSTROPHE_KINDS = {
    "missing-apostrophe",
    "its",
    "possessive",
    "superfluous-apostrophe",
}
TEXTS = [
    "If the rain stops; Anna, will visit Dr. Hill!",
    "Well , Peter sold , bread, lemons and, onions",
    "“The old gardener” ,you said. Anna laughs in the U.S. , etc.",
    '(Mrs. Weber  cried;\n"Sell a brand-new lamp!"',
    "Anna won't visit Tom's friends, because he 's cold??",
]


def corrector(nlp: Language, **cfg) -> PunctuationCorrector:
    """The component, with other settings."""
    pipe = nlp.get_pipe(NAME)
    pipe.cfg |= cfg
    return pipe


def on_tree(nlp: Language, doc: Doc) -> Doc:
    """A Doc corrected on the tree that it has."""
    return nlp.get_pipe(NAME)(nlp.get_pipe("tok2vec")(doc))


def outcome(doc: Doc) -> tuple:
    changes = [(c.slot, c.start, c.end, c.text) for c in doc._.corrections]
    return doc._.corrected_text, changes, [list(s) for s in doc._.corrected_slots]


def without_marks(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


# What it says of Docs


def test_corrector_writes_all_attributes(corrects):
    corrector(corrects, threshold=EAGER)
    found = 0
    for doc in corrects.pipe(TEXTS):
        words = [t for s in bare_sentences(doc, NAME) for t in s.positions]
        assert len(doc._.corrected_slots) == len(words) + 1
        assert isinstance(doc._.corrected_text, str)
        assert [c.start for c in doc._.corrections] == sorted(
            c.start for c in doc._.corrections
        )
        for c in doc._.corrections:
            found += 1
            assert isinstance(c, Correction)
            assert c.before != c.after
            assert doc.text[c.start : c.end] != c.text
            assert 0 < c.probability <= 1
            assert c.word.doc is doc
            assert c.word.i in words
            assert c.message == MESSAGES[c.kind]
            old = without_marks(doc.text[c.start : c.end])
            assert old.lower() == without_marks(c.text).lower()
            if c.slot is None:
                continue
            # It is between the words of its slot, or takes the next one's first letter.
            if c.slot:
                assert c.start >= doc[words[c.slot - 1]].idx + len(
                    doc[words[c.slot - 1]]
                )
            if c.slot < len(words):
                assert c.end <= doc[words[c.slot]].idx + len(old)
            assert len(old) <= 1
    assert found > 5


def test_corrector_text_is_the_source_with_the_corrections(corrects):
    corrector(corrects, threshold=EAGER)
    for doc in corrects.pipe(TEXTS):
        text = doc.text
        for c in reversed(doc._.corrections):
            text = text[: c.start] + c.text + text[c.end :]
        assert text == doc._.corrected_text != doc.text


def test_corrector_leaves_what_is_right_to_the_character(corrects):
    corrector(corrects, threshold=STRICT)
    for text in (*TEXTS, "  Anna ,, \t( slept ) .\r\n ", "\n\nWell ;it rained …"):
        doc = corrects(text)
        assert doc._.corrected_text == doc.text == text
        assert doc._.corrections == []
        assert tuple(map(tuple, doc._.corrected_slots)) == observed_slots(doc)


def test_corrector_a_higher_threshold_proposes_a_subset(corrects):
    proposed = []
    for threshold in (0.0, 0.3, 0.5, 0.7, 0.9, 0.99):
        corrector(corrects, threshold=threshold)
        docs = corrects.pipe(TEXTS)
        found = {
            (number, c.slot, c.start, c.end, c.text): c.probability
            for number, doc in enumerate(docs)
            for c in doc._.corrections
        }
        assert all(p > threshold for p in found.values())
        proposed.append(found)
    for more, fewer in pairwise(proposed):
        slots = [place for place in more if place[1] is not None]
        for number, slot, start, end, _ in fewer.keys() - more.keys():
            # A slot that changes as a whole takes the spaces in it along.
            assert slot is None
            assert any(
                n == number and a <= end and start <= b for n, _, a, b, _ in slots
            )
    assert len(proposed[0]) > len(proposed[-1])


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_corrector_proposes_what_constituents_and_guesses_say(corrects, share):
    pipe = corrector(corrects, threshold=EAGER, n_samples=0, guess_share=share)
    doc = on_tree(corrects, doc_with_marks(corrects.vocab))
    (sentence,) = bare_sentences(doc, NAME)
    cfg = {key: pipe.cfg[key] for key in ("prune", "max_hypotheses")}
    distribution = pipe.distribution(doc)
    opinions = (distribution.marginals(0, 0, **cfg), distribution.guesses())
    known = pipe.punctuation.inventory.known(sentence.tree.observed)

    def probability(i: int, slot: tuple[str, ...]) -> float:
        said, guessed = (opinion[i].get(slot, 0.0) for opinion in opinions)
        return said + share * (guessed - said)

    found = [c for c in doc._.corrections if c.slot is not None]
    alone = [c for c in found if c.kind != "missing-comma-insertion"]
    assert alone
    for c in alone:
        slot = tuple(doc._.corrected_slots[c.slot])
        assert probability(c.slot, slot) == pytest.approx(c.probability, abs=1e-5)
        others = {s for opinion in opinions for s in opinion[c.slot]}
        best = max(probability(c.slot, s) for s in others - {known[c.slot]})
        assert c.probability == pytest.approx(best, abs=1e-5)


def test_corrector_reads_what_is_written(corrects):
    """The same words with other marks have another distribution."""
    pipe = corrector(corrects)
    words = parsed_doc(corrects.vocab)
    writer = Writer(Spacing("en"))
    bare = ((),) * 10
    found = []
    for observed in (bare, (*bare[:4], (",",), *bare[5:])):
        doc = on_tree(corrects, with_marks(words, observed, writer))
        found.append(pipe.distribution(doc).marginals()[4][(",",)])
    assert found[1] > found[0] + 0.05


def test_corrector_keeps_the_dots_of_words(corrects, monkeypatch):
    """Whatever the model thinks of them."""
    doc = doc_with_marks(corrects.vocab)
    words = [token.text + "." * (token.text == "Dr") for token in doc]
    spaces = [bool(token.whitespace_) for token in doc]
    tree = {
        "pos": [token.pos_ for token in doc],
        "heads": [token.head.i for token in doc],
        "deps": [token.dep_ for token in doc],
    }
    doc = Doc(corrects.vocab, words=words, spaces=spaces, **tree)
    pipe = corrector(corrects)

    def certain(answer):
        slots = [{(): 1.0}] * 8 + [{answer: 1.0}, {("!",): 1.0}]
        monkeypatch.setattr(pipe, "_marginals", lambda *_: slots)
        on_tree(corrects, doc)
        return doc._.corrected_text, tuple(doc._.corrected_slots[8])

    start = "If the rain stops; Anna will visit "  # a semicolon is not known to it
    assert certain(()) == (f"{start}Dr. Hill!", (ABBREVIATION_DOT,))
    assert certain((ABBREVIATION_DOT,)) == (f"{start}Dr. Hill!", (ABBREVIATION_DOT,))
    assert certain((".",)) == (f"{start}Dr. Hill!", (".",))
    assert certain((",",)) == (f"{start}Dr., Hill!", (ABBREVIATION_DOT, ","))


def changes(words: dict[int, int]) -> dict[int, Change]:
    return {slot: Change(word, "wrong-mark") for slot, word in words.items()}


def test_corrector_marks_that_look_the_same_are_no_correction(corrects):
    """A full stop after `etc` and the dot of the abbreviation."""
    doc = Doc(
        corrects.vocab,
        words=["bread", "etc", "."],
        spaces=[True, False, False],
        heads=[0, 0, 0],
        deps=["ROOT", "conj", "punct"],
        pos=["NOUN", "X", "PUNCT"],
    )
    (source,) = bare_sentences(doc, NAME)
    slots = ((), (), (ABBREVIATION_DOT,))
    sentence = CorrectedSentence(source, slots, changes({2: 1}), (1.0, 1.0, 0.9))
    writer = Writer(Spacing("en"))
    assert correction_data(doc, [sentence], writer) == []
    slots = ((), (",",), ("!",))
    sentence = replace(sentence, slots=slots, changes=changes({1: 1, 2: 0}))
    found = correction_data(doc, [sentence], writer)
    assert [(c["start"], c["end"], c["text"]) for c in found] == [
        (5, 5, ","),
        (9, 10, "!"),
    ]
    assert applied(doc.text, found) == "bread, etc!"


def test_corrector_hyphens_join_words(corrects):
    """Even if the treebank has spaces around them."""
    doc = Doc(
        corrects.vocab,
        words=["five", "year", "plan"],
        heads=[1, 2, 2],
        deps=["nummod", "compound", "ROOT"],
        pos=["NUM", "NOUN", "NOUN"],
    )
    (source,) = bare_sentences(doc, NAME)
    slots = ((), ("-",), (), ())
    change = {1: Change(0, "missing-hyphen")}
    sentence = CorrectedSentence(source, slots, change, (1.0,) * 4)
    spacing = Spacing("en", {(("-",), 0): {None: 0.9}, (("-",), 1): {None: 0.9}})
    found = correction_data(doc, [sentence], Writer(spacing))
    assert applied(doc.text, found) == "five-year plan "


def test_corrector_does_not_open_words(corrects):
    corrector(corrects, threshold=EAGER)
    for text in ("Anna won't go", "a well-known, brand-new bicycle", "he/she slept"):
        corrected = corrects(text)._.corrected_text.lower()
        for word in re.findall(r"\w+(?:['/-]\w+)+", text.lower()):
            assert word in corrected


def flat_doc(vocab, text: str) -> Doc:
    """Tokens that are apart by a space, all in one sentence."""
    words = text.split(" ")
    n = len(words)
    deps = ["ROOT", *["dep"] * (n - 1)]
    pos = ["NOUN" if any(map(str.isalnum, w)) else "PUNCT" for w in words]
    spaces = [True] * (n - 1) + [False]
    return Doc(vocab, words=words, spaces=spaces, heads=[0] * n, deps=deps, pos=pos)


def test_corrector_new_quotes_are_like_the_others(corrects):
    pipe = corrector(corrects)

    def quoted(text: str) -> str:
        doc = flat_doc(corrects.vocab, text)
        (source,) = bare_sentences(doc, NAME)
        n = len(source.positions)
        slots = (("``",), *source.marks[1:n], ("''",))
        blamed = changes({0: 0, n: 0})
        sentence = CorrectedSentence(source, slots, blamed, (1.0,) * (n + 1))
        pipe.set_annotations([doc], [[sentence]])
        return doc._.corrected_text

    assert quoted("Tom slept") == '"Tom slept"'
    assert quoted("Tom and « Sam » slept") == "“Tom and « Sam » slept”"
    pipe.cfg["quotes"] = "typographic"
    assert quoted("Tom slept") == "“Tom slept”"


@pytest.mark.parametrize(
    ("text", "gone", "expected"),
    [
        ("Tom slept.Anna left", [(0, 2)], "Tom slept Anna left"),
        ("Tom slept.(Anna left", [(0, 2)], "Tom slept (Anna left"),
        ("Tom slept.(Anna left", [(1, 0)], "Tom slept. Anna left"),
        ("Tom slept.(Anna left", [(0, 2), (1, 0)], "Tom slept Anna left"),
        ("Tom slept(Anna left", [(1, 0)], "Tom slept Anna left"),
        ("Tom slept. (Anna left", [(0, 2), (1, 0)], "Tom slept Anna left"),
        ("Tom slept.)Anna left", [(0, 2)], "Tom slept Anna left"),
        ("Tom slept. Anna left.", [(0, 2), (1, 2)], "Tom slept Anna left"),
    ],
)
def test_corrector_sentences_stay_apart(text, gone, expected):
    """Where marks go that alone parted two sentences, there is a space."""
    nlp = spacy.blank("en")
    forms = re.findall(r"\w+|[^\w ]", text)
    two = forms.index("Anna")
    two -= forms[two - 1] in "()"
    heads = [0 if i < two else two for i in range(len(forms))]
    heads[two:] = [forms.index("Anna")] * (len(forms) - two)
    ends = [m.end() for m in re.finditer(r"\w+|[^\w ]", text)]
    doc = Doc(
        nlp.vocab,
        words=forms,
        spaces=[text[end : end + 1] == " " for end in ends],
        heads=heads,
        deps=["ROOT" if head == i else "dep" for i, head in enumerate(heads)],
    )
    sentences = []
    for number, source in enumerate(bare_sentences(doc, NAME)):
        places = [slot for n, slot in gone if n == number]
        slots = tuple(
            () if i in places else marks for i, marks in enumerate(source.marks)
        )
        blamed = changes(dict.fromkeys(places, 0))
        sentences.append(CorrectedSentence(source, slots, blamed, (1.0,) * 3))
    assert len(sentences) == 2
    found = correction_data(doc, sentences, Writer(Spacing("en")))
    assert applied(text, found) == expected


def test_corrector_docs_without_words(corrects):
    corrector(corrects, threshold=EAGER)
    for text in ("", " ", "\n \n", "...", " ?! ", '" ( "', "-", "…\n"):
        doc = corrects(text)
        assert doc._.corrected_text == text
        assert doc._.corrections == []
        assert doc._.corrected_slots == [[]]
    assert corrects(Doc(corrects.vocab))._.corrected_text == ""


def test_corrector_before_it_ran_there_is_nothing(corrects):
    doc = corrects.make_doc("Anna slept.")
    assert doc._.corrections is None
    assert doc._.corrected_text is None
    assert doc._.corrected_slots is None


def test_corrector_needs_a_tree(corrects):
    with (
        corrects.select_pipes(disable=["parser"]),
        pytest.raises(PunctError, match="P040"),
    ):
        corrects("Anna slept.")


def test_corrector_correcting_again_leaves_nothing_old(corrects):
    corrector(corrects, threshold=EAGER)
    doc = corrects(TEXTS[0])
    assert doc._.corrections
    doc = corrector(corrects, threshold=STRICT)(doc)
    assert doc._.corrections == []
    assert doc._.corrected_text == doc.text


SEPARATORS = st.sampled_from([" ", "  ", "\n", "\t", " \n ", "", "\u00a0"])
FORMS = st.sampled_from(
    [
        *WORDS,
        *[
            "Mr.",
            "etc.",
            "U.S.",
            "won't",
            "dont",
            "im",
            "brand-new",
            "3.5",
            "O'Neil",
            "$5",
            "😀",
        ],
        *[",", ".", "...", ";", "!", "?!", "-", "—", "(", ")", "/", "%", ":)"],
        *['"', "'", "“", "”", "‘", "’", "«", "»", "``", "''"],
    ]
)
WRITTEN = st.lists(st.tuples(FORMS, SEPARATORS), max_size=14).map(
    lambda pairs: "".join(form + space for form, space in pairs)
)
LIKELY = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@given(text=WRITTEN, threshold=st.sampled_from([EAGER, 0.5, STRICT]))
@hypothesis.example(text="O'Neil If ?!:) ", threshold=EAGER)
@LIKELY
def test_corrector_never_changes_words(corrects, text, threshold):
    """Whatever the text: all words, in their order, letter by letter but for capitals,
    apart as they were; and all white space but where something changes."""
    corrector(corrects, threshold=threshold)
    doc = corrects(text)
    assert doc.text == text
    words = [i for s in bare_sentences(doc, NAME) for i in s.positions]
    inside = {i for w in words for i in range(doc[w].idx, doc[w].idx + len(doc[w]))}
    starts = {doc[w].idx for w in words}
    end = 0
    gaps = []
    for c, data in zip(doc._.corrections, doc.user_data[CORRECTIONS], strict=True):
        assert end <= c.start <= c.end
        end = c.end
        old, new = text[c.start : c.end], c.text
        if c.kind in APOSTROPHE_KINDS:
            assert bare(old)[1:] == bare(new)[1:]
            assert bare(old[:1]).lower() == bare(new[:1]).lower()
            continue
        if old and c.end - 1 in starts and new[-1:] != old[-1]:  # a capital, or none
            assert new[-1].lower() == old[-1].lower()
            old, new = old[:-1], new[:-1]
        assert inside.isdisjoint(range(c.start, c.start + len(old)))
        assert without_marks(new) == ""
        if c.slot is None:
            assert "".join(old.split()) == "".join(new.split()), "only spaces change"
        is_in_word = c.start == c.end and {c.start - 1, c.start} <= inside
        assert not is_in_word or c.kind == "missing-space"
        gaps.append(data | {"end": c.start + len(old), "text": new})
    assert doc._.corrected_text == applied(text, doc.user_data[CORRECTIONS])
    # Words that were apart stay apart.
    for one, two in pairwise(words):
        start, stop = doc[one].idx + len(doc[one]), doc[two].idx
        here = [c for c in gaps if start <= c["start"] and c["end"] <= stop]
        moved = [
            c | {"start": c["start"] - start, "end": c["end"] - start} for c in here
        ]
        assert bool(applied(text[start:stop], moved)) or start == stop


@given(text=WRITTEN)
@LIKELY
def test_corrector_written_marks_lead_to_the_corrected_text(corrects, text):
    """Words and marks as tokens are the text, but for white space, capitals and the
    corrections of words."""
    corrector(corrects, threshold=EAGER)
    doc = corrects(text)
    words, before, after = written_marks(doc, doc._.corrections)

    def joined(slots) -> str:
        glyphs = ["".join(m.replace(ABBREVIATION_DOT, ".") for m in s) for s in slots]
        pairs = zip(["", *words], glyphs, strict=True)
        return "".join(word + marks for word, marks in pairs)

    assert joined(before) == "".join(text.split())
    of_slots = [c for c in doc.user_data[CORRECTIONS] if c["slot"] is not None]
    corrected = "".join(applied(text, of_slots).split())
    assert joined(after).lower() == corrected.lower()


def test_corrector_written_marks_of_some_corrections(corrects):
    corrector(corrects, threshold=EAGER)
    doc = corrects(TEXTS[0])
    assert written_marks(doc, []).after == written_marks(doc, []).before
    for c in doc._.corrections:
        _, before, after = written_marks(doc, [c])
        changed = [i for i in range(len(before)) if before[i] != after[i]]
        assert changed == [c.slot]


# Kinds


def sure_of(pipe, monkeypatch, answers: dict[int, tuple[str, ...]]) -> None:
    """Let the model be sure of some slots, and that all others are right."""

    def marginals(sentence, *_):
        return [
            {answers.get(i, marks): 1.0} for i, marks in enumerate(sentence.observed)
        ]

    monkeypatch.setattr(pipe, "_marginals", marginals)


def test_corrector_kinds_have_thresholds_and_switches(corrects, monkeypatch):
    pipe = corrector(corrects, threshold=0.5)
    sure_of(pipe, monkeypatch, {9: ("?",)})
    doc = on_tree(corrects, doc_with_marks(corrects.vocab))
    (found,) = [c for c in doc._.corrections if c.slot == 9]
    for other in ({"ignore": [found.kind]}, {"thresholds": {found.kind: 1.0}}):
        with pipe.having(**other):
            doc = on_tree(corrects, doc_with_marks(corrects.vocab))
            assert 9 not in {c.slot for c in doc._.corrections}


def test_corrector_serial_commas_are_the_writers(corrects):
    pipe = corrector(corrects)
    assert not pipe.wants("serial-comma", 0.99)
    with pipe.having(serial_comma="correct"):
        assert pipe.wants("serial-comma", 0.99)


def test_corrector_brackets_change_together_or_not_at_all(corrects, monkeypatch):
    pipe = corrector(corrects, threshold=0.5)
    alone = flat_doc(corrects.vocab, "Tom ( and Anna slept .")
    sure_of(pipe, monkeypatch, {3: (")",)})
    assert on_tree(corrects, alone)._.corrected_text.count(")") == 1
    for answers in ({1: ("(",)}, {1: ("(",), 3: (")",)}):
        sure_of(pipe, monkeypatch, answers)
        doc = flat_doc(corrects.vocab, "Tom and Anna slept .")
        assert "(" not in on_tree(corrects, doc)._.corrected_text


def test_corrector_gives_and_takes_capitals():
    nlp = spacy.blank("en")

    def mended(words: str, new: tuple[str, ...]) -> str:
        doc = flat_doc(nlp.vocab, words)
        (source,) = bare_sentences(doc, NAME)
        slots = list(source.observed)
        slots[2] = new
        sentence = CorrectedSentence(
            source, tuple(slots), {2: Change(0, "comma-splice")}, (1.0,) * len(slots)
        )
        found = correction_data(doc, [sentence], Writer(Spacing("en")))
        return applied(doc.text, found)

    assert mended("It rained , we left", (".",)) == "It rained. We left"
    assert mended("It rained , we left", (";",)) == "It rained; we left"
    assert mended("It rained . I left", (",",)) == "It rained, I left"


# Many Docs, storage


def test_corrector_pipe_is_like_one_by_one(corrects):
    corrector(corrects, threshold=0.3)
    texts = [*TEXTS, "", "...", " ".join(TEXTS)]
    one_by_one = [outcome(corrects(text)) for text in texts]
    assert [outcome(doc) for doc in corrects.pipe(texts)] == one_by_one
    assert [outcome(d) for d in corrects.pipe(texts, batch_size=2)] == one_by_one


@pytest.mark.slow
def test_corrector_in_several_processes(corrects):
    corrector(corrects, threshold=0.3)
    texts = [*TEXTS, ""]
    expected = [outcome(doc) for doc in corrects.pipe(texts)]
    found = corrects.pipe(texts, n_process=2, batch_size=2)
    assert [outcome(doc) for doc in found] == expected


def test_corrector_round_trips(corrects, corrector_path, tmp_path):
    corrector(corrects, threshold=0.25)
    expected = [outcome(doc) for doc in corrects.pipe(TEXTS)]
    corrects.to_disk(tmp_path / "nlp")
    settings = {"components": {NAME: {"threshold": 0.25}}}
    on_disk = spacy.load(tmp_path / "nlp", config=settings)
    assert on_disk.get_pipe(NAME).cfg["threshold"] == 0.25
    assert [outcome(doc) for doc in on_disk.pipe(TEXTS)] == expected
    other = spacy.load(corrector_path, config=settings)
    weights = next(other.get_pipe(NAME).punctuation.scorer.parameters())
    weights.data += 1.0
    other.from_bytes(corrects.to_bytes())
    assert [outcome(doc) for doc in other.pipe(TEXTS)] == expected
    pipe = corrector(corrects)
    pipe.to_disk(tmp_path / "pipe")
    weights.data += 1.0
    other.get_pipe(NAME).from_disk(tmp_path / "pipe")
    assert [outcome(doc) for doc in other.pipe(TEXTS)] == expected


def test_corrector_attributes_survive_storage(corrects):
    corrector(corrects, threshold=EAGER)
    doc = corrects(TEXTS[0])
    assert doc._.corrections
    stored = Doc(corrects.vocab).from_bytes(doc.to_bytes())
    (binned,) = DocBin(docs=[doc], store_user_data=True).get_docs(corrects.vocab)
    for other in (stored, binned):
        assert outcome(other) == outcome(doc)
        for c, own in zip(other._.corrections, doc._.corrections, strict=True):
            assert c.word.doc is other
            assert replace(c, word=own.word) == own
            assert c.word.i == own.word.i
    plain = (str, int, float, list, dict)
    for correction in doc.user_data[CORRECTIONS]:
        assert all(type(value) in plain for value in correction.values())


# Settings


@pytest.mark.parametrize(
    "config",
    [
        {"threshold": -0.1},
        {"threshold": 1.0},
        {"threshold": "high"},
        {"guess_share": 1.1},
        {"n_samples": -1},
        {"prune": 1.0},
        {"max_hypotheses": 0},
        {"direction": "down"},
        {"quotes": "curly"},
        {"serial_comma": "never"},
        {"ignore": ["no-such-kind"]},
        {"thresholds": {"no-such-kind": 0.5}},
        {"thresholds": {"run-on": 1.5}},
        {"l2": -1},
        {"unknown": 1},
    ],
)
def test_corrector_settings_are_checked(config):
    with pytest.raises(ValueError):
        spacy.blank("xx").add_pipe(NAME, config=config)


def test_corrector_choices_are_checked_without_a_config_too():
    with pytest.raises(PunctError, match=r"P046.*straight, typographic"):
        CorrectorSettings(quotes="curly")
    with pytest.raises(PunctError, match=r"P024.*threshold"):
        CorrectorSettings(threshold=1.5)


def test_corrector_added_to_a_blank_pipeline(tmp_path, monkeypatch):
    """Without bundled weights it says how to train; it can be stored all the same."""
    monkeypatch.setattr(pipelines, "FOLDER", tmp_path)
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe(NAME)
    assert isinstance(pipe, PunctuationCorrector)
    assert pipe.labels == ()
    assert pipe.cfg["threshold"] == 0.5
    with pytest.raises(PunctError, match=r"P044.*spacy train"):
        nlp(parsed_doc(nlp.vocab))
    other = spacy.blank("en")
    other.add_pipe(NAME)
    other.from_bytes(nlp.to_bytes())


def test_corrector_samples_are_repeatable(corrects):
    corrector(corrects, threshold=0.2, n_samples=200)
    first = [outcome(doc) for doc in corrects.pipe(TEXTS)]
    assert [outcome(doc) for doc in corrects.pipe(TEXTS)] == first
    probabilities = []
    for seed in (0, 1):
        corrector(corrects, seed=seed)
        docs = corrects.pipe(TEXTS)
        probabilities.append([c.probability for d in docs for c in d._.corrections])
    assert probabilities[0] != probabilities[1]


# Learning


def small_examples(nlp: Language, n: int = 12, **settings) -> list[Example]:
    corpus = create_correction_corpus(SAMPLE / "dev.conllu", limit=n, **settings)
    return list(corpus(nlp))


def test_corrector_with_marks_round_trip():
    """Marks that are written are read again, with the tree of the words."""
    nlp = spacy.blank("en")
    writer = Writer(Spacing("en"))
    for example in read_treebank(SAMPLE / "test.conllu").examples:
        bare = make_doc(example, nlp.vocab)
        marked = with_marks(bare, example.slots, writer)
        assert observed_slots(marked) == example.slots
        assert gold_slots(marked) == example.slots
        (sentence,) = bare_sentences(marked, NAME)
        assert sentence.tree.heads == example.tree.heads
        assert sentence.tree.relations == example.tree.relations
        assert sentence.tree.tags == example.tree.tags
        assert sentence.tree.words == example.tree.words
        assert without_marks(marked.text) == without_marks(bare.text)


MARK_STRINGS = st.lists(
    st.sampled_from([",", ".", ";", "''", "``", "(", ")", "-", "?", "<unk>"]),
    max_size=3,
).map(tuple)


@given(
    slots=st.lists(MARK_STRINGS, min_size=len(WORDS) + 1, max_size=len(WORDS) + 1),
    dotted=st.sets(st.integers(1, len(WORDS))),
    with_tree=st.booleans(),
)
@LIKELY
def test_corrector_with_marks_round_trip_of_any_marks(
    corrects, slots, dotted, with_tree
):
    slots = tuple(
        (ABBREVIATION_DOT, *slot) if i in dotted else slot
        for i, slot in enumerate(slots)
    )
    writer = Writer(Spacing("en"))
    bare = parsed_doc(corrects.vocab)
    if not with_tree:
        bare = Doc(corrects.vocab, words=WORDS, sent_starts=[True] + [False] * 8)
    marked = with_marks(bare, slots, writer)
    assert sum(bool(token.is_sent_start) for token in marked) == 1
    if with_tree:
        assert observed_slots(marked) == slots
        assert not has_gold(marked)
    kept = Doc(corrects.vocab).from_bytes(marked.to_bytes())
    assert kept.text == marked.text
    if with_tree:
        assert observed_slots(kept) == slots


def test_corrector_gold_is_the_truth_and_the_tree_what_is_written(corrects):
    examples = small_examples(corrects)
    for example in examples:
        corrects.get_pipe("tok2vec")(example.predicted)
    found = corrector(corrects).examples(examples)
    assert [f.slots for f in found] == [gold_slots(e.reference) for e in examples]
    observed = [observed_slots(e.predicted) for e in examples]
    assert [f.tree.observed for f in found] == observed
    assert observed != [f.slots for f in found]
    for example in examples:
        assert not has_gold(example.predicted)
        assert example.predicted.text == example.reference.text


def test_corrector_learns(tmp_path):
    nlp = spacy.blank("en")
    model = {**SMALL_LEXICAL, "tok2vec": SMALL_CNN, "observed_width": 8, "dropout": 0.0}
    nlp.add_pipe(NAME, config={"model": model})
    examples = small_examples(nlp, 10)
    losses = learn(nlp, examples, 0.05, n_passes=25)
    assert losses[-1][NAME] < 0.2 * losses[0][NAME]
    scores = nlp.evaluate(examples)
    assert scores["correct_f05"] > 0.8
    # A third of the sentences have marks that are too rare to be known.
    assert scores["correct_aed"] < 0.4 * scores["correct_aed_before"]


def test_corrector_training_needs_punctuation(corrects):
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME)
    bare = Example(parsed_doc(nlp.vocab), parsed_doc(nlp.vocab))
    with pytest.raises(PunctError, match="P049"):
        nlp.initialize(lambda: [bare])
    assert "correct_aed" not in corrector(corrects).score([bare])


def scored(nlp: Language, how) -> dict:
    """The scores of corrections that are made by a function of (observed, truth)."""
    examples = small_examples(nlp, 20)
    for example in examples:
        observed = observed_slots(example.predicted)
        slots = how(observed, gold_slots(example.reference))
        example.predicted._.corrected_slots = [list(slot) for slot in slots]
    return make_correction_scorer()(examples)


def with_another_error(observed: Slots, truth: Slots) -> Slots:
    """The truth, but for a slot that had no error."""
    place = next(i for i, slot in enumerate(truth) if slot == observed[i])
    return (*truth[:place], (*truth[place], ";"), *truth[place + 1 :])


def test_corrector_scorer(corrects):
    perfect = scored(corrects, lambda observed, truth: truth)
    assert perfect["correct_aed"] == 0
    assert perfect["correct_p"] == perfect["correct_r"] == perfect["correct_f05"] == 1
    nothing = scored(corrects, lambda observed, truth: observed)
    assert nothing["correct_aed"] == nothing["correct_aed_before"] > 0
    assert nothing["correct_r"] == 0
    assert nothing["correct_aed_before"] == perfect["correct_aed_before"]
    ends = scored(corrects, lambda observed, truth: (*observed[:-1], truth[-1]))
    assert ends["correct_p"] == 1
    assert 0 < ends["correct_r"] < 1
    assert ends["correct_r"] < ends["correct_f05"] < 1
    worse = scored(corrects, with_another_error)
    assert worse["correct_r"] == 1
    assert worse["correct_p"] < 1
    other_words = scored(corrects, lambda observed, truth: truth[1:])
    assert other_words == {}


def test_corrector_evaluates_with_a_parser(corrects):
    examples = small_examples(corrects, 10, gold_trees=False)
    scores = corrects.evaluate(examples)
    assert 0 <= scores["correct_f05"] <= 1
    assert scores["correct_aed_before"] > 0


def test_corrector_sentences_share_a_slot(corrects):
    """Where two sentences meet, their marks are in one slot."""
    corrector(corrects, threshold=STRICT)
    doc = corrects("Anna slept. (Tom laughed.)")
    sentences = bare_sentences(doc, NAME)
    expected = joined_slots(s.tree.observed for s in sentences)
    assert doc._.corrected_slots == [list(slot) for slot in expected]
    assert doc._.corrected_slots[2] == [".", "("]


def test_corrector_writes_no_second_dash_where_sentences_meet(corrects):
    """What opens the second is not written at the end of the first."""
    words, heads = ["Anna", "slept", "--", "Tom", "left"], [1, 1, 4, 4, 4]
    deps = ["nsubj", "ROOT", "punct", "nsubj", "ROOT"]
    starts = [True, False, True, False, False]
    doc = Doc(corrects.vocab, words=words, heads=heads, deps=deps, sent_starts=starts)
    first, second = bare_sentences(doc, NAME)
    assert second.marks[0] == ("--",)
    found = {}
    for mark in ("--", "."):
        slots = (*first.marks[:-1], (mark,))
        change = {2: Change(1, "dash" if mark == "--" else "missing-end")}
        corrected = CorrectedSentence(first, slots, change, (1.0,) * 3)
        same = CorrectedSentence(second, second.marks, {}, (1.0,) * 3)
        settled = corrector(corrects, threshold=EAGER)._settled(doc, [corrected, same])
        found[mark] = settled[0].slots[-1]
    assert found == {"--": (), ".": (".",)}


@pytest.mark.timeout(60)
def test_corrector_does_not_explain_endless_marks(corrects):
    text = "(" * 150 + "Anna" + ")" * 150
    doc = corrector(corrects, threshold=EAGER)(corrects(text))
    assert "Anna" in doc._.corrected_text
    (found,) = corrector(corrects).explain(doc)
    assert set(found[1]) == {((), ())}


def test_corrector_training_keeps_no_old_weights():
    nlp = spacy.blank("en")
    model = {"@architectures": "spacy_punct.LogLinearAttach.v1"}
    nlp.add_pipe(NAME, config={"model": model})
    examples = small_examples(nlp, 4)
    optimizer = nlp.initialize(lambda: examples)

    def tensors_after_updates() -> int:
        for _ in range(3):
            nlp.update(examples, sgd=optimizer)
        gc.collect()
        return sum(isinstance(found, torch.Tensor) for found in gc.get_objects())

    assert tensors_after_updates() >= tensors_after_updates()
