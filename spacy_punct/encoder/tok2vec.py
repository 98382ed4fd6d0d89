"""`spacy_punct.Encoder.v1`: a transformer as the `tok2vec` of a pipeline."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model, PyTorchShim, torch2xp, xp2torch
from thinc.types import Floats2d
from torch import Tensor, nn

from spacy_punct.encoder.batches import AROUND, Batch, batches
from spacy_punct.encoder.storage import from_bytes, to_bytes
from spacy_punct.encoder.transformer import Transformer
from spacy_punct.encoder.wordpieces import MAX_PIECES, WordPieces
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.reading.sentences import readable

Precision = Literal["auto", "float32", "bfloat16"]


@dataclass(frozen=True)
class EncoderSettings:
    """See `build_encoder`. They belong to the config, not to the weights."""

    width: int
    window: int
    margin: int
    batch_pieces: int
    precision: Precision
    threads: int

    def __post_init__(self) -> None:
        check_range("width", self.width, 1)
        check_range("window", self.window, AROUND + 2 * MAX_PIECES)
        most = (self.window - AROUND) // 2 - MAX_PIECES
        check_range("margin", self.margin, 0, most, inclusive=True)
        check_range("batch_pieces", self.batch_pieces, 1)
        check_range("threads", self.threads, 1)


class Encoder(nn.Module):
    """Batches of windows -> a vector for each token: that of its first piece.

    settings (EncoderSettings): The settings.
    """

    def __init__(self, settings: EncoderSettings) -> None:
        super().__init__()
        self.settings = settings
        self.transformer: Transformer | None = None
        self.pieces: WordPieces | None = None

    def fill(self, transformer: Transformer, pieces: WordPieces) -> None:
        """Give it its weights and its vocabulary."""
        sizes, settings = transformer.sizes, self.settings
        if sizes.width != settings.width:
            raise PunctError(
                Errors.P172.format(
                    name="width", value=settings.width, needed=sizes.width
                )
            )
        if sizes.n_positions < settings.window:
            needed = f"at most {sizes.n_positions}"
            raise PunctError(
                Errors.P172.format(name="window", value=settings.window, needed=needed)
            )
        self.transformer, self.pieces = transformer, pieces

    def forward(self, found: Sequence[Batch], n_tokens: int) -> Tensor:
        """Read windows.

        found (Sequence[Batch]): Batches that have each token once.
        n_tokens (int): How many tokens these are.
        RETURNS (Tensor): (token, width).
        """
        assert self.transformer is not None
        device = self.transformer.positions.weight.device
        rows = []
        with torch.autocast(device.type, torch.bfloat16, self._in_halves()):
            for batch in found:
                ids, shapes, is_piece, firsts, _ = (
                    torch.from_numpy(array).to(device) for array in batch
                )
                read = self.transformer(ids, shapes, is_piece)
                rows.append(read.flatten(0, 1)[firsts].float())
        order = np.empty(n_tokens, dtype=np.int64)
        order[np.concatenate([batch.tokens for batch in found])] = np.arange(n_tokens)
        return torch.cat(rows)[torch.from_numpy(order).to(device)]

    def _in_halves(self) -> bool:
        """Whether to read in bfloat16. Training needs more precision."""
        precision = self.settings.precision
        wanted = precision == "bfloat16" or (precision == "auto" and has_bfloat16())
        return wanted and not self.training


def build_encoder(
    width: int = 384,
    window: int = 192,
    margin: int = 32,
    batch_pieces: int = 1024,
    precision: Precision = "auto",
    threads: int = 1,
) -> Model[list[Doc], list[Floats2d]]:
    """A pretrained transformer that reads the words of Docs.

    Registered as `spacy_punct.Encoder.v1`. Weights and vocabulary come with the
    pipeline that has them; there is no training from nothing. Marks are not read, so
    that a text with them is read as it is without: their vectors are zeros.

    width (int): The length of the vectors.
    window (int): The most word pieces that are read together.
    margin (int): The least context, in pieces, of each token inside a longer text.
    batch_pieces (int): About how many pieces are read at once.
    precision (Precision): The arithmetic of reading: "float32", "bfloat16" or "auto",
        bfloat16 if the processor has instructions for it. Training is in float32.
    threads (int): The most threads that torch uses. More than one are slow beside
        other work.
    RETURNS (Model): A tok2vec.
    """
    settings = EncoderSettings(width, window, margin, batch_pieces, precision, threads)
    shim = PyTorchShim(
        Encoder(settings), serialize_model=_packed, deserialize_model=_unpacked
    )
    return Model("encoder", forward, dims={"nO": width}, shims=[shim])


def set_weights(model: Model, transformer: Transformer, pieces: WordPieces) -> None:
    """Give an encoder, or a tok2vec with one inside, its weights and vocabulary."""
    for node in model.walk():
        if node.name == "encoder":
            _encoder(node).fill(transformer, pieces)


def get_weights(model: Model) -> tuple[Transformer, WordPieces]:
    """The weights and the vocabulary of an encoder."""
    encoder = _encoder(model)
    if encoder.transformer is None or encoder.pieces is None:
        raise PunctError(Errors.P170)
    return encoder.transformer, encoder.pieces


def forward(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list]]:
    """Read Docs; the gradient goes to the transformer and ends there."""
    encoder = _encoder(model)
    if encoder.pieces is None:
        raise PunctError(Errors.P170)
    places = [readable(doc) for doc in docs]
    texts = [
        [doc[i].text for i in found] for doc, found in zip(docs, places, strict=True)
    ]
    width = model.get_dim("nO")
    rows = [model.ops.alloc2f(len(doc), width) for doc in docs]
    n_tokens = sum(map(len, texts))
    if not n_tokens:
        return rows, lambda _: []
    settings = encoder.settings
    windows = batches(
        texts,
        encoder.pieces,
        window=settings.window,
        margin=settings.margin,
        batch_pieces=settings.batch_pieces,
    )
    inputs = ArgsKwargs((list(windows), n_tokens), {})
    with at_most_threads(settings.threads):
        vectors, backprop = model.shims[0](inputs, is_train)
    read: Any = torch2xp(vectors.detach())
    end = 0
    for row, found in zip(rows, places, strict=True):
        row[found] = read[end : end + len(found)]
        end += len(found)

    def backprop_docs(gradients: list[Floats2d]) -> list:
        own = [d[found] for d, found in zip(gradients, places, strict=True)]
        slope = xp2torch(model.ops.xp.concatenate(own), device=vectors.device)
        with at_most_threads(settings.threads):
            backprop(ArgsKwargs(((vectors,),), {"grad_tensors": (slope,)}))
        return []

    return rows, backprop_docs


def _encoder(model: Model) -> Encoder:
    return cast(PyTorchShim, model.shims[0])._model


def _packed(encoder: Encoder) -> bytes:
    if encoder.transformer is None or encoder.pieces is None:
        return b""
    return to_bytes(encoder.transformer, encoder.pieces)


def _unpacked(encoder: Encoder, data: bytes, device: torch.device) -> Encoder:
    if data:
        encoder.fill(*from_bytes(data))
    return encoder.to(device)


@cache
def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 by itself; elsewhere it is slower."""
    try:
        flags = set(Path("/proc/cpuinfo").read_text("utf-8").split())
    except OSError:
        return False
    return bool(flags & {"avx512_bf16", "amx_bf16", "bf16"})


# The threads of a parent are gone in its child, which would wait for them for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


@contextmanager
def at_most_threads(n: int) -> Iterator[None]:
    """Let torch use no more than so many threads for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(min(n, before))
    try:
        yield
    finally:
        torch.set_num_threads(before)
