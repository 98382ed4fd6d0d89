"""Punctuation restoration on dependency trees."""

from typing import TYPE_CHECKING, Any

from spacy_punct.about import __version__
from spacy_punct.pipelines import load

if TYPE_CHECKING:
    from spacy_punct.apps.rephrasing import rephrase

__all__ = ["__version__", "load", "rephrase"]


def __getattr__(name: str) -> Any:
    # spaCy and torch take seconds to import, so only when they are wanted.
    if name == "rephrase":
        from spacy_punct.apps.rephrasing import rephrase

        return rephrase
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
