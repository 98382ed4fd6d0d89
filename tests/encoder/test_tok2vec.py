import os

import numpy as np
import pytest
import spacy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.vocab import Vocab
from thinc.api import Adam, Config, fix_random_seed

from spacy_punct.encoder import tok2vec
from spacy_punct.encoder.tok2vec import at_most_threads, build_encoder, set_weights
from spacy_punct.encoder.wordpieces import WordPieces
from spacy_punct.errors import PunctError
from spacy_punct.reading.sentences import WORDS_ONLY, readable
from tests.conftest import SAMPLE
from tests.encoder.small import (
    LISTENER,
    VOCABULARY,
    WIDTH,
    small_encoder,
    small_pipeline,
    small_transformer,
)

SENTENCES = [
    "I saw the dog. It was late.",
    "He came home. She went away.",
    "We sing. They dance.",
]


def doc_of(*words):
    return Doc(Vocab(), words=list(words))


def module(model):
    return model.shims[0]._model


def senter_examples(nlp):
    examples = []
    for text in SENTENCES:
        doc = nlp.make_doc(text.lower().replace(".", ""))
        starts = [
            i == 0 or doc[i].text in ("it", "she", "they") for i in range(len(doc))
        ]
        reference = doc.copy()
        for token, start in zip(reference, starts, strict=True):
            token.is_sent_start = start
        examples.append(Example(doc, reference))
    return examples


def with_senter():
    """An encoder and a component that listens to it."""
    nlp = small_pipeline()
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
    nlp.add_pipe("senter", config={"model": tagger})
    fix_random_seed(0)
    examples = senter_examples(nlp)
    with nlp.select_pipes(disable=["tok2vec"]):
        nlp.initialize(lambda: examples)
    return nlp, examples


def test_a_text_of_one_window_is_read_as_a_whole():
    model = small_encoder()
    doc = doc_of("Baba", "a", "ISN'T", "ba")
    (found,) = model.predict([doc])
    encoder = module(model)
    tokens = [encoder.pieces(token.text) for token in doc]
    ids = [2, *(i for token in tokens for i in token.ids), 3]
    shapes = [0, *(token.shape for token in tokens for _ in token.ids), 0]
    batch = torch.tensor([ids]), torch.tensor([shapes]), torch.ones(1, len(ids)) > 0
    with torch.no_grad():
        (rows,) = encoder.transformer.eval()(*batch)
    firsts = np.cumsum([1, *(len(token.ids) for token in tokens)])[:-1]
    assert_allclose(found, rows[firsts].numpy(), atol=1e-5)


def test_what_is_read_together_does_not_matter():
    model = small_encoder(batch_pieces=300)
    docs = [doc_of(*["baba", "a"] * n) for n in (1, 200, 0, 7)]
    together = model.predict(docs)
    for doc, rows in zip(docs, together, strict=True):
        assert rows.shape == (len(doc), WIDTH)
        assert_allclose(model.predict([doc])[0], rows, atol=1e-5)


def test_words_of_a_long_text_are_read_with_their_neighbours():
    model = small_encoder()
    words = ["baba", "a", "c", "dx"] * 100
    (rows,) = model.predict([doc_of(*words)])
    for i in range(0, len(words), 7):
        changed = list(words)
        near = min(i + 1, len(words) - 2)
        changed[near] = "q"
        (others,) = model.predict([doc_of(*changed)])
        assert abs(rows[i] - others[i]).max() > 1e-4


def test_gradients_reach_the_transformer():
    model = small_encoder()
    docs = [doc_of("baba", "a", "I"), doc_of(*["a"] * 130)]
    rows, backprop = model.begin_update(docs)
    rng = np.random.default_rng(0)
    slopes = [rng.normal(size=r.shape).astype("f") for r in rows]
    assert backprop(slopes) == []
    weights = module(model).transformer.layers[1].wide.bias

    def loss():
        found = model.predict(docs)
        return sum(float((a * b).sum()) for a, b in zip(found, slopes, strict=True))

    step = 1e-2
    with torch.no_grad():
        weights[3] += step
        above = loss()
        weights[3] -= 2 * step
        below = loss()
    numeric = (above - below) / (2 * step)
    assert float(weights.grad[3]) == pytest.approx(numeric, rel=0.02, abs=1e-3)


