"""Commands under `python -m spacy punct`, one module each."""

from spacy.cli._util import app

from spacy_punct.cli.analyze import analyze
from spacy_punct.cli.convert import convert
from spacy_punct.cli.correct import correct
from spacy_punct.cli.evaluate import evaluate
from spacy_punct.cli.evaluate_correction import evaluate_correction
from spacy_punct.cli.experiment import experiment
from spacy_punct.cli.fetch import fetch
from spacy_punct.cli.group import punct
from spacy_punct.cli.jackknife import jackknife
from spacy_punct.cli.render import render
from spacy_punct.cli.rephrase import rephrase
from spacy_punct.cli.restore import restore
from spacy_punct.cli.serve import serve
from spacy_punct.cli.train import train

app.add_typer(punct)

__all__ = [
    "analyze",
    "convert",
    "correct",
    "evaluate",
    "evaluate_correction",
    "experiment",
    "fetch",
    "jackknife",
    "punct",
    "render",
    "rephrase",
    "restore",
    "serve",
    "train",
]
