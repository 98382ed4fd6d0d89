"""The transformer that reads the words, as a spaCy `tok2vec`."""
