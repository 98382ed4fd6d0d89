"""Taggers as folders: JSON tables and NumPy arrays, no pickle.

The JSON names the checksum of the weights, so that files of two taggers, or half of
one, are never taken for a tagger.
"""

import io
import json
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scripts.baselines.model import Tagger
from scripts.baselines.networks import NetworkConfig
from scripts.baselines.surfaces import Surfaces
from scripts.baselines.words import WordTable
from spacy_punct.errors import Errors, PunctError

FORMAT = 2
_TABLES, _WEIGHTS = "tagger.json", "weights.npz"


def to_disk(tagger: Tagger, path: str | Path) -> None:
    """Write a tagger to a folder, which may hold other files as well."""
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    weights = io.BytesIO()
    arrays = {k: w.numpy() for k, w in tagger.network.state_dict().items()}
    np.savez_compressed(weights, **arrays)
    surfaces = tagger.surfaces
    tables = {
        "format": FORMAT,
        "checksum": zlib.crc32(weights.getvalue()),
        "kind": tagger.kind,
        "reads_observed": tagger.reads_observed,
        "config": asdict(tagger.config),
        "words": tagger.words.values,
        "marks": surfaces.marks,
        "frequent": list(surfaces.frequent.items()),
        "rare": list(surfaces.rare.items()),
        "final": surfaces.final,
    }
    (path / _WEIGHTS).write_bytes(weights.getvalue())
    (path / _TABLES).write_text(json.dumps(tables, ensure_ascii=False), "utf-8")


def from_disk(path: str | Path) -> Tagger:
    """Read a tagger from a folder that `to_disk` wrote."""
    path = Path(path)
    try:
        tables = json.loads((path / _TABLES).read_text("utf-8"))
        if tables["format"] != FORMAT:
            raise ValueError(f"format {tables['format']}, not {FORMAT}")
        weights = (path / _WEIGHTS).read_bytes()
        if zlib.crc32(weights) != tables["checksum"]:
            raise ValueError("the checksum of the weights does not match")
        return _load(tables, weights)
    except Exception as error:  # a damaged file may fail in any way
        raise PunctError(Errors.P081.format(path=path, reason=error)) from None


def _load(tables: dict[str, Any], weights: bytes) -> Tagger:
    surfaces = Surfaces(
        tables["marks"],
        {tuple(string): n for string, n in tables["frequent"]},
        {tuple(string): n for string, n in tables["rare"]},
        tuple(tables["final"]),
    )
    words = WordTable(tuple(map(tuple, tables["words"])))
    tagger = Tagger(
        surfaces,
        words,
        tables["kind"],
        NetworkConfig(**tables["config"]),
        # Taggers of before there were correctors do not say.
        reads_observed=tables.get("reads_observed", False),
    )
    with np.load(io.BytesIO(weights), allow_pickle=False) as arrays:
        tagger.network.load_state_dict(
            {name: torch.from_numpy(arrays[name]) for name in arrays.files}
        )
    return tagger
