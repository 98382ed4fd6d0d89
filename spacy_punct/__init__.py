"""Punctuation restoration on dependency trees."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spacy_punct.about import __version__
from spacy_punct.pipelines import load

if TYPE_CHECKING:
    from spacy_punct.apps.rendering import render
    from spacy_punct.apps.rephrasing import rephrase

__all__ = ["__version__", "load", "render", "rephrase"]

_APPS = {"render": "rendering", "rephrase": "rephrasing"}


def __getattr__(name: str) -> Any:
    # spaCy and torch take seconds to import, so only when they are wanted.
    if name in _APPS:
        return getattr(import_module(f"spacy_punct.apps.{_APPS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
