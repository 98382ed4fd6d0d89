from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.data.conllu import Sentence, Token, read_conllu
from spacy_punct.data.depunctuation import (
    PunctuatedTree,
    depunctuate,
    has_inner_punctuation,
    has_words,
    unpunctuated_sentence,
)
from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.tree import Tree
from spacy_punct.data.treebank import make_treebank, read_treebank
from spacy_punct.errors import PunctError
from tests.data.tokens import repunctuate


def sentence(*tokens: tuple) -> Sentence:
    """A sentence of (form, upos, head[, xpos[, relation]]) tuples."""
    rows = []
    for form, upos, head, *rest in tokens:
        xpos = rest[0] if rest else "_"
        default = "punct" if upos == "PUNCT" else "root" if head == 0 else "dep"
        relation = rest[1] if len(rest) > 1 else default
        rows.append(Token(form, "_", upos, xpos, "_", head, relation, "_", "_"))
    return Sentence(tuple(rows), where="here")


def test_depunctuate_moves_marks_into_slots():
    # If true , the caper failed .
    example = depunctuate(
        sentence(
            ("If", "SCONJ", 2),
            ("true", "ADJ", 6),
            (",", "PUNCT", 6),
            ("the", "DET", 5),
            ("caper", "NOUN", 6),
            ("failed", "VERB", 0),
            (".", "PUNCT", 6),
        )
    )
    assert example.tree.words == ("If", "true", "the", "caper", "failed")
    assert example.tree.heads == (1, 4, 3, 4, -1)
    assert example.slots == ((), (), (",",), (), (), (".",))


def test_depunctuate_takes_the_relation_punct_for_punctuation_too():
    example = depunctuate(
        sentence(("a", "X", 0), ("/", "SYM", 1, "_", "punct"), ("b", "X", 1))
    )
    assert example.tree.words == ("a", "b")
    assert example.slots == ((), ("/",), ())


def test_depunctuate_directs_quotes_by_tag_and_else_by_head():
    by_tag = depunctuate(
        sentence(
            ('"', "PUNCT", 2, "''"),
            ("a", "X", 0),
            ('"', "PUNCT", 2, "``"),
            ("'", "PUNCT", 2, "``"),
            ("b", "X", 2),
            ("'", "PUNCT", 2, "''"),
        )
    )
    assert by_tag.slots == (("''",), ("``", "`"), ("'",))
    by_head = depunctuate(
        sentence(
            ('"', "PUNCT", 2),
            ("a", "X", 0),
            ('"', "PUNCT", 4),
            ("b", "X", 2),
            ('"', "PUNCT", 4),
            ('"', "PUNCT", 2),
            ("c", "X", 2),
        )
    )
    assert by_head.slots == (("``",), ("``",), ("''", "''"), ())
    leftover = depunctuate(
        sentence(('"', "PUNCT", 2), ("a", "X", 0), ('"', "PUNCT", 4), ("b", "X", 2))
    )
    assert leftover.slots == (("``",), ("''",), ())


@pytest.mark.parametrize(
    ("opener", "closer", "marks"),
    [
        ("``", "''", ("``", "''")),
        ("`", "'", ("`", "'")),
        ("“", "”", ("``", "''")),
        ("„", "“", ("``", "''")),
        ("‚", "‘", ("`", "'")),
        ("”", "”", ("``", "''")),
    ],
)
def test_depunctuate_directs_quotes_by_shape(opener, closer, marks):
    source = sentence((opener, "PUNCT", 2), ("Haus", "X", 0), (closer, "PUNCT", 2))
    example = depunctuate(source)
    assert example.slots == ((marks[0],), (marks[1],))
    tokens = repunctuate(example.tree, example.slots, example.glyphs)
    assert tokens == [opener, "Haus", closer]


def test_depunctuate_splits_the_abbreviation_dot():
    source = sentence(
        ("etc.", "X", 0), (".", "PUNCT", 1), ("...", "X", 1), ("x..", "X", 1)
    )
    example = depunctuate(source)
    assert example.tree.words == ("etc", "...", "x.")
    assert example.slots == ((), (ABBREVIATION_DOT, "."), (), (ABBREVIATION_DOT,))
    assert repunctuate(example.tree, example.slots) == ["etc.", ".", "...", "x.."]


def test_depunctuate_remembers_how_marks_were_written():
    source = sentence(
        ("“", "PUNCT", 2), ("a", "X", 0), ("''", "PUNCT", 2, "''"), ('"', "PUNCT", 2)
    )
    example = depunctuate(source)
    assert example.slots[0] == ("``",)
    tokens = repunctuate(example.tree, example.slots, example.glyphs)
    assert tokens == ["“", "a", "''", '"']
    assert repunctuate(example.tree, example.slots)[0] == '"'


def test_depunctuate_refuses_inner_punctuation():
    inner = sentence(("a", "X", 2), (",", "PUNCT", 3), ("b", "X", 0))
    assert has_inner_punctuation(inner)
    with pytest.raises(PunctError, match=r"\[P018\] here"):
        depunctuate(inner)


def test_slots_that_do_not_fit_are_rejected():
    tree = Tree(["a"], ["X"], [-1], ["root"])
    with pytest.raises(PunctError, match=r"\[P014\].*2 slots, but 1"):
        PunctuatedTree(tree, ((),))
    with pytest.raises(PunctError, match=r"\[P014\]"):
        PunctuatedTree(tree, ((), (), ()))


