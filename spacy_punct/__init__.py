"""Punctuation restoration on dependency trees."""

from spacy_punct.about import __version__

__all__ = ["__version__"]
