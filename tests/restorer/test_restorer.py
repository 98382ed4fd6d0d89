import pickle

import numpy as np
import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from spacy_punct.errors import PunctError
from spacy_punct.model import distribution
from spacy_punct.pipe.callbacks import create_compact
from spacy_punct.reading.examples import create_corpus
from spacy_punct.restorer.component import RestorerSettings
from tests.conftest import check_averages, learn
from tests.reading.docs import (
    DEPS,
    ODD,
    POS,
    WORDS,
    add_log_linear,
    parsed_doc,
    with_marks,
    with_odd_marks,
)

RESTORED = "If the rain stops, Anna will visit Dr. Hill."
NAME = "punctuation_restorer"


def test_restorer_writes_all_attributes(on_trees):
    doc = on_trees(parsed_doc(on_trees.vocab))
    assert doc._.restored_text == RESTORED
    assert doc._.restored_slots[4] == [","]
    assert doc._.restored_slots[8:] == [["<abbr>"], ["."]]
    assert len(doc._.restored_slots) == len(doc._.restored_confidence) == len(doc) + 1
    assert all(0 <= p <= 1 for p in doc._.restored_confidence)
    assert doc[3]._.right_puncteme == [","]
    assert [t.text for t in doc] == WORDS


def test_restorer_restored_doc_maps_back(on_trees):
    doc = parsed_doc(on_trees.vocab)
    doc.set_ents([Span(doc, 7, 9, label="PERSON")])
    doc.spans["names"] = [Span(doc, 4, 5, label="NAME"), Span(doc, 7, 9)]
    restored = on_trees(doc)._.restored_doc
    assert restored.text == RESTORED
    words = [t for t in restored if t._.source_index is not None]
    assert [t.text for t in words] == WORDS
    assert [t._.source_index for t in words] == list(range(len(WORDS)))
    for token in words:
        source = doc[token._.source_index]
        assert (token.pos, token.dep) == (source.pos, source.dep)
        assert token.head._.source_index == source.head.i
    assert [(e.text, e.label_) for e in restored.ents] == [("Dr. Hill", "PERSON")]
    assert [s.text for s in restored.spans["names"]] == ["Anna", "Dr. Hill"]
    marks = [t for t in restored if t._.source_index is None]
    assert {t.pos_ for t in marks} == {"PUNCT"}
    assert {t.dep_ for t in marks} == {"punct"}
    assert len(list(restored.sents)) == 1


def test_restorer_several_sentences_and_white_space(on_trees):
    one = parsed_doc(on_trees.vocab)
    words = [*WORDS, "\n\n", *WORDS]
    n = len(WORDS)
    doc = Doc(
        on_trees.vocab,
        words=words,
        spaces=[True] * (n - 1) + [False, False] + [True] * (n - 1) + [False],
        pos=[t.pos_ for t in one] + ["SPACE"] + [t.pos_ for t in one],
        heads=[t.head.i for t in one] + [n - 1] + [n + 1 + t.head.i for t in one],
        deps=[t.dep_ for t in one] + ["dep"] + [t.dep_ for t in one],
    )
    doc = on_trees(doc)
    assert doc._.restored_text == f"{RESTORED}\n\n{RESTORED}"
    assert len(doc._.restored_slots) == 2 * n + 1
    restored = doc._.restored_doc
    assert restored.text == doc._.restored_text
    assert len(list(restored.sents)) == 2


def test_restorer_existing_keep(on_trees):
    on_trees.get_pipe(NAME).cfg["existing"] = "keep"
    doc = on_trees(with_marks(on_trees.vocab))
    slots = doc._.restored_slots
    assert slots[4] == [";"]
    assert slots[-1] == ["!"]
    assert doc._.restored_confidence[4] == 1.0
    assert "stops ; Anna" in doc._.restored_text, "white space is kept with the mark"
    assert "Dr. Hill!" in doc._.restored_text


def test_restorer_explains_odd_marks(on_trees):
    on_trees.get_pipe(NAME).cfg["existing"] = "keep"
    doc = on_trees(with_odd_marks(on_trees.vocab))
    assert doc._.restored_slots[-1] == list(ODD)
    assert any(token._.right_puncteme for token in doc)


