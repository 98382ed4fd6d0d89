"""Scores of words in their true case, for spaCy's tables."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import PRFScore
from spacy.training import Example

from spacy_punct.reading.pieces import truecased
from spacy_punct.text.casing import has_capital
from spacy_punct.truecaser.forms import true_forms


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
