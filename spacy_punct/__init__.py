"""Punctuation restoration on dependency trees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spacy_punct.about import __version__

if TYPE_CHECKING:
    from spacy_punct.corrector.texts import correct
    from spacy_punct.draw.render import render
    from spacy_punct.pipe.bundled import load
    from spacy_punct.rephrasing.rephrase import rephrase
    from spacy_punct.restorer.live import live
    from spacy_punct.restorer.texts import restore, restore_words

__all__ = [
    "__version__",
    "correct",
    "live",
    "load",
    "render",
    "rephrase",
    "restore",
    "restore_words",
]

_LAZY = {
    "correct": "corrector.texts",
    "live": "restorer.live",
    "load": "pipe.bundled",
    "rephrase": "rephrasing.rephrase",
    "render": "draw.render",
    "restore": "restorer.texts",
    "restore_words": "restorer.texts",
}


def __getattr__(name: str) -> Any:
    # spaCy and torch take seconds to import, so only when they are wanted.
    if name in _LAZY:
        return getattr(import_module(f"spacy_punct.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