def test_encoder_learns_through_listeners_unless_frozen():
    nlp, examples = with_senter()
    transformer = module(nlp.get_pipe("tok2vec").model).transformer

    def weights():
        return {n: w.detach().clone() for n, w in transformer.named_parameters()}

    first = weights()
    optimizer = Adam(0.01)
    kinds = {"exclude": ["tok2vec"], "annotates": ["tok2vec"]}
    losses = [nlp.update(examples, sgd=optimizer, **kinds) for _ in range(3)]
    assert losses[-1]["senter"] < losses[0]["senter"]
    assert all(torch.equal(first[name], w) for name, w in weights().items())
    for _ in range(2):
        nlp.update(examples, sgd=optimizer)
    changed = {name for name, w in weights().items() if not torch.equal(first[name], w)}
    assert changed == set(first) - {"pieces.weight"}


CONFIG = f"""
[nlp]
lang = "en"
pipeline = ["tok2vec", "senter"]

[components]

[components.tok2vec]
source = "SOURCE"

[components.senter]
factory = "senter"

[components.senter.model]
@architectures = "spacy.Tagger.v2"

[components.senter.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = {WIDTH}

[corpora]

[corpora.train]
@readers = "spacy_punct.Corpus.v1"
path = "{SAMPLE / "dev.conllu"}"
limit = 12
gold_trees = false
sentences = false

[corpora.dev]
@readers = "spacy_punct.Corpus.v1"
path = "{SAMPLE / "dev.conllu"}"
limit = 4
gold_trees = false
sentences = false

[training]
max_steps = 3
eval_frequency = 3
frozen_components = []
annotating_components = []
"""


@pytest.mark.parametrize("frozen", [True, False])
def test_encoder_in_spacy_train(tmp_path, frozen):
    source = tmp_path / "source"
    small_pipeline().to_disk(source)
    config = Config().from_str(CONFIG)
    config["components"]["tok2vec"]["source"] = str(source)
    if frozen:
        config["training"]["frozen_components"] = ["tok2vec"]
        config["training"]["annotating_components"] = ["tok2vec"]
    config = spacy.blank("en").config.merge(config)
    with open(os.devnull, "w") as quiet:
        train(init_nlp(config), tmp_path, stdout=quiet, stderr=quiet)
    before = (source / "tok2vec" / "model").read_bytes()
    after = (tmp_path / "model-last" / "tok2vec" / "model").read_bytes()
    assert (before == after) == frozen


def test_encoder_in_a_pipeline_survives_bytes_and_disk(tmp_path):
    nlp, _ = with_senter()
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    texts = ["I'm a baba", "", "it was late " * 40]
    first = list(loaded.pipe(texts))
    for doc, other in zip(first, nlp.pipe(texts), strict=True):
        assert_allclose(doc.tensor, other.tensor, atol=0.2)
    copy = with_senter()[0].from_bytes(loaded.to_bytes())
    loaded.to_disk(tmp_path / "copy")
    files = [p / "tok2vec" / "model" for p in (tmp_path, tmp_path / "copy")]
    assert files[0].read_bytes() == files[1].read_bytes()
    again = copy.pipe(texts, batch_size=1, n_process=2)
    for doc, other in zip(first, again, strict=True):
        assert_allclose(doc.tensor, other.tensor, atol=1e-5)
        assert [t.is_sent_start for t in doc] == [t.is_sent_start for t in other]


