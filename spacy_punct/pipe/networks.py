"""Networks of torch inside models of thinc, stored without pickle."""

from typing import Any

import numpy as np
import srsly
import torch
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