def test_restorer_says_what_it_does_not_explain(on_trees, monkeypatch):
    monkeypatch.setattr(distribution, "_LONGEST_SLOT", len(ODD) - 1)
    on_trees.get_pipe(NAME).cfg["existing"] = "keep"
    with pytest.warns(UserWarning, match="W003"):
        doc = on_trees(with_odd_marks(on_trees.vocab))
    assert doc._.restored_slots[-1] == list(ODD)
    assert not any(token._.right_puncteme for token in doc)


def test_restorer_keep_gives_evidence_to_the_other_slots(on_trees):
    restorer = on_trees.get_pipe(NAME)
    doc = parsed_doc(on_trees.vocab)
    d = restorer.distribution(doc)
    quoted = [None] * len(d.tree) + [(".", "''")]
    given_quote = d.marginals(20_000, seed=1, observed=quoted)
    opened = sum(p for m in given_quote[:-1] for s, p in m.items() if "``" in s)
    usually = sum(
        p for m in d.marginals(20_000, seed=1)[:-1] for s, p in m.items() if "``" in s
    )
    assert opened > 5 * usually


def test_restorer_existing_replace_and_error(on_trees):
    on_trees.get_pipe(NAME).cfg["existing"] = "replace"
    doc = on_trees(with_marks(on_trees.vocab))
    assert doc._.restored_text == RESTORED
    assert [t.text for t in doc if t.pos_ == "PUNCT"] == [";", "!"]
    on_trees.get_pipe(NAME).cfg["existing"] = "error"
    with pytest.raises(PunctError, match="P045"):
        on_trees(with_marks(on_trees.vocab))
    assert on_trees(parsed_doc(on_trees.vocab))._.restored_text == RESTORED


def test_restorer_only_writes_allowed_marks(on_trees):
    restorer = on_trees.get_pipe(NAME)
    restorer.cfg["marks"] = ["."]
    doc = on_trees(parsed_doc(on_trees.vocab))
    assert doc._.restored_text == "If the rain stops Anna will visit Dr Hill."
    restorer.cfg["marks"] = [".", "☃"]
    with pytest.raises(PunctError, match=r"P047.*☃"):
        on_trees(parsed_doc(on_trees.vocab))


def test_restorer_casing_and_quotes(on_trees):
    lower = [word.lower() for word in WORDS]
    doc = on_trees(parsed_doc(on_trees.vocab, words=lower))
    assert doc._.restored_text == "If the rain stops, anna will visit dr. hill."
    on_trees.get_pipe(NAME).cfg["casing"] = "keep"
    doc = on_trees(parsed_doc(on_trees.vocab, words=lower))
    assert doc._.restored_text == "if the rain stops, anna will visit dr. hill."


def test_restorer_words_with_their_dot_get_no_second_one(on_trees):
    words = [*WORDS[:-2], "Dr.", "Jr."]
    doc = on_trees(parsed_doc(on_trees.vocab, words=words))
    assert doc._.restored_text == "If the rain stops, Anna will visit Dr. Jr."


def test_restorer_does_not_split_words(on_trees):
    words = [*WORDS[:5], "wo", "n't", "visit", "Dr", "Hill"]
    doc = parsed_doc(
        on_trees.vocab,
        words=words,
        spaces=[True] * 5 + [False] + [True] * 3 + [False],
        pos=[*POS[:6], "PART", *POS[6:]],
        heads=[3, 2, 3, 7, 7, 7, 7, 7, 7, 8],
        deps=[*DEPS[:6], "advmod", *DEPS[6:]],
    )
    assert "Anna won't visit" in on_trees(doc)._.restored_text


def small_doc(vocab, words, spaces, **changes) -> Doc:
    """Words that all hang on the first."""
    n = len(words)
    annotation = {
        "heads": [0] * n,
        "deps": ["ROOT", *["dep"] * (n - 1)],
        "pos": ["NOUN"] * n,
    }
    return Doc(vocab, words=words, spaces=spaces, **{**annotation, **changes})


