"""Models as bytes: tables and arrays in msgpack, no pickle.

The tables hold the inventory, the settings and the checksum of the arrays.
"""

import zlib
from dataclasses import asdict
from typing import Any

import numpy as np
import srsly
import torch
from torch import nn

from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.attach import AttachScorer, LogLinearAttach
from spacy_punct.model.channel import ChannelWeights
from spacy_punct.model.features import FeatureRows, Observer
from spacy_punct.model.inventory import Backoff, Inventory
from spacy_punct.model.lexical import LexicalAttach, LexicalSettings
from spacy_punct.model.punctuation import PunctuationModel

FORMAT = 2


def to_bytes(model: PunctuationModel) -> bytes:
    """The whole model as bytes."""
    tables, weights = _dump(model)
    return srsly.msgpack_dumps({"tables": tables, "weights": weights})


def from_bytes(data: bytes, *, where: str = "<bytes>") -> PunctuationModel:
    """The model that `to_bytes` gave; `where` is how messages call its place."""
    try:
        content = srsly.msgpack_loads(data)
        tables, weights = content["tables"], content["weights"]
    except (ValueError, KeyError, TypeError) as error:
        raise PunctError(Errors.P031.format(path=where, reason=error)) from None
    return _load(tables, weights, where)


def _dump(model: PunctuationModel) -> tuple[dict[str, Any], bytes]:
    scorer, lexical = model.scorer, None
    if isinstance(scorer, LexicalAttach):
        lexical = asdict(scorer.settings)
        scorer = scorer.log_linear
    if not isinstance(scorer, LogLinearAttach):
        raise PunctError(Errors.P033.format(scorer=type(scorer).__name__))
    arrays: dict[str, Any] = {
        f"scorer.{name}": _packed(weights)
        for name, weights in model.scorer.state_dict().items()
    }
    arrays |= {
        f"channel.{name}": _packed(weights)
        for name, weights in model.channel_weights.state_dict().items()
    }
    for d, keys in enumerate(scorer.rows.keys):
        arrays[f"rows.{d}"] = keys.astype(np.int32)
    arrays["rows.shared"] = scorer.rows.shared_keys.astype(np.int32)
    weights = zlib.compress(srsly.msgpack_dumps(arrays), level=9)
    backoff, observed_pairs = model.inventory.backoff, scorer.observer.observed_pairs
    tables: dict[str, Any] = {
        "format": FORMAT,
        "checksum": zlib.crc32(weights),
        "direction": model.direction,
        "channel": model.channel_weights.kind,
        "lexical": lexical,
        "marks": model.inventory.marks,
        "tags": model.inventory.tags,
        "pairs": {
            relation: [[*pair, count] for pair, count in pairs.items()]
            for relation, pairs in model.inventory.pairs.items()
        },
        "backoff": {
            "mass": backoff.mass,
            "growth": backoff.growth,
            "unigram": backoff.unigram,
        },
    }
    if observed_pairs is not None:
        tables["observed_pairs"] = observed_pairs
    return tables, weights


def _load(tables: dict[str, Any], weights: bytes, where: str) -> PunctuationModel:
    found = tables.get("format") if isinstance(tables, dict) else None
    if found not in (None, FORMAT):
        raise PunctError(Errors.P032.format(path=where, found=found, expected=FORMAT))
    try:
        if zlib.crc32(weights) != tables["checksum"]:
            raise ValueError("the checksum of the weights does not match")
        arrays = srsly.msgpack_loads(zlib.decompress(weights))
        inventory = Inventory(
            marks=tuple(tables["marks"]),
            tags=tuple(tables["tags"]),
            pairs={
                relation: {(tuple(l), tuple(r)): n for l, r, n in pairs}
                for relation, pairs in tables["pairs"].items()
            },
            backoff=Backoff(
                tables["backoff"]["mass"],
                tables["backoff"]["growth"],
                tuple(tables["backoff"]["unigram"]),
            ),
        )
        keys = [
            arrays[f"rows.{d}"].astype(np.int64) for d in range(len(inventory.pairs))
        ]
        shared = arrays["rows.shared"].astype(np.int64)
        observed_pairs = tables.get("observed_pairs")
        if observed_pairs is not None:
            observed_pairs = [(tuple(l), tuple(r)) for l, r in observed_pairs]
        rows = FeatureRows(Observer(inventory, observed_pairs), keys, shared)
        scorer: AttachScorer = (log_linear := LogLinearAttach(inventory, rows))
        if tables["lexical"] is not None:
            scorer = LexicalAttach(log_linear, LexicalSettings(**tables["lexical"]))
        _fill(scorer, "scorer", arrays)
        channel = ChannelWeights(inventory.marks, tables["channel"])
        _fill(channel, "channel", arrays)
        return PunctuationModel(inventory, scorer, channel, tables["direction"])
    except Exception as error:  # a damaged file may fail in any way
        raise PunctError(Errors.P031.format(path=where, reason=error)) from None


def _packed(weights: torch.Tensor) -> dict[str, Any]:
    """An array without its zeros, in half precision if that loses nothing."""
    array = weights.numpy()
    values = array[array != 0]
    half = values.astype(np.float16)
    return {
        "shape": array.shape,
        "nonzero": np.packbits(array != 0),
        "values": half if (half == values).all() else values,
    }


def _unpacked(packed: dict[str, Any]) -> torch.Tensor:
    shape = tuple(packed["shape"])
    size = int(np.prod(shape))
    array = np.zeros(size, dtype=np.float32)
    array[np.unpackbits(packed["nonzero"], count=size).astype(bool)] = packed["values"]
    return torch.from_numpy(array.reshape(shape))


def _fill(module: nn.Module, prefix: str, arrays: dict[str, Any]) -> None:
    module.load_state_dict(
        {
            name.removeprefix(f"{prefix}."): _unpacked(packed)
            for name, packed in arrays.items()
            if name.startswith(f"{prefix}.")
        }
    )
