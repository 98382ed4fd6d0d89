"""The trained pipelines that come with the package, a folder each."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy_punct.errors import Errors, PunctError

if TYPE_CHECKING:  # spaCy takes seconds to import, and only `load` needs it
    from spacy.language import Language

FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """The names of the bundled pipelines: the codes of their languages."""
    return tuple(sorted(meta.parent.name for meta in FOLDER.glob("*/meta.json")))


def path_to(name: str = "en") -> Path:
    """Where a bundled pipeline is, for `spacy.load` or `source` in a config.

    name (str): One of `names()`.
    RETURNS (Path): Its folder.
    """
    if name not in names():
        there = ", ".join(names()) or "none"
        raise PunctError(Errors.P070.format(name=name, names=there))
    return FOLDER / name


def load(name: str = "en", **kwargs: Any) -> "Language":
    """Load a bundled pipeline.

    name (str): One of `names()`.
    kwargs: Passed on to `spacy.load`: exclude, disable, enable, config, vocab.
    RETURNS (Language): The pipeline, ready to use.
    """
    import spacy

    return spacy.load(path_to(name), **kwargs)
