"""Where tests find data: the sample always, the treebanks where they are."""

import os
from pathlib import Path

import pytest

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
