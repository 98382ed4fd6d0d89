from importlib.metadata import distribution

import pytest
import spacy
from spacy import registry
from spacy.language import Language

OURS = list(distribution("spacy-punct").entry_points)


def test_registry_has_entry_points():
    assert {e.group for e in OURS} >= {
        "spacy_factories",
        "spacy_architectures",
        "spacy_readers",
        "spacy_scorers",
        "spacy_callbacks",
        "spacy_cli",
    }


@pytest.mark.parametrize("entry", OURS, ids=lambda e: f"{e.group}:{e.name}")
def test_registry_entry_points_load(entry):
    loaded = entry.load()
    group = entry.group.removeprefix("spacy_")
    if group == "factories":
        assert Language.has_factory(entry.name)
    elif group != "cli":
        assert entry.name.startswith("spacy_punct.")
        assert entry.name.rpartition(".")[2].startswith("v")
        assert getattr(registry, group).get(entry.name) is loaded


def test_registry_factory_needs_no_import():
    nlp = spacy.blank("de")
    nlp.add_pipe("punctuation_restorer")
    analysis = nlp.analyze_pipes()
    assert "token.dep" in analysis["problems"]["punctuation_restorer"]
