"""A punctuation model in the hands of thinc: trained, averaged and stored by it."""

import contextlib
import copy
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from thinc.api import Optimizer
from thinc.shims.shim import Shim

from spacy_punct.model.attach import LogLinearAttach
from spacy_punct.model.lexical import LexicalAttach
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.model.storage import from_bytes, to_bytes


class PunctuationShim(Shim):
    """Holds a `PunctuationModel`, None until its inventory is known.

    Unlike thinc's own shim for torch it stores without pickle, lets parts of the
    model learn at different rates, and knows the optimizer's averaged weights.

    rates (Mapping[str, float]): "log_linear", "lexical" and "channel" -> factor on
        the learning rate.
    min_weight (float): If positive, ATTACH is stored without weights closer to zero
        than this and the others in half precision.
    """

    def __init__(self, rates: Mapping[str, float]) -> None:
        super().__init__(None, config={"rates": dict(rates)})
        self._stale = False
        self.min_weight = 0.0

    @property
    def model(self) -> PunctuationModel | None:
        """The model, with all that is derived from its weights up to date."""
        if self._stale and self._model is not None:
            self._model.refresh()
        self._stale = False
        return self._model

    @model.setter
    def model(self, model: PunctuationModel | None) -> None:
        self._model = model

    @property
    def log_linear(self) -> LogLinearAttach | None:
        """The scorer, or the log-linear part of it."""
        scorer = None if self._model is None else self._model.scorer
        return scorer.log_linear if isinstance(scorer, LexicalAttach) else scorer

    def weights(self) -> Iterator[tuple[str, str, torch.nn.Parameter]]:
        """The part, the name and the values of each trainable array."""
        if self._model is None:
            return
        scorer, channel = self._model.scorer, self._model.channel_weights
        theirs = set(self.log_linear.parameters())
        for name, weights in scorer.named_parameters():
            part = "log_linear" if weights in theirs else "lexical"
            yield part, f"scorer.{name}", weights
        for name, weights in channel.named_parameters():
            yield "channel", f"channel.{name}", weights

    def finish_update(self, optimizer: Optimizer) -> None:
        for part, name, weights in self.weights():
            if weights.grad is None:
                continue
            values, _ = optimizer(
                (self.id, name),
                weights.data.numpy(),
                weights.grad.numpy(),
                lr_scale=self.cfg["rates"][part],
            )
            # Copied: arrays and tensors that share memory would keep those of all
            # earlier steps alive.
            weights.data.copy_(torch.from_numpy(values).view_as(weights))
            weights.grad = None
        self._stale = True

    @contextlib.contextmanager
    def use_params(self, params: Mapping[Any, Any]) -> Iterator[None]:
        """Let the weights be others for a while, such as the optimizer's averages."""
        own = {
            name: (weights, weights.data)
            for _, name, weights in self.weights()
            if (self.id, name) in params
        }
        for name, (weights, _) in own.items():
            # A copy: what happens to the weights must not happen to the averages.
            other = torch.tensor(params[self.id, name])
            weights.data = other.view_as(weights)
        self._stale = True
        try:
            yield
        finally:
            for weights, values in own.values():
                weights.data = values
            self._stale = True

    def to_device(self, device_type: str, device_id: int) -> None:
        """Everything stays on the CPU: the arrays are too small for anything else."""

    def to_bytes(self) -> bytes:
        if self._model is None:
            return b""
        if not self.min_weight:
            return to_bytes(self._model)
        compacted = copy.deepcopy(self._model)
        compacted.scorer.compact(self.min_weight)
        return to_bytes(compacted)

    def from_bytes(self, data: bytes) -> "PunctuationShim":
        self._model = from_bytes(data) if data else None
        return self
