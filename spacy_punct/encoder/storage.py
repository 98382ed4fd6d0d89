"""A transformer and its vocabulary as bytes: int8 with a scale per row, no pickle.

Packing what was unpacked gives the same bytes: a scale has so few digits that 127
times it is exact, so the largest weight of a row gives the same scale again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import srsly
import torch

from spacy_punct.encoder.transformer import Transformer, TransformerSizes
from spacy_punct.encoder.wordpieces import N_SHAPES, WordPieces
from spacy_punct.errors import Errors, PunctError

_FORMAT = "spacy_punct encoder 1"
_LEVELS = 127
_DIGITS = 2.0**12
"""The mantissa of a scale is a multiple of one over this."""


def to_bytes(transformer: Transformer, pieces: WordPieces) -> bytes:
    """Pack a transformer: matrices as int8, vectors as they are."""
    weights = {
        name: _packed(tensor.detach().cpu().numpy())
        for name, tensor in transformer.state_dict().items()
    }
    data = {
        "format": _FORMAT,
        "sizes": asdict(transformer.sizes),
        "vocabulary": "\n".join(pieces.vocabulary),
        "weights": weights,
    }
    return srsly.msgpack_dumps(data)


def from_bytes(data: bytes) -> tuple[Transformer, WordPieces]:
    """Unpack what `to_bytes` gave."""
    try:
        found: Any = srsly.msgpack_loads(data)
        if found["format"] != _FORMAT:
            raise ValueError(f"format {found['format']!r}")
        sizes = TransformerSizes(**found["sizes"])
        arrays = {name: _unpacked(a) for name, a in found["weights"].items()}
        return _filled(sizes, arrays), WordPieces(found["vocabulary"].split("\n"))
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise PunctError(Errors.P171.format(reason=error)) from error


def from_arrays(
    arrays: Mapping[str, np.ndarray], vocabulary: Sequence[str], n_heads: int = 12
) -> tuple[Transformer, WordPieces]:
    """A transformer of weights that come from elsewhere, which tell its sizes.

    arrays (Mapping[str, np.ndarray]): The weights by their names in `Transformer`.
        Those of the shapes may be missing: then they are zero.
    vocabulary (Sequence[str]): The pieces by their number.
    n_heads (int): How many heads its attention has.
    RETURNS (tuple[Transformer, WordPieces]): What `set_weights` takes.
    """
    try:
        n_pieces, width = arrays["pieces.weight"].shape
        sizes = TransformerSizes(
            n_layers=sum(name.endswith(".qkv.bias") for name in arrays),
            width=width,
            hidden_width=len(arrays["layers.0.wide.bias"]),
            n_heads=n_heads,
            n_pieces=n_pieces,
            n_positions=len(arrays["positions.weight"]),
        )
        none = np.zeros((N_SHAPES, width), dtype=np.float32)
        transformer = _filled(sizes, {"shapes.weight": none, **arrays})
    except (KeyError, ValueError, RuntimeError) as error:
        raise PunctError(Errors.P171.format(reason=error)) from error
    return transformer, WordPieces(vocabulary)


def _filled(sizes: TransformerSizes, arrays: Mapping[str, np.ndarray]) -> Transformer:
    transformer = Transformer(sizes)
    transformer.load_state_dict({n: torch.from_numpy(a) for n, a in arrays.items()})
    return transformer


def _packed(values: np.ndarray) -> dict[str, Any]:
    if values.ndim < 2:
        return {"values": values.astype("<f4").tobytes(), "shape": list(values.shape)}
    scales = _scales(values)
    levels = np.rint(values / scales[:, None]).astype(np.int8)
    return {
        "values": levels.tobytes(),
        "shape": list(values.shape),
        "scales": scales.astype("<f4").tobytes(),
    }


def _scales(rows: np.ndarray) -> np.ndarray:
    """What a step of each row is worth; 1 for rows of zeros."""
    mantissa, exponent = np.frexp(np.abs(rows).max(axis=1) / np.float32(_LEVELS))
    scales = np.ldexp(np.ceil(mantissa * _DIGITS) / _DIGITS, exponent)
    return np.where(scales > 0, scales, 1.0).astype(np.float32)


def _unpacked(packed: dict[str, Any]) -> np.ndarray:
    shape = tuple(packed["shape"])
    if "scales" not in packed:
        return np.frombuffer(packed["values"], dtype="<f4").reshape(shape).copy()
    levels = np.frombuffer(packed["values"], dtype=np.int8).reshape(shape)
    scales = np.frombuffer(packed["scales"], dtype="<f4")
    return levels * scales[:, None]
