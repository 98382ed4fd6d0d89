"""How good restored punctuation is: edit distance, perplexity, marks found."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.inventory import Inventory
from spacy_punct.model.mbr import total_edit_distance
from spacy_punct.model.punctuation import PunctuationModel


@dataclass(frozen=True)
class MarkScore:
    """Precision, recall and F1 of one mark, and how often it is in the truth."""

    p: float
    r: float
    f: float
    support: int


@dataclass(frozen=True)
class Scores:
    """Agreement of restored with true punctuation.

    aed (float): Average edit distance: edits a slot (section 6.1).
    micro_f (float): F1 over all marks, "no mark" excluded.
    per_mark (dict[str, MarkScore]): The same for each mark.
    n_sents, n_slots (int): On how much this was measured.
    """

    aed: float
    micro_f: float
    per_mark: dict[str, MarkScore]
    n_sents: int
    n_slots: int

    def to_dict(self) -> dict:
        return asdict(self)


def score(restored: Iterable[Slots], truth: Iterable[Slots]) -> Scores:
    """Compare restored punctuation with the truth, slot by slot.

    A mark is found if it stands in the same slot, in whatever order.

    restored, truth (Iterable[Slots]): Sentence by sentence.
    RETURNS (Scores): The scores.
    """
    edits = n_sents = n_slots = 0
    found: Counter[str] = Counter()
    given: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for ours, theirs in zip(restored, truth, strict=True):
        edits += total_edit_distance(ours, theirs)
        n_sents += 1
        n_slots += len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            if a or b:
                given.update(a)
                wanted.update(b)
                found += Counter(a) & Counter(b)
    per_mark = {
        mark: f_score(found[mark], given[mark], wanted[mark])
        for mark, _ in (wanted | given).most_common()
    }
    micro = f_score(found.total(), given.total(), wanted.total())
    return Scores(edits / max(n_slots, 1), micro.f, per_mark, n_sents, n_slots)


def f_score(found: int, given: int, wanted: int) -> MarkScore:
    """The scores of an answer: how many are right, given, and in the truth."""
    p = found / given if given else 0.0
    r = found / wanted if wanted else 0.0
    return MarkScore(p, r, 2 * p * r / (p + r) if found else 0.0, wanted)


def sentence_edits(restored: Iterable[Slots], truth: Iterable[Slots]) -> list[int]:
    """The edits between restored and true punctuation, sentence by sentence."""
    pairs = zip(restored, truth, strict=True)
    return [total_edit_distance(ours, theirs) for ours, theirs in pairs]


def permutation_test(
    losses_a: Sequence[float],
    losses_b: Sequence[float],
    n: int = 10_000,
    seed: int = 0,
) -> float:
    """Whether two systems differ: a paired permutation test, two-sided.

    If they did not, either loss of a sentence could as well be the other system's.
    So we swap them at random and count how often the totals are as far apart as
    those that were observed.

    losses_a, losses_b (Sequence[float]): Of the same sentences, such as the edits
        that `sentence_edits` gives.
    n (int): Random permutations.
    seed (int): Their seed.
    RETURNS (float): The p-value. The observed totals count as one more permutation,
        so it is never 0.
    """
    check_range("n", n, 1)
    if len(losses_a) != len(losses_b):
        raise PunctError(Errors.P036.format(a=len(losses_a), b=len(losses_b)))
    differences = np.subtract(losses_a, losses_b, dtype=float)
    differences = differences[differences != 0]
    observed = abs(differences.sum())
    rng = np.random.default_rng(seed)
    as_far = 1
    for _ in range(n):
        swapped = rng.random(len(differences)) < 0.5
        total = differences.sum() - 2 * differences[swapped].sum()
        as_far += abs(total) >= observed - 1e-9
    return as_far / (n + 1)


def final_mark(inventory: Inventory) -> Puncteme:
    """What most sentences end in: the period, or the danda in Hindi.

    inventory (Inventory): Counts of the training data's pairs.
    RETURNS (Puncteme): Empty if sentences have no marks at their end.
    """
    ends: Counter[Puncteme] = Counter()
    relation = inventory.relations[inventory.relation_id("root")]
    counts = inventory.pairs[relation]
    for (_, right), n in counts.items():
        if right:
            ends[right] += n
    return ends.most_common(1)[0][0] if ends else ()


def trivial_slots(example: PunctuatedTree, final: Puncteme) -> Slots:
    """The trivial baseline: one mark at the end and nothing else."""
    return ((),) * len(example.tree) + (final,)


def evaluate(
    model: PunctuationModel,
    examples: Sequence[PunctuatedTree],
    *,
    n_samples: int = 1000,
    seed: int = 0,
) -> dict:
    """Restore a treebank's punctuation from its own trees and score it.

    model (PunctuationModel): A trained model.
    examples (Sequence[PunctuatedTree]): Trees and true slots.
    n_samples, seed (int): See `Distribution.marginals`.
    RETURNS (dict): See `compare`.
    """
    trees = [example.tree for example in examples]
    restored = model.restore(trees, n_samples=n_samples, seed=seed)
    return compare(model, restored, examples)


def compare(
    model: PunctuationModel,
    restored: Iterable[Slots],
    examples: Sequence[PunctuatedTree],
) -> dict:
    """Score restored punctuation, and the model beside it.

    model (PunctuationModel): The model that restored it.
    restored (Iterable[Slots]): Its answers.
    examples (Sequence[PunctuatedTree]): Gold trees and true slots.
    RETURNS (dict): The fields of `Scores`, `aed_trivial` and `perplexity`.
    """
    truth = [model.inventory.known(example.slots) for example in examples]
    final = final_mark(model.inventory)
    trivial = (trivial_slots(example, final) for example in examples)
    return {
        **score(restored, truth).to_dict(),
        "aed_trivial": score(trivial, truth).aed,
        "perplexity": model.perplexity(examples),
    }
