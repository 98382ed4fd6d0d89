"""How good a tagger's punctuation is."""

from collections.abc import Iterable, Sequence
from typing import Any

from scripts.baselines.model import Tagger
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Slots
from spacy_punct.model.evaluation import score, trivial_slots


def compare_tagger(
    tagger: Tagger, restored: Iterable[Slots], examples: Sequence[PunctuatedTree]
) -> dict[str, Any]:
    """Score restored punctuation, and the tagger beside it.

    Taggers and tree models of the same training data know the same marks, so their
    scores are of the same truth.

    tagger (Tagger): The tagger that restored or corrected it.
    restored (Iterable[Slots]): Its answers.
    examples (Sequence[PunctuatedTree]): The truth; of the trees only words and
        observed marks are read.
    RETURNS (dict[str, Any]): The same as `spacy_punct.model.evaluation.compare`, and
        for correctors `aed_observed`, of leaving all as it is.
    """
    known = tagger.surfaces.known
    truth = [known(example.slots) for example in examples]
    trivial = (trivial_slots(example, tagger.surfaces.final) for example in examples)
    found = {
        **score(map(known, restored), truth).to_dict(),
        "aed_trivial": score(trivial, truth).aed,
        "perplexity": tagger.perplexity(examples),
    }
    if tagger.reads_observed:
        observed = (known(example.tree.observed) for example in examples)
        found["aed_observed"] = score(observed, truth).aed
    return found
