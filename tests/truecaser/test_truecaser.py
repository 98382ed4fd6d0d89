"""The component `truecaser`, and what the restorer makes of it."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from thinc.api import fix_random_seed

from spacy_punct.errors import PunctError
from spacy_punct.reading.corpus import read_docs
from spacy_punct.text.casing import CASES
from spacy_punct.truecaser.component import Truecaser, consistent
from spacy_punct.truecaser.forms import known_forms, true_forms
from spacy_punct.truecaser.scorer import score_case
from tests.conftest import REPOSITORY, learn
from tests.reading.docs import WORDS, parsed_doc

NAME = "truecaser"
SENTENCES = [
    "The engineers at NASA met Anna near Lisbon",
    "Yesterday I saw McDonald with an iPhone",
    "Then Anna said that I know NASA",
    "We think Peter lost the iPhone in Lisbon",
    "When I called McDonald he was near Anna",
    "Some people at NASA think I like Lisbon",
    "The old iPhone of Peter is near the door",
    "She told Peter that McDonald likes the door",
]
TEXT = "the people told anna that i met mcdonald at nasa with an iphone"
TRUE = "the people told Anna that I met McDonald at NASA with an iPhone"

SMALL = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 32,
    "depth": 1,
    "embed_size": 300,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}
OWN = {"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": SMALL}}
LISTENING = {
    "model": {
        "@architectures": "spacy.Tagger.v2",
        "tok2vec": {
            "@architectures": "spacy.Tok2VecListener.v1",
            "width": 32,
            "upstream": "tok2vec",
        },
    }
}


def example_of(reference: Doc) -> Example:
    """The reference, and as predicted Doc the same in lower case."""
    lower = Doc(
        reference.vocab,
        words=[token.text.lower() for token in reference],
        spaces=[bool(token.whitespace_) for token in reference],
    )
    return Example(lower, reference)


def doc_of(nlp: Language, text: str) -> Doc:
    return Doc(nlp.vocab, words=text.split())


def examples_of(nlp: Language) -> list[Example]:
    return [example_of(doc_of(nlp, sentence)) for sentence in SENTENCES]


def train(nlp: Language, epochs: int = 30) -> dict[str, float]:
    examples = examples_of(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    losses: dict[str, float] = {}
    for _ in range(epochs):
        losses = nlp.update(examples, sgd=optimizer, drop=0.1)
    return losses


def forms(doc: Doc) -> str:
    return " ".join(token._.truecased for token in doc)


@pytest.fixture(scope="module")
def trained() -> Language:
    """A truecaser with an encoder of its own."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, config=OWN)
    train(nlp)
    return nlp


