"""Scores of corrected against true punctuation, for spaCy's tables."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.tokens import Doc
from spacy.training import Example

from spacy_punct.data.tree import Slots
from spacy_punct.model.evaluation import score, score_edits
from spacy_punct.reading.gold import gold_slots, has_gold
from spacy_punct.reading.pieces import joined_slots
from spacy_punct.reading.sentences import bare_sentences


def make_correction_scorer() -> Callable:
    """Registered as `spacy_punct.correction_scorer.v1`."""
    return score_correction


def score_correction(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Compare `doc._.corrected_slots` with the true slots of the references.

    examples (Iterable[Example]): Corrected examples; those without true punctuation,
        or cut into other words than the reference, are left out.
    RETURNS (dict[str, Any]): `correct_aed` (edits per slot) and `correct_aed_before`
        (the same of what was written); `correct_p`, `correct_r` and `correct_f05` of
        the edits (see `score_edits`).
    """
    known = [
        example
        for example in examples
        if has_gold(example.reference)
        and example.predicted._.corrected_slots is not None
        and len(example.predicted._.corrected_slots)
        == len(gold_slots(example.reference))
    ]
    if not known:
        return {}
    truth = [gold_slots(example.reference) for example in known]
    observed = [observed_slots(example.predicted) for example in known]
    corrected = [tuple(map(tuple, e.predicted._.corrected_slots)) for e in known]
    edits = score_edits(observed, corrected, truth)
    return {
        "correct_aed": score(corrected, truth).aed,
        "correct_aed_before": score(observed, truth).aed,
        "correct_p": edits.p,
        "correct_r": edits.r,
        "correct_f05": edits.f05,
    }


def observed_slots(doc: Doc) -> Slots:
    """The marks of a parsed Doc, with the dots of abbreviations."""
    sentences = bare_sentences(doc, "a corrector")
    return tuple(joined_slots(sentence.observed for sentence in sentences))