@pytest.mark.parametrize(
    ("words", "spaces", "heads"),
    [
        (["I", "do", "n't", "know"], [1, 0, 1, 0], [1, 1, 3, 3]),
        (["ask", "he", "/", "she"], [1, 0, 0, 0], [1, 1, 1, 3]),
        (["see", "#", "tag"], [1, 0, 0], [0, 0, 2]),
    ],
)
def test_restorer_sentences_do_not_end_inside_words(on_trees, words, spaces, heads):
    deps = ["ROOT" if i == head else "dep" for i, head in enumerate(heads)]
    doc = small_doc(on_trees.vocab, words, spaces, heads=heads, deps=deps)
    assert doc.text.partition(" ")[2] in on_trees(doc)._.restored_text


def test_restorer_keeps_symbols_whatever_the_tagger_says(on_trees):
    words = ["It", "costs", "$", "5", "😀", "@", "1", "-", "2", "km", "/", "h"]
    pos = ["NOUN" if word.isalnum() else "PUNCT" for word in words]
    doc = on_trees(small_doc(on_trees.vocab, words, [True] * 12, pos=pos))
    restored = [t.text for t in doc._.restored_doc if t._.source_index is not None]
    assert restored == [word for word in words if word != "/"]


def test_restorer_keep_leaves_white_space_where_it_was(on_trees):
    on_trees.get_pipe(NAME).cfg["existing"] = "keep"
    words = ["hello", ",", "world", ".", '"', "hm"]
    doc = small_doc(on_trees.vocab, words, [1, 0, 1, 0, 1, 0])
    assert 'hello ,world ." hm' in on_trees(doc)._.restored_text.lower()


def test_restorer_keep_tells_quotes_apart_after_a_line_break(on_trees):
    on_trees.get_pipe(NAME).cfg["existing"] = "keep"
    words = ["yes", "\n", '"', "no", '"', "\n", "yes"]
    doc = on_trees(small_doc(on_trees.vocab, words, [0] * 7))
    quotes = [
        mark
        for slot in doc._.restored_slots
        for mark in slot
        if "`" in mark or "'" in mark
    ]
    assert quotes == ["``", "''"]
    assert 'yes\n"no"\nyes' in doc._.restored_text.lower()


def test_restorer_restoring_again_leaves_nothing_old(on_trees):
    doc = on_trees(parsed_doc(on_trees.vocab))
    assert any(token._.right_puncteme for token in doc)
    on_trees.get_pipe(NAME).cfg["marks"] = []
    doc = on_trees(doc)
    assert doc._.restored_text == " ".join(WORDS)
    assert not any(t._.left_puncteme or t._.right_puncteme for t in doc)


def test_restorer_restored_doc_has_one_root(on_trees):
    doc = small_doc(
        on_trees.vocab,
        ["a", ",", "b"],
        [0, 1, 0],
        heads=[1, 1, 1],
        deps=["x", "ROOT", "y"],
    )
    restored = on_trees(doc)._.restored_doc
    assert len(list(restored.sents)) == 1
    assert [t.text for t in restored if t.dep_ == "ROOT"] == ["A"]
    assert not restored.has_annotation("ENT_IOB")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    with pytest.raises(PunctError, match="P057"):
        _ = doc._.restored_doc


def test_restorer_white_space_tokens_are_no_marks(on_trees):
    words = ["anna", "came", "\n", "home"]
    doc = small_doc(
        on_trees.vocab,
        words,
        [1, 0, 0, 0],
        heads=[1, 1, 1, 1],
        deps=["dep", "ROOT", "dep", "dep"],
    )
    restored = on_trees(doc)._.restored_doc
    assert [t.pos_ for t in restored if t.is_space] == ["SPACE"]
    assert {t.dep_ for t in restored if t.is_space} == {"dep"}


def test_restorer_chinese(on_trees):
    """Words written together, full-width marks, spaces between Latin words only."""
    nlp = spacy.blank("zh")
    restorer = add_log_linear(nlp, n_samples=0)
    restorer.model.from_bytes(on_trees.get_pipe(NAME).model.to_bytes())
    words = ["今天", "天气", "hello", "world", "好"]
    doc = nlp(small_doc(nlp.vocab, words, [True] * 5))
    assert "hello world" in doc._.restored_text
    assert doc._.restored_text.replace(" ", "").startswith("今天")
    assert "今天 " not in doc._.restored_text
    assert "." not in doc._.restored_text


