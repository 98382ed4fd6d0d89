"""Scores of restored against true punctuation and case, for spaCy's tables."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import PRFScore
from spacy.training import Example

from spacy_punct.model.correction_scores import score_edits
from spacy_punct.model.evaluation import score
from spacy_punct.reading.attributes import truecased
from spacy_punct.reading.gold import gold_slots, has_gold, is_comparable
from spacy_punct.reading.observed import observed_slots
from spacy_punct.text.casing import has_capital
from spacy_punct.truecaser.true_case import true_forms


def make_punctuation_scorer() -> Callable:
    """Registered as `spacy_punct.punctuation_scorer.v1`."""
    return score_punctuation


def score_punctuation(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Compare `doc._.restored_slots` with the true slots of the references.

    examples (Iterable[Example]): Restored examples; those without true punctuation,
        or cut into other words than the reference, are left out.
    RETURNS (dict[str, Any]): `punct_aed` (edits a slot), `punct_accuracy` (1 less
        that: the more the better), `punct_f` (over all marks), `punct_per_mark`,
        `punct_skipped` (examples in other words).
    """
    true = [example for example in examples if has_gold(example.reference)]
    known = [example for example in true if is_comparable(example)]
    restored = [tuple(map(tuple, e.predicted._.restored_slots)) for e in known]
    found = score(restored, [gold_slots(e.reference) for e in known])
    return {
        "punct_aed": found.aed,
        "punct_accuracy": 1.0 - found.aed,
        "punct_f": found.micro_f,
        "punct_skipped": len(true) - len(known),
        "punct_per_mark": {
            mark: {"p": s.p, "r": s.r, "f": s.f} for mark, s in found.per_mark.items()
        },
    }


def make_correction_scorer() -> Callable:
    """Registered as `spacy_punct.correction_scorer.v1`."""
    return score_correction


def score_correction(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Compare `doc._.corrected_slots` with the true slots of the references.

    examples (Iterable[Example]): Corrected examples; those without true punctuation,
        or cut into other words than the reference, are left out.
    RETURNS (dict[str, Any]): `correct_aed` (edits a slot) and `correct_aed_before`
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


def make_case_scorer() -> Callable:
    """Registered as `spacy_punct.case_scorer.v1`."""
    return score_case


def score_case(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Compare `token._.truecased` with the words of the references.

    examples (Iterable[Example]): Truecased examples. Words whose reference does not
        tell their case, such as the first of a sentence, are left out.
    RETURNS (dict[str, Any]): `case_acc` (share of words written as in the reference)
        and `case_p`, `case_r`, `case_f` (of words that have a capital); none if there
        are no such words.
    """
    capitals = PRFScore()
    n_right = n_words = 0
    for example in examples:
        for token, true in zip(example.predicted, true_forms(example), strict=True):
            if true is None:
                continue
            found = truecased(token) or token.text
            n_words += 1
            n_right += found == true
            is_true, is_found = has_capital(true), has_capital(found)
            capitals.tp += is_true and is_found
            capitals.fp += is_found and not is_true
            capitals.fn += is_true and not is_found
    if not n_words:
        return {}
    return {
        "case_acc": n_right / n_words,
        "case_p": capitals.precision,
        "case_r": capitals.recall,
        "case_f": capitals.fscore,
    }
