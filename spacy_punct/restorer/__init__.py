"""The component `punctuation_restorer`."""
