"""The jobs that measure: how good systems are, and with which trees."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import spacy
import srsly
import torch
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from scripts.analysis_report import write_analysis
from scripts.baselines.storage import from_disk as tagger_from_disk
from scripts.experiments.training import MODEL, best_direction, read_docs
from scripts.learned import analyze
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Slots
from spacy_punct.data.treebank import read_splits
from spacy_punct.model.evaluation import final_mark, score, sentence_edits
from spacy_punct.reading.corpus import unpunctuated
from spacy_punct.reading.gold import gold_slots
from spacy_punct.restorer.component import PunctuationRestorer
from spacy_punct.restorer.evaluation import attachment, gold_trees

SCORED = ("dev", "test")
TREES = {"gold": "corpus", "parsed": "trees", "udpipe": "udpipe"}
"""Kind of trees -> the role of the job that has them."""


def score_restorer(folder: Path, needs: Mapping[str, Path]) -> None:
    """A restorer's answers, with each kind of trees there is.

    needs: "corpus"; "restorer", or log-linear models of both directions, of which the
        better one is scored; "trees" and, if there are such, "udpipe".
    """
    role = "restorer" if "restorer" in needs else best_direction(needs)
    nlp, restorer = load_restorer(needs[role])
    for split in SCORED:
        references = read_docs(needs["corpus"] / f"{split}.spacy", nlp.vocab)
        truth = true_slots(restorer, references)
        examples = gold_trees(nlp, restorer, references)
        log_probs = list(restorer.punctuation.log_probs(examples))
        for kind, role in TREES.items():
            if role not in needs:
                continue
            docs = read_docs(needs[role] / f"{split}.spacy", nlp.vocab)
            restored = restore(restorer, references, docs, f"{split}, {kind}")
            found = scores(restored, truth, log_probs)
            if kind != "gold":
                found |= attachment(docs, references)
            srsly.write_json(folder / f"{split}.{kind}.json", found)


def score_baseline(folder: Path, needs: Mapping[str, Path], *, source: str) -> None:
    """A tagger's answers.

    needs: "tagger".
    """
    torch.set_num_threads(1)
    tagger = tagger_from_disk(needs["tagger"] / "tagger")
    splits = read_splits(Path(source))
    for split in SCORED:
        examples: Sequence[PunctuatedTree] = getattr(splits, split)
        truth = [tagger.surfaces.known(example.slots) for example in examples]
        answers = tagger.restore(example.tree.words for example in examples)
        restored = list(tqdm(answers, total=len(examples), unit="sent", desc=split))
        found = scores(restored, truth, list(tagger.log_probs(examples)))
        srsly.write_json(folder / f"{split}.words.json", found)


def score_trivial(folder: Path, needs: Mapping[str, Path]) -> None:
    """One mark at the end of each sentence and nothing else.

    needs: "corpus" and "restorer", which knows the mark.
    """
    nlp, restorer = load_restorer(needs["restorer"])
    final = final_mark(restorer.punctuation.inventory)
    for split in SCORED:
        references = read_docs(needs["corpus"] / f"{split}.spacy", nlp.vocab)
        truth = true_slots(restorer, references)
        restored = [((),) * len(doc) + (final,) for doc in references]
        srsly.write_json(folder / f"{split}.words.json", scores(restored, truth))


def score_curve(folder: Path, needs: Mapping[str, Path]) -> None:
    """How the error on dev varies with the parser.

    needs: "corpus", a restorer "lexical", the log-linear models of both directions,
        and parsers whose roles are the shares of the training data they have seen.
    """
    split = "dev.spacy"
    points = [{"share": int(role)} for role in needs if role.isdigit()]
    models = {"log-linear": best_direction(needs), "lexical": "lexical"}
    for name, role in models.items():
        nlp, restorer = load_restorer(needs[role])
        references = read_docs(needs["corpus"] / split, nlp.vocab)
        truth = true_slots(restorer, references)
        for point in points:
            docs = read_docs(needs[str(point["share"])] / split, nlp.vocab)
            restored = restore(restorer, references, docs, f"{name}, {point['share']}%")
            point |= attachment(docs, references) | {name: score(restored, truth).aed}
    srsly.write_json(folder / "curve.json", points)


def analyze_channel(folder: Path, needs: Mapping[str, Path]) -> None:
    """What the paper's model learned of a treebank, on its training data.

    needs: "corpus", and the models of both directions.
    """
    nlp, restorer = load_restorer(needs[best_direction(needs)])
    references = read_docs(needs["corpus"] / "train.spacy", nlp.vocab)
    trees = gold_trees(nlp, restorer, references)
    trees = tqdm(trees, total=len(references), unit="sent", desc="analysis")
    write_analysis(analyze(restorer.punctuation, trees), folder)


def load_restorer(folder: Path) -> tuple[Language, PunctuationRestorer]:
    """The restorer that a job trained, and its pipeline."""
    nlp = spacy.load(folder / MODEL)
    return nlp, nlp.get_pipe("punctuation_restorer")


def restore(
    restorer: PunctuationRestorer,
    references: Sequence[Doc],
    trees: Sequence[Doc],
    label: str,
) -> list[Slots]:
    """The answers of a restorer for the words of references, given trees of them.

    label (str): What the progress bar says.
    """
    docs = (unpunctuated(*pair) for pair in zip(references, trees, strict=True))
    stream = restorer.pipe(docs)
    stream = tqdm(stream, total=len(references), unit="sent", desc=label)
    return [tuple(map(tuple, doc._.restored_slots)) for doc in stream]


def true_slots(restorer: PunctuationRestorer, references: Sequence[Doc]) -> list[Slots]:
    """The true punctuation of references, in marks that the restorer knows."""
    return [restorer.punctuation.inventory.known(gold_slots(d)) for d in references]


def scores(
    restored: Sequence[Slots],
    truth: Sequence[Slots],
    log_probs: Sequence[float] | None = None,
) -> dict[str, Any]:
    """How good answers are, all in all and sentence by sentence.

    log_probs (Sequence[float] | None): Of the true punctuation of each sentence.
    RETURNS (dict[str, Any]): The fields of `Scores`; "edits" of each sentence; and,
        if log-probabilities are given, those and "perplexity".
    """
    found = score(restored, truth)
    result = found.to_dict() | {"edits": sentence_edits(restored, truth)}
    if log_probs is not None:
        result["log_probs"] = list(log_probs)
        result["perplexity"] = math.exp(-sum(log_probs) / found.n_slots)
    return result
