"""Training that can be interrupted: where it stands, as a file without pickle."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import srsly
import torch

from scripts.averaging import RunningAverage, copy_weights
from scripts.baselines.networks import NetworkConfig
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.files import write_safely

FORMAT = 1


def fingerprint(
    examples: Sequence[PunctuatedTree],
    dev: Sequence[PunctuatedTree],
    kind: str,
    network: NetworkConfig,
    training: dict[str, Any],
) -> str:
    """A name of all that decides what training gives.

    Of examples that change from epoch to epoch, those of the first stand for all. The
    version of torch is part of it, since another one may round differently.
    """
    settings = [FORMAT, torch.__version__, kind, asdict(network), training]
    found = hashlib.blake2b(srsly.json_dumps(settings).encode("utf8"))
    for data in (examples, dev):
        found.update(f"{len(data)}\n".encode())
        for example in data:
            tree = example.tree
            content = [tree.words, tree.observed, example.slots]
            found.update(srsly.json_dumps(content).encode("utf8"))
    return found.hexdigest()


class Progress:
    """Where training stands, between two epochs.

    weights (Sequence[Tensor]): The weights that are trained.
    optimizer (torch.optim.Optimizer): What trains them.
    average (RunningAverage): Their average.
    rng (np.random.Generator): Puts batches together.
    """

    def __init__(
        self,
        weights: Sequence[torch.Tensor],
        optimizer: torch.optim.Optimizer,
        average: RunningAverage,
        rng: np.random.Generator,
    ) -> None:
        self.weights = weights
        self.optimizer = optimizer
        self.average = average
        self.rng = rng
        self.step = 0
        self.history: list[float] = []
        self.best_weights = average.copy()

    @property
    def best(self) -> float:
        """The best dev perplexity."""
        return min(self.history, default=float("inf"))

    @property
    def since_best(self) -> int:
        """Epochs without improvement."""
        if not self.history:
            return 0
        return len(self.history) - 1 - self.history.index(self.best)

    def add(self, perplexity: float) -> None:
        """Note an epoch's dev perplexity, and the average if it is the best yet."""
        if perplexity < self.best:
            self.best_weights = self.average.copy()
        self.history.append(perplexity)

    def to_disk(self, path: Path, name: str) -> None:
        """Write a checkpoint, all of it or none.

        path (Path): The file.
        name (str): The fingerprint of the data and settings.
        """
        moments = self.optimizer.state_dict()["state"]
        content = {
            "name": name,
            "step": self.step,
            "history": self.history,
            "weights": _arrays(self.weights),
            "average": _arrays(self.average.copy()),
            "best_weights": _arrays(self.best_weights),
            "moments": [
                {key: value.numpy() for key, value in moments[k].items()}
                for k in range(len(self.weights))
            ],
            "torch_rng": torch.random.get_rng_state().numpy(),
            # Its numbers have 128 bits.
            "rng": json.dumps(self.rng.bit_generator.state),
        }
        write_safely(path, srsly.msgpack_dumps(content))

    def from_disk(self, path: Path, name: str) -> None:
        """Go on from a checkpoint, if there is one of the same data and settings."""
        content = _read(path)
        if content.get("name") != name:
            return
        self.step, self.history = content["step"], list(content["history"])
        copy_weights(_tensors(content["weights"]), self.weights)
        self.average.set(_tensors(content["average"]))
        self.best_weights = _tensors(content["best_weights"])
        moments = [
            {key: torch.tensor(value) for key, value in state.items()}
            for state in content["moments"]
        ]
        self.optimizer.load_state_dict(
            {**self.optimizer.state_dict(), "state": dict(enumerate(moments))}
        )
        torch.random.set_rng_state(torch.tensor(content["torch_rng"]))
        self.rng.bit_generator.state = json.loads(content["rng"])


def _read(path: Path) -> dict[str, Any]:
    """What a checkpoint holds; nothing if the file is none."""
    try:
        content = srsly.read_msgpack(path)
    except Exception:  # a damaged file may fail in any way
        return {}
    return content if isinstance(content, dict) else {}


def _arrays(tensors: Sequence[torch.Tensor]) -> list[np.ndarray]:
    return [tensor.detach().numpy() for tensor in tensors]


def _tensors(arrays: Sequence[np.ndarray]) -> list[torch.Tensor]:
    return [torch.tensor(array) for array in arrays]