def test_restorer_storing_compact_does_not_touch_the_weights(on_trees):
    restorer = on_trees.get_pipe(NAME)
    weights = next(restorer.punctuation.scorer.parameters())
    weights.data += 1.0001
    before = weights.detach().clone()
    create_compact(NAME, 0.5)(on_trees)
    stored = spacy.blank("en")
    add_log_linear(stored)
    stored.from_bytes(on_trees.to_bytes())
    assert (weights == before).all()
    found = next(stored.get_pipe(NAME).punctuation.scorer.parameters())
    assert (found == found.half().float()).all()
    assert (found != before).any()
    assert stored.get_pipe(NAME).cfg["direction"] == "right-to-left"


def test_restorer_damaged_files(on_trees, tmp_path):
    restorer = on_trees.get_pipe(NAME)
    restorer.to_disk(tmp_path / "there")
    for name in ("model", "spacing"):
        restorer.to_disk(tmp_path / name)
        file = tmp_path / name / name
        file.write_bytes(file.read_bytes()[:-20])
        with pytest.raises(PunctError, match="P031"):
            restorer.from_disk(tmp_path / name)


def test_restorer_n_samples_and_seed(on_trees):
    restorer = on_trees.get_pipe(NAME)
    assert restorer.cfg["n_samples"] == 0
    exact = on_trees(parsed_doc(on_trees.vocab))._.restored_confidence
    restorer.cfg["n_samples"] = 1000
    texts, confidences = set(), []
    for seed in (0, 0, 7):
        restorer.cfg["seed"] = seed
        doc = on_trees(parsed_doc(on_trees.vocab))
        texts.add(doc._.restored_text)
        confidences.append(doc._.restored_confidence)
    assert texts == {RESTORED}
    assert confidences[0] == confidences[1] != confidences[2]
    assert np.allclose(confidences[0], exact, atol=0.03)


def test_restorer_pruning(on_trees):
    restorer = on_trees.get_pipe(NAME)
    restorer.cfg |= {"prune": 1e-6, "max_hypotheses": 1000}
    exact = on_trees(parsed_doc(on_trees.vocab))
    restorer.cfg |= {"prune": 0.5, "max_hypotheses": 1}
    pruned = on_trees(parsed_doc(on_trees.vocab))
    assert pruned._.restored_text == exact._.restored_text == RESTORED
    assert pruned._.restored_confidence != exact._.restored_confidence


def test_restorer_distribution_and_channel(on_trees):
    restorer = on_trees.get_pipe(NAME)
    doc = parsed_doc(on_trees.vocab)
    d = restorer.distribution(doc)
    slots = d.restore(n_samples=0)
    assert d.log_prob(slots) < 0
    assert d.viterbi(slots)[3] == ((), (",",))
    assert restorer.distribution(doc[:]).log_prob(slots) == d.log_prob(slots)
    assert max(restorer.channel.rewrite((",", ".")).items(), key=lambda x: x[1])[0]
    assert {",", "."} <= set(restorer.labels)


def test_restorer_empty_and_wordless_docs(on_trees):
    empty = on_trees(Doc(on_trees.vocab))
    assert empty._.restored_text == ""
    assert empty._.restored_slots == [[]]
    for words in (["\n"], ["..."], ["?", "!", "\n"]):
        doc = Doc(
            on_trees.vocab,
            words=words,
            deps=["dep"] * len(words),
            heads=[0] * len(words),
        )
        doc = on_trees(doc)
        assert doc._.restored_text == doc.text
        assert doc._.restored_doc.text == doc.text


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"heads": None, "deps": None}, "P040"),
        ({"heads": None, "deps": None, "sent_starts": [True] + [False] * 8}, "P040"),
        (
            {"deps": ["mark", "det", "nsubj", "advcl", "nsubj", "aux", "ROOT", "", ""]},
            "P041",
        ),
        ({"heads": [3, 2, 3, 6, 6, 6, 5, 6, 7]}, "P013"),
    ],
)
def test_restorer_bad_parses(on_trees, changes, code):
    with pytest.raises(PunctError, match=code):
        on_trees(parsed_doc(on_trees.vocab, **changes))


def test_restorer_no_sentence_bounds(on_trees):
    doc = Doc(on_trees.vocab, words=WORDS)
    for token in doc:
        token.dep_ = "dep"
    with pytest.raises(PunctError, match=r"P042.*sentencizer"):
        on_trees(doc)