@pytest.fixture(scope="module")
def listening() -> Language:
    """A truecaser that listens to an encoder, as does a tagger."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": SMALL})
    tagger = nlp.add_pipe("tagger", config=LISTENING)
    tagger.add_label("X")
    nlp.add_pipe(NAME, config=LISTENING)
    train(nlp)
    return nlp


def test_truecaser_learns_names_acronyms_mixed_forms_and_i(trained):
    assert forms(trained(TEXT)) == TRUE
    assert trained.get_pipe(NAME).mixed == {
        "iphone": "iPhone",
        "mcdonald": "McDonald",
    }
    scores = trained.evaluate(examples_of(trained))
    for score in ("case_acc", "case_p", "case_r", "case_f"):
        assert scores[score] == 1.0


def test_truecaser_does_not_see_to_the_first_word(trained):
    assert forms(trained("the door is near anna")) == "the door is near Anna"


def test_truecaser_listens_as_a_tagger_does(listening, tmp_path):
    tok2vec, truecaser = listening.get_pipe("tok2vec"), listening.get_pipe(NAME)
    assert tok2vec.listening_components == ["tagger", NAME]
    assert isinstance(truecaser.model.get_ref("tok2vec"), Tok2VecListener)
    assert forms(listening(TEXT)) == TRUE
    listening.to_disk(tmp_path)
    assert forms(spacy.load(tmp_path)(TEXT)) == TRUE


def test_truecaser_teaches_the_encoder_it_listens_to():
    nlp = spacy.blank("en")
    tok2vec = nlp.add_pipe("tok2vec", config={"model": SMALL})
    nlp.add_pipe(NAME, config=LISTENING)
    train(nlp, epochs=1)
    before = tok2vec.model.to_bytes()
    optimizer = nlp.resume_training()
    losses = nlp.update(examples_of(nlp), sgd=optimizer)
    assert tok2vec.model.to_bytes() != before
    assert losses["tok2vec"] > 0


def test_truecaser_after_replace_listeners(listening, tmp_path):
    listening.to_disk(tmp_path)
    nlp = spacy.load(tmp_path)
    nlp.replace_listeners("tok2vec", NAME, ["model.tok2vec"])
    nlp.remove_pipe("tagger")
    nlp.remove_pipe("tok2vec")
    assert forms(nlp(TEXT)) == TRUE
    nlp.to_disk(tmp_path / "alone")
    assert forms(spacy.load(tmp_path / "alone")(TEXT)) == TRUE


def test_truecaser_round_trips(trained, tmp_path):
    trained.to_disk(tmp_path / "nlp")
    trained.get_pipe(NAME).to_disk(tmp_path / "component")
    from_bytes = spacy.blank("en")
    from_bytes.add_pipe(NAME, config=OWN)
    from_bytes.from_bytes(trained.to_bytes())
    component = spacy.blank("en")
    component.add_pipe(NAME, config=OWN).from_disk(tmp_path / "component")
    others = {
        "disk": spacy.load(tmp_path / "nlp"),
        "bytes": from_bytes,
        "pickle": pickle.loads(pickle.dumps(trained)),
        "component": component,
    }
    for name, other in others.items():
        assert forms(other(TEXT)) == TRUE, name
        assert other.get_pipe(NAME).mixed == trained.get_pipe(NAME).mixed


@pytest.mark.parametrize("part", ["model", "mixed"])
def test_truecaser_damaged_files(trained, tmp_path, part):
    trained.get_pipe(NAME).to_disk(tmp_path)
    (tmp_path / part).write_bytes(b"\xc1")
    nlp = spacy.blank("en")
    with pytest.raises(PunctError, match="P031"):
        nlp.add_pipe(NAME, config=OWN).from_disk(tmp_path)


def test_truecaser_pipe_is_call(trained):
    texts = [TEXT, "", "anna", "123 ...", *map(str.lower, SENTENCES)] * 3
    alone = [forms(trained(text)) for text in texts]
    for size in (1, 5, 100):
        assert [forms(doc) for doc in trained.pipe(texts, batch_size=size)] == alone


PROCESSES = """
import multiprocessing, sys
import spacy

if __name__ == "__main__":
    _, path, text, method = sys.argv
    multiprocessing.set_start_method(method)
    nlp = spacy.load(path)
    for doc in nlp.pipe([text] * 6, n_process=2, batch_size=2):
        print(" ".join(token._.truecased for token in doc))
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_truecaser_in_several_processes(trained, tmp_path, method):
    trained.to_disk(tmp_path / "nlp")
    (tmp_path / "script.py").write_text(PROCESSES)
    command = [sys.executable, tmp_path / "script.py", tmp_path / "nlp", TEXT, method]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=200
    )
    assert done.stdout.splitlines() == [TRUE] * 6, done.stderr


def test_truecaser_answer_survives_storage_and_other_tokens(trained):
    doc = trained(TEXT)
    copy = Doc(trained.vocab).from_bytes(doc.to_bytes())
    assert forms(copy) == TRUE
    stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
    (copy,) = DocBin().from_bytes(stored).get_docs(trained.vocab)
    assert forms(copy) == TRUE
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    assert [token._.truecased for token in doc[:4]] == [
        "the",
        "people",
        "told Anna",
        "that",
    ]


def test_truecaser_nothing_is_known_of_other_docs(trained):
    assert trained.make_doc("anna")[0]._.truecased is None
    doc = trained(TEXT)[3:].as_doc(copy_user_data=True)
    assert all(form is None or form.lower() == form for form in map(form_of, doc))


def form_of(token) -> str | None:
    return token._.truecased


def test_truecaser_capitals_of_the_input_may_go(trained):
    doc = trained("THE PEOPLE near McDonald.org and http://NASA.org")
    assert forms(doc).lower() == doc.text.lower()
    assert doc[-1]._.truecased == "http://NASA.org"


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=30))
def test_truecaser_never_changes_a_letter(trained, text):
    doc = trained(text)
    assert [t._.truecased.lower() for t in doc] == [t.text.lower() for t in doc]
    assert all(len(t._.truecased) == len(t.text) for t in doc)


@pytest.mark.parametrize("case", range(len(CASES)))
@given(text=st.text("aI iİıßŉǆΣς-'.1", max_size=12))
def test_truecaser_any_case_of_any_word_is_safe(trained, case, text):
    truecaser = trained.get_pipe(NAME)
    doc = trained.make_doc(text)
    truecaser.set_annotations([doc], [[case] * len(doc)])
    assert [t._.truecased.lower() for t in doc] == [t.text.lower() for t in doc]


