import random
from itertools import accumulate
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.reading import corpus
from spacy_punct.reading.corpus import joined, make_doc, read_docs
from spacy_punct.reading.examples import (
    create_batcher,
    create_corpus,
    create_correction_corpus,
)
from spacy_punct.reading.gold import (
    gold_examples,
    gold_slots,
    gold_spaces,
    has_gold,
    set_gold,
)


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def test_corpus_keeps_punctuation_on_the_reference_only(sample, nlp):
    treebank = read_treebank(sample / "dev.conllu")
    examples = list(create_corpus(sample / "dev.conllu")(nlp))
    assert len(examples) == len(treebank)
    for example, source in zip(examples, treebank.examples, strict=True):
        assert [t.text for t in example.x] == list(source.tree.words)
        assert gold_slots(example.y) == source.slots
        assert not has_gold(example.x)
        assert [t.head.i for t in example.x] == [t.head.i for t in example.y]
        (found,) = gold_examples(example, "restorer")
        assert found.tree == source.tree
        assert found.slots == source.slots
        assert found.spaces == source.spaces


def test_corpus_without_gold_trees(sample, nlp):
    example = next(iter(create_corpus(sample / "dev.conllu", gold_trees=False)(nlp)))
    assert not example.x.has_annotation("DEP")
    assert not example.x.has_annotation("POS")
    assert example.y.has_annotation("DEP")
    assert example.y.has_annotation("TAG")


def test_corpus_reads_docbins_and_folders(sample, nlp, tmp_path):
    docs = [
        make_doc(e, nlp.vocab) for e in read_treebank(sample / "dev.conllu").examples
    ]
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "dev.spacy")
    from_bin = list(create_corpus(tmp_path / "dev.spacy")(nlp))
    from_text = list(create_corpus(sample / "dev.conllu")(nlp))
    for a, b in zip(from_bin, from_text, strict=True):
        assert a.x.text == b.x.text
        assert gold_slots(a.y) == gold_slots(b.y)
    assert len(list(create_corpus(tmp_path)(nlp))) == len(docs)
    assert len(list(create_corpus(tmp_path, limit=5)(nlp))) == 5


def test_corpus_can_be_read_again_by_another_pipeline(sample):
    corpus = create_corpus(sample / "dev.conllu", limit=3)
    one, other = spacy.blank("en"), spacy.blank("en")
    for nlp in (one, one, other):
        examples = list(corpus(nlp))
        assert len(examples) == 3
        assert all(e.x.vocab is nlp.vocab for e in examples)


@pytest.mark.parametrize("name", ["absent.conllu", "absent", "notes.txt", "empty"])
def test_corpus_says_what_is_missing(tmp_path, name):
    (tmp_path / "notes.txt").write_text("not a treebank")
    (tmp_path / "empty").mkdir()
    with pytest.raises(PunctError, match="P050"):
        create_corpus(tmp_path / name)


def test_corpus_shares_slots_out_to_predicted_sentences(sample, nlp):
    example = max(create_corpus(sample / "dev.conllu")(nlp), key=lambda e: len(e.x))
    root = next(t.i for t in example.x if t.head == t)
    cut = max(2, root)
    heads = [0] * cut + [cut] * (len(example.x) - cut)
    words = [t.text for t in example.x]
    example.predicted = spacy.tokens.Doc(
        nlp.vocab,
        words=words,
        heads=heads,
        deps=["ROOT" if i == head else "dep" for i, head in enumerate(heads)],
    )
    first, second = gold_examples(example, "restorer")
    slots = gold_slots(example.y)
    assert len(first.tree) == cut
    joined = (*first.slots[:-1], first.slots[-1] + second.slots[0], *second.slots[1:])
    assert joined == slots


def test_corpus_other_words_than_the_reference_are_an_error(sample, nlp):
    example = next(iter(create_corpus(sample / "dev.conllu")(nlp)))
    words = [token.text for token in example.y]
    heads = [0] * (len(words) + 1)
    example.predicted = spacy.tokens.Doc(
        nlp.vocab,
        words=[*words[:-1], words[-1][0], words[-1][1:]],
        heads=heads,
        deps=["ROOT", *["dep"] * len(words)],
    )
    with pytest.raises(PunctError, match="P014"):
        gold_examples(example, "restorer")


