"""The component `apostrophe_tagger`, and the text it learns from."""

import spacy
from thinc.api import fix_random_seed

from spacy_punct.data.apostrophes import bare
from spacy_punct.pipe.architectures import SMALL_TOK2VEC
from spacy_punct.reading.attributes import APOSTROPHE_GUESSES, APOSTROPHES
from spacy_punct.reading.written import create_apostrophe_corpus
from spacy_punct.tagger.apostrophes import ApostropheTagger
from tests.conftest import learn

TEXT = "It's raining in its town, and they don't know the dog's name.\n"


def test_reader_and_tagger(tmp_path):
    (tmp_path / "a.txt").write_text(TEXT * 40)
    fix_random_seed(0)
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy_punct.WordHead.v1",
        "hidden_width": 16,
        "tok2vec": {**SMALL_TOK2VEC, "width": 16},
    }
    tagger = nlp.add_pipe("apostrophe_tagger", config={"model": model})
    assert isinstance(tagger, ApostropheTagger)
    corpus = create_apostrophe_corpus(tmp_path, limit=20, max_words=12)
    examples = list(corpus(nlp))
    assert [e.text for e in examples] != [e.text for e in corpus(nlp)], "drawn anew"
    for example in examples:
        assert bare(example.text.lower()).startswith("its raining in its town and they")
        labels = example.reference.user_data[APOSTROPHES]
        assert len(labels) == len(example.predicted)
        assert [label for label in labels if label is not None][:3] == ["1", "", "1"]
    assert len({example.text for example in examples}) > 1
    learn(nlp, examples, 0.02, n_passes=30)
    assert nlp.evaluate(examples)["apostrophe_accuracy"] > 0.9
    other = spacy.blank("en")
    other.add_pipe("apostrophe_tagger", config={"model": model})
    other.from_bytes(nlp.to_bytes())
    found = [p("its raining").user_data[APOSTROPHE_GUESSES] for p in (nlp, other)]
    assert found[0] == found[1]
