"""How good a tagger's punctuation is."""

from collections.abc import Iterable, Sequence
from typing import Any

from spacy_punct.baselines.model import Tagger
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Slots
from spacy_punct.model.evaluation import score, trivial_slots


def compare_tagger(
    tagger: Tagger, restored: Iterable[Slots], examples: Sequence[PunctuatedTree]
) -> dict[str, Any]:
    """Score restored punctuation, and the tagger beside it.

    Taggers and tree models of the same training data know the same marks, so their
    scores are of the same truth.

    tagger (Tagger): The tagger that restored it.
    restored (Iterable[Slots]): Its answers.
    examples (Sequence[PunctuatedTree]): The truth; the trees are not read.
    RETURNS (dict[str, Any]): The same as `spacy_punct.model.evaluation.compare`.
    """
    truth = [tagger.surfaces.known(example.slots) for example in examples]
    trivial = (trivial_slots(example, tagger.surfaces.final) for example in examples)
    return {
        **score(restored, truth).to_dict(),
        "aed_trivial": score(trivial, truth).aed,
        "perplexity": tagger.perplexity(examples),
    }
