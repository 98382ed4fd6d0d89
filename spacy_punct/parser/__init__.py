"""The component `biaffine_parser`: tags and trees of the words of a text."""
