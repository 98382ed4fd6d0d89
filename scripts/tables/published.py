"""The figures of Li, Wang & Eisner (2019), to stand beside ours.

Treebanks are named without their release. Perplexities are of test data with gold
trees (their Table 3), edit distances of test data (the table in their Figure 4).
Those of correction are in section 5.2, those of rephrasing in 5.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """The paper's figures for one treebank.

    tokens (int), punctuation (float), omitted, types (int): Its Table 2.
    perplexity (dict[str, float]): System -> perplexity per slot.
    aed (dict[str, float]): System -> average edit distance; "gold" is the full model
        with gold trees, the others have parsed trees or none.
    direction (str): In which the channel learnt to slide.
    """

    tokens: int
    punctuation: float
    omitted: int
    types: int
    perplexity: dict[str, float]
    aed: dict[str, float]
    direction: str


_DATA = {
    "ar": (282_000, 0.079, 255, 18),
    "zh": (123_000, 0.138, 3, 23),
    "en": (255_000, 0.117, 40, 35),
    "hi": (352_000, 0.067, 21, 15),
    "es_ancora": (560_000, 0.117, 25, 16),
}
_PERPLEXITY = {
    "ar": ("left-to-right", 1.4676, 1.3016, 1.2230, 1.1526),
    "zh": ("left-to-right", 1.6850, 1.4436, 1.1921, 1.1464),
    "en": ("right-to-left", 1.5737, 1.5247, 1.5636, 1.4276),
    "hi": ("left-to-right", 1.1201, 1.1032, 1.0630, 1.0598),
    "es_ancora": ("right-to-left", 1.4397, 1.3198, 1.2364, 1.2103),
}
_AED = {
    "ar": (0.064, 0.064, 0.063, 0.059, 0.053),
    "zh": (0.110, 0.109, 0.104, 0.102, 0.048),
    "en": (0.100, 0.108, 0.092, 0.090, 0.079),
    "hi": (0.025, 0.023, 0.019, 0.018, 0.013),
    "es_ancora": (0.093, 0.092, 0.085, 0.078, 0.068),
}


def _by_system(systems: str, figures: Sequence[float]) -> dict[str, float]:
    return dict(zip(systems.split(), figures, strict=True))


PUBLISHED = {
    name: Published(
        *_DATA[name],
        _by_system("bigru-attention bilstm-crf attach log-linear", perplexity),
        _by_system("trivial bilstm-crf attach log-linear gold", _AED[name]),
        direction,
    )
    for name, (direction, *perplexity) in _PERPLEXITY.items()
}
RELEASE = "1.4"
"""Of Universal Dependencies."""


def published(treebank: str) -> Published | None:
    """The paper's figures for a treebank such as en-1.4, None if it has none."""
    name, _, release = treebank.rpartition("-")
    return PUBLISHED.get(name) if release == RELEASE else None


@dataclass(frozen=True)
class PublishedCorrection:
    """The paper's figures for a system that corrects, or restores, learners' marks.

    aed (float): Average edit distance.
    f05 (float): F0.5 of the edits. The paper does not say what is edited. That the
        trivial answer has 0.779 speaks for words without marks: of what learners
        wrote, most is right, and it would spoil that.
    """

    aed: float
    f05: float


CORRECTION_DATA = "English-ESL, test"
CORRECTION = {
    "trivial": PublishedCorrection(0.052, 0.779),
    "bilstm-crf-restorer": PublishedCorrection(0.051, 0.787),
    "restorer": PublishedCorrection(0.047, 0.827),
    "corrector-parsed": PublishedCorrection(0.034, 0.876),
    "corrector-gold": PublishedCorrection(0.033, 0.881),
    "bilstm-crf-corrector": PublishedCorrection(0.005, 0.984),
}
"""System -> figures; the restorer's trees are parsed."""


@dataclass(frozen=True)
class PublishedRephrasing:
    """The paper's perplexities of a trigram model of rephrased sentences (Table 6).

    punctuation, all (dict[str, float]): System -> perplexity of the trigrams that have
        punctuation, and of all.
    """

    punctuation: dict[str, float]
    all: dict[str, float]


def _rephrasing(*figures: float) -> PublishedRephrasing:
    systems = "base half full"
    halves = figures[:3], figures[3:]
    return PublishedRephrasing(*(_by_system(systems, half) for half in halves))


REPHRASING = {
    "ar": _rephrasing(156.0, 231.3, 186.1, 540.8, 590.3, 553.4),
    "zh": _rephrasing(165.2, 110.0, 61.4, 205.0, 174.4, 78.7),
    "en": _rephrasing(98.4, 74.5, 51.0, 140.9, 131.4, 75.4),
    "hi": _rephrasing(10.8, 11.0, 9.7, 118.4, 118.8, 91.8),
    "es_ancora": _rephrasing(266.2, 259.2, 194.5, 346.3, 343.4, 239.3),
}
"""Treebank -> figures."""
