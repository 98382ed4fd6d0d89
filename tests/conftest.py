"""Where tests find data: the sample always, the treebanks where they are."""

import os
import pickle
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as train_pipeline
from spacy.util import load_config
from spacy.vectors import Vectors
from thinc.api import Adam, fix_random_seed, get_current_ops, set_current_ops

from scripts.log_linear import TrainingConfig, train
from scripts.training import Trained
from spacy_punct.data.corruption import RATES
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.treebank import read_treebank
from spacy_punct.model.punctuation import PunctuationModel
from spacy_punct.pipe import bundled as pipelines
from spacy_punct.reading.examples import create_corpus, create_correction_corpus

# The same examples in every run; `--hypothesis-profile thorough` looks for others.
hypothesis.settings.register_profile(
    "quick", max_examples=30, deadline=None, derandomize=True
)
hypothesis.settings.register_profile("thorough", max_examples=500, deadline=None)
hypothesis.settings.load_profile("quick")

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
    direction="right-to-left", learning_rate=0.03, max_epochs=4, batch_size=10
)
"""Enough training for a part of the sample."""
SIZES = {"train": 250, "dev": 40, "test": 80}


@pytest.fixture(scope="session")
def splits(sample) -> list[tuple[PunctuatedTree, ...]]:
    """A part of the sample to train on, one for dev, one for test."""
    return [
        read_treebank(sample / f"{split}.conllu").examples[:size]
        for split, size in SIZES.items()
    ]


@pytest.fixture(scope="session")
def trained(splits, tmp_path_factory) -> Trained[PunctuationModel]:
    """A model trained on a part of the sample."""

    def make(path: Path) -> None:
        result = train(*splits[:2], FAST, show_progress=False)
        (path / "result").write_bytes(pickle.dumps(result))

    path = make_once(tmp_path_factory, "trained", make) / "result"
    return pickle.loads(path.read_bytes())


def make_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """A folder that one process fills for all that run tests side by side.

    factory (TempPathFactory): Makes folders.
    name (str): The name of this one.
    make (Callable): Fills it.
    RETURNS (Path): The folder.
    """
    root = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent
    folder, done = root / name, root / f"{name}.done"
    try:
        folder.mkdir()
    except FileExistsError:
        while not done.exists():
            time.sleep(0.1)
        return folder
    try:
        make(folder)
    finally:
        done.touch()
    return folder


SAMPLE_PATHS = {
    "paths.train": str(SAMPLE / "train.conllu"),
    "paths.dev": str(SAMPLE / "dev.conllu"),
}
"""Overrides of the configs."""


# The width is the sample's: settings of its other components refer to it.
SMALL_TOK2VEC = {
    "@architectures": "spacy.Tok2Vec.v2",
    "embed": {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 48,
        "attrs": ["NORM", "SHAPE"],
        "rows": [500, 100],
        "include_static_vectors": True,
    },
    "encode": {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": 48,
        "depth": 1,
        "window_size": 1,
        "maxout_pieces": 2,
    },
}
SMALL_LEXICAL = {
    "@architectures": "spacy_punct.LexicalAttach.v1",
    "tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": 48},
    "embedding_width": 8,
    "encoder_width": 16,
    "hidden_width": 16,
}


SMALL_CNN = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": 16,
    "depth": 1,
    "embed_size": 300,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": False,
    "pretrained_vectors": None,
}


def letters(text: str) -> str:
    """What restoring a text must not change."""
    return "".join(filter(str.isalnum, text.lower()))


def learn(
    nlp: Language,
    examples: list[Example],
    rate: float,
    n_passes: int,
    batch_size: int | None = None,
) -> list[dict[str, float]]:
    """Train a new pipeline, by default on all examples at once.

    RETURNS (list[dict[str, float]]): The losses of each pass over the examples.
    """
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = rate
    history: list[dict[str, float]] = [{} for _ in range(n_passes)]
    size = batch_size or len(examples)
    for losses in history:
        for at in range(0, len(examples), size):
            nlp.update(examples[at : at + size], sgd=optimizer, losses=losses)
    return history


def check_averages(nlp: Language, name: str, examples: list[Example]) -> None:
    """The optimizer's averages of a component's weights are used, and taken back."""
    component, optimizer = nlp.get_pipe(name), nlp.create_optimizer()
    optimizer.averages = {}
    for _ in range(3):
        nlp.update(examples, sgd=optimizer)
    own, scores = component.to_bytes(), nlp.evaluate(examples)["punct_ppl"]
    with nlp.use_params(optimizer.averages):
        assert component.to_bytes() != own
        assert nlp.evaluate(examples)["punct_ppl"] != scores
    assert component.to_bytes() == own
    assert nlp.evaluate(examples)["punct_ppl"] == scores


def train_config(name: str, output: Path, overrides: dict) -> Path:
    """Train one of the project's configs, as `spacy train` does."""
    path = REPOSITORY / "configs" / f"{name}.cfg"
    config = load_config(path, overrides={**SAMPLE_PATHS, **overrides})
    output.mkdir(exist_ok=True)
    threads, ops = torch.get_num_threads(), get_current_ops()
    nlp = init_nlp(config)
    with open(os.devnull, "w") as quiet:
        train_pipeline(nlp, output, stdout=quiet, stderr=quiet)
    torch.set_num_threads(threads)
    set_current_ops(ops)
    return output / "model-best"