def test_restorer_choices_are_checked_without_a_config_too():
    with pytest.raises(PunctError, match=r"P046.*keep, replace, error"):
        RestorerSettings(existing="forget")


def test_restorer_relations_without_heads(on_trees):
    doc = parsed_doc(on_trees.vocab, heads=None)
    with pytest.raises(PunctError, match="P055"):
        on_trees(doc)


def test_restorer_warns_of_foreign_labels_once(on_trees):
    deps = ["mark", "det", "nsubj", "prep", "nsubj", "aux", "ROOT", "pobj", "npadvmod"]
    with pytest.warns(UserWarning, match="W001.*npadvmod, pobj, prep"):
        on_trees(parsed_doc(on_trees.vocab, deps=deps))
    with np.testing.assert_no_warnings():
        on_trees(parsed_doc(on_trees.vocab, deps=deps))


def test_restorer_warns_of_missing_tags(on_trees):
    with pytest.warns(UserWarning, match="W002"):
        on_trees(parsed_doc(on_trees.vocab, pos=None))


def test_restorer_untrained_says_how_to_train():
    nlp = spacy.blank("en")
    add_log_linear(nlp)
    with pytest.raises(PunctError, match=r"P044.*spacy train"):
        nlp(parsed_doc(nlp.vocab))
    nlp.from_bytes(nlp.to_bytes())


@pytest.mark.parametrize(
    "config",
    [
        {"n_samples": -1},
        {"prune": -0.1},
        {"prune": 1.0},
        {"max_hypotheses": 0},
        {"existing": "forget"},
        {"casing": "upper"},
        {"direction": "down"},
        {"quotes": 7},
    ],
)
def test_restorer_settings_are_checked(config):
    with pytest.raises(ValueError):
        add_log_linear(spacy.blank("en"), **config)


def test_restorer_settings_can_be_overridden_when_loading(paper_path):
    nlp = spacy.load(
        paper_path, config={"components": {NAME: {"existing": "keep", "seed": 3}}}
    )
    assert nlp.get_pipe(NAME).cfg["existing"] == "keep"
    assert nlp.get_pipe(NAME).cfg["seed"] == 3


def test_restorer_overfits_and_survives_round_trips(sample, tmp_path):
    corpus = create_corpus(sample / "dev.conllu", limit=12)
    nlp = spacy.blank("en")
    restorer = add_log_linear(nlp, {"dropout": 0.0}, n_samples=0)
    examples = list(corpus(nlp))
    losses = learn(nlp, examples, 0.1, n_passes=40)
    assert losses[-1][NAME] < 40
    scores = nlp.evaluate(examples)
    assert scores["punct_aed"] < 0.07
    assert scores["punct_f"] > 0.8
    assert scores["punct_ppl"] < 1.1
    texts = restored_texts(nlp, examples)

    nlp.to_disk(tmp_path / "nlp")
    restorer.to_disk(tmp_path / "component")
    blank = spacy.blank("en")
    add_log_linear(blank, n_samples=0)
    others = {
        "disk": spacy.load(tmp_path / "nlp"),
        "bytes": _from_bytes(nlp.to_bytes()),
        "pickle": pickle.loads(pickle.dumps(nlp)),
    }
    blank.get_pipe(NAME).from_disk(tmp_path / "component")
    others["component on disk"] = blank
    for name, other in others.items():
        assert restored_texts(other, examples) == texts, name
    files = [p for p in (tmp_path / "component").rglob("*") if p.is_file()]
    assert all(b"cnumpy" not in p.read_bytes() for p in files), "no pickles"


def _from_bytes(data: bytes):
    nlp = spacy.blank("en")
    add_log_linear(nlp, n_samples=0)
    return nlp.from_bytes(data)


def restored_texts(nlp, examples: list[Example]) -> list[str]:
    docs = [Doc(nlp.vocab).from_bytes(e.x.to_bytes()) for e in examples]
    return [doc._.restored_text for doc in nlp.pipe(docs)]


