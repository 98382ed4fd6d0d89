"""All that a training depends on, so that it can go on as if it had not stopped.

Weights as they are, not averaged; the optimizer's moments, averages and counts; and
the states of everything random. It is one msgpack file without pickle.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import srsly
import torch
from spacy.language import Language
from thinc.api import Model, Optimizer, PyTorchShim

from spacy_punct.errors import Errors, PunctError
from spacy_punct.files import write_safely
from spacy_punct.pipe.shim import PunctuationShim

FORMAT = 1
_ARRAYS = ("mom1", "mom2", "averages")
"""What an optimizer keeps of each parameter."""


@dataclass
class Progress:
    """How far a training has come.

    step (int): The last step that is done; -1 before the first.
    epoch (int): The pass over the data it was in.
    words (int): How many have been seen.
    seconds (float): How long it took.
    results (list[tuple[float, int]]): The score and the step of each evaluation.
    weighed (list[str] | None): The scores that count, those that no evaluation has
        lacked; None before the first.
    performance (dict): What the pipeline's meta data says of the last evaluation.
    dev_passes (int): How often the development data was read.
    draws (dict[int, dict[str, bytes]]): Step -> random states before its batch was
        made, as far as making it changed them.
    """

    step: int = -1
    epoch: int = 0
    words: int = 0
    seconds: float = 0.0
    results: list[tuple[float, int]] = field(default_factory=list)
    weighed: list[str] | None = None
    performance: dict[str, Any] = field(default_factory=dict)
    dev_passes: int = 0
    draws: dict[int, dict[str, bytes]] = field(default_factory=dict)


@dataclass(frozen=True)
class Checkpoint:
    """A training at one of its evaluations.

    fingerprint (str): Tells trainings apart.
    ops (str): The name of the operations it computes with.
    progress (Progress): How far it has come.
    components (dict[str, bytes]): The components that learn.
    gradients (list[str]): The parameters that have had one; it is zero now.
    dropouts (dict[str, str]): States of the choice of features left out.
    optimizer (dict[str, dict | None]): Its numbers by parameter.
    generators (dict[str, bytes]): The states of the random number generators.
    """

    fingerprint: str
    ops: str
    progress: Progress
    components: dict[str, bytes]
    gradients: list[str]
    dropouts: dict[str, str]
    optimizer: dict[str, dict[str, Any] | None]
    generators: dict[str, bytes]


def take_checkpoint(
    nlp: Language,
    optimizer: Optimizer,
    progress: Progress,
    *,
    fingerprint: str,
    ops: str,
    frozen: Sequence[str] = (),
) -> Checkpoint:
    """What a training depends on now, between two updates.

    nlp (Language): The pipeline in training.
    optimizer (Optimizer): Its optimizer.
    progress (Progress): How far it has come.
    fingerprint, ops (str): See `Checkpoint`.
    frozen (Sequence[str]): The components that do not learn.
    RETURNS (Checkpoint): To be written before the next update.
    """
    components = {}
    for name, component in nlp.pipeline:
        if name not in frozen and hasattr(component, "to_bytes"):
            with _exactly_stored(component):
                components[name] = component.to_bytes()
    names = {key: name for name, key in _keys(nlp).items()}
    try:
        numbers: dict[str, dict[str, Any] | None] = {
            kind: None if found is None else {names[key]: found[key] for key in found}
            for kind in (*_ARRAYS, "nr_update")
            for found in [getattr(optimizer, kind)]
        }
    except KeyError as error:
        raise PunctError(Errors.P091.format(key=error)) from None
    gradients = [
        f"{owner}/{name}"
        for owner, node in _owners(nlp)
        for name in _names_of_gradients(node)
    ]
    dropouts = {
        owner: shim.log_linear.dropout_state
        for owner, shim in _owners(nlp)
        if isinstance(shim, PunctuationShim) and shim.log_linear is not None
    }
    return Checkpoint(
        fingerprint,
        ops,
        progress,
        components,
        gradients,
        dropouts,
        numbers,
        random_states(),
    )


def put_back(checkpoint: Checkpoint, nlp: Language, optimizer: Optimizer) -> None:
    """Let a pipeline and its optimizer be as they were.

    checkpoint (Checkpoint): What to return to.
    nlp (Language): The pipeline, initialized.
    optimizer (Optimizer): Its optimizer, whose schedules are not changed.
    """
    for name, data in checkpoint.components.items():
        nlp.get_pipe(name).from_bytes(data)
    nlp._link_components()  # a component may have built its model anew
    keys = _keys(nlp)
    for kind in _ARRAYS:
        found = checkpoint.optimizer[kind]
        if found is not None:
            arrays = {keys[name]: array.copy() for name, array in found.items()}
            setattr(optimizer, kind, arrays)
    for name, count in checkpoint.optimizer["nr_update"].items():
        optimizer.nr_update[keys[name]] = count
    owners = dict(_owners(nlp))
    for path in checkpoint.gradients:
        owner, _, name = path.rpartition("/")
        _set_zero_gradient(owners[owner], name)
    for owner, state in checkpoint.dropouts.items():
        owners[owner].log_linear.dropout_state = state
    nlp.meta["performance"] = checkpoint.progress.performance
    set_random_states(checkpoint.generators)


def write_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Write all of it or nothing."""
    content = {f.name: getattr(checkpoint, f.name) for f in fields(checkpoint)}
    content["progress"] = asdict(checkpoint.progress)
    write_safely(path, srsly.msgpack_dumps({"format": FORMAT, **content}))


