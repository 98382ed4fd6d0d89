"""Commands under `python -m spacy punct`, one module each."""

from spacy.cli._util import app

from spacy_punct.cli.convert import convert
from spacy_punct.cli.correct import correct
from spacy_punct.cli.evaluate import evaluate
from spacy_punct.cli.group import punct
from spacy_punct.cli.jackknife import jackknife
from spacy_punct.cli.render import render
from spacy_punct.cli.rephrase import rephrase
from spacy_punct.cli.restore import restore
from spacy_punct.cli.serve import serve

app.add_typer(punct)

__all__ = [
    "convert",
    "correct",
    "evaluate",
    "jackknife",
    "punct",
    "render",
    "rephrase",
    "restore",
    "serve",
]
