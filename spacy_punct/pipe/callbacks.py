"""Callbacks for the configs of trainings."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from spacy.language import Language
from thinc.api import NumpyOps, get_current_ops, set_current_ops

_WORTHWHILE = 0.9
"""The share of the usual time that numpy's matrix product may take to be chosen."""


class NumpyGemmOps(NumpyOps):
    """thinc's operations on the CPU, but with numpy's matrix product.

    What is written in Cython, as parsing without training is, keeps to blis. Models
    that were made with these operations are stored as any others.
    """

    name = "numpy_gemm"

    def gemm(
        self,
        x: Any,
        y: Any,
        out: Any = None,
        trans1: bool = False,
        trans2: bool = False,
    ) -> Any:
        """The product of two matrices.

        x, y (ndarray): The matrices.
        out (ndarray | None): Where to write the product.
        trans1, trans2 (bool): Whether to transpose the first and the second.
        RETURNS (ndarray): The product.
        """
        product = np.dot(x.T if trans1 else x, y.T if trans2 else y)
        if out is None:
            return product
        out[...] = product
        return out


def create_numpy_gemm() -> Callable[[type[Language]], type[Language]]:
    """For `[nlp.before_creation]`: faster training, `spacy_punct.numpy_gemm.v1`.

    On processors that thinc's blis does not know, numpy's matrix product is twice as
    fast: a few milliseconds of trying tell. Other operations, such as those of a GPU,
    are left alone. torch is given one thread: the arrays are too small for several to
    pay, and the order in which these add up would differ from run to run.

    RETURNS (Callable): Takes and gives the class of the pipeline.
    """

    def use_numpy_gemm(language: type[Language]) -> type[Language]:
        torch.set_num_threads(1)
        current, other = get_current_ops(), NumpyGemmOps()
        usual = type(current) is NumpyOps
        if usual and _seconds(other) < _WORTHWHILE * _seconds(current):
            set_current_ops(other)
        return language

    return use_numpy_gemm


def _seconds(ops: NumpyOps) -> float:
    """How long the product of a layer of a usual tok2vec and some words takes."""
    x, y = (np.ones(shape, dtype="float32") for shape in ((128, 384), (384, 384)))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        ops.gemm(x, y, trans2=True)
        times.append(time.perf_counter() - start)
    return min(times)


def create_compact(
    name: str = "punctuation_restorer", min_weight: float = 0.01
) -> Callable[[Language], Language]:
    """For `[training.before_to_disk]`: store small models, `spacy_punct.compact.v1`.

    Only what is stored is made smaller; training goes on with its own weights.

    name (str): The component.
    min_weight (float): Weights of ATTACH closer to zero than this are dropped and the
        others rounded to half precision.
    RETURNS (Callable): Takes and gives the pipeline.
    """

    def compact(nlp: Language) -> Language:
        pipe: Any = nlp.get_pipe(name)
        pipe.model.shims[0].min_weight = min_weight
        return nlp

    return compact
