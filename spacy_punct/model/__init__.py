"""The generative model of punctuation: scores -> exact inference -> answers."""
