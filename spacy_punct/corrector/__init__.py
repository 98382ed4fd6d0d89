"""The component `punctuation_corrector`."""