def test_settings_come_from_the_config_not_from_the_weights(tmp_path):
    small_pipeline().to_disk(tmp_path)
    changes = {"components.tok2vec.model.window": 112}
    nlp = spacy.load(tmp_path, config=changes)
    assert module(nlp.get_pipe("tok2vec").model).settings.window == 112
    nlp.to_disk(tmp_path / "copy")
    files = [p / "tok2vec" / "model" for p in (tmp_path, tmp_path / "copy")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_encoder_in_bfloat16_reads_nearly_the_same():
    doc = doc_of(*["baba", "a", "It's"] * 40)
    (full,), (half,) = (
        small_encoder(precision=p).predict([doc]) for p in ("float32", "bfloat16")
    )
    assert half.dtype == np.float32
    assert not np.array_equal(full, half)
    lengths = np.linalg.norm(full, axis=1) * np.linalg.norm(half, axis=1)
    assert ((full * half).sum(axis=1) / lengths).min() > 0.999


def test_encoder_uses_bfloat16_if_the_processor_has_it(monkeypatch):
    doc = doc_of("baba", "a")
    rows = {}
    for has in (True, False):
        monkeypatch.setattr(tok2vec, "has_bfloat16", lambda has=has: has)
        (rows[has],) = small_encoder(precision="auto").predict([doc])
    (full,) = small_encoder(precision="float32").predict([doc])
    assert np.array_equal(rows[False], full)
    assert not np.array_equal(rows[True], full)


def test_threads_are_given_back():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with at_most_threads(2):
            assert torch.get_num_threads() == 2
            with at_most_threads(5):
                assert torch.get_num_threads() == 2
        assert torch.get_num_threads() == 3
        used = []
        model = small_encoder()
        module(model).register_forward_hook(
            lambda *_: used.append(torch.get_num_threads())
        )
        model.predict([doc_of("a")])
        assert used == [1]
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_encoder_without_weights_says_where_to_get_them():
    with pytest.raises(PunctError, match="P170"):
        build_encoder().predict([doc_of("a")])


@pytest.mark.parametrize(
    "changes, name",
    [
        ({"margin": 40}, "margin"),
        ({"window": 20, "margin": 0}, "window"),
        ({"threads": 0}, "threads"),
    ],
)
def test_settings_are_checked(changes, name):
    with pytest.raises(PunctError, match=f"P024.*{name}"):
        small_encoder(**changes)


@pytest.mark.parametrize("changes", [{"width": 8}, {"window": 129}])
def test_weights_must_fit_the_settings(changes):
    model = build_encoder(**{"width": WIDTH, "window": 96, "margin": 8, **changes})
    with pytest.raises(PunctError, match=f"P172.*{next(iter(changes))}"):
        set_weights(model, small_transformer(), WordPieces(VOCABULARY))


@settings(max_examples=8)
@given(st.lists(st.text(min_size=1), min_size=1, max_size=20))
def test_any_text_can_be_read(words):
    words = [word for word in words if not word.isspace()] or ["a"]
    (rows,) = small_encoder().predict([doc_of(*words)])
    assert rows.shape == (len(words), WIDTH)
    assert np.isfinite(rows).all()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Tom , who slept , left .", "Tom who slept left"),
        ("“Really?” he (Tom) asked…", "Really he Tom asked"),
        ("a well-known, long-term plan -", "a well - known long - term plan"),
        ("It's 5:30 p.m. in the U.S., no?", "It 's 5:30 p.m. in the U.S. no"),
        ("the students' books", "the students ' books"),
        (" \n . ! ", ""),
    ],
)
def test_marks_are_not_read(text, read):
    nlp = spacy.blank("en")
    doc = nlp(text)
    places = readable(doc)
    assert [doc[i].text for i in places] == read.split()
    bare = Doc(nlp.vocab, words=[doc[i].text for i in places])
    bare.user_data[WORDS_ONLY] = True
    with_marks, without = small_encoder().predict([doc, bare])
    assert with_marks[places] == pytest.approx(without, abs=1e-5)
    assert not with_marks[[i for i in range(len(doc)) if i not in places]].any()
