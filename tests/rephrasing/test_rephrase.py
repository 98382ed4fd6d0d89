"""Texts put otherwise: what the README promises, and that nothing else changes."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

import spacy_punct
from spacy_punct import rephrase
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.marks import BOS
from spacy_punct.data.tree import Tree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.model.automaton import Automata
from spacy_punct.model.channel import Channel
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.pipe import bundled as pipelines
from spacy_punct.reading.attributes import TRUECASED
from spacy_punct.reading.bare import parse_words, parsed_well
from spacy_punct.reading.corpus import make_doc
from spacy_punct.reading.examples import with_marks
from spacy_punct.reading.sentences import bare_sentences
from spacy_punct.rephrasing.edits import delete, extract, keep_only, move, permute
from spacy_punct.rephrasing.underlying import UnderlyingTree
from spacy_punct.text.pairs import is_balanced
from spacy_punct.text.writer import Writer
from tests.reading.docs import add_log_linear, with_odd_marks

CAPER = ("If", "true", ",", "the", "caper", "failed", ".")
POS = ("SCONJ", "ADJ", "PUNCT", "DET", "NOUN", "VERB", "PUNCT")
HEADS = (1, 5, 5, 4, 5, 5, 5)
DEPS = ("mark", "advcl", "punct", "det", "nsubj", "ROOT", "punct")


def tight(words: Sequence[str]) -> list[bool]:
    """A space after each token, but not after what opens or before what closes."""
    return [
        a not in ("(", "“") and b not in (",", ".", ")", "?", "”")
        for a, b in pairwise([*words, "."])
    ]


def caper(nlp: Language, words: Sequence[str] = CAPER) -> Doc:
    """If true, the caper failed."""
    return Doc(
        nlp.vocab,
        words=list(words),
        spaces=tight(words),
        pos=list(POS),
        heads=list(HEADS),
        deps=list(DEPS),
    )


def known_model() -> PunctuationModel:
    """A model that has seen `if true` between commas more often than anywhere else,
    and absorbs commas as English does."""
    words, tags = ("the", "caper", "if", "true", "failed"), ("DET", "NOUN", "SCONJ")
    amid = Tree(
        words,
        (*tags, "ADJ", "VERB"),
        (1, 4, 3, 4, -1),
        ("det", "nsubj", "mark", "advcl", "root"),
    )
    brackets = Tree(
        ("he", "anna", "came"),
        ("PRON", "PROPN", "VERB"),
        (2, 0, -1),
        ("nsubj", "appos", "root"),
    )
    examples = [
        PunctuatedTree(amid, ((), (), (",",), (), (",",), (".",))) for _ in range(20)
    ]
    examples += [
        PunctuatedTree(brackets, ((), ("(",), (")",), (".",))) for _ in range(5)
    ]
    examples += [PunctuatedTree(brackets, ((), ("``",), ("''",), ("?",)))]
    model = PunctuationModel.from_examples(examples)
    marks = model.inventory.marks
    edits = Channel.identity(marks).edits.copy()
    for a, b, chances in (
        (BOS, ",", (0.05, 0, 0.95, 0)),
        (",", ".", (0.05, 0.95, 0, 0)),
        (",", ",", (0.05, 0.95, 0, 0)),
    ):
        edits[:, marks.index(a), marks.index(b)] = chances
    model.channel = Channel(marks, edits, "left-to-right")
    model.automata = Automata(model.inventory, model.channel)
    return model


@pytest.fixture(scope="module")
def nlp() -> Language:
    nlp = spacy.blank("en")
    restorer = add_log_linear(nlp)
    restorer.model.shims[0].model = known_model()
    return nlp


def test_rephrase_paper_example(nlp):
    doc = caper(nlp)
    moved = rephrase(doc, move("true", -1), nlp)
    assert moved.text == "The caper failed, if true."
    words = [token for token in moved if token.pos_ != "PUNCT"]
    assert [token._.source_index for token in words] == [3, 4, 5, 0, 1]
    for token in words:
        source = doc[token._.source_index]
        assert token.text.lower() == source.text.lower()
        assert (token.pos_, token.dep_) == (source.pos_, source.dep_)
        assert token.head._.source_index == source.head.i
    assert {token.dep_ for token in moved if token.pos_ == "PUNCT"} == {"punct"}
    assert doc.text == "If true, the caper failed."
    back = rephrase(moved, move("true", 0), nlp)
    assert back.text == doc.text


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda tree: tree, "If true, the caper failed."),
        (delete("If"), "True, the caper failed."),
        (delete("true"), "The caper failed."),
        (delete("caper"), "If true, failed."),
        (move("true", 1), "The caper, if true, failed."),
        (permute("failed", ["failed", "true", "caper"]), "Failed, if true, the caper."),
        (extract("true"), "If true."),
        (extract("caper"), "The caper."),
        (keep_only("caper"), "Caper failed."),
        (delete("the") | move("true", -1), "Caper failed, if true."),
    ],
)
def test_rephrase(nlp, edit, text):
    assert rephrase(caper(nlp), edit, nlp).text == text
    assert rephrase(caper(nlp), edit, nlp.get_pipe("punctuation_restorer")).text == text


def test_rephrase_draws_from_the_channel(nlp):
    edit = move("true", -1)
    texts = [rephrase(caper(nlp), edit, nlp, seed=seed).text for seed in range(60)]
    assert texts.count("The caper failed, if true.") > 45
    assert len(set(texts)) > 1
    again = [rephrase(caper(nlp), edit, nlp, seed=seed).text for seed in range(60)]
    assert again == texts


def two(nlp: Language) -> Doc:
    """Two sentences, with a tab between them and typographic quotes."""
    words = [*CAPER, "\t", "“", "He", "(", "Anna", ")", "came", "?", "”"]
    spaces = tight(words)
    spaces[6] = spaces[7] = False
    first = len(CAPER) + 1
    marks = {0: 5, 2: 3, 4: 3, 6: 5, 7: 5}
    tagged = {1: ("PRON", 5, "nsubj"), 3: ("PROPN", 1, "appos"), 5: ("VERB", 5, "ROOT")}
    tagged |= {k: ("PUNCT", head, "punct") for k, head in marks.items()}
    pos, heads, deps = zip(*(tagged[k] for k in range(8)), strict=True)
    return Doc(
        nlp.vocab,
        words=words,
        spaces=spaces,
        pos=[*POS, "SPACE", *pos],
        heads=[*HEADS, 5, *(first + head for head in heads)],
        deps=[*DEPS, "dep", *deps],
    )


def test_rephrase_touches_only_what_changes(nlp):
    doc = two(nlp)
    assert doc.text == "If true, the caper failed.\t“He (Anna) came?”"
    assert rephrase(doc, lambda tree: tree, nlp).text == doc.text
    cut = rephrase(doc, delete("Anna"), nlp)
    assert cut.text == doc.text.replace(" (Anna)", "")
    assert len(list(cut.sents)) == 2
    both = rephrase(doc, delete("Anna") | move("true", -1), nlp)
    assert both.text == cut.text.replace(
        "If true, the caper failed.", "The caper failed, if true."
    )


def test_rephrase_by_token_and_position(nlp):
    doc = two(nlp)
    for word in ("Anna", doc[11], 11):
        assert (
            rephrase(doc, delete(word), nlp).text
            == rephrase(doc, delete("Anna"), nlp).text
        )


@pytest.mark.parametrize("language", ["en", "de"])
def test_rephrase_capitals(nlp, language):
    def first(word: str, pos: str, *, forms: str | None = None) -> str:
        doc = Doc(
            spacy.blank(language).vocab,
            words=[word, "true", ",", "the", "caper", "failed", "."],
            spaces=tight(CAPER),
            pos=[pos, *POS[1:]],
            heads=list(HEADS),
            deps=list(DEPS),
        )
        if forms:
            doc.user_data[TRUECASED] = forms
        return rephrase(doc, move("true", -1), nlp).text.split()[3]

    assert first("If", "SCONJ") == "if"
    assert first("Anna", "PROPN") == "Anna"
    assert first("NASA", "NOUN") == "NASA"
    assert first("Rain", "NOUN") == ("Rain" if language == "de" else "rain")
    assert first("Rain", "PROPN", forms="rain true, the caper failed.") == "rain"
    if language == "en":
        assert first("I", "PRON") == "I"
        assert first("I'm", "PRON") == "I'm"


def test_rephrase_leaves_lower_case_alone(nlp):
    lower = caper(nlp, [word.lower() for word in CAPER])
    assert rephrase(lower, move("true", -1), nlp).text == "the caper failed, if true."


def test_rephrase_keeps_entities_that_stay_together(nlp):
    doc = caper(nlp)
    doc.set_ents([Span(doc, 3, 5, label="EVENT")])
    doc.spans["parts"] = [Span(doc, 0, 2), Span(doc, 1, 4)]
    moved = rephrase(doc, move("true", -1), nlp)
    assert [(ent.text, ent.label_) for ent in moved.ents] == [("The caper", "EVENT")]
    assert [span.text for span in moved.spans["parts"]] == ["if true"]


def test_rephrase_unknown_marks_survive(nlp):
    doc = caper(nlp)
    odd = Doc(
        nlp.vocab,
        words=[*CAPER[:-1], "‽"],
        spaces=tight(CAPER),
        pos=list(POS),
        heads=list(HEADS),
        deps=list(DEPS),
    )
    assert rephrase(odd, delete("true"), nlp).text == "The caper failed‽"
    assert "<unk>" not in rephrase(doc, move("true", -1), nlp).text


def test_rephrase_what_cannot_be_done(nlp):
    doc = caper(nlp)
    with pytest.raises(PunctError, match="P141"):
        rephrase(doc, delete("nobody"), nlp)
    with pytest.raises(PunctError, match="P145"):
        rephrase(doc, lambda tree: None, nlp)
    with pytest.raises(PunctError, match="P145"):
        rephrase(
            doc,
            lambda tree: UnderlyingTree(tree.tree, tree.pairs, (7, 8, 9, 10, 11)),
            nlp,
        )
    with pytest.raises(PunctError, match="P150"):
        rephrase(doc.text, delete("true"), nlp.get_pipe("punctuation_restorer"))
    with pytest.raises(PunctError, match="P052"):
        rephrase(doc, delete("true"), spacy.blank("en"))
    with pytest.raises(PunctError, match="P040"):
        rephrase(Doc(nlp.vocab, words=["no", "parse"]), delete("no"), nlp)
    assert rephrase(Doc(nlp.vocab), delete("no") | delete("yes"), nlp).text == ""


@pytest.mark.parametrize("seed", range(3))
def test_rephrase_changes_no_words_and_keeps_brackets(on_trees, sample, seed):
    """Of the sample's sentences, whatever is deleted or moved."""
    rng = np.random.default_rng(seed)
    restorer = on_trees.get_pipe("punctuation_restorer")
    examples = read_treebank(sample / "dev.conllu").examples
    for k in rng.choice(len(examples), 15, replace=False):
        example = examples[k]
        bare = make_doc(example, on_trees.vocab)
        doc = with_marks(bare, example.slots, Writer(restorer.spacing))
        (sentence,) = bare_sentences(doc, "test")
        below = [i for i, h in enumerate(sentence.tree.heads) if h >= 0]
        if not below:
            continue
        word = sentence.positions[int(rng.choice(below))]
        is_whole = is_balanced(sentence.marks)
        for edit in (delete(word), move(word, -1), move(word, 0)):
            found = rephrase(doc, edit, on_trees, seed=int(rng.integers(2)) or None)
            (after,) = bare_sentences(found, "test")
            assert not is_whole or is_balanced(after.marks), found.text
            for token in found:
                i = token._.source_index
                if i is not None:
                    assert token.text.lower() == doc[i].text.lower()


