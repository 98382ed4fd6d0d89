"""How good a whole pipeline's punctuation is."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from tqdm import tqdm

from spacy_punct.data.treebank import Treebank
from spacy_punct.model.evaluation import compare
from spacy_punct.pipeline.corpus import make_doc, unpunctuated
from spacy_punct.pipeline.restorer import PunctuationRestorer


def evaluate_pipeline(
    nlp: Language, restorer: PunctuationRestorer, treebank: Treebank, *, gold: bool
) -> dict[str, Any]:
    """Score a pipeline on a treebank, with its trees or the treebank's.

    nlp (Language), restorer (PunctuationRestorer): The pipeline and its restorer.
    treebank (Treebank): The truth.
    gold (bool): Whether the pipeline is given the treebank's trees.
    RETURNS (dict[str, Any]): All that the JSON file holds.
    """
    references = [make_doc(example, nlp.vocab) for example in treebank.examples]
    docs = [unpunctuated(doc, doc if gold else None) for doc in references]
    n_words = sum(map(len, docs))
    start = time.perf_counter()
    stream = restorer.pipe(_read(nlp, restorer, docs)) if gold else nlp.pipe(docs)
    docs = list(tqdm(stream, total=len(docs), unit="sent", leave=False, disable=None))
    seconds = time.perf_counter() - start
    restored = [tuple(map(tuple, doc._.restored_slots)) for doc in docs]
    on_gold = _read(nlp, restorer, [unpunctuated(doc, doc) for doc in references])
    examples = restorer.examples(map(Example, on_gold, references))
    scores = {
        **compare(restorer.punctuation, restored, examples),
        "n_skipped": treebank.n_omitted + treebank.n_wordless,
        "trees": "gold" if gold else "parsed",
        "words_per_second": n_words / seconds,
    }
    return scores if gold else scores | _attachment(docs, references)


def _read(
    nlp: Language, restorer: PunctuationRestorer, docs: Iterable[Doc]
) -> Iterable[Doc]:
    """Docs as the components leave them that the restorer listens to, if any.

    No other component runs, so trees stay what they are.
    """
    for _, component in nlp.pipeline:
        if restorer.name in getattr(component, "listening_components", ()):
            docs = component.pipe(docs)
    return docs


def _attachment(docs: Sequence[Doc], references: Sequence[Doc]) -> dict[str, float]:
    """Unlabelled and labelled attachment score."""
    pairs = [
        (ours, theirs)
        for doc, reference in zip(docs, references, strict=True)
        for ours, theirs in zip(doc, reference, strict=True)
    ]
    heads = [a for a in pairs if a[0].head.i == a[1].head.i]
    labelled = [a for a in heads if a[0].dep_ == a[1].dep_]
    return {"uas": len(heads) / len(pairs), "las": len(labelled) / len(pairs)}
