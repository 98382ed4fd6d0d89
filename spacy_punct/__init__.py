"""Punctuation restoration on dependency trees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spacy_punct.about import __version__
from spacy_punct.pipelines import load

if TYPE_CHECKING:
    from spacy_punct.draw.render import render
    from spacy_punct.rephrasing.rephrase import rephrase

__all__ = ["__version__", "load", "render", "rephrase"]

_LAZY = {"render": "draw.render", "rephrase": "rephrasing.rephrase"}


def __getattr__(name: str) -> Any:
    # spaCy and torch take seconds to import, so only when they are wanted.
    if name in _LAZY:
        return getattr(import_module(f"spacy_punct.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
