"""Punctuation as people get it wrong, for training where there are no pairs.

What may go wrong in a slot is written down below; how often it does is counted from
corrected text, kind by kind (`scripts.mistakes`).
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.kinds import kind_of
from spacy_punct.data.marks import (
    ABBREVIATION_DOT,
    BRACKETS,
    COMMAS,
    FULL_STOPS,
    HYPHENS,
    TERMINALS,
    is_dash,
)
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.errors import Errors, PunctError, check_range

RATES = {
    "missing-comma-introductory": 0.29,
    "missing-comma-compound": 0.31,
    "missing-comma-insertion": 0.22,
    "missing-comma-list": 0.16,
    "missing-comma-address": 0.05,
    "missing-comma-date": 0.1,
    "missing-comma-quotation": 0.14,
    "superfluous-comma-subject": 0.01,
    "superfluous-comma-object": 0.01,
    "superfluous-comma-pair": 0.01,
    "superfluous-comma": 0.002,
    "comma-splice": 0.1,
    "run-on": 0.05,
    "missing-end": 0.1,
    "doubled-mark": 0.02,
    "question-mark": 0.2,
    "statement": 0.01,
    "wrong-end": 0.002,
    "colon": 0.15,
    "dash": 0.002,
    "unpaired-quote": 0.1,
    "unpaired-bracket": 0.1,
    "misplaced-mark": 0.05,
    "missing-hyphen": 0.13,
}
"""How often people make each error where they could, as counted in corrected text.
Those that hardly ever occur there but are plain to see, such as missing end marks, are
made more often, so that they are learned at all."""


@dataclass(frozen=True)
class NoiseRates:
    """How often errors are made, from 0 to 1.

    share_clean (float): Sentences that are left entirely as they are.
    both (float): If a comma of a pair around a constituent is left out, how often the
        other is too.
    rates (Mapping[str, float]): How often each kind of error is made where it could
        be, if not as often as by `RATES`.
    """

    share_clean: float = 0.2
    both: float = 0.3
    rates: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind in self.rates:
            if kind not in RATES:
                raise PunctError(
                    Errors.P046.format(
                        name="rates", value=kind, choices=", ".join(RATES)
                    )
                )
        own = {"share_clean": self.share_clean, "both": self.both}
        for name, rate in {**own, **self.rates}.items():
            check_range(name, rate, 0, 1, inclusive=True)

    @classmethod
    def from_settings(cls, settings: Mapping[str, float] | None) -> "NoiseRates":
        """Rates as a config has them: kinds, `share_clean` and `both` in one table."""
        rates = dict(settings or {})
        own = {name: rates.pop(name) for name in ("share_clean", "both") & rates.keys()}
        return cls(**own, rates=rates)

    def of(self, kind: str) -> float:
        return self.rates.get(kind, RATES[kind])


@dataclass(frozen=True)
class NoisySlot:
    """An error in a slot.

    kind (str): Its kind; see `spacy_punct.data.kinds`.
    slot (int): Where.
    marks (Puncteme): What is written there instead of the right marks.
    """

    kind: str
    slot: int
    marks: Puncteme


def corrupted(
    examples: Iterable[PunctuatedTree],
    rates: NoiseRates | None = None,
    seed: int = 0,
) -> list[PunctuatedTree]:
    """Examples of correction, made of right punctuation.

    examples (Iterable[PunctuatedTree]): Sentences with the right marks.
    rates (NoiseRates | None): How often each error is made; the defaults if None.
    seed (int): A sentence's errors depend on it and the sentence's position alone.
    RETURNS (list[PunctuatedTree]): The same, with errors in `tree.observed`.
    """
    examples = list(examples)
    found = noise_by_sentence(examples, rates, seed)
    return [
        replace(x, tree=replace(x.tree, observed=with_noise(x.slots, noise)))
        for x, noise in zip(examples, found, strict=True)
    ]


def noise_by_sentence(
    examples: Iterable[PunctuatedTree],
    rates: NoiseRates | None = None,
    seed: int = 0,
) -> list[list[NoisySlot]]:
    """The errors that `corrupted` makes in each sentence."""
    rates = rates or NoiseRates()
    return [
        noisy_slots(example, rates, random.Random(f"{seed} {i}"))
        for i, example in enumerate(examples)
    ]


def with_noise(slots: Slots, noise: Iterable[NoisySlot]) -> Slots:
    """The marks of a sentence with some errors."""
    marks = {error.slot: error.marks for error in noise}
    return tuple(marks.get(i, slot) for i, slot in enumerate(slots))


def noisy_slots(
    example: PunctuatedTree,
    rates: NoiseRates,
    rng: random.Random,
    *,
    goes_on: bool = False,
) -> list[NoisySlot]:
    """Make errors in a sentence's punctuation, at most one in each slot.

    example (PunctuatedTree): The sentence with the right marks.
    rates (NoiseRates): How often each error is made.
    rng (random.Random): Decides.
    goes_on (bool): Whether another sentence of the paragraph follows.
    RETURNS (list[NoisySlot]): The errors. Abbreviation dots are spelling and stay.
    """
    if rng.random() < rates.share_clean:
        return []
    noise: dict[int, NoisySlot] = {}
    partners = _partners(example)
    for error in occasions(example, goes_on=goes_on):
        if error.slot in noise or rng.random() >= rates.of(error.kind):
            continue
        noise[error.slot] = error
        other = partners.get(error.slot)
        is_pair = other is not None and error.kind == other.kind
        if other and is_pair and rng.random() < rates.both:
            noise.setdefault(other.slot, other)
    return list(noise.values())


def occasions(example: PunctuatedTree, *, goes_on: bool = False) -> Iterator[NoisySlot]:
    """All the errors that a sentence gives occasion to.

    example (PunctuatedTree), goes_on (bool): See `noisy_slots`.
    YIELDS (NoisySlot): Errors, several for a slot where it may be wrong in several
        ways, the rarer before the more frequent.
    """
    tree = example.tree.projective()
    comma = comma_of(example)
    for slot, right in enumerate(example.slots):
        found = dict.fromkeys(_ways(tree, slot, right, comma))
        for written in found:
            kind = kind_of(tree, slot, written, right, goes_on=goes_on)
            if kind in RATES:
                yield NoisySlot(kind, slot, written)


_STOPPED = frozenset({*";:：；؛", *FULL_STOPS})
"""Marks between clauses for which a comma is too weak."""
_CLOSING_QUOTES = frozenset({"''", "'", "”", "’", "»", "›", "」", "』"})
_ENDS = {"?": ".", ".": "?", "？": "。", "。": "？", "؟": "."}
_PAIRED = {*BRACKETS, *BRACKETS.values()} - TERMINALS


def _ways(tree: Tree, slot: int, right: Puncteme, comma: str) -> Iterator[Puncteme]:
    """What people write instead of the right marks of a slot."""
    dots = right[:1] if right[:1] == (ABBREVIATION_DOT,) else ()
    is_inner = 0 < slot < len(tree)
    if is_inner and len(right) == len(dots) and not _is_clitic(tree.words[slot]):
        yield (*right, comma)
    for k in range(len(dots), len(right)):
        mark, before, after = right[k], right[:k], right[k + 1 :]
        is_last = slot == len(tree) and _TERMINAL_CHARS.issuperset(mark)
        if k and right[k - 1] in COMMAS | {*FULL_STOPS} and mark in _CLOSING_QUOTES:
            yield (*right[: k - 1], mark, right[k - 1], *after)
        if mark in _STOPPED | TERMINALS or (is_dash(mark) and mark not in HYPHENS):
            yield (*before, comma, *after)
        if is_last:
            yield (*before, mark, mark, *after)
            if mark in _ENDS:
                yield (*before, _ENDS[mark], *after)
        if mark in COMMAS | _PAIRED or is_last or (is_inner and mark in HYPHENS):
            yield (*before, *after)


_TERMINAL_CHARS = frozenset("".join(TERMINALS))


def _is_clitic(word: str) -> bool:
    """Whether a word such as 's is not parted from its host."""
    return word.startswith(("'", "’")) or word in ("n't", "n’t")


def comma_of(example: PunctuatedTree) -> str:
    """The comma that a sentence is written with: one of its own, or of its script."""
    marks = set(chain.from_iterable(example.slots))
    own = marks & COMMAS - {"、"}
    if own:
        return min(own)
    if "。" in marks:
        return "，"
    letters = "".join(example.tree.words)
    return "،" if any("\u0600" <= char <= "\u06ff" for char in letters) else ","


def _partners(example: PunctuatedTree) -> dict[int, NoisySlot]:
    """For each slot with one of two commas around a constituent, the other's lack."""
    found: dict[int, NoisySlot] = {}
    for span in example.tree.projective().spans:
        for here, there in (span, span[::-1]):
            commas = [k for k, m in enumerate(example.slots[there]) if m in COMMAS]
            if commas and COMMAS & set(example.slots[here]) and here != there:
                k, marks = commas[0], example.slots[there]
                lack = NoisySlot(
                    "missing-comma-insertion", there, marks[:k] + marks[k + 1 :]
                )
                found.setdefault(here, lack)
    return found