def test_treebank_counts_what_it_leaves_out():
    treebank = make_treebank(
        [
            sentence(("a", "X", 0), (".", "PUNCT", 1)),
            sentence(("...", "PUNCT", 0), ("!", "PUNCT", 1)),
            sentence(("a", "X", 2), (",", "PUNCT", 3), ("b", "X", 0)),
            sentence(("a", "X", 2), ("b", "X", 0), ("c", "X", 1), ("d", "X", 2)),
        ]
    )
    assert len(treebank) == 2
    assert (treebank.n_wordless, treebank.n_omitted) == (1, 1)
    assert treebank.n_projectivised == 1
    assert treebank.mark_counts == Counter({".": 1})


def test_treebank_errors_name_the_sentence(tmp_path):
    with pytest.raises(PunctError, match=r"here.*\[P012\]"):
        make_treebank([sentence(("a", "X", 0), ("b", "X", 0))])
    with pytest.raises(PunctError, match=r"here.*\[P011\]"):
        make_treebank([sentence(("a", "X", 0), ("b", "X", 9))])
    (tmp_path / "empty.conllu").write_text("\n")
    with pytest.raises(PunctError, match=r"\[P006\].*empty.conllu"):
        read_treebank(tmp_path / "empty.conllu")


MARKS = st.sampled_from([",", ".", '"', "'", "“", "”", "‘", "’", "(", ")", "...", "«"])
WORDS = st.text(st.characters(categories=["L", "N"]) | st.just("."), min_size=1)


@given(st.lists(st.tuples(st.booleans(), MARKS, WORDS), min_size=1, max_size=12))
def test_depunctuate_and_back_is_the_identity(tokens):
    """Words and marks in any order and of any shape come back as they were."""
    first = next((i for i, (is_mark, _, _) in enumerate(tokens) if not is_mark), None)
    source = sentence(
        *(
            (mark, "PUNCT", (first or 0) + 1)
            if is_mark
            else (word, "X", 0 if i == first else (first or 0) + 1)
            for i, (is_mark, mark, word) in enumerate(tokens)
        )
    )
    if first is None:
        assert not has_words(source)
        return
    example = depunctuate(source)
    restored = repunctuate(example.tree, example.slots, example.glyphs)
    assert restored == [token.form for token in source.tokens]


def round_trip_failures(path) -> list[Sentence]:
    failures = []
    for source in read_conllu(path):
        if has_words(source) and not has_inner_punctuation(source):
            example = depunctuate(source)
            tokens = repunctuate(example.tree, example.slots, example.glyphs)
            if tokens != [token.form for token in source.tokens]:
                failures.append(source)
    return failures


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_depunctuate_and_back_on_the_sample(sample, split):
    assert round_trip_failures(sample / f"{split}.conllu") == []


def test_treebank_sample_has_every_case(sample):
    treebank = read_treebank(sample / "train.conllu")
    assert (treebank.n_omitted, treebank.n_wordless) == (2, 1)
    assert treebank.n_projectivised == 2


@pytest.mark.slow
def test_depunctuate_and_back_on_all_treebanks(treebanks):
    for path in sorted(treebanks.glob("*/*.conllu")):
        assert round_trip_failures(path) == [], path


@pytest.mark.slow
def test_treebank_english_omits_what_the_paper_omits(treebanks):
    """40 sentences of UD 1.4 English (Table 2); 11.7% of its tokens are marks."""
    splits = [
        read_treebank(treebanks / "en-1.4" / f"{split}.conllu")
        for split in ("train", "dev", "test")
    ]
    assert sum(split.n_omitted for split in splits) == 40
    tokens = sum(split.n_tokens for split in splits)
    assert round(tokens, -3) == 255_000
    share = sum(split.n_punctuation for split in splits) / tokens
    assert share == pytest.approx(0.117, abs=0.0005)


def test_unpunctuated_sentence_has_the_same_tree(sample):
    for example in read_treebank(sample / "dev.conllu").examples:
        new = unpunctuated_sentence(example, "7")
        back = depunctuate(new)
        assert back.tree == example.tree
        assert not any(back.slots)
        assert new.comments[0] == "sent_id = 7"
        for attribute in ("lemma", "upos", "xpos", "feats"):
            found, expected = (
                [getattr(t, attribute) for t in tokens]
                for tokens in (new.tokens, example.tokens)
            )
            assert found == expected
        between = zip(example.slots, example.spaces, strict=True)
        together = [not slot and not space[0] for slot, space in between]
        assert [not t.space_after for t in new.tokens[:-1]] == together[1:-1]
        assert new.text.replace(" ", "") == "".join(example.tree.words)


def test_unpunctuated_sentence_of_a_tree_alone():
    tree = Tree(("Well", "no"), ("INTJ", "INTJ"), (1, -1), ("discourse", "root"))
    new = unpunctuated_sentence(PunctuatedTree(tree, ((), (",",), (".",))), "a")
    assert new.text == "Well no"
    assert depunctuate(new) == PunctuatedTree(tree, ((), (), ()))
    assert {(t.lemma, t.xpos, t.feats, t.misc) for t in new.tokens} == {("_",) * 4}