# What there is to learn


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dog saw Anna", "- dog saw Anna"),
        ("I saw Anna", "I saw Anna"),
        ("I'm here", "I'm here"),
        ("If I go", "- I go"),
        ("NASA is here", "NASA is here"),
        ("A dog barks", "- dog barks"),
        ('" The dog', "- - dog"),
        ("3 Dogs came", "- Dogs came"),
        ("WE MEET NASA", "- - -"),
        ("WE MEET Anna", "WE MEET Anna"),
        ("I AM HERE 24 / 7", "- - - - - -"),
        ("STOP NASA", "- NASA"),
        ("STOP", "-"),
        ("iPhone users say 你好 to www.UN.org", "- users say - to -"),
        ("", ""),
    ],
)
def test_truecaser_known_forms(text, expected):
    doc = doc_of(spacy.blank("en"), text)
    assert " ".join(form or "-" for form in known_forms(doc)) == expected


def test_truecaser_known_forms_of_first_words_that_are_names():
    doc = Doc(
        spacy.blank("en").vocab,
        words=["Anna", "left", "Dogs", "left", "I", "gatti"],
        pos=["PROPN", "VERB", "NOUN", "VERB", "DET", "NOUN"],
        sent_starts=[True, False, True, False, True, False],
    )
    assert known_forms(doc) == ["Anna", "left", None, "left", "I", "gatti"]
    italian = Doc(spacy.blank("it").vocab, words=["I", "gatti", "dormono"])
    assert known_forms(italian) == [None, "gatti", "dormono"]


def test_truecaser_forms_are_aligned():
    nlp = spacy.blank("en")
    reference = Doc(nlp.vocab, words=["So", "Anna", "ca", "n't", "see", "New York"])
    predicted = Doc(nlp.vocab, words=["so", "anna", "can't", "see", "new", "york"])
    assert true_forms(Example(predicted, reference)) == [
        None,
        "Anna",
        None,
        "see",
        None,
        None,
    ]


def test_truecaser_words_of_unknown_case_have_no_gradient(trained):
    truecaser = trained.get_pipe(NAME)
    example = example_of(doc_of(trained, "The 3 dogs saw Anna"))
    scores, _ = truecaser.model.begin_update([example.x])
    loss, (gradient,) = truecaser.get_loss([example], scores)
    assert [bool(row.any()) for row in gradient] == [False, False, True, True, True]
    shout = example_of(doc_of(trained, "THE DOG SAW ANNA"))
    scores, _ = truecaser.model.begin_update([shout.x])
    loss, (gradient,) = truecaser.get_loss([shout], scores)
    assert loss == 0
    assert not gradient.any()


def test_truecaser_incomplete_and_empty_data(trained):
    nlp = pickle.loads(pickle.dumps(trained))
    empty = Example(nlp.make_doc(""), nlp.make_doc(""))
    shout = example_of(doc_of(nlp, "THE DOG SAW ANNA"))
    assert nlp.update([empty])[NAME] == 0
    assert nlp.update([empty, shout], sgd=nlp.resume_training())[NAME] == 0
    assert forms(nlp("")) == ""
    assert nlp.evaluate([empty, shout]).get("case_acc") is None


def test_truecaser_nothing_to_learn():
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME)
    lower = example_of(doc_of(nlp, "The dog barks"))
    with pytest.raises(PunctError, match=r"P077.*spacy\.lower_case"):
        nlp.initialize(lambda: [lower])


def test_truecaser_untrained_says_how_to_train():
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME)
    with pytest.raises(PunctError, match="P076"):
        nlp(TEXT)
    assert len(nlp("")) == 0
    nlp.from_bytes(nlp.to_bytes())


def test_truecaser_lexicon_has_the_most_frequent_form():
    nlp = spacy.blank("en")
    truecaser = nlp.add_pipe(NAME)
    reference = doc_of(nlp, "so MacRae met Macrae MacRae MaCrae EBay eBay")
    nlp.initialize(lambda: [example_of(reference)])
    assert truecaser.mixed == {"macrae": "MacRae", "ebay": "eBay"}
    again = spacy.blank("en")
    labels = {"initialize": {"components": {NAME: {"labels": truecaser.label_data}}}}
    again.add_pipe(NAME)
    again.config = again.config.merge(labels)
    again.initialize(lambda: examples_of(again))
    assert again.get_pipe(NAME).mixed == truecaser.mixed


