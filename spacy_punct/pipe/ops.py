"""Matrix products for training on processors that thinc's blis does not know well.

There blis falls back to a slow kernel for any machine, and numpy's own library is
twice as fast.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from thinc.api import NumpyOps, Ops, get_current_ops, set_current_ops

_SHAPES = (128, 384), (384, 384)
"""A layer of a usual tok2vec, and some words."""

_ROUNDS = 5

_WORTHWHILE = 0.9
"""The share of the usual time that must not be exceeded by something unusual."""


class NumpyGemmOps(NumpyOps):
    """thinc's operations on the CPU, but with numpy's matrix product.

    What is written in Cython, as parsing without training is, keeps to blis. Models
    that were made with these operations are stored as any others.
    """

    name = "numpy_gemm"

    def gemm(
        self,
        x: np.ndarray,
        y: np.ndarray,
        out: np.ndarray | None = None,
        trans1: bool = False,
        trans2: bool = False,
    ) -> np.ndarray:
        """The product of two matrices.

        x, y (ndarray): The matrices.
        out (ndarray | None): Where to write the product.
        trans1, trans2 (bool): Whether to transpose the first and the second.
        RETURNS (ndarray): The product.
        """
        x = x.T if trans1 else x
        y = y.T if trans2 else y
        if out is None:
            return np.dot(x, y)
        if out.flags.c_contiguous and out.dtype == np.result_type(x, y):
            return np.dot(x, y, out=out)
        out[...] = np.dot(x, y)  # numpy does not write to such arrays by itself
        return out


def quickest_ops() -> Ops:
    """The operations to train with: a few milliseconds of trying tell.

    RETURNS (Ops): The current ones, if these are not thinc's usual ones for the CPU
        or not slow.
    """
    current = get_current_ops()
    if type(current) is not NumpyOps:
        return current
    other = NumpyGemmOps()
    return other if _seconds(other) < _WORTHWHILE * _seconds(current) else current


def ops_named(name: str) -> Ops:
    """The operations that have this name, as far as training may choose.

    name (str): The attribute `name` of some operations.
    RETURNS (Ops): Such operations; the current ones if the name is not known.
    """
    by_name: dict[str, type[Ops]] = {c.name: c for c in (NumpyOps, NumpyGemmOps)}
    return by_name[name]() if name in by_name else get_current_ops()


@contextmanager
def computing_with(ops: Ops) -> Iterator[None]:
    """Let new models have these operations, and torch a single thread, for a while.

    The arrays are too small for several threads to pay, and the order in which they
    add up would not be the same each time.

    ops (Ops): The operations.
    """
    before, threads = get_current_ops(), torch.get_num_threads()
    set_current_ops(ops)
    torch.set_num_threads(1)
    try:
        yield
    finally:
        set_current_ops(before)
        torch.set_num_threads(threads)


def _seconds(ops: Any) -> float:
    """How long a product takes."""
    x, y = (np.ones(shape, dtype="float32") for shape in _SHAPES)
    times = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        ops.gemm(x, y, trans2=True)
        times.append(time.perf_counter() - start)
    return min(times)
