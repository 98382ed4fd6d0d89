"""The BiLSTM over texts of different lengths."""

import numpy as np
import pytest
import torch
from thinc.api import Model

from spacy_punct.pipe.architectures import build_bilstm

WIDTH = 3


@pytest.fixture
def bilstm() -> Model:
    """Reads arrays as they are."""
    torch.manual_seed(0)
    same = Model(
        "same", lambda model, X, is_train: (X, lambda dX: dX), dims={"nO": WIDTH}
    )
    return build_bilstm(same, width=4, depth=2)


def texts(*lengths: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=(n, WIDTH)).astype("f") for n in lengths]


def test_bilstm_reads_a_text_alike_in_any_company(bilstm):
    batch = texts(2, 9, 0, 1, 5)
    together = bilstm.predict(batch)
    for text, found in zip(batch, together, strict=True):
        assert found.shape == (len(text), 4)
        if len(text):
            (alone,) = bilstm.predict([text])
            assert found == pytest.approx(alone, abs=1e-6)


def test_bilstm_is_torchs(bilstm):
    (lstm,) = (node.shims[0]._model for node in bilstm.walk() if node.shims)
    for text, found in zip(texts(4, 7), bilstm.predict(texts(4, 7)), strict=True):
        expected, _ = lstm(torch.tensor(text))
        assert found == pytest.approx(expected.detach().numpy(), abs=1e-6)


def test_bilstm_gradient_is_numerically_right(bilstm):
    batch, slopes = texts(2, 5, 0, 1), texts(2, 5, 0, 1)
    slopes = [np.pad(slope, ((0, 0), (0, 1)), constant_values=0.5) for slope in slopes]

    def loss() -> float:
        found = bilstm.predict(batch)
        return sum(float((y * d).sum()) for y, d in zip(found, slopes, strict=True))

    found, backprop = bilstm.begin_update(batch)
    assert [y.shape for y in found] == [d.shape for d in slopes]
    gradients = backprop([slope.copy() for slope in slopes])
    for text, gradient in zip(batch, gradients, strict=True):
        assert gradient.shape == text.shape
        for place in np.ndindex(text.shape):
            value = text[place]
            text[place] = value + 0.01
            above = loss()
            text[place] = value - 0.01
            below = loss()
            text[place] = value
            assert gradient[place] == pytest.approx((above - below) / 0.02, abs=1e-3)
