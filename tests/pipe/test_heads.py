"""`spacy_punct.WordHead.v1`: what is read, gradients, marks."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Model

from spacy_punct.pipe.heads import build_word_head

WIDTH = 4
nlp = spacy.blank("en")


def fixed_vectors(rows):
    """A tok2vec that gives what it is told, and remembers its gradients."""
    seen = []

    def forward(model, docs, is_train):
        def backprop(gradients):
            seen[:] = gradients
            return docs

        return [rows[doc.text] for doc in docs], backprop

    return Model("fixed", forward, dims={"nO": WIDTH}), seen


def made(texts, *, neighbour, end=False):
    random = np.random.default_rng(0)
    docs = [nlp(text) for text in texts]
    rows = {d.text: random.normal(size=(len(d), WIDTH)).astype("f") for d in docs}
    tok2vec, seen = fixed_vectors(rows)
    model = build_word_head(
        tok2vec, nO=3, hidden_width=5, neighbour=neighbour, end=end, dropout=0.0
    )
    model.initialize()
    output = model.get_ref("output_layer")
    output.set_param("W", random.normal(size=(3, 5)).astype("f"))
    return model, docs, rows, seen


@pytest.mark.parametrize(
    ("neighbour", "end"), [(False, False), (True, False), (True, True)]
)
def test_head_gradients_are_right(neighbour, end):
    texts = ["Tom, who slept, left", "yes", ""]
    model, docs, rows, seen = made(texts, neighbour=neighbour, end=end)
    random = np.random.default_rng(1)
    found, backprop = model.begin_update(docs)
    assert [len(f) - len(d) for f, d in zip(found, docs, strict=True)] == [end] * 3
    slopes = [random.normal(size=f.shape).astype("f") for f in found]
    for doc, slope in zip(docs, slopes, strict=True):
        # What is said of marks means nothing.
        slope[[t.i for t in doc if t.is_punct]] = 0
    # Softmax takes the gradient of its cross entropy: of the scores before it.
    backprop(slopes)

    def total():
        softmax = model.get_ref("softmax")
        softmax.attrs["softmax_normalize"] = False
        scores = model.predict(docs)
        softmax.attrs["softmax_normalize"] = True
        return sum((s * f).sum() for s, f in zip(slopes, scores, strict=True))

    for doc, gradient in zip(docs, seen, strict=True):
        assert gradient.shape == rows[doc.text].shape
        for place in np.ndindex(*gradient.shape):
            own, step = rows[doc.text], 1e-2
            own[place] += step
            more = total()
            own[place] -= 2 * step
            less = total()
            own[place] += step
            assert gradient[place] == pytest.approx((more - less) / 2 / step, abs=2e-2)


def test_head_of_a_slot_reads_the_word_before_not_the_mark():
    model, docs, rows, _ = made(["Tom , slept", "Tom slept"], neighbour=True)
    rows["Tom slept"][:] = rows["Tom , slept"][[0, 2]]
    marked, bare = model.predict(docs)
    assert marked[[0, 2]] == pytest.approx(bare, abs=1e-6)


def test_head_finds_its_size_in_data():
    tok2vec, _ = fixed_vectors({"a b": np.zeros((2, WIDTH), dtype="f")})
    model = build_word_head(tok2vec, neighbour=True)
    doc = Doc(nlp.vocab, words=["a", "b"], spaces=[True, False])
    model.initialize(X=[doc], Y=[np.zeros((2, 7), dtype="f")])
    assert model.get_dim("nO") == 7
    assert model.predict([doc])[0].shape == (2, 7)
