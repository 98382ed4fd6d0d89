"""A BERT of one layer, written as an ONNX file by hand."""

import io
import tarfile

import numpy as np
import pytest

from scripts.encoder import start
from spacy_punct.encoder.wordpieces import WordPieces

WIDTH, WIDE = 4, 8
SHAPES = {
    "embeddings.word_embeddings.weight": (5, WIDTH),
    "embeddings.position_embeddings.weight": (6, WIDTH),
    "embeddings.token_type_embeddings.weight": (2, WIDTH),
    **{
        f"encoder.layer.0.attention.self.{part}.bias": (WIDTH,)
        for part in ("query", "key", "value")
    },
    "encoder.layer.0.attention.output.dense.bias": (WIDTH,),
    "encoder.layer.0.intermediate.dense.bias": (WIDE,),
    "encoder.layer.0.output.dense.bias": (WIDTH,),
    **{
        f"{where}LayerNorm.{kind}": (WIDTH,)
        for where in (
            "embeddings.",
            "encoder.layer.0.attention.output.",
            "encoder.layer.0.output.",
        )
        for kind in ("weight", "bias")
    },
}
LINEAR = {
    "/encoder/layer.0/attention/self/query": (WIDTH, WIDTH),
    "/encoder/layer.0/attention/self/key": (WIDTH, WIDTH),
    "/encoder/layer.0/attention/self/value": (WIDTH, WIDTH),
    "/encoder/layer.0/attention/output/dense": (WIDTH, WIDTH),
    "/encoder/layer.0/intermediate/dense": (WIDE, WIDTH),
    "/encoder/layer.0/output/dense": (WIDTH, WIDE),
}
VOCABULARY = ["[UNK]", "[CLS]", "[SEP]", "a", "b"]


def integer(value: int) -> bytes:
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


def message(*fields: tuple[int, int | bytes]) -> bytes:
    found = b""
    for number, value in fields:
        if isinstance(value, int):
            found += integer(number << 3) + integer(value)
        else:
            found += integer(number << 3 | 2) + integer(len(value)) + value
    return found


def tensor(name: str, array: np.ndarray) -> bytes:
    sizes = [(1, size) for size in array.shape]
    return message(*sizes, (2, 1), (8, name.encode()), (9, array.tobytes()))


def write_model(weights: dict[str, np.ndarray]) -> bytes:
    parts: list[tuple[int, bytes]] = []
    for i, layer in enumerate(LINEAR):
        name = f"onnx::MatMul_{i}"
        inputs = [(1, b"x"), (1, name.encode())]
        operation = (3, f"{layer}/MatMul".encode()), (4, b"MatMul")
        parts += [
            (5, tensor(name, weights[layer].T)),
            (1, message(*inputs, *operation)),
        ]
    parts += [(5, tensor(name, weights[name])) for name in SHAPES]
    whole_numbers = message((1, 1), (2, 7), (8, b"axes"), (9, bytes(8)))
    return message((1, 7), (7, message(*parts, (5, whole_numbers))))


def write_package(model: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as package:
        for name, data in (
            ("onnx/model.onnx", model),
            ("vocab.txt", "\n".join([*VOCABULARY, ""]).encode()),
        ):
            info = tarfile.TarInfo(f"package/dist/Xenova/gte-small/{name}")
            info.size = len(data)
            package.addfile(info, io.BytesIO(data))
    return file.getvalue()


@pytest.fixture
def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        name: rng.normal(size=shape).astype(np.float32)
        for name, shape in {**SHAPES, **LINEAR}.items()
    }


def test_weights_get_our_names(weights, tmp_path):
    np.savez(
        tmp_path / "start.npz",
        **start.read_package(write_package(write_model(weights))),
    )
    with np.load(tmp_path / "start.npz") as found:
        arrays = dict(found)
    assert arrays["vocabulary"].tolist() == VOCABULARY
    layer = "/encoder/layer.0"
    qkv = [weights[f"{layer}/attention/self/{x}"] for x in ("query", "key", "value")]
    assert (arrays["layers.0.qkv.weight"] == np.concatenate(qkv)).all()
    assert (
        arrays["layers.0.wide.weight"] == weights[f"{layer}/intermediate/dense"]
    ).all()
    assert (arrays["layers.0.narrow.weight"] == weights[f"{layer}/output/dense"]).all()
    norm = weights["encoder.layer.0.attention.output.LayerNorm.bias"]
    assert (arrays["layers.0.mix_norm.bias"] == norm).all()
    positions = weights["embeddings.position_embeddings.weight"]
    first_type = weights["embeddings.token_type_embeddings.weight"][0]
    assert (arrays["positions.weight"] == positions + first_type).all()


def test_start_is_read_back(weights, tmp_path, monkeypatch):
    arrays = start.read_package(write_package(write_model(weights)))
    np.savez(tmp_path / "start.npz", **arrays)
    from_arrays = start.from_arrays
    monkeypatch.setattr(start, "from_arrays", lambda a, v: from_arrays(a, v, n_heads=2))
    transformer, pieces = start.load(tmp_path / "start.npz")
    assert isinstance(pieces, WordPieces) and list(pieces.vocabulary) == VOCABULARY
    assert transformer.sizes.n_layers == 1
    assert transformer.sizes.hidden_width == WIDE
    assert (transformer.shapes.weight == 0).all()


def test_another_package_is_refused(invoke, tmp_path):
    (tmp_path / "other.tgz").write_bytes(b"other")
    options = ("--package", tmp_path / "other.tgz")
    result = invoke(start.main, tmp_path / "start.npz", *options)
    assert result.exit_code == 1
    assert "checksum" in result.output
    assert not (tmp_path / "start.npz").exists()
