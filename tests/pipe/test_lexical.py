"""A restorer that reads words: with a tok2vec of its own, and a shared one."""

from dataclasses import replace

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config
from thinc.api import Config, fix_random_seed

from spacy_punct.data.treebank import read_treebank
from spacy_punct.errors import PunctError
from spacy_punct.pipe.callbacks import create_compact
from spacy_punct.reading.corpus import joined, make_doc, unpunctuated
from spacy_punct.reading.examples import create_corpus
from spacy_punct.reading.gold import gold_slots, set_gold
from spacy_punct.restorer.evaluation import evaluate_pipeline
from tests.conftest import REPOSITORY, SAMPLE, SMALL_CNN, check_averages, learn
from tests.reading.docs import add_log_linear

NAME = "punctuation_restorer"
LISTENER = {
    "@architectures": "spacy.Tok2VecListener.v1",
    "width": SMALL_CNN["width"],
    "upstream": "*",
}


KINDS = {"own": SMALL_CNN, "shared": LISTENER}


def make_pipeline(kind: str, **model) -> Language:
    """A small pipeline, not yet initialised."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    if kind.startswith("shared"):
        nlp.add_pipe("tok2vec", config={"model": SMALL_CNN})
    sizes = {"embedding_width": 4, "encoder_width": 8, "hidden_width": 16}
    architecture = {
        "@architectures": "spacy_punct.LexicalAttach.v1",
        "tok2vec": KINDS[kind],
        **sizes,
        **model,
    }
    nlp.add_pipe(NAME, config={"n_samples": 0, "model": architecture})
    return nlp


def trained(kind: str, examples: list[Example] | None = None, steps: int = 4, **model):
    """A pipeline after some steps, its examples, and the losses on the way."""
    nlp = make_pipeline(kind, **model)
    if examples is None:
        corpus = create_corpus(SAMPLE / "dev.conllu", limit=8)
        examples = list(corpus(nlp))
    losses = [found[NAME] for found in learn(nlp, examples, 0.01, n_passes=steps)]
    return nlp, examples, losses


@pytest.fixture(scope="module", params=["own", "shared"])
def case(request):
    """Each kind, trained a little, with its kind's name, examples and losses."""
    return request.param, *trained(request.param)


def fresh(nlp: Language, examples: list[Example]) -> list[Doc]:
    """The words and trees of examples, with nothing of an earlier pass."""
    docs = [unpunctuated(e.reference, e.reference) for e in examples]
    return [Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in docs]


def outcome(docs) -> list[tuple]:
    return [(doc._.restored_text, list(doc._.restored_slots)) for doc in docs]


def confidences(docs) -> np.ndarray:
    return np.concatenate([doc._.restored_confidence for doc in docs])


def test_lexical_losses_fall_and_scores_are_given(case):
    _, nlp, examples, losses = case
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.95 * losses[0]
    docs = nlp.pipe(fresh(nlp, examples))
    again = [Example(d, e.reference) for d, e in zip(docs, examples, strict=True)]
    scores = nlp.evaluate(again)
    restorer = nlp.get_pipe(NAME)
    found = restorer.examples(again)
    assert [e.slots for e in found] == [gold_slots(e.reference) for e in examples]
    expected = restorer.punctuation.perplexity(found)
    assert scores["punct_ppl"] == pytest.approx(expected)
    assert 1 < scores["punct_ppl"] < 5
    assert all(np.ptp(e.tree.vectors) > 0 for e in found)


def test_lexical_tok2vec_gets_the_gradient_of_the_loss(case):
    """Against central differences, from the restorer's loss to tok2vec's weights."""
    kind, nlp, examples, _ = case
    still = {"dropout": 0.0, "feature_dropout": 0.0}
    nlp = make_pipeline(kind, **still).from_bytes(nlp.to_bytes())
    batch = examples[:3]
    home = nlp.get_pipe("tok2vec" if kind.startswith("shared") else NAME).model
    rows = next(node for node in home.walk() if node.name == "hashembed")
    nlp.update(batch, sgd=False)
    gradient, table = rows.get_grad("E").copy(), rows.get_param("E").copy()
    size = np.linalg.norm(gradient)
    assert size > 0
    losses = []
    step = 0.002
    for sign in (1, -1):
        rows.set_param("E", table + sign * step * gradient / size)
        losses.append(nlp.update(batch, sgd=False)[NAME])
    assert (losses[0] - losses[1]) / (2 * step) == pytest.approx(size, rel=0.05)


