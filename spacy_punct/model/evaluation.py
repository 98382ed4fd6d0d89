"""How good restored and corrected punctuation is.

Restored marks are scored by edit distance, perplexity and marks found; corrections by
the edits of the CoNLL-2014 shared task (M2).
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import cast

import numpy as np

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.edits import SlotEdit, slot_edits
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

    aed (float): Average edit distance: edits per slot (section 6.1).
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


_BETA_2 = 0.25
"""β² of F0.5, which weighs precision twice as much as recall."""


@dataclass(frozen=True)
class EditScores:
    """Agreement of a system's edits with the true ones, over a whole corpus.

    p (float): Precision; 1 if the system changes nothing.
    r (float): Recall; 1 if there is nothing to change.
    f05 (float): F0.5.
    n_right, n_found, n_true (int): Edits of the system that are right, all of them,
        and those that should have been made.
    """

    p: float
    r: float
    f05: float
    n_right: int
    n_found: int
    n_true: int

    def to_dict(self) -> dict:
        return asdict(self)


def score_edits(
    observed: Iterable[Slots],
    corrected: Iterable[Slots],
    truths: Iterable[Slots | Sequence[Slots]],
    *,
    max_unchanged: int = 2,
) -> EditScores:
    """Score corrections by the MaxMatch (M2) method (Dahlmeier & Ng 2012).

    A correction can often be told as edits in several ways. We consider all that the
    Levenshtein lattices (in which replacing costs one or two) allow and any changes
    in a row merged into one edit, across some unchanged tokens at most. Of these the
    system gets the one with most true edits, then with the fewest steps for the rest,
    then with the fewest edits. This is what the official scorer does with tokens.

    Words never change, so we let each align with itself alone. Then the lattice of a
    sentence is that of its slots in a row, with the words between them, and a true
    edit, which is inside a slot, can only be found inside that slot. Slots would be
    independent but for one thing: wrong edits with no more than `max_unchanged`
    tokens between them count as one, and those tokens may be words.

    observed (Iterable[Slots]): Sentence by sentence, what a writer wrote.
    corrected (Iterable[Slots]): What a system made of it.
    truths (Iterable[Slots | Sequence[Slots]]): What it should be. If there are
        several opinions on a sentence, that one counts with which F0.5 is best so far.
    max_unchanged (int): Tokens within an edit that are not changed; the official
        scorer allows 2. With 0, no edit goes beyond its slot.
    RETURNS (EditScores): The scores.
    """
    check_range("max_unchanged", max_unchanged, 0)
    total = (0, 0, 0)
    for before, after, truth in zip(observed, corrected, truths, strict=True):
        totals = []
        for reference in _references(truth):
            gold = slot_edits(before, reference)
            right, found = _match(before, after, frozenset(gold), max_unchanged)
            totals.append((total[0] + right, total[1] + found, total[2] + len(gold)))
        total = max(totals, key=_preference)
    n_right, n_found, n_true = total
    p = n_right / n_found if n_found else 1.0
    r = n_right / n_true if n_true else 1.0
    f = (1 + _BETA_2) * p * r / (_BETA_2 * p + r) if p and r else 0.0
    return EditScores(p, r, f, n_right, n_found, n_true)


def count_changes(
    observed: Iterable[Slots], corrected: Iterable[Slots]
) -> tuple[int, int]:
    """How many slots a system changed, and how many there are."""
    n_changed = n_slots = 0
    for before, after in zip(observed, corrected, strict=True):
        n_changed += sum(a != b for a, b in zip(before, after, strict=True))
        n_slots += len(before)
    return n_changed, n_slots


def _references(truth: Slots | Sequence[Slots]) -> Sequence[Slots]:
    """The opinions on a sentence: slots hold strings of marks, opinions hold slots."""
    is_one = all(isinstance(mark, str) for mark in truth[0])
    return cast(Sequence[Slots], [truth] if is_one else truth)


def _preference(total: tuple[int, int, int]) -> tuple[float, int, float]:
    """By what opinions are chosen: F0.5, right edits, and few others."""
    n_right, n_found, n_true = total
    return _f05(*total), n_right, -(n_found + _BETA_2 * n_true)


def _f05(n_right: int, n_found: int, n_true: int) -> float:
    weight = n_found + _BETA_2 * n_true
    return (1 + _BETA_2) * n_right / weight if weight else 1.0


_Place = tuple[int, int]
"""How many marks of a slot have been read, and how many written."""
_Node = tuple[int, int, int]
"""A place in one of the slots that were changed."""


@lru_cache(maxsize=1 << 16)
def _lattice(before: Puncteme, after: Puncteme) -> dict[_Place, list[_Place]]:
    """The steps of all alignments of least cost, if replacing costs 1 or 2."""
    steps: dict[_Place, set[_Place]] = {}
    for replacing in (1, 2):
        to = _distances(before, after, replacing)
        back = _distances(before[::-1], after[::-1], replacing)
        total = to[len(before), len(after)]
        for i, k in to:
            for step in ((i + 1, k + 1), (i + 1, k), (i, k + 1)):
                if step not in to:
                    continue
                cost = _cost(before, after, (i, k), step, replacing)
                rest = back[len(before) - step[0], len(after) - step[1]]
                if to[i, k] + cost + rest == total:
                    steps.setdefault((i, k), set()).add(step)
    return {place: sorted(nexts) for place, nexts in sorted(steps.items())}


def _distances(before: Puncteme, after: Puncteme, replacing: int) -> dict[_Place, int]:
    """The cost of turning each beginning of a string into each of the other."""
    table: dict[_Place, int] = {}
    for i in range(len(before) + 1):
        for k in range(len(after) + 1):
            table[i, k] = min(
                (
                    table[place] + _cost(before, after, place, (i, k), replacing)
                    for place in ((i - 1, k - 1), (i - 1, k), (i, k - 1))
                    if place in table
                ),
                default=0,
            )
    return table


def _cost(
    before: Puncteme, after: Puncteme, place: _Place, step: _Place, replacing: int
) -> int:
    if step != (place[0] + 1, place[1] + 1):
        return 1
    return 0 if before[place[0]] == after[place[1]] else replacing


class _Alignments:
    """The lattice of a sentence, without what is the same on both sides."""

    def __init__(self, before: Slots, after: Slots, max_unchanged: int) -> None:
        pairs = enumerate(zip(before, after, strict=True))
        self.slots = [slot for slot, (a, b) in pairs if a != b]
        self.before = [before[slot] for slot in self.slots]
        self.after = [after[slot] for slot in self.slots]
        self.lattices = list(map(_lattice, self.before, self.after))
        self.max_unchanged = max_unchanged
        # Tokens between the slots that were changed.
        self.gaps = [
            b - a + sum(map(len, before[a + 1 : b]))
            for a, b in zip(self.slots, self.slots[1:], strict=False)
        ]

    def end(self, index: int) -> _Node:
        return index, len(self.before[index]), len(self.after[index])

    def nodes(self) -> Iterator[_Node]:
        """In an order in which steps go forwards."""
        for index, lattice in enumerate(self.lattices):
            for i, k in lattice:
                yield index, i, k
            yield self.end(index)

    def steps(self, node: _Node) -> Iterator[tuple[_Node, int, int]]:
        """The next nodes, with the tokens kept and changed on the way."""
        index, i, k = node
        if node == self.end(index):
            if index < len(self.gaps):
                yield (index + 1, 0, 0), self.gaps[index], 0
            return
        for step in self.lattices[index][i, k]:
            kept = (
                step == (i + 1, k + 1) and self.before[index][i] == self.after[index][k]
            )
            yield (index, *step), int(kept), int(not kept)

    def merged(self, node: _Node) -> dict[_Node, int]:
        """Where an edit from a node may end, and how many steps it takes.

        An edit that begins or ends with what it keeps would gain nothing.
        """
        ends: dict[_Node, int] = {}
        lengths = {(node, 0): 0}
        queue = deque(lengths)
        while queue:
            here, kept = queue.popleft()
            length = lengths[here, kept]
            for there, keeps, changes in self.steps(here):
                state, longer = (there, kept + keeps), length + keeps + changes
                if state[1] > self.max_unchanged or (keeps and not length):
                    continue
                if changes:
                    ends[there] = min(longer, ends.get(there, longer))
                if longer < lengths.get(state, longer + 1):
                    lengths[state] = longer
                    queue.append(state)
        return ends

    def edit(self, start: _Node, end: _Node) -> SlotEdit | None:
        """The edit between two nodes, if it is inside a slot."""
        (index, i, k), (last, j, m) = start, end
        return (
            SlotEdit(self.slots[index], i, j, self.after[index][k:m])
            if index == last
            else None
        )


def _match(
    before: Slots, after: Slots, gold: AbstractSet[SlotEdit], max_unchanged: int
) -> tuple[int, int]:
    """How many edits a system gets right, and how many it makes."""
    alignments = _Alignments(before, after, max_unchanged)
    if not alignments.slots:
        return 0, 0
    # best[node][inserted]: (true edits, negated; steps of others; edits). A true
    # insertion counts once, `inserted` says whether that was at this place.
    best: dict[_Node, dict[bool, tuple[int, int, int]]] = {}

    def reach(node: _Node, inserted: bool, label: tuple[int, int, int]) -> None:
        labels = best.setdefault(node, {})
        labels[inserted] = min(label, labels.get(inserted, label))

    reach((0, 0, 0), False, (0, 0, 0))
    for node in alignments.nodes():
        for inserted, (right, steps, n) in best.get(node, {}).items():
            for there, keeps, _ in alignments.steps(node):
                if keeps:
                    reach(there, False, (right, steps + keeps, n))
            for there, length in alignments.merged(node).items():
                stays = there[:2] == node[:2]
                is_true = alignments.edit(node, there) in gold
                if is_true and not (stays and inserted):
                    reach(there, stays, (right - 1, steps, n + 1))
                else:
                    reach(there, stays and inserted, (right, steps + length, n + 1))
    right, _, n = min(best[alignments.end(len(alignments.slots) - 1)].values())
    return -right, n