def test_restorer_attributes_survive_storage(on_trees):
    doc = on_trees(parsed_doc(on_trees.vocab))
    stored = Doc(on_trees.vocab).from_bytes(doc.to_bytes())
    (binned,) = DocBin(docs=[doc], store_user_data=True).get_docs(on_trees.vocab)
    for other in (stored, binned):
        assert other._.restored_text == RESTORED
        assert [list(s) for s in other._.restored_slots] == doc._.restored_slots
        assert other._.restored_doc.text == RESTORED
        assert list(other[3]._.right_puncteme) == [","]


def test_restorer_update_is_repeatable_and_changes_weights(sample):
    def trained() -> bytes:
        nlp = spacy.blank("en")
        add_log_linear(nlp)
        examples = list(create_corpus(sample / "dev.conllu", limit=20)(nlp))
        optimizer = nlp.initialize(lambda: examples)
        before = nlp.get_pipe(NAME).to_bytes()
        nlp.update(examples, sgd=optimizer)
        assert nlp.get_pipe(NAME).to_bytes() != before
        return nlp.get_pipe(NAME).to_bytes()

    assert trained() == trained()


def test_restorer_averages_are_used_and_taken_back(sample):
    nlp = spacy.blank("en")
    add_log_linear(nlp)
    examples = list(create_corpus(sample / "dev.conllu", limit=20)(nlp))
    nlp.initialize(lambda: examples)
    check_averages(nlp, NAME, examples)


def test_restorer_training_needs_punctuation_and_trees(sample):
    nlp = spacy.blank("en")
    add_log_linear(nlp)
    bare = Example(parsed_doc(nlp.vocab), parsed_doc(nlp.vocab))
    with pytest.raises(PunctError, match="P049"):
        nlp.initialize(lambda: [bare])
    examples = list(
        create_corpus(sample / "dev.conllu", gold_trees=False, limit=9)(nlp)
    )
    optimizer = nlp.initialize(lambda: examples)
    with pytest.raises(PunctError, match="P040"):
        nlp.update(examples, sgd=optimizer)


def test_restorer_evaluates_without_truth(on_trees):
    bare = Example(parsed_doc(on_trees.vocab), parsed_doc(on_trees.vocab))
    assert "punct_aed" not in on_trees.evaluate([bare])


FORMS = st.sampled_from(
    [
        *WORDS,
        "i",
        "co",
        "-",
        ",",
        ".",
        "...",
        '"',
        "'",
        "(",
        ")",
        "\n",
        "U.S.",
        "%",
        "’s",
        ":)",
        "—",
        "3.5",
    ]
)


@given(data=st.data(), existing=st.sampled_from(["replace", "keep"]))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_restorer_never_changes_words(on_trees, data, existing):
    """Whatever the text and the tree: all words, in their order, letter by letter."""
    words = data.draw(st.lists(FORMS, min_size=1, max_size=14))
    n = len(words)
    # Heads that come earlier in a random order make a tree, often not projective.
    order = data.draw(st.permutations(range(n)))
    heads = list(range(n))
    for place, i in enumerate(order[1:], start=1):
        heads[i] = order[data.draw(st.integers(0, place - 1))]
    root = order[0]
    doc = Doc(
        on_trees.vocab,
        words=words,
        spaces=data.draw(st.lists(st.booleans(), min_size=n, max_size=n)),
        pos=[
            data.draw(st.sampled_from(["NOUN", "VERB", "PUNCT", "ADP"])) for _ in words
        ],
        heads=heads,
        deps=["ROOT" if i == root else "dep" for i in range(n)],
    )
    on_trees.get_pipe(NAME).cfg["existing"] = existing
    restored = on_trees(doc)
    mapped = [t for t in restored._.restored_doc if t._.source_index is not None]
    indices = [t._.source_index for t in mapped]
    assert indices == sorted(set(indices))
    for token in mapped:
        assert token.text.lower() == words[token._.source_index].lower()
    for i in set(range(n)) - set(indices):
        assert not any(char.isalnum() for char in words[i])
    letters = [c for c in restored._.restored_text.lower() if c.isalnum()]
    assert letters == [c for c in doc.text.lower() if c.isalnum()]
    if existing == "keep":
        kept = [c for c in restored._.restored_text if not c.isspace()]
        source = iter(kept)
        wanted = [c for c in doc.text if not c.isspace()]
        assert all(any(c.lower() == w.lower() for c in source) for w in wanted)
