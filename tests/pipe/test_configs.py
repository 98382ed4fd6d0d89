"""The configs, and spaCy's own commands on what they train."""

import pytest
import spacy
import srsly
from spacy import registry
from spacy.cli.evaluate import evaluate
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import load_config

from spacy_punct.reading.corpus import read_docs
from spacy_punct.reading.examples import create_corpus
from tests.conftest import REPOSITORY, train_config

CONFIGS = sorted((REPOSITORY / "configs").glob("*.cfg"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_configs_are_filled(path):
    """`spacy train` refuses configs in which a default is left out."""
    config = load_config(path).interpolate()
    settings = config["components"].get("punctuation_restorer")
    if settings is None or "source" in settings:
        pytest.skip("the config trains no restorer")
    if "transformer" in config["components"]:
        pytest.importorskip("spacy_transformers")
    nlp = spacy.blank("de")
    nlp.add_pipe("punctuation_restorer")
    assert set(settings) == set(nlp.get_pipe_config("punctuation_restorer"))
    model = {"model": settings["model"]}
    assert registry.fill(model) == model
    for name in ("punct_aed", "punct_f", "punct_ppl"):
        assert name in config["training"]["score_weights"]


def test_configs_on_parser_leaves_the_parser_alone(full_path, tmp_path):
    path = train_config(
        "on_parser",
        tmp_path,
        {
            "paths.parser": str(full_path),
            "training.max_epochs": 2,
            "training.eval_frequency": 25,
            "training.batcher.size": 16,
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
    assert scores["punct_aed"] < 0.2
    assert scores["punct_ppl"] < 2


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
