"""Callbacks of configs."""

import numpy as np
import pytest
import torch
from spacy.lang.en import English
from thinc.api import NumpyOps, Ops, get_current_ops, set_current_ops

from spacy_punct.pipe import callbacks
from spacy_punct.pipe.callbacks import NumpyGemmOps, create_numpy_gemm


@pytest.fixture
def before():
    """The operations, which are put back in the end."""
    ops, threads = get_current_ops(), torch.get_num_threads()
    set_current_ops(NumpyOps())
    yield get_current_ops()
    set_current_ops(ops)
    torch.set_num_threads(threads)


@pytest.mark.parametrize("trans1", [False, True])
@pytest.mark.parametrize("trans2", [False, True])
@pytest.mark.parametrize("target", ["none", "array", "rows", "columns", "float64"])
def test_gemm_is_that_of_thinc(trans1, trans2, target):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5, 3) if trans1 else (3, 5)).astype("float32")
    y = rng.normal(size=(4, 5) if trans2 else (5, 4)).astype("float32")
    out = {
        "none": None,
        "array": np.empty((3, 4), "float32"),
        "rows": np.empty((4, 4), "float32")[1:],
        "columns": np.empty((3, 8), "float32")[:, ::2],
        "float64": np.empty((3, 4), "float64"),
    }[target]
    expected = NumpyOps().gemm(x, y, trans1=trans1, trans2=trans2)
    found = NumpyGemmOps().gemm(x, y, out=out, trans1=trans1, trans2=trans2)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    if out is None:
        assert found.dtype == expected.dtype
    else:
        assert found is out


@pytest.mark.parametrize(("stock", "chosen"), [(2.0, NumpyGemmOps), (1.0, NumpyOps)])
def test_gemm_of_numpy_is_chosen_where_it_is_quicker(
    monkeypatch, before, stock, chosen
):
    seconds = {NumpyOps: stock, NumpyGemmOps: 1.0}
    monkeypatch.setattr(callbacks, "_seconds", lambda tried: seconds[type(tried)])
    torch.set_num_threads(2)
    assert create_numpy_gemm()(English) is English
    assert type(get_current_ops()) is chosen
    assert torch.get_num_threads() == 1


def test_gemm_of_a_gpu_is_kept(before):
    class GraphicsOps(Ops):
        name = "graphics"

    graphics = GraphicsOps()
    set_current_ops(graphics)
    create_numpy_gemm()(English)
    assert get_current_ops() is graphics