def test_rephrase_keeps_marks_that_no_underlying_tree_explains(on_trees):
    doc = with_odd_marks(on_trees.vocab)
    found = rephrase(doc, delete("stops"), on_trees)
    assert found.text.rstrip() == doc.text.rstrip().removeprefix("If the rain stops ")


def test_rephrase_text_is_parsed_by_its_words(on_text):
    text = 'If the rain stops, Anna (my aunt) will visit us. "Is Anna here?"'
    doc = parse_words(on_text, text)
    assert doc.text == text
    assert [sent.text for sent in doc.sents] == [
        "If the rain stops, Anna (my aunt) will visit us.",
        '"Is Anna here?"',
    ]
    assert all(t.pos_ == "PUNCT" for t in doc if not t.is_alpha)
    words = [t for t in doc if t.is_alpha]
    bare = Doc(
        on_text.vocab,
        words=[t.text for t in words],
        sent_starts=[t.text in ("If", "Is") for t in words],
    )
    assert [t.dep_ for t in words] == [t.dep_ for t in on_text(bare)]
    assert rephrase(text, lambda tree: tree, on_text).text == text
    assert parse_words(on_text, "...").text == "..."


def test_rephrase_words_are_parsed_without_the_dots_of_abbreviations(on_text):
    doc = parse_words(on_text, "Dr. Hill will visit Mr. Brown.")
    assert doc.text == "Dr. Hill will visit Mr. Brown."
    without = parse_words(on_text, "Dr Hill will visit Mr Brown.")
    assert [(t.dep_, t.head.i) for t in doc] == [(t.dep_, t.head.i) for t in without]


