"""Commands in the process of the tests, with pipelines that are loaded once."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
from spacy.language import Language
from typer.testing import CliRunner, Result

from spacy_punct.cli import punct, shared

Invoke = Callable[..., Result]

_LOADED: dict[tuple[str, ...], tuple[Language, dict, list[str]]] = {}


@pytest.fixture
def invoke(monkeypatch) -> Invoke:
    """Runs a command: `invoke("restore", "-m", path, stdin="a text")`."""
    load = shared.loaded

    def loaded(model: str, *, exclude: list[str] = ()) -> Language:
        if not Path(model).is_absolute():
            return load(model, exclude=exclude)
        key = (model, *exclude)
        if key not in _LOADED:
            nlp = load(model, exclude=exclude)
            settings = {name: getattr(pipe, "cfg", {}) for name, pipe in nlp.components}
            _LOADED[key] = nlp, deepcopy(settings), list(nlp.disabled)
        nlp, settings, disabled = _LOADED[key]
        for name, pipe in nlp.components:
            if hasattr(pipe, "cfg"):
                pipe.cfg = deepcopy(settings[name])
            nlp.enable_pipe(name)
        for name in disabled:
            nlp.disable_pipe(name)
        return nlp

    def run(*args: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(punct, [str(arg) for arg in args], input=stdin)

    monkeypatch.setattr(shared, "loaded", loaded)
    return run
