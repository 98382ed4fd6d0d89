"""How good a whole pipeline's punctuation is."""

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from tqdm import tqdm

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.treebank import Treebank
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.evaluation import compare, f_score, score
from spacy_punct.model.punctuation import batched
from spacy_punct.pipe.base import PunctuationPipe
from spacy_punct.reading.attributes import PIECES
from spacy_punct.reading.corpus import joined, make_doc, unpunctuated
from spacy_punct.reading.gold import gold_slots
from spacy_punct.restorer.component import PunctuationRestorer

_READ_TOGETHER = 128
"""Docs that are read at once."""


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
    stream = restorer.pipe(read_for(nlp, restorer, docs)) if gold else nlp.pipe(docs)
    start = time.perf_counter()
    docs = list(tqdm(stream, total=len(docs), unit="sent", leave=False, disable=None))
    seconds = time.perf_counter() - start
    restored = [tuple(map(tuple, doc._.restored_slots)) for doc in docs]
    examples = list(gold_trees(nlp, restorer, references))
    scores = {
        **compare(restorer.punctuation, restored, examples),
        "n_skipped": treebank.n_omitted + treebank.n_wordless,
        "trees": "gold" if gold else "parsed",
        "words_per_second": sum(map(len, docs)) / seconds,
    }
    return scores if gold else scores | attachment(docs, references)


def gold_trees(
    nlp: Language, restorer: PunctuationRestorer, references: Iterable[Doc]
) -> Iterator[PunctuatedTree]:
    """A treebank's own trees, as the restorer of a pipeline sees them.

    nlp (Language), restorer (PunctuationRestorer): The pipeline and its restorer.
    references (Iterable[Doc]): Trees and true punctuation, see `corpus.make_doc`.
    YIELDS (PunctuatedTree): One for each sentence, projective.
    """
    for batch in batched(references, _READ_TOGETHER):
        docs = read_for(nlp, restorer, [unpunctuated(doc, doc) for doc in batch])
        yield from restorer.examples(map(Example, docs, batch))


def read_for(
    nlp: Language, pipe: PunctuationPipe, docs: Iterable[Doc]
) -> Iterable[Doc]:
    """Docs as the components leave them that a restorer or corrector listens to.

    No other component runs, so trees stay what they are.

    nlp (Language), pipe (PunctuationPipe): The pipeline and its component.
    docs (Iterable[Doc]): Parsed Docs.
    RETURNS (Iterable[Doc]): The same Docs.
    """
    components: list[tuple[str, Any]] = nlp.pipeline
    for _, component in components:
        if pipe.name in getattr(component, "listening_components", ()):
            docs = component.pipe(docs)
    return docs


def attachment(docs: Sequence[Doc], references: Sequence[Doc]) -> dict[str, float]:
    """Unlabelled and labelled attachment score.

    docs (Sequence[Doc]): Parsed Docs.
    references (Sequence[Doc]): Docs of the same words with the true trees.
    RETURNS (dict[str, float]): `uas` and `las`.
    """
    pairs = [
        (ours, theirs)
        for doc, reference in zip(docs, references, strict=True)
        for ours, theirs in zip(doc, reference, strict=True)
    ]
    heads = [a for a in pairs if a[0].head.i == a[1].head.i]
    labelled = [a for a in heads if a[0].dep_ == a[1].dep_]
    return {"uas": len(heads) / len(pairs), "las": len(labelled) / len(pairs)}


def evaluate_stream(
    nlp: Language, restorer: PunctuationRestorer, treebank: Treebank, *, lower: bool
) -> dict[str, Any]:
    """Score a pipeline on a treebank that it is given as one text, words alone.

    It has to find the sentences, and the capitals if there are none. A mark between
    two sentences counts where it stands, whichever of them it is given to.

    nlp (Language), restorer (PunctuationRestorer): The pipeline and its restorer.
    treebank (Treebank): The truth.
    lower (bool): Whether the words are lower-cased.
    RETURNS (dict[str, Any]): All that the JSON file holds: scores of the marks, of
        the starts of sentences but the first, and of the case of words that have
        one; there, P and R are of the words with a capital.
    """
    references = [make_doc(example, nlp.vocab) for example in treebank.examples]
    reference = joined(references)
    doc = unpunctuated(reference, sentences=False, lower=lower)
    start = time.perf_counter()
    doc = nlp(doc)
    seconds = time.perf_counter() - start
    if len(doc) != len(reference):
        message = Errors.P072.format(expected=len(reference), n=len(doc))
        raise PunctError(message)
    truth = restorer.punctuation.inventory.known(gold_slots(reference))
    marks = score([tuple(map(tuple, doc._.restored_slots))], [truth]).to_dict()
    return {
        "stream": "lower" if lower else "cased",
        **{name: marks[name] for name in ("aed", "micro_f", "per_mark")},
        "n_words": len(doc),
        "sents": _sentence_starts(doc, references),
        "casing": _casing(doc, reference),
        "words_per_second": len(doc) / seconds,
    }


def _sentence_starts(doc: Doc, references: Sequence[Doc]) -> dict[str, float]:
    """P, R and F of the words that sentences but the first start with."""
    true = set(accumulate(map(len, references[:-1])))
    found = {token.i for token in doc if token.i and token.is_sent_start}
    return _prf(len(true & found), len(found), len(true))


def _casing(doc: Doc, reference: Doc) -> dict[str, float]:
    """How many words have the case that they have in the treebank."""
    written = {i: text for text, _, _, i in doc.user_data[PIECES] if i is not None}
    pairs = [(written.get(token.i, ""), token.text) for token in reference]
    cased = [(a, b) for a, b in pairs if b.lower() != b.upper()]
    found = [(a, b) for a, b in cased if a != a.lower()]
    true = [(a, b) for a, b in cased if b != b.lower()]
    right = sum(a == b for a, b in true)
    return {
        "accuracy": sum(a == b for a, b in cased) / max(len(cased), 1),
        **_prf(right, len(found), len(true)),
    }


def _prf(right: int, found: int, true: int) -> dict[str, float]:
    scores = f_score(right, found, true)
    return {"p": scores.p, "r": scores.r, "f": scores.f}
