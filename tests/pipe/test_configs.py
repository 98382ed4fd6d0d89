"""The configs, and spaCy's own commands on what they train."""

import pytest
import spacy
import srsly
from spacy import registry
from spacy.cli.evaluate import evaluate
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config, load_model_from_config

from spacy_punct.pipe import callbacks
from spacy_punct.pipe.bundled import path_to
from spacy_punct.reading.corpus import read_docs
from spacy_punct.reading.examples import create_corpus
from tests.conftest import REPOSITORY, SAMPLE_PATHS, train_config

CONFIGS = sorted((REPOSITORY / "configs").glob("*.cfg"))
TRAINED = [path for path in CONFIGS if "[training]" in path.read_text("utf-8")]


def test_configs_are_trained_but_one():
    """The weights of that one come from elsewhere."""
    assert {path.stem for path in CONFIGS} - {p.stem for p in TRAINED} == {"reading"}


@pytest.mark.parametrize("path", TRAINED, ids=lambda path: path.stem)
def test_configs_are_filled(path, tmp_path):
    """`spacy train` refuses configs in which a default is left out."""
    if path.stem == "transformer":
        pytest.importorskip("spacy_transformers")
    paths = dict(SAMPLE_PATHS)
    if "\nreading = null" in path.read_text("utf-8"):
        paths["paths.reading"] = str(path_to("en"))
    if path.stem in ("apostrophes", "marks"):
        del paths["paths.train"]
        corpus = load_config(path)["corpora"]["train"]
        for name in corpus["weights"] or ["talk"]:
            lines = "It's late, and we don't know why. " * 9
            (tmp_path / f"{name}.txt").write_text(lines)
        paths |= {"paths.text": str(tmp_path), "paths.dev": str(tmp_path)}
    config = load_config(path, overrides=paths)
    if path.stem == "on_parser":
        config["nlp"]["pipeline"] = ["punctuation_restorer"]
        restorer = config["components"]["punctuation_restorer"]
        config["components"] = {"punctuation_restorer": restorer}
    nlp = load_model_from_config(config, auto_fill=False)
    filled = nlp.config.interpolate()
    training = filled["training"]
    assert registry.fill(training, schema=ConfigSchemaTraining) == training
    corpora = registry.resolve({"corpora": filled["corpora"]})["corpora"]
    assert registry.fill({"corpora": filled["corpora"]})["corpora"] == filled["corpora"]
    example = next(iter(corpora["train"](nlp)))
    assert example.y.has_annotation("DEP") or path.stem in ("apostrophes", "marks")


def test_configs_train_the_same_way_each_time(tmp_path, monkeypatch):
    """With errors that differ from epoch to epoch."""
    monkeypatch.setattr(callbacks, "_seconds", lambda ops: 1.0)
    small = {
        "paths.reading": str(path_to("en")),
        "corpora.train.limit": 12,
        "corpora.dev.limit": 4,
        "training.batcher.batcher.size": 8,
        "training.max_steps": 4,
        "training.eval_frequency": 4,
        "training.optimizer.learn_rate.warmup_steps": 1,
    }
    paths = [train_config("corrector", tmp_path / name, small) for name in "ab"]
    first, second = (
        (path / "punctuation_corrector" / "model").read_bytes() for path in paths
    )
    assert first == second


def test_configs_on_parser_leaves_the_parser_alone(full_path, tmp_path):
    path = train_config(
        "on_parser",
        tmp_path,
        {
            "paths.parser": str(full_path),
            "training.max_epochs": 1,
            "training.eval_frequency": 24,
            "training.batcher.size": 16,
            "corpora.dev.limit": 20,
            "training.optimizer.learn_rate": 0.02,
        },
    )
    for name in ("tok2vec", "morphologizer", "parser"):
        assert (path / name / "model").read_bytes() == (
            full_path / name / "model"
        ).read_bytes()
    trained = spacy.load(path)
    scores = srsly.read_json(path / "meta.json")["performance"]
    assert scores["punct_accuracy"] > 0.8
    assert trained("Peter the baker sold his bicycle")._.restored_text.endswith(".")


def test_configs_store_compact_models(paper_path):
    restorer = spacy.load(paper_path).get_pipe("punctuation_restorer")
    for weights in restorer.punctuation.scorer.parameters():
        assert (weights == weights.half().float()).all()


def test_configs_spacy_evaluate(full_path, sample, tmp_path, on_text):
    docs = read_docs(sample / "test.conllu", on_text.vocab)
    DocBin(docs=docs, store_user_data=True).to_disk(tmp_path / "test.spacy")
    evaluate(full_path, tmp_path / "test.spacy", tmp_path / "out.json", silent=True)
    scores = srsly.read_json(tmp_path / "out.json")
    assert scores["punct_aed"] < 0.23
    assert scores["punct_ppl"] < 2.5


def test_configs_scores_leave_out_other_words(on_text, sample):
    good, other = create_corpus(sample / "dev.conllu", gold_trees=False, limit=2)(
        on_text
    )
    words = [token.text for token in other.y]
    split = Doc(on_text.vocab, words=[*words[:-1], *words[-1]])
    alone = on_text.evaluate([good])
    both = on_text.evaluate([good, Example(split, other.y)])
    assert both["punct_aed"] == alone["punct_aed"]
    assert both["punct_ppl"] == alone["punct_ppl"]