def test_corpus_chinese_is_written_without_spaces(treebanks):
    nlp = spacy.blank("zh")
    example = next(iter(create_corpus(treebanks / "zh-1.4" / "dev.conllu")(nlp)))
    assert " " not in example.x.text


def whole(examples) -> list[list]:
    """All examples as one batch."""
    return [list(examples)]


def singles(sample, vocab) -> list[Doc]:
    return list(read_docs(sample / "dev.conllu", vocab))


@pytest.mark.parametrize("gold_trees", [True, False])
def test_corpus_joined_sentences_are_the_single_ones(sample, nlp, gold_trees):
    corpus = create_corpus(sample / "dev.conllu", gold_trees=gold_trees, join=4)
    examples, docs = list(corpus(nlp)), singles(sample, nlp.vocab)
    rest = iter(docs)
    counts = []
    for example in examples:
        own = [next(rest) for _ in example.reference.sents]
        counts.append(len(own))
        starts = [0, *accumulate(map(len, own))]
        assert [sent.start for sent in example.reference.sents] == starts[:-1]
        assert [sent.start for sent in example.x.sents] == starts[:-1]
        assert example.x.text == example.y.text
        assert example.x.text.strip() == " ".join(doc.text.strip() for doc in own)
        assert example.x.has_annotation("DEP") == gold_trees
        sides = [example.y, example.x] if gold_trees else [example.y]
        tokens = [
            (token, start)
            for doc, start in zip(own, starts[:-1], strict=True)
            for token in doc
        ]
        for side in sides:
            for token, (source, start) in zip(side, tokens, strict=True):
                assert token.text == source.text
                assert token.head.i == source.head.i + start
                assert (token.dep_, token.pos_) == (source.dep_, source.pos_)
        for token, (source, _) in zip(example.y, tokens, strict=True):
            assert (token.tag_, token.lemma_) == (source.tag_, source.lemma_)
            assert token.morph == source.morph
        slots = gold_slots(example.y)
        assert len(slots) == len(gold_spaces(example.y)) == len(example.y) + 1
        for doc, start in zip(own, starts, strict=False):
            inner = slice(start + 1, start + len(doc))
            assert slots[inner] == gold_slots(doc)[1:-1]
            assert gold_spaces(example.y)[inner] == gold_spaces(doc)[1:-1]
        for before, after, at in zip(own, own[1:], starts[1:], strict=False):
            first, second = gold_slots(before)[-1], gold_slots(after)[0]
            assert slots[at] == first + second
            spaces = gold_spaces(example.y)[at]
            assert spaces[: len(first)] == gold_spaces(before)[-1][:-1]
            assert spaces[len(first)]
            assert spaces[len(first) + 1 :] == gold_spaces(after)[0][1:]
        assert not has_gold(example.x)
    assert next(rest, None) is None, "every sentence once"
    assert set(counts) == {1, 2, 3, 4}


def test_corpus_joined_sentences_are_shared_out_again(sample, nlp):
    """To the sentences they came from, but for marks other than openers in front."""
    treebank = read_treebank(sample / "dev.conllu").examples
    corpus = create_corpus(sample / "dev.conllu", join=5)
    found = [t for example in corpus(nlp) for t in gold_examples(example, "restorer")]
    assert [e.tree for e in found] == [e.tree for e in treebank]
    alike = [a.slots == b.slots for a, b in zip(found, treebank, strict=True)]
    assert sum(alike) > 0.9 * len(alike)
    for example, source in zip(found, treebank, strict=True):
        if example.slots == source.slots:
            assert example.spaces[1:-1] == source.spaces[1:-1]
            assert example.spaces[-1][:-1] == source.spaces[-1][:-1]
        sizes = [len(slot) + 1 for slot in example.slots]
        assert list(map(len, example.spaces)) == sizes


def test_corpus_joined_sentences_without_known_spaces(sample, nlp):
    first, second, third = singles(sample, nlp.vocab)[:3]
    unknown = Doc(nlp.vocab, words=["Yes"], deps=["ROOT"], heads=[0], pos=["INTJ"])
    set_gold(unknown, (("(",), (")", ".")))
    whole = joined([first, unknown, second])
    assert gold_spaces(whole) == ()
    assert gold_slots(whole)[len(first)] == (*gold_slots(first)[-1], "(")
    assert joined([third]) is third


