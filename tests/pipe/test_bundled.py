"""The weights that a restorer starts with."""

import subprocess
import sys

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.vectors import Vectors

import spacy_punct
from spacy_punct.errors import PunctError
from spacy_punct.pipe import bundled as pipelines
from spacy_punct.reading.examples import create_corpus
from tests.conftest import REPOSITORY
from tests.reading.docs import add_log_linear, parsed_doc

NAME = "punctuation_restorer"
TEXTS = ["if the rain stops anna will visit us", "peter the baker sold his bicycle"]


def answers(nlp: Language) -> list[tuple]:
    docs = nlp.pipe(TEXTS)
    return [(doc._.restored_text, doc._.restored_confidence) for doc in docs]


@pytest.fixture
def own(bundled, full_path) -> Language:
    """A pipeline with the same parser but no vectors, and a restorer added."""
    nlp = spacy.load(full_path, exclude=[NAME])
    nlp.add_pipe(NAME, config={"n_samples": 0})
    return nlp


def test_start_with_bundled_weights(own):
    assert answers(own) == answers(spacy_punct.load("en"))
    assert own.get_pipe_config(NAME)["model"] is None
    # Its tok2vec is its own, and so are its vectors.
    assert not own.vocab.vectors.size
    assert own.get_pipe("tok2vec").listening_components == ["morphologizer", "parser"]


def test_start_with_vectors_of_the_pipelines_own(own):
    expected = answers(own)
    words = TEXTS[0].split()
    data = np.ones((len(words), 3), dtype=np.float32)
    own.vocab.vectors = Vectors(strings=own.vocab.strings, data=data, keys=words)
    assert answers(own) == expected


def test_start_spacing_and_marks_come_along(own):
    theirs = spacy_punct.load("en").get_pipe(NAME)
    assert own.get_pipe(NAME).spacing == theirs.spacing
    assert own.get_pipe(NAME).labels == theirs.labels
    assert own.get_pipe(NAME).channel.direction == theirs.channel.direction


def test_start_each_component_has_weights_of_its_own(own, full_path, sample):
    other = spacy.load(full_path, exclude=[NAME])
    other.add_pipe(NAME, config={"n_samples": 0})
    before = answers(own)
    examples = list(create_corpus(sample / "dev.conllu", limit=20)(other))
    optimizer = other.resume_training()
    other.update(
        examples, sgd=optimizer, exclude=["tok2vec", "morphologizer", "parser"]
    )
    assert answers(own) == before != answers(other)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["same", "other version"])
def test_start_survives_storage(own, full_path, tmp_path, monkeypatch, elsewhere):
    """Also where the package has come to have other weights, or none."""
    expected = answers(own)
    own.to_disk(tmp_path / "own")
    data = own.to_bytes()
    source = spacy.load(full_path, exclude=[NAME])
    if elsewhere:
        monkeypatch.setattr(pipelines, "FOLDER", tmp_path)
    assert "model = null" in (tmp_path / "own" / "config.cfg").read_text("utf-8")
    again = spacy.load(tmp_path / "own")
    assert answers(again) == expected
    source.add_pipe(NAME, config={"n_samples": 0})
    assert answers(source.from_bytes(data)) == expected
    again.to_disk(tmp_path / "again")
    assert answers(spacy.load(tmp_path / "again")) == expected


def test_start_damaged_architecture(own, tmp_path):
    restorer = own.get_pipe(NAME)
    restorer.to_disk(tmp_path / NAME)
    (tmp_path / NAME / "architecture").write_text('{"@architectures": "gone.v1"}')
    with pytest.raises(PunctError, match="P031"):
        restorer.from_disk(tmp_path / NAME)


def test_start_anew(bundled, sample):
    """`initialize` forgets all that the package's weights know."""
    nlp = spacy.blank("en")
    restorer = nlp.add_pipe(NAME, config={"l2": 0.5})
    known = set(restorer.labels)
    examples = list(create_corpus(sample / "dev.conllu", limit=20)(nlp))
    nlp.initialize(lambda: examples)
    assert set(restorer.labels) < known
    assert restorer.model.name == "lexical_attach"
    assert restorer.model.attrs["l2"] == 0.5
    scorer = restorer.punctuation.scorer
    assert not scorer.pair.any()
    optimizer = nlp.create_optimizer()
    losses = [nlp.update(examples, sgd=optimizer)[NAME] for _ in range(6)]
    assert losses[-1] < losses[0]
    assert scorer.pair.any()
    assert nlp(parsed_doc(nlp.vocab))._.restored_text.startswith("If the rain")


def test_start_without_weights(bundled):
    nlp = spacy.blank("de")
    restorer = nlp.add_pipe(NAME)
    assert restorer.model.name == "log_linear_attach"
    with pytest.raises(PunctError, match=r"P044.*spacy train"):
        nlp(parsed_doc(nlp.vocab))
    nlp.from_bytes(nlp.to_bytes())


def test_start_untrained_that_reads_words_says_so():
    nlp = spacy.blank("en")
    tok2vec = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 8, "depth": 1}
    tok2vec |= {"embed_size": 50, "window_size": 1, "maxout_pieces": 2}
    tok2vec |= {"subword_features": True, "pretrained_vectors": None}
    model = {"@architectures": "spacy_punct.LexicalAttach.v1", "tok2vec": tok2vec}
    nlp.add_pipe(NAME, config={"model": model})
    with pytest.raises(PunctError, match="P044"):
        nlp(parsed_doc(nlp.vocab))


def test_start_needs_a_parse(bundled):
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME)
    with pytest.raises(PunctError, match="P040"):
        nlp(TEXTS[0])


def test_start_loads_nothing_where_the_architecture_is_told(
    bundled, paper_path, monkeypatch
):
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("weights were loaded")

    monkeypatch.setattr(pipelines, "load", fail)
    spacy.load(paper_path)
    add_log_linear(spacy.blank("en"))


IN_TWO = """
import sys
from pathlib import Path
import spacy
from spacy_punct.pipe import bundled as pipelines

if __name__ == "__main__":
    pipelines.FOLDER = Path(sys.argv[1])
    nlp = spacy.load(sys.argv[2], exclude=["punctuation_restorer"])
    nlp.add_pipe("punctuation_restorer", config={"n_samples": 0})
    texts = sys.argv[3:] * 3
    for n_process in (1, 2):
        docs = nlp.pipe(texts, n_process=n_process, batch_size=2)
        print([doc._.restored_text for doc in docs])
"""


@pytest.mark.slow
def test_start_in_two_processes(bundled, full_path, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(IN_TWO)
    done = subprocess.run(
        [sys.executable, str(script), str(bundled), str(full_path), *TEXTS],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    one, two = done.stdout.splitlines()
    assert one == two
