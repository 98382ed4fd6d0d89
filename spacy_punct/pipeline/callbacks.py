"""Callbacks for `spacy train`."""

from collections.abc import Callable

from spacy.language import Language


def create_compact(
    name: str = "punctuation_restorer", min_weight: float = 0.01
) -> Callable[[Language], Language]:
    """For `[training.before_to_disk]`: store small models, `spacy_punct.compact.v1`.

    With `use_averages` on, as it should be, spaCy puts the averaged weights in place
    for storing and takes them out again, so training goes on with its own.

    name (str): The component.
    min_weight (float): Weights of ATTACH closer to zero than this are dropped and the
        others rounded to half precision.
    RETURNS (Callable): Takes and gives the pipeline.
    """

    def compact(nlp: Language) -> Language:
        nlp.get_pipe(name).punctuation.scorer.compact(min_weight)
        return nlp

    return compact