def test_corpus_joined_without_spaces_where_none_are_written():
    nlp = spacy.blank("zh")
    docs = []
    for words in (["我", "来"], ["你", "去"]):
        doc = Doc(
            nlp.vocab, words=words, spaces=[False] * 2, heads=[1, 1], deps=["x", "ROOT"]
        )
        set_gold(doc, ((), (), ("。",)), ((False,), (False,), (False, False)))
        docs.append(doc)
    whole = joined(docs)
    assert whole.text == "我来你去"
    assert gold_spaces(whole)[2] == (False, False)
    assert [sent.text for sent in whole.sents] == ["我来", "你去"]


def test_corpus_sentences_may_be_left_to_be_found(sample, nlp):
    corpus = create_corpus(
        sample / "dev.conllu", gold_trees=False, sentences=False, join=3
    )
    for example in corpus(nlp):
        assert not example.x.has_annotation("SENT_START")
        assert example.y.has_annotation("SENT_START")


@pytest.mark.parametrize(("share", "least", "most"), [(1, 1, 1), (0.5, 0.3, 0.7)])
def test_corpus_lower(sample, nlp, share, least, most):
    corpus = create_corpus(sample / "dev.conllu", lower=share)
    examples, docs = list(corpus(nlp)), singles(sample, nlp.vocab)
    lowered = 0
    for example, doc in zip(examples, docs, strict=True):
        assert example.y.text == doc.text
        lowered += example.x.text == doc.text.lower() != doc.text
        assert example.x.text in (doc.text, doc.text.lower())
        # Both sides are still the same words to spaCy.
        assert example.get_aligned("DEP", as_string=True) == [t.dep_ for t in doc]
        (found,) = gold_examples(example, "restorer")
        assert found.slots == gold_slots(doc)
    cased = sum(doc.text != doc.text.lower() for doc in docs)
    assert least * cased <= lowered <= most * cased


@pytest.fixture
def parsed(sample, nlp, tmp_path) -> Path:
    """Trees of a bad parser: each word hangs on the first."""
    docs = [
        Doc(
            nlp.vocab,
            words=[token.text for token in doc],
            heads=[0] * len(doc),
            deps=["ROOT", *["dep"] * (len(doc) - 1)],
            pos=["X"] * len(doc),
        )
        for doc in singles(sample, nlp.vocab)
    ]
    DocBin(docs=docs).to_disk(tmp_path / "parsed.spacy")
    return tmp_path / "parsed.spacy"


def test_corpus_parsed_must_be_of_the_same_sentences(sample, nlp, parsed, tmp_path):
    docs = list(DocBin().from_disk(parsed).get_docs(nlp.vocab))
    for others in (docs[:-1], [docs[1], docs[0], *docs[2:]]):
        DocBin(docs=others).to_disk(tmp_path / "other.spacy")
        corpus = create_corpus(sample / "dev.conllu", parsed=tmp_path / "other.spacy")
        with pytest.raises(PunctError, match=r"P066.*other\.spacy"):
            next(iter(corpus(nlp)))
    with pytest.raises(PunctError, match="P050"):
        create_corpus(sample / "dev.conllu", parsed=tmp_path / "absent.spacy")
    with pytest.raises(PunctError, match="P050"):
        create_corpus(sample / "dev.conllu", parsed=sample / "dev.conllu")


def test_batcher_noise_hides_norms_and_nothing_else(sample, nlp):
    plain = list(create_corpus(sample / "dev.conllu")(nlp))
    (noisy,) = create_batcher(whole, noise=0.2)(plain)
    hidden = total = 0
    for example, other in zip(noisy, plain, strict=True):
        assert example.x.text == other.x.text
        for token, clear, true in zip(example.x, other.x, example.y, strict=True):
            assert token.norm_ in (clear.norm_, "_")
            assert true.norm_ == clear.norm_
            hidden += token.norm_ != clear.norm_
            total += 1
    assert 0.15 < hidden / total < 0.25
    assert nlp.vocab["the"].norm_ == "the"


