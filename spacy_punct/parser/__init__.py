"""The component `biaffine_parser`: tags and trees of words, whatever marks there are."""