def read_checkpoint(path: Path) -> Checkpoint | None:
    """Read what `write_checkpoint` wrote; None if there is no file."""
    if not path.exists():
        return None
    try:
        content = srsly.msgpack_loads(path.read_bytes())
        if (found := content.pop("format")) != FORMAT:
            raise ValueError(f"format {found}")
        progress = Progress(**content.pop("progress"))
        progress.results = [(score, step) for score, step in progress.results]
        return Checkpoint(progress=progress, **content)
    except Exception as error:  # a damaged file may fail in any way
        reason = f"{type(error).__name__}: {error}"
        message = Errors.P090.format(path=path, reason=reason)
        raise PunctError(message) from None


def random_states() -> dict[str, bytes]:
    """The states of the generators that spaCy, thinc and torch draw on."""
    # Everybody draws on numpy's global generator, so it is what counts.
    numpy_state = np.random.get_state(legacy=False)  # noqa: NPY002
    states = {
        "python": random.getstate(),
        "numpy": numpy_state,
        "torch": torch.get_rng_state().numpy(),
    }
    return {name: srsly.msgpack_dumps(state) for name, state in states.items()}


def set_random_states(states: Mapping[str, bytes]) -> None:
    """Put generators where `random_states` found them."""
    loaded = {name: srsly.msgpack_loads(state) for name, state in states.items()}
    if "python" in loaded:
        version, numbers, gauss = loaded["python"]
        random.setstate((version, tuple(numbers), gauss))
    if "numpy" in loaded:
        np.random.set_state(loaded["numpy"])  # noqa: NPY002
    if "torch" in loaded:
        torch.set_rng_state(torch.tensor(loaded["torch"]))


def _owners(nlp: Language) -> Iterator[tuple[str, Any]]:
    """Everything that has parameters, with a name that is the same in each process:
    the component, the place in its model and, of a shim, the place there."""
    for name, component in nlp.pipeline:
        model = getattr(component, "model", None)
        if isinstance(model, Model):
            for i, node in enumerate(model.walk()):
                yield f"{name}/{i}", node
                for j, shim in enumerate(node.shims):
                    yield f"{name}/{i}/{j}", shim


def _keys(nlp: Language) -> dict[str, tuple[int, str]]:
    """The name of each parameter -> its key in the optimizer."""
    return {
        f"{owner}/{name}": (found.id, name)
        for owner, found in _owners(nlp)
        for name in _names_of_parameters(found)
    }


def _names_of_parameters(owner: Any) -> list[str]:
    if isinstance(owner, Model):
        return list(owner.param_names)
    if isinstance(owner, PunctuationShim):
        return [name for _, name, _ in owner.weights()]
    if isinstance(owner, PyTorchShim):
        return [name for name, _ in owner._model.named_parameters()]
    return []


def _names_of_gradients(owner: Any) -> list[str]:
    """The parameters the optimizer changes even in steps that do not touch them."""
    if isinstance(owner, Model):
        return [name for name in owner.param_names if owner.has_grad(name)]
    if isinstance(owner, PyTorchShim):
        parameters = owner._model.named_parameters()
        return [name for name, weights in parameters if weights.grad is not None]
    return []


def _set_zero_gradient(owner: Any, name: str) -> None:
    if isinstance(owner, Model):
        owner.set_grad(name, owner.ops.xp.zeros_like(owner.get_param(name)))
    else:
        weights = owner._model.get_parameter(name)
        weights.grad = torch.zeros_like(weights)


@contextmanager
def _exactly_stored(component: Any) -> Iterator[None]:
    """Let nothing be rounded for a while."""
    model = getattr(component, "model", None)
    nodes = model.walk() if isinstance(model, Model) else ()
    shims = [s for n in nodes for s in n.shims if isinstance(s, PunctuationShim)]
    before = [shim.min_weight for shim in shims]
    for shim in shims:
        shim.min_weight = 0.0
    try:
        yield
    finally:
        for shim, min_weight in zip(shims, before, strict=True):
            shim.min_weight = min_weight
