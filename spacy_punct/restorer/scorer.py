"""Scores of restored against true punctuation, for spaCy's tables."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.training import Example

from spacy_punct.model.evaluation import score
from spacy_punct.reading.gold import gold_slots, has_gold


def make_punctuation_scorer() -> Callable:
    """Registered as `spacy_punct.punctuation_scorer.v1`."""
    return score_punctuation


def score_punctuation(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Compare `doc._.restored_slots` with the true slots of the references.

    examples (Iterable[Example]): Restored examples; those without true punctuation,
        or cut into other words than the reference, are left out.
    RETURNS (dict[str, Any]): `punct_aed` (edits per slot), `punct_accuracy` (1 less
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


def is_comparable(example: Example) -> bool:
    """Whether a restored example has the words of its reference, and gold slots."""
    if not has_gold(example.reference):
        return False
    n_slots = len(gold_slots(example.reference))
    restored = example.predicted._.restored_slots
    n_words = sum(not token.is_space for token in example.predicted)
    return restored is not None and len(restored) == n_words + 1 == n_slots