@pytest.mark.parametrize("join", [1, 3])
@pytest.mark.parametrize(
    ("gold_share", "least", "most"), [(0, 0, 0), (1, 1, 1), (0.5, 0.3, 0.7)]
)
def test_batcher_parsed_trees(sample, nlp, parsed, join, gold_share, least, most):
    corpus = create_corpus(sample / "dev.conllu", gold_trees=False, parsed=parsed)
    batcher = create_batcher(whole, gold_share=gold_share, join=join)
    (examples,) = batcher(corpus(nlp))
    gold = 0
    for example in examples:
        starts = [sent.start for sent in example.y.sents]
        assert [sent.start for sent in example.x.sents] == starts
        is_gold = [t.head.i for t in example.x] == [t.head.i for t in example.y]
        gold += is_gold and {t.pos_ for t in example.x} != {"X"}
        if {t.pos_ for t in example.x} == {"X"}:
            assert all(t.head.i in starts for t in example.x)
        assert has_gold(example.y) and not has_gold(example.x)
        assert len(gold_examples(example, "restorer")) == len(starts)
    assert least * len(examples) <= gold <= most * len(examples)


def seen(examples) -> list[tuple]:
    return [
        (
            example.x.text,
            tuple(t.norm_ for t in example.x),
            tuple(example.x.to_array("HEAD")),
        )
        for example in examples
    ]


def test_batcher_epochs_differ_and_follow_the_seed(sample, nlp, parsed):
    draws = {"gold_share": 0.5, "join": 4, "lower": 0.5, "noise": 0.1}
    examples = list(create_corpus(sample / "dev.conllu", parsed=parsed)(nlp))
    one, same, other = (create_batcher(whole, **draws, seed=seed) for seed in (1, 1, 2))
    first, second = (seen(*one(examples)) for _ in range(2))
    assert [seen(*same(examples)), seen(*same(examples))] == [first, second]
    assert first != second
    assert seen(*other(examples)) not in (first, second)
    sentences = " ".join(doc.text.strip() for doc in singles(sample, nlp.vocab))
    for each in (first, second):
        words = " ".join(text.strip() for text, *_ in each)
        assert words.lower() == sentences.lower(), "every sentence once, in order"


def test_batcher_joins_neighbours_of_shuffled_examples(sample, nlp):
    examples = list(create_corpus(sample / "dev.conllu")(nlp))
    random.Random(0).shuffle(examples)
    (found,) = create_batcher(whole, join=3)(examples)
    texts = [doc.text.strip() for doc in singles(sample, nlp.vocab)]
    order = [texts.index(sent.text.strip()) for e in found for sent in e.y.sents]
    assert sorted(order) == list(range(len(texts)))
    assert order != sorted(order)
    for example in found:
        places = [texts.index(sent.text.strip()) for sent in example.y.sents]
        assert places == list(range(places[0], places[0] + len(places)))


def test_batcher_makes_other_errors_in_each_epoch(sample, nlp):
    examples = list(create_corpus(sample / "dev.conllu", limit=20)(nlp))
    batcher = create_batcher(whole, errors=True, seed=3)
    first, second = (next(iter(batcher(examples))) for _ in range(2))
    assert [e.x.text for e in first] != [e.x.text for e in second]
    for epoch in (first, second):
        for example, plain in zip(epoch, examples, strict=True):
            assert gold_slots(example.y) == gold_slots(plain.y)
            assert example.x.text == example.y.text


def test_corpus_reads_no_more_than_its_limit(sample, nlp, monkeypatch):
    made = []
    monkeypatch.setattr(
        corpus, "make_doc", lambda *args: made.append(make_doc(*args)) or made[-1]
    )
    assert (
        len(list(create_corpus(sample / "dev.conllu", limit=3)(nlp))) == len(made) == 3
    )


def test_corpus_gives_the_same_in_each_pass(sample, nlp):
    reader = create_corpus(sample / "dev.conllu", join=4, lower=0.5)
    correction = create_correction_corpus(sample / "dev.conllu", limit=12, seed=3)
    for each in (reader, correction):
        assert seen(each(nlp)) == seen(each(nlp))


@pytest.mark.parametrize(
    "setting", [{"join": 0}, {"lower": 1.5}, {"noise": -0.1}, {"gold_share": 2}]
)
def test_batcher_settings_are_checked(setting):
    (name,) = setting
    with pytest.raises(PunctError, match=f"P024.*{name}"):
        create_batcher(whole, **setting)


@pytest.mark.parametrize("setting", [{"join": 0}, {"lower": 1.5}, {"limit": -1}])
def test_corpus_settings_are_checked(sample, setting):
    (name,) = setting
    with pytest.raises(PunctError, match=f"P024.*{name}"):
        create_corpus(sample / "dev.conllu", **setting)
