import pytest

from scripts.baselines.networks import NetworkConfig
from scripts.baselines.tagger import Tagger, TaggerTraining, train_tagger
from scripts.training import Trained
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.treebank import read_treebank

SMALL = NetworkConfig(
    embedding_width=32,
    hidden_width=32,
    n_layers=1,
    slot_width=32,
    dropout=0.1,
    word_dropout=0.1,
)
FAST = TaggerTraining(learning_rate=0.02, batch_size=16, max_epochs=8, averaging=0.9)
"""Enough training for the sample."""


@pytest.fixture(scope="session")
def examples(sample) -> tuple[PunctuatedTree, ...]:
    return read_treebank(sample / "train.conllu").examples


@pytest.fixture(scope="session")
def dev(sample) -> tuple[PunctuatedTree, ...]:
    return read_treebank(sample / "dev.conllu").examples


@pytest.fixture(scope="session", params=["bilstm-crf", "bigru-attention"])
def result(request, examples, dev) -> Trained[Tagger]:
    return train_tagger(
        examples,
        dev,
        FAST,
        kind=request.param,
        network=SMALL,
        show_progress=False,
    )


@pytest.fixture(scope="session")
def tagger(result):
    return result.model
