"""Experiments: parsers, restorers and baselines, trained, measured and compared."""
