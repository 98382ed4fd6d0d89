"""What the choice of operations is worth in training.

    python -m pytest tests/benchmarks/test_training_speed.py -s

prints the figures.
"""

import time

import pytest
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.util import load_config
from spacy_punct.pipe.ops import computing_with, quickest_ops
from thinc.api import Adam, NumpyOps, Ops

from spacy_punct.reading.examples import create_corpus
from tests.conftest import REPOSITORY, SAMPLE, SAMPLE_PATHS

pytestmark = pytest.mark.benchmark


def initialized(ops: Ops) -> Language:
    """The tagger and parser of configs/parser.cfg, in their real sizes."""
    config = load_config(
        REPOSITORY / "configs" / "parser.cfg",
        overrides={**SAMPLE_PATHS, "corpora.train.limit": 60},
    )
    with computing_with(ops):
        return init_nlp(config)


def words_per_second(nlp: Language, ops: Ops) -> float:
    corpus = create_corpus(SAMPLE / "train.conllu", gold_trees=False, limit=60)
    examples = list(corpus(nlp))
    optimizer = Adam(0.001)
    with computing_with(ops):
        start = time.perf_counter()
        nlp.update(examples, sgd=optimizer, drop=0.25)
        seconds = time.perf_counter() - start
    return sum(map(len, examples)) / seconds


def test_quickest_ops_train_no_slower_than_stock():
    every = {"stock": NumpyOps(), "quickest": quickest_ops()}
    pipelines = {name: initialized(ops) for name, ops in every.items()}
    speeds: dict[str, list[float]] = {name: [] for name in every}
    for _ in range(5):
        for name, ops in every.items():
            speeds[name].append(words_per_second(pipelines[name], ops))
    stock, quickest = (max(speeds[name]) for name in ("stock", "quickest"))
    chosen = type(every["quickest"]).__name__
    print(
        f"\ntraining, words/s: stock {stock:.0f}, {chosen} {quickest:.0f}: "
        f"{quickest / stock:.2f}"
    )
    assert quickest > 0.9 * stock
