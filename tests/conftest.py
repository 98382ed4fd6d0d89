"""Where tests find data: the sample always, the treebanks where they are."""

import os
from pathlib import Path

import pytest

from spacy_punct.data.treebank import read_treebank
from spacy_punct.model.training import TrainingConfig, TrainingResult, train

REPOSITORY = Path(__file__).parents[1]
SAMPLE = REPOSITORY / "assets" / "sample"
TREEBANKS = Path(
    os.environ.get("SPACY_PUNCT_TREEBANKS", REPOSITORY.parent / "shared" / "ud")
)


@pytest.fixture(scope="session")
def sample() -> Path:
    """The folder of the project's own sample treebank."""
    return SAMPLE


@pytest.fixture(scope="session")
def treebanks() -> Path:
    """The folder of the UD treebanks."""
    if not TREEBANKS.is_dir():
        pytest.skip(f"no treebanks at {TREEBANKS}; set SPACY_PUNCT_TREEBANKS")
    return TREEBANKS


FAST = TrainingConfig(
    direction="right-to-left", learning_rate=0.02, max_epochs=4, batch_size=16
)
"""Enough training for the sample."""


@pytest.fixture(scope="session")
def trained(sample) -> TrainingResult:
    """A model trained on the sample."""
    examples = read_treebank(sample / "train.conllu").examples
    dev = read_treebank(sample / "dev.conllu").examples
    return train(examples, dev, FAST, show_progress=False)
