"""Words and slots -> written text: spacing, glyphs and casing, by language."""
