"""Networks of torch inside models of thinc, stored without pickle."""

from collections.abc import Callable
from typing import Any

import numpy as np
import srsly
import torch
from spacy.tokens import Doc
from thinc.api import Model, PyTorchShim
from torch import nn


def network_shim(kind: type[nn.Module]) -> PyTorchShim:
    """What holds a network, None until there are labels.

    kind (type): Its class, whose arguments are its attribute `sizes`.
    RETURNS (PyTorchShim): It stores the sizes, and the weights in half precision.
    """

    def loaded(network: Any, data: bytes, device: Any = None) -> nn.Module | None:
        if not data:
            return None
        stored = srsly.msgpack_loads(data)
        found = kind(**stored["sizes"])
        found.load_state_dict(
            {
                name: torch.from_numpy(array.astype(np.float32))
                for name, array in stored["weights"].items()
            }
        )
        return found

    return PyTorchShim(None, serialize_model=_packed, deserialize_model=loaded)


def _packed(network: Any) -> bytes:
    if network is None:
        return b""
    weights = {
        name: array.numpy().astype(np.float16)
        for name, array in network.state_dict().items()
    }
    return srsly.msgpack_dumps({"sizes": network.sizes, "weights": weights})


def network_of(model: Model) -> Any:
    """The network of a model, None until it has labels."""
    return model.shims[0]._model


def set_network(model: Model, network: nn.Module) -> None:
    """Give a model a network."""
    model.shims[0]._model = network


def word_vectors(
    tok2vec: Model, docs: list[Doc], is_train: bool
) -> tuple[list[torch.Tensor], Callable[..., list[Doc]]]:
    """The vectors of the words of Docs, and how to hand on their gradient.

    tok2vec (Model): Gives the vectors. It may be on a GPU; the tensors are not.
    docs (list[Doc]): The Docs.
    is_train (bool): Whether the tensors are to have gradients.
    RETURNS (tuple[list[torch.Tensor], Callable]): The vectors, and what hands their
        gradients on, times its argument.
    """
    rows, backprop = tok2vec(docs, is_train)
    vectors = [
        torch.tensor(tok2vec.ops.to_numpy(array), requires_grad=is_train)
        for array in rows
    ]

    def backprop_vectors(scale: float = 1.0) -> list[Doc]:
        gradients = [torch.zeros_like(v) if v.grad is None else v.grad for v in vectors]
        arrays: list[Any] = [(scale * gradient).numpy() for gradient in gradients]
        return backprop([tok2vec.ops.asarray2f(array) for array in arrays])

    return vectors, backprop_vectors