def test_truecaser_scores():
    nlp = spacy.blank("en")
    truecaser = Truecaser(nlp.vocab, None)
    example = example_of(doc_of(nlp, "So Anna met an old NASA Man"))
    lower, title, upper, mixed = range(4)
    cases = [upper, title, lower, title, lower, mixed, lower]
    truecaser.set_annotations([example.predicted], [cases])
    assert score_case([example]) == {
        "case_acc": pytest.approx(3 / 6),
        "case_p": pytest.approx(2 / 3),
        "case_r": pytest.approx(2 / 3),
        "case_f": pytest.approx(2 / 3),
    }


def test_truecaser_learns_the_sample(sample):
    nlp = spacy.blank("en")
    nlp.add_pipe(NAME, config=OWN)
    examples = [example_of(d) for d in read_docs(sample / "train.conllu", nlp.vocab)]
    dev = [example_of(doc) for doc in read_docs(sample / "dev.conllu", nlp.vocab)]
    learn(nlp, examples, 0.01, n_passes=1, batch_size=16)
    scores = nlp.evaluate(dev)
    assert scores["case_acc"] > 0.95
    assert scores["case_f"] > 0.9


# What is written


@pytest.fixture
def writing(on_trees, trained) -> Language:
    """A restorer after a truecaser that knows Anna."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the two have other vectors: none
        on_trees.add_pipe(NAME, source=trained, first=True)
    return on_trees


def written(nlp: Language, words: list[str]) -> str:
    return nlp(parsed_doc(nlp.vocab, words=words))._.restored_text


@pytest.mark.parametrize(
    ("casing", "words", "expected"),
    [
        ("auto", "if the rain stops anna will visit dr peter", "If * Anna * Peter."),
        ("auto", "if the rain stops anna will visit Dr peter", "If * Anna * Peter."),
        ("auto", "If the rain stops Anna will visit Dr peter", "If * Anna * peter."),
        (
            "truecase",
            "if the rain stops anna will visit Dr peter",
            "If * Anna * Peter.",
        ),
        (
            "truecase",
            "if the RAIN stops anna will visit dr peter",
            "If * Anna * Peter.",
        ),
        (
            "sentence",
            "if the rain stops anna will visit dr peter",
            "If * anna * peter.",
        ),
        ("keep", "if the rain stops anna will visit dr peter", "if * anna * peter."),
    ],
)
def test_truecaser_and_the_casing_of_the_restorer(writing, casing, words, expected):
    writing.get_pipe("punctuation_restorer").cfg["casing"] = casing
    text = written(writing, words.split())
    first, _, _, _, anna, *_, last = text.split()
    assert f"{first} * {anna} * {last}" == expected
    assert ("RAIN" in text) == ("RAIN" in words)
    assert writing(parsed_doc(writing.vocab))._.restored_doc.text


def test_truecaser_leaves_addresses_to_themselves(writing):
    words = [word.lower() for word in WORDS]
    words[4], words[8] = "anna@nasa.org", "www.anna.org"
    text = written(writing, words)
    assert "anna@nasa.org" in text
    assert "www.anna.org" in text


def test_truecaser_is_missed_where_it_is_asked_for(on_trees):
    on_trees.get_pipe("punctuation_restorer").cfg["casing"] = "truecase"
    with pytest.raises(PunctError, match=r"P075.*truecaser"):
        on_trees(parsed_doc(on_trees.vocab))


# Names are written alike


def test_truecaser_common_words_are_rarely_acronyms():
    upper = [0.3, 0.0, 0.7, 0.0]
    plain, lower = [0.05, 0.0, 0.95, 0.0], [1.0, 0.0, 0.0, 0.0]
    words = ["yes", "nasa", "i", "the", "president", "its", "it"]
    rows = np.array([upper, upper, lower, upper, upper, lower, plain])
    found = [CASES[i] for i in consistent(words, rows)]
    assert found == ["upper", "upper", "lower", "upper", "upper", "lower", "upper"]
    rows[1] = lower
    assert CASES[consistent(words, rows)[0]] == "lower"


def test_truecaser_writes_names_alike():
    lower, title, upper, _ = np.eye(4) * 0.8 + 0.05
    words = ["anna", "may", "anna", "may", "nasa", "nasa", "nasa", "anna"]
    doubtful = np.array([0.6, 0.4, 0.0, 0.0])
    rows = np.array([title, title, doubtful, lower, upper, upper, title, title])
    found = [CASES[i] for i in consistent(words, rows)]
    assert found == [
        *("title", "title", "title", "lower"),
        *("upper", "upper", "upper", "title"),
    ]
    assert list(consistent([], np.zeros((0, 4)))) == []
