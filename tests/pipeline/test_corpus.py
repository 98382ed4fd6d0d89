import pytest
import spacy
from spacy.tokens import DocBin

from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.pipeline.corpus import create_corpus, make_doc
from spacy_punct.pipeline.gold import gold_examples, gold_slots, has_gold


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
