"""Punctuation restoration on dependency trees."""

from typing import TYPE_CHECKING, Any

from spacy_punct.about import __version__
from spacy_punct.pipelines import load

if TYPE_CHECKING:
    from spacy_punct.apps.rendering import render

__all__ = ["__version__", "load", "render"]


def __getattr__(name: str) -> Any:
    """`render` brings spaCy and more along, so it is imported when it is asked for."""
    if name == "render":
        from spacy_punct.apps.rendering import render

        return render
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
