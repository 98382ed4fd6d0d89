"""Words and slots -> written text: spacing, glyphs and casing, by language."""

from spacy_punct.text.casing import Casing
from spacy_punct.text.glyphs import Quotes
from spacy_punct.text.spacing import Spacing
from spacy_punct.text.writer import Gap, Piece, Writer, joined

__all__ = ["Casing", "Gap", "Piece", "Quotes", "Spacing", "Writer", "joined"]
