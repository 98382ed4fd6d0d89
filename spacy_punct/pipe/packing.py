"""Sequences of different lengths for torch, without anything between them.

Thinc gives torch's RNNs its padding to read as well. The direction that reads from
the end comes by it first, so what it said of a text would depend on the texts that
are read together with it.
"""

from collections.abc import Callable
from typing import Any

import torch
from thinc.api import ArgsKwargs, Model, get_array_module, torch2xp, xp2torch
from thinc.types import Floats2d, Floats3d, Padded
from torch.nn.utils.rnn import PackedSequence


def pack(
    model: Model, padded: Padded, is_train: bool
) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], Padded]]:
    """Thinc's sequences as torch's, for `convert_inputs` of a wrapper of torch."""
    device = model.shims[0].device
    places = _places(padded)
    words = xp2torch(padded.data[places], requires_grad=is_train, device=device)
    sizes = torch.tensor(padded.size_at_t.tolist())

    def backprop(gradient: ArgsKwargs) -> Padded:
        packed = gradient.args[0]
        return _unpacked(torch2xp(packed[0]), places, padded)

    return ArgsKwargs((PackedSequence(words, sizes),), {}), backprop


def unpack(
    model: Model, both: tuple[Padded, Any], is_train: bool
) -> tuple[Padded, Callable[[Padded], ArgsKwargs]]:
    """What an RNN of torch says, for `convert_outputs` of a wrapper of torch."""
    device = model.shims[0].device
    padded, (packed, _) = both
    places = _places(padded)

    def backprop(gradient: Padded) -> ArgsKwargs:
        slope = xp2torch(gradient.data[places], device=device)
        return ArgsKwargs((packed.data,), {"grad_tensors": slope})

    return _unpacked(torch2xp(packed.data), places, padded), backprop


def _places(padded: Padded) -> Any:
    """(time, sequence): where there is something. Longer sequences come first."""
    xp = get_array_module(padded.data)
    return xp.arange(padded.data.shape[1]) < padded.size_at_t[:, None]


def _unpacked(rows: Floats2d, places: Any, like: Padded) -> Padded:
    """Rows at their places, and zeros elsewhere."""
    xp = get_array_module(rows)
    data: Floats3d = xp.zeros((*places.shape, rows.shape[1]), dtype=rows.dtype)
    data[places] = rows
    return Padded(data, like.size_at_t, like.lengths, like.indices)