def test_rephrase_docs_whose_marks_are_parsed_like_words(on_text):
    text = "If the rain stops, Anna will visit us."
    doc = parse_words(on_text, text)
    assert parsed_well(doc, on_text) is doc
    root = next(doc.sents).root
    word = next(t.i for t in doc if t.pos_ != "PUNCT" and t != root)
    expected = rephrase(doc, move(word, -1), on_text).text
    named = parse_words(on_text, text)
    named[4].dep_ = "obj"
    above = parse_words(on_text, text)
    above[4].head, above[word].head = above[root.i], above[4]
    for odd in (named, above):
        assert rephrase(odd, move(odd[word], -1), on_text).text == expected
    assert above[word].head.i == 4


@pytest.fixture(scope="module")
def english() -> Language:
    if "en" not in pipelines.names():
        pytest.skip("the English pipeline is not in spacy_punct/pipelines/en")
    return spacy_punct.load("en")


def without_clauses(tree: UnderlyingTree) -> UnderlyingTree:
    gone = [i for i, r in enumerate(tree.tree.relations) if r.startswith("acl")]
    return tree.rearranged(lambda i: [k for k in tree.items(i) if k not in gone])


@pytest.mark.parametrize(
    ("before", "edit", "after"),
    [
        (
            "If true, the caper failed.",
            move("true", -1),
            "The caper failed, if true.",
        ),
        (
            "The caper failed, if true.",
            move("true", 0),
            "If true, the caper failed.",
        ),
        (
            "When Dr. Smith, my doctor, arrived, I left.",
            move("arrived", -1),
            "I left, when Dr. Smith, my doctor, arrived.",
        ),
        (
            "Anna said “I am tired” yesterday.",
            delete("yesterday"),
            "Anna said “I am tired.”",
        ),
        (
            "My brother lives in Boston (Massachusetts).",
            delete("Massachusetts"),
            "My brother lives in Boston.",
        ),
        (
            "However, the U.S. team won. If it rains, the race will end.",
            move("rains", -1),
            "However, the U.S. team won. The race will end, if it rains.",
        ),
        (
            "NASA, which was founded in 1958, won. Anna, who sings, is here.",
            without_clauses,
            "NASA won. Anna is here.",
        ),
    ],
)
def test_rephrase_english(english, before, edit, after):
    assert rephrase(before, edit, english).text == after


def test_rephrase_is_public():
    assert spacy_punct.rephrase is rephrase
    assert "rephrase" in spacy_punct.__all__
    with pytest.raises(AttributeError, match="nonsense"):
        spacy_punct.nonsense  # noqa: B018
