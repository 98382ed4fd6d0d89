"""Punctuation restoration on dependency trees."""

from spacy_punct.about import __version__
from spacy_punct.pipelines import load

__all__ = ["__version__", "load"]
