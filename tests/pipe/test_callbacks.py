"""Operations to train with."""

import numpy as np
import pytest
from spacy_punct.pipe.ops import NumpyGemmOps, computing_with, quickest_ops
from thinc.api import NumpyOps, Ops, get_current_ops

from spacy_punct.pipe import ops


@pytest.mark.parametrize("trans1", [False, True])
@pytest.mark.parametrize("trans2", [False, True])
@pytest.mark.parametrize("target", ["none", "array", "rows", "columns", "float64"])
def test_ops_gemm_is_that_of_thinc(trans1, trans2, target):
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
def test_ops_the_quickest_are_chosen(monkeypatch, stock, chosen):
    seconds = {NumpyOps: stock, NumpyGemmOps: 1.0}
    monkeypatch.setattr(ops, "_seconds", lambda tried: seconds[type(tried)])
    assert type(quickest_ops()) is chosen


def test_ops_others_than_the_usual_ones_are_kept():
    class GraphicsOps(Ops):
        name = "graphics"

    before = get_current_ops()
    graphics = GraphicsOps()
    with computing_with(graphics):
        assert quickest_ops() is graphics
        assert ops.ops_named("graphics") is graphics
    assert get_current_ops() is before
    assert type(ops.ops_named("numpy_gemm")) is NumpyGemmOps


def test_ops_are_given_back_after_errors():
    before = get_current_ops()
    with pytest.raises(KeyboardInterrupt), computing_with(NumpyGemmOps()):
        raise KeyboardInterrupt
    assert get_current_ops() is before