def test_lexical_shared_tok2vec_gets_the_sum_of_all_gradients():
    nlp = make_pipeline("shared", dropout=0.0, feature_dropout=0.0)
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
    nlp.add_pipe("tagger", config={"model": tagger}, before=NAME)
    examples = list(create_corpus(SAMPLE / "dev.conllu", limit=4)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(2):
        nlp.update(examples, sgd=optimizer)
    tok2vec = nlp.get_pipe("tok2vec")
    rows = next(node for node in tok2vec.model.walk() if node.name == "hashembed")
    listeners = dict(tok2vec.listener_map)

    def gradient(*names: str) -> np.ndarray:
        tok2vec.listener_map = {name: listeners[name] for name in names}
        others = set(listeners) - set(names)
        # What the last step has left: spaCy's tok2vec uses it in the next one.
        rows.set_grad("E", np.zeros_like(rows.get_param("E")))
        nlp.update(examples, sgd=False, exclude=list(others))
        return rows.get_grad("E").copy()

    both, tagger, restorer = (
        gradient(*names) for names in (("tagger", NAME), ("tagger",), (NAME,))
    )
    assert np.abs(tagger).max() > 0.01 and np.abs(restorer).max() > 0.01
    assert both == pytest.approx(tagger + restorer, abs=1e-4)


def question_or_not(nlp: Language) -> list[Example]:
    """Sentences in which one word tells `?` from `.`; tags and trees are the same."""
    examples = []
    for first, mark in (("Maybe", "."), ("Does", "?"), ("Surely", "."), ("Can", "?")):
        for name in ("Anna", "Peter", "Maria"):
            for verb in ("sleep", "work"):
                reference = Doc(
                    nlp.vocab,
                    words=[first, name, verb],
                    pos=["X", "PROPN", "VERB"],
                    heads=[2, 2, 2],
                    deps=["dep", "nsubj", "ROOT"],
                )
                set_gold(reference, ((), (), (), (mark,)))
                examples.append(Example(unpunctuated(reference, reference), reference))
    return examples


@pytest.mark.parametrize("kind", ["own", "shared"])
def test_lexical_learns_what_only_words_tell(kind):
    nlp = make_pipeline(kind)
    examples = question_or_not(nlp)
    model = {"dropout": 0.1, "feature_dropout": 0.0}
    nlp, examples, _ = trained(kind, examples, steps=30, **model)
    scores = nlp.evaluate(examples)
    assert scores["punct_aed"] == 0.0
    assert scores["punct_ppl"] < 1.05
    plain = spacy.blank("en")
    add_log_linear(plain, n_samples=0)
    examples = question_or_not(plain)
    optimizer = plain.initialize(lambda: examples)
    for _ in range(10):
        plain.update(examples, sgd=optimizer)
    assert plain.evaluate(examples)["punct_aed"] > 0.1


def test_lexical_round_trips_and_goes_on_learning(case, tmp_path):
    kind, nlp, examples, losses = case
    expected = list(nlp.pipe(fresh(nlp, examples)))
    nlp.to_disk(tmp_path / "nlp")
    others = {
        "disk": spacy.load(tmp_path / "nlp"),
        "bytes": make_pipeline(kind).from_bytes(nlp.to_bytes()),
    }
    for how, other in others.items():
        found = list(other.pipe(fresh(other, examples)))
        assert outcome(found) == outcome(expected), how
        assert np.array_equal(confidences(found), confidences(expected)), how
    other = others["bytes"]
    optimizer = other.resume_training()
    optimizer.learn_rate = 0.01
    for _ in range(2):
        loss = other.update(examples, sgd=optimizer)[NAME]
    assert loss < losses[-1]


def test_lexical_compact_pipelines_are_small(case, tmp_path):
    kind, nlp, examples, _ = case
    other = make_pipeline(kind).from_bytes(nlp.to_bytes())
    size = len(other.get_pipe(NAME).to_bytes())
    other = create_compact(NAME, 0.001)(other)
    assert len(other.get_pipe(NAME).to_bytes()) < 0.8 * size
    before = confidences(other.pipe(fresh(other, examples)))
    stored = make_pipeline(kind).from_bytes(other.to_bytes())
    after = confidences(stored.pipe(fresh(stored, examples)))
    assert after == pytest.approx(before, abs=0.02)


def test_lexical_streams_are_calls(case):
    _, nlp, examples, _ = case
    alone = [nlp(doc) for doc in fresh(nlp, examples)]
    for size in (3, 100):
        docs = list(nlp.pipe(fresh(nlp, examples), batch_size=size))
        assert outcome(docs) == outcome(alone)
        assert confidences(docs) == pytest.approx(confidences(alone), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["shared"], indirect=True)
def test_lexical_two_processes(case):
    _, nlp, examples, _ = case
    alone = [nlp(doc) for doc in fresh(nlp, examples)]
    docs = nlp.pipe(fresh(nlp, examples), batch_size=4, n_process=2)
    for one, other in zip(alone, docs, strict=True):
        assert one._.restored_text == other._.restored_text


def test_lexical_listeners_can_be_replaced():
    nlp, examples, losses = trained("shared")
    before = list(nlp.pipe(fresh(nlp, examples)))
    nlp.replace_listeners("tok2vec", NAME, ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    after = list(nlp.pipe(fresh(nlp, examples)))
    assert outcome(after) == outcome(before)
    config = Config().from_bytes(nlp.config.to_bytes())
    other = load_model_from_config(config).from_bytes(nlp.to_bytes())
    assert outcome(other.pipe(fresh(other, examples))) == outcome(before)
    optimizer = nlp.resume_training()
    assert nlp.update(examples, sgd=optimizer)[NAME] < losses[0]


def test_lexical_docs_without_words(case):
    _, nlp, examples, losses = case
    blank = Doc(nlp.vocab, words=["\n", " "], deps=["dep"] * 2, heads=[0, 0])
    empty = Doc(nlp.vocab)
    assert nlp(empty.copy())._.restored_slots == [[]]
    assert nlp(blank.copy())._.restored_text == blank.text
    mixed = [empty, *fresh(nlp, examples[:2]), blank, empty]
    found = list(nlp.pipe([doc.copy() for doc in mixed]))
    expected = [nlp(doc.copy()) for doc in mixed]
    assert outcome(found) == outcome(expected)
    for doc in (empty, blank):
        reference = doc.copy()
        set_gold(reference, ((),))
        wordless = Example(doc.copy(), reference)
        nlp.update([wordless], sgd=False)
        loss = nlp.update([wordless, examples[0]], sgd=False)[NAME]
        assert 0 < loss < losses[0]
        assert "punct_ppl" in nlp.evaluate([wordless, examples[0]])


def test_lexical_distribution_of_a_sentence_is_that_of_its_doc(case):
    _, nlp, examples, _ = case
    restorer = nlp.get_pipe(NAME)
    references = [e.reference for e in examples[:3]]
    both = joined(references)
    doc = nlp(unpunctuated(both, both))
    truth = restorer.examples([Example(doc, both)])
    model = restorer.punctuation
    for sent, example in zip(doc.sents, truth, strict=True):
        slots = model.inventory.known(example.slots)
        expected = model.distribution(example.tree).log_prob(slots)
        found = restorer.distribution(sent).log_prob(slots)
        assert found == pytest.approx(expected, abs=1e-5)
    with pytest.raises(PunctError, match="P048"):
        restorer.distribution(doc)


def test_lexical_dropout_reaches_an_own_tok2vec():
    nlp, examples, _ = trained("own", steps=0, dropout=0.0, feature_dropout=0.0)

    def losses(drop: float) -> set[float]:
        return {nlp.update(examples, sgd=False, drop=drop)[NAME] for _ in range(3)}

    # Weights of the network start at zero: only what comes after a step shows.
    nlp.update(examples, sgd=nlp.create_optimizer())
    assert len(losses(0.0)) == 1
    assert len(losses(0.3)) == 3


def test_lexical_averages_are_used_and_taken_back():
    nlp, examples, _ = trained("own", steps=0)
    check_averages(nlp, NAME, examples)


def test_lexical_rates_are_of_their_parts():
    changed = {}
    for part in ("lexical_rate", "scorer_rate", "channel_rate"):
        rates = {"lexical_rate": 0.0, "scorer_rate": 0.0, "channel_rate": 0.0}
        nlp, examples, _ = trained("own", steps=0, **{**rates, part: 1.0})
        shim = nlp.get_pipe(NAME).model.shims[0]
        before = {name: w.detach().clone() for _, name, w in shim.weights()}
        optimizer = nlp.create_optimizer()
        optimizer.L2 = 0.0
        for _ in range(2):
            nlp.update(examples, sgd=optimizer)
        changed[part] = {p for p, n, w in shim.weights() if (w != before[n]).any()}
    assert changed == {
        "lexical_rate": {"lexical"},
        "scorer_rate": {"log_linear"},
        "channel_rate": {"channel"},
    }


@pytest.mark.parametrize("gold", [True, False])
def test_lexical_evaluation_of_whole_pipelines(case, gold):
    """Perplexity is on gold trees either way, with the vectors of the tok2vec."""
    kind, nlp, _, _ = case
    nlp = make_pipeline(kind).from_bytes(nlp.to_bytes())
    restorer = nlp.get_pipe(NAME)
    treebank = read_treebank(SAMPLE / "test.conllu")
    treebank = replace(treebank, examples=treebank.examples[:10])

    @Language.component("flat_trees")
    def flat_trees(doc: Doc) -> Doc:
        for token in doc:
            token.head, token.pos_ = doc[0], "NOUN"
            token.dep_ = "dep" if token.i else "ROOT"
        return doc

    nlp.add_pipe("flat_trees", before=NAME)
    found = evaluate_pipeline(nlp, restorer, treebank, gold=gold)
    nlp.remove_pipe("flat_trees")
    references = [make_doc(example, nlp.vocab) for example in treebank.examples]
    examples = [Example(unpunctuated(doc, doc), doc) for doc in references]
    expected = nlp.evaluate(examples)
    assert found["perplexity"] == pytest.approx(expected["punct_ppl"], rel=1e-4)
    if gold:
        assert found["aed"] == pytest.approx(expected["punct_aed"])
        assert "las" not in found
    else:
        assert found["las"] < found["uas"] < 0.5


def test_lexical_shared_tok2vec_with_tagger_and_parser(tmp_path):
    """All in one training run, the restorer on the trees of the parser so far."""
    config = Config().from_disk(REPOSITORY / "configs" / "sample.cfg")
    tok2vec = {**LISTENER, "width": 48}
    config["components"][NAME]["model"] = {
        "@architectures": "spacy_punct.LexicalAttach.v1",
        "tok2vec": tok2vec,
        "encoder_width": 8,
        "hidden_width": 16,
    }
    nlp = load_model_from_config(config)
    corpus = create_corpus(SAMPLE / "train.conllu", gold_trees=False, limit=24, join=3)
    examples = list(corpus(nlp))
    optimizer = nlp.initialize(lambda: examples)
    names = ["tok2vec", "morphologizer", "parser"]
    for _ in range(3):
        losses = nlp.update(examples, sgd=optimizer, annotates=names)
    assert set(losses) >= {*names, NAME}
    nlp.to_disk(tmp_path / "nlp")
    text = "if the rain stops anna will visit us"
    restored = spacy.load(tmp_path / "nlp")(text)
    assert restored._.restored_text == nlp(text)._.restored_text