def train_a_little(name: str, factory: pytest.TempPathFactory, settings: dict) -> Path:
    """Train one of the project's configs, once for all processes."""
    overrides = {
        "training.max_steps": 110,
        "training.eval_frequency": 110,
        "training.batcher.size": 100,
        "training.optimizer.learn_rate": 0.015,
        # Before the first step, all is equally probable: that takes long to evaluate.
        "corpora.dev.limit": 5,
        "components.punctuation_restorer.prune": 0.02,
        "components.punctuation_restorer.max_hypotheses": 8,
        **settings,
    }
    folder = make_once(factory, name, lambda to: train_config(name, to, overrides))
    return folder / "model-best"


@pytest.fixture(scope="session")
def paper_path(tmp_path_factory) -> Path:
    """A restorer trained on the sample's own trees, with configs/paper.cfg."""
    settings = {
        "training.max_steps": 70,
        "training.eval_frequency": 70,
        "training.batcher.size": 12,
        "training.optimizer.learn_rate": 0.03,
    }
    return train_a_little("paper", tmp_path_factory, settings)


@pytest.fixture(scope="session")
def full_path(tmp_path_factory) -> Path:
    """Tagger, parser and restorer, with configs/sample.cfg."""
    return train_a_little("sample", tmp_path_factory, {})


@pytest.fixture(scope="session")
def lexical_path(full_path, tmp_path_factory) -> Path:
    """The same trees, but a restorer that reads words, with vectors: as the bundled
    pipelines have."""
    return make_once(
        tmp_path_factory, "lexical", lambda to: make_lexical(full_path, to)
    )


def make_lexical(full_path: Path, path: Path) -> None:
    name = "punctuation_restorer"
    nlp = spacy.load(full_path, exclude=[name])
    for listener in ("morphologizer", "parser"):
        nlp.replace_listeners("tok2vec", listener, ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    examples = list(create_corpus(SAMPLE / "train.conllu", limit=60)(nlp))
    words = sorted({token.text for example in examples for token in example.x})
    vectors = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=vectors, keys=words)
    others = nlp.pipe_names
    tok2vec = nlp.add_pipe("tok2vec", first=True, config={"model": SMALL_TOK2VEC})
    restorer = nlp.add_pipe(name, config={"n_samples": 0, "model": SMALL_LEXICAL})
    tok2vec.initialize(lambda: examples, nlp=nlp)
    restorer.initialize(lambda: examples, nlp=nlp)
    optimizer = Adam(0.02)
    for _ in range(8):
        nlp.update(
            examples,
            sgd=optimizer,
            annotates=["tok2vec"],
            exclude=[*others, "tok2vec"],
        )
    nlp.to_disk(path)


MANY_ERRORS = {kind: min(0.5, 10 * rate) for kind, rate in RATES.items()}
"""So many that a little training is enough."""


@pytest.fixture(scope="session")
def corrector_path(tmp_path_factory) -> Path:
    """Tagger, parser and corrector of text, trained a little on the sample with
    errors."""
    return make_once(tmp_path_factory, "corrector", make_corrector)


def make_corrector(path: Path) -> None:
    fix_random_seed(0)
    nlp = spacy.blank("en")
    embed = {**SMALL_TOK2VEC["embed"], "include_static_vectors": False}
    nlp.add_pipe("tok2vec", config={"model": {**SMALL_TOK2VEC, "embed": embed}})
    listener = SMALL_LEXICAL["tok2vec"]
    parser = {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "parser",
        "hidden_width": 16,
        "tok2vec": listener,
    }
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    nlp.add_pipe("morphologizer", config={"model": tagger})
    nlp.add_pipe("parser", config={"model": parser, "min_action_freq": 1})
    lexical = {**SMALL_LEXICAL, "observed_width": 8, "guess_width": 8}
    nlp.add_pipe("punctuation_corrector", config={"model": lexical})
    corpus = create_correction_corpus(
        SAMPLE / "train.conllu", limit=60, rates=MANY_ERRORS
    )
    nlp.initialize(lambda: list(corpus(nlp)))
    optimizer = Adam(0.02)
    for _ in range(8):
        nlp.update(list(corpus(nlp)), sgd=optimizer, annotates=["tok2vec"])
    nlp.to_disk(path)


@pytest.fixture(scope="session")
def both_path(corrector_path, paper_path, tmp_path_factory) -> Path:
    """The same with a restorer."""

    def make(path: Path) -> None:
        nlp = spacy.load(corrector_path)
        nlp.add_pipe("punctuation_restorer", source=spacy.load(paper_path))
        nlp.to_disk(path)

    return make_once(tmp_path_factory, "both", make)


@pytest.fixture(scope="session")
def loaded_corrector(corrector_path) -> Language:
    return spacy.load(corrector_path)


@pytest.fixture
def corrects(loaded_corrector) -> Iterator[Language]:
    """A pipeline that corrects text; its settings may be changed."""
    pipe = loaded_corrector.get_pipe("punctuation_corrector")
    settings = dict(pipe.cfg)
    yield loaded_corrector
    pipe.cfg = settings


@pytest.fixture
def bundled(lexical_path, tmp_path, monkeypatch) -> Path:
    """A folder of bundled pipelines, in which there is an English one."""
    folder = tmp_path / "pipelines"
    folder.mkdir()
    (folder / "en").symlink_to(lexical_path)
    monkeypatch.setattr(pipelines, "FOLDER", folder)
    return folder


@pytest.fixture
def on_trees(paper_path) -> Language:
    """A fresh pipeline that restores Docs with trees of their own."""
    return spacy.load(paper_path)


@pytest.fixture
def on_text(full_path) -> Language:
    """A fresh pipeline that restores text."""
    return spacy.load(full_path)


@pytest.fixture
def that_corrects(both_path) -> Language:
    """A fresh pipeline that restores and corrects text."""
    return spacy.load(both_path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests go first, so that no worker is left alone with them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
