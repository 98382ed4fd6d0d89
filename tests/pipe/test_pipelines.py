import subprocess
import sys

import pytest
from spacy.language import Language

import spacy_punct
from spacy_punct.errors import PunctError
from spacy_punct.pipe import bundled as pipelines

needs_english = pytest.mark.skipif(
    "en" not in pipelines.names(),
    reason="the English pipeline is not in spacy_punct/pipelines/en",
)


def test_pipelines_load_by_name(bundled):
    (bundled / "__pycache__").mkdir()
    assert pipelines.names() == ("en",)
    assert pipelines.path_to("en") == bundled / "en"
    nlp = spacy_punct.load()
    assert isinstance(nlp, Language)
    assert nlp("anna will visit us")._.restored_text
    assert spacy_punct.load("en", exclude=["parser"]).pipe_names == [
        "tok2vec",
        "morphologizer",
        "punctuation_restorer",
    ]


def test_pipelines_unknown_name_tells_which_there_are(bundled):
    with pytest.raises(PunctError, match=r"P070.*'qq'.*it has: en\b"):
        spacy_punct.load("qq")
    with pytest.raises(PunctError, match="P070"):
        spacy_punct.load("../pipelines/en")


def test_pipelines_none(tmp_path, monkeypatch):
    monkeypatch.setattr(pipelines, "FOLDER", tmp_path)
    with pytest.raises(PunctError, match=r"P070.*it has: none"):
        spacy_punct.load("en")


def test_pipelines_importing_the_package_is_light():
    code = "import sys, spacy_punct; print({'spacy', 'torch'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "set()\n", done.stderr


@needs_english
@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("does anybody use it", "Does anybody use it?"),
        ("if it rains we stay at home", "If it rains, we stay at home."),
    ],
)
def test_pipelines_english(words, text):
    assert spacy_punct.load("en")(words)._.restored_text == text
