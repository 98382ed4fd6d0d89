"""A transformer as the restorer's tok2vec, by config alone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.training import Example

from spacy_punct.data.treebank import read_treebank
from spacy_punct.reading.corpus import joined, unpunctuated
from spacy_punct.reading.examples import create_corpus
from spacy_punct.restorer.evaluation import evaluate_pipeline
from tests.conftest import SAMPLE, train_config

NAME = "punctuation_restorer"
LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    "grad_factor": 1.0,
    "upstream": "*",
    "pooling": {"@layers": "reduce_mean.v1"},
}

pytest.importorskip(
    "spacy_transformers", reason='needs pip install "spacy-punct[transformers]"'
)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    """A transformer of a few hundred weights that reads letters, as from a hub."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("transformer")
    letters = "abcdefghijklmnopqrstuvwxyz'-0123456789"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [f"##{letter}" for letter in letters]
    (folder / "vocab.txt").write_text("\n".join(pieces))
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=512,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def test_transformer_config_trains_saves_and_restores(tiny, tmp_path):
    path = train_config(
        "transformer",
        tmp_path,
        {
            "paths.transformer": str(tiny),
            "system.gpu_allocator": None,
            "training.max_steps": 2,
            "training.eval_frequency": 1,
            "training.optimizer.learn_rate.warmup_steps": 1,
            "training.accumulate_gradient": 1,
            "corpora.train.gold_trees": True,
            "corpora.train.limit": 12,
            "corpora.dev.limit": 4,
            "components.parser.min_action_freq": 1,
        },
    )
    nlp = spacy.load(path)
    assert nlp.pipe_names == ["transformer", "morphologizer", "parser", NAME]
    scorer = nlp.get_pipe(NAME).punctuation.scorer
    assert scorer.settings.vector_width == 8
    doc = nlp("if the rain stops anna will visit us")
    written = [t.text.lower() for t in doc._.restored_doc if not t.is_punct]
    assert written == doc.text.split()
    assert len(doc._.restored_slots) == len(doc) + 1
    nlp.to_disk(tmp_path / "again")
    again = spacy.load(tmp_path / "again")(doc.text)
    assert again._.restored_text == doc._.restored_text
    assert again._.restored_confidence == doc._.restored_confidence


def test_transformer_learns_from_the_restorer(tiny):
    nlp = spacy.blank("en")
    transformer = nlp.add_pipe("transformer", config={"model": {"name": str(tiny)}})
    restorer = nlp.add_pipe(
        NAME,
        config={
            "n_samples": 0,
            "model": {
                "@architectures": "spacy_punct.LexicalAttach.v1",
                "tok2vec": LISTENER,
                "encoder_width": 8,
                "hidden_width": 16,
            },
        },
    )
    examples = list(create_corpus(SAMPLE / "dev.conllu", limit=8)(nlp))
    optimizer = nlp.initialize(lambda: examples)
    (wrapped,) = (n.shims[0]._model for n in transformer.model.walk() if n.shims)
    before = {k: w.detach().clone() for k, w in wrapped.named_parameters()}
    losses = [nlp.update(examples, sgd=optimizer)[NAME] for _ in range(4)]
    assert losses[-1] < losses[0]
    changed = {k for k, w in wrapped.named_parameters() if (w != before[k]).any()}
    assert any("word_embeddings" in name for name in changed)

    treebank = read_treebank(SAMPLE / "dev.conllu")
    treebank = replace(treebank, examples=treebank.examples[:8])
    references = [example.reference for example in examples]
    copies = [Example(unpunctuated(doc, doc), doc) for doc in references]
    found = evaluate_pipeline(nlp, restorer, treebank, gold=True)
    scores = nlp.evaluate(copies)
    assert found["perplexity"] == pytest.approx(scores["punct_ppl"], rel=1e-4)

    both = joined(references[:2])
    doc = nlp(unpunctuated(both, both))
    for sent, example in zip(
        doc.sents, restorer.examples([Example(doc, both)]), strict=True
    ):
        assert np.ptp(example.tree.vectors) > 0
        slots = restorer.punctuation.inventory.known(example.slots)
        expected = restorer.punctuation.distribution(example.tree).log_prob(slots)
        log_prob = restorer.distribution(sent).log_prob(slots)
        assert log_prob == pytest.approx(expected, abs=1e-5)
