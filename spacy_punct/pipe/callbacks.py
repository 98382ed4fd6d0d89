"""Callbacks for `spacy train`."""

from collections.abc import Callable

from spacy.language import Language


def create_compact(
    name: str = "punctuation_restorer", min_weight: float = 0.01
) -> Callable[[Language], Language]:
    """For `[training.before_to_disk]`: store small models, `spacy_punct.compact.v1`.

    Only what is stored is made smaller; training goes on with its own weights.

    name (str): The component.
    min_weight (float): Weights of ATTACH closer to zero than this are dropped and the
        others rounded to half precision.
    RETURNS (Callable): Takes and gives the pipeline.
    """

    def compact(nlp: Language) -> Language:
        nlp.get_pipe(name).model.shims[0].min_weight = min_weight
        return nlp

    return compact
