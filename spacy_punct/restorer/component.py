"""The component `punctuation_restorer`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from heapq import nlargest
from itertools import accumulate, chain, pairwise
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from spacy_punct.data.marks import UNK
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inventory import Inventory, Pair
from spacy_punct.model.mbr import best_by_slot, restricted, tempered
from spacy_punct.model.scores import Vectors
from spacy_punct.pipe.base import (
    PunctuationPipe,
    PunctuationSettings,
    factory_of,
)
from spacy_punct.reading.attributes import PIECES, register
from spacy_punct.reading.guesses import with_guesses
from spacy_punct.reading.pieces import (
    Glyphs,
    joined_slots,
    restored_doc,
    without_second_dots,
    write_text,
)
from spacy_punct.reading.sentences import BareSentence
from spacy_punct.restorer.scorer import is_comparable
from spacy_punct.text.casing import CASINGS, Casing
from spacy_punct.text.pairs import balanced, is_balanced
from spacy_punct.text.writer import NO_SPACES, QUOTES, Quotes, Writer

Existing = Literal["keep", "replace", "error"]
EXISTING: tuple[Existing, ...] = ("keep", "replace", "error")

Ranked = tuple[tuple[Puncteme, float], ...]
"""What may stand in a slot, with its probability; the most probable first."""

_WORTH_MENTIONING = 0.005
_N_MENTIONED = 6
"""What is told of what else might stand in a slot."""

_UNTRAINED = {"@architectures": "spacy_punct.LogLinearAttach.v1"}
"""The paper's model."""


def _restored_doc(doc: Doc) -> Doc | None:
    pieces = doc.user_data.get(PIECES)
    return None if pieces is None else restored_doc(doc, pieces)


register(
    Doc,
    restored_text={"default": None},
    restored_slots={"default": None},
    restored_confidence={"default": None},
    restored_doc={"getter": _restored_doc},
)
register(Token, left_puncteme={"default": ()}, right_puncteme={"default": ()})


@dataclass(frozen=True, kw_only=True)
class RestorerSettings(PunctuationSettings):
    """The settings of a `punctuation_restorer`; see also `PunctuationSettings`.

    marks (list[str] | None): The marks that may be written; None for all.
    existing (Existing): What to do with punctuation that is there: keep it and restore
        the rest given it, take it away and restore, or raise an error.
    casing (Casing): Whether to capitalise sentences, and words as a truecaser before
        this component says; see `cased`.
    quotes (Quotes): How quotes are written.
    missing_cost (float | None): In the risk that is minimised, what a mark costs that
        is missing; one that should not be there costs 1. The paper's is 1. None for
        what goes with the weights.
    threshold (float): How probable marks must be to be written at all.
    temperature (float | None): What calibrates probabilities: they are raised to the
        power of 1 / temperature. Above 1, they become less certain. None for what goes
        with the weights.
    explain (bool): Whether tokens get the underlying punctemes behind their marks.
        Without, restoring takes less time.
    """

    unmatched_weight: float = 0.03
    marks: list[str] | None = None
    existing: Existing = "keep"
    casing: Casing = "auto"
    quotes: Quotes = "straight"
    threshold: float = 0.0
    missing_cost: float | None = None
    temperature: float | None = None
    explain: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_choice("existing", EXISTING)
        self.check_choice("casing", CASINGS)
        self.check_choice("quotes", QUOTES)
        check_range("threshold", self.threshold, 0, 1, inclusive=True)
        if self.missing_cost is not None:
            check_range("missing_cost", self.missing_cost, 0.1)
        if self.temperature is not None:
            check_range("temperature", self.temperature, 0.01)


@dataclass(frozen=True)
class Restoration:
    """What the model says of a sentence.

    source (BareSentence): The sentence.
    slots (Slots): Its restored punctuation.
    glyphs (Glyphs): How the marks that were kept are written.
    confidence (tuple[float, ...]): The probability of each slot.
    explain (Callable): Gives the underlying pair of each word behind slots, the dots of
        abbreviations included.
    likely (tuple[Ranked, ...]): For each slot its most probable marks, if they are
        known.
    fixed (frozenset[int]): The slots that are not restored: parts of words, and what
        is kept.
    threshold (float): How probable marks had to be to be written.
    """

    source: BareSentence
    slots: Slots
    glyphs: Glyphs
    confidence: tuple[float, ...]
    explain: Callable[[Slots], Sequence[Pair]]
    likely: tuple[Ranked, ...] = ()
    fixed: frozenset[int] = frozenset()
    threshold: float = 0.0

    @cached_property
    def pairs(self) -> Sequence[Pair]:
        """The underlying pair of each word."""
        return self.explain(self.source.with_dots(self.slots))

    @property
    def chances(self) -> list[dict[Puncteme, float]]:
        """For each slot, what is probable enough to be written."""
        return [
            {marks: p for marks, p in ranked if p >= self.threshold}
            for ranked in self.likely
        ]

    def having(self, slots: Slots) -> "Restoration":
        """The same sentence with other punctuation, and how probable that is."""
        confidence = tuple(
            p if new == old else dict(ranked).get(new, 0.0)
            for new, old, p, ranked in zip(
                slots, self.slots, self.confidence, self.likely, strict=True
            )
        )
        return replace(self, slots=slots, confidence=confidence)


def in_pairs(sentences: Sequence[Restoration]) -> list[Restoration]:
    """The sentences of a text, in which each restored bracket and quote has its
    partner, be it in another sentence."""
    slots = tuple(chain.from_iterable(sentence.slots for sentence in sentences))
    if is_balanced(slots):
        return list(sentences)
    starts = [0, *accumulate(len(sentence.slots) for sentence in sentences)]
    fixed = {k + i for s, k in zip(sentences, starts, strict=False) for i in s.fixed}
    chances = [chance for sentence in sentences for chance in sentence.chances]
    found = balanced(slots, fixed, chances)
    return [
        sentence.having(found[start:end])
        for sentence, (start, end) in zip(sentences, pairwise(starts), strict=True)
    ]


class PunctuationRestorer(PunctuationPipe):
    """Restores the punctuation of parsed Docs.

    See `PunctuationPipe`; its settings are `RestorerSettings`.
    """

    def _sentences(self, doc: Doc, vectors: Vectors | None) -> list[BareSentence]:
        """The sentences of a Doc that was read, with what a `slot_tagger` said of their
        slots, if there was one."""
        return with_guesses(doc, super()._sentences(doc, vectors))

    def predict(self, docs: Iterable[Doc]) -> list[list[Restoration]]:
        """What the model says of the sentences of Docs, which stay as they are.

        docs (Iterable[Doc]): Parsed Docs.
        RETURNS (list[list[Restoration]]): For each Doc, an answer for each sentence.
        """
        return [in_pairs(sentences) for sentences in self.propose(docs)]

    def propose(self, docs: Iterable[Doc]) -> list[list[Restoration]]:
        """The same, slot by slot: brackets and quotes may lack their partners."""
        return super().predict(docs)

    def _answer(
        self, sentence: BareSentence, distribution: Distribution, inventory: Inventory
    ) -> Restoration:
        if self.cfg["existing"] == "error":
            _check_unpunctuated(sentence)
        allowed = self._allowed(inventory)
        fixed = self._fixed(sentence)
        observed = None
        if self.cfg["existing"] == "keep" and any(fixed):
            observed = [
                None if slot is None else inventory.known((slot,))[0] for slot in fixed
            ]
        temperature = self.cfg["temperature"]
        marginals = self._marginals(sentence, distribution, observed)
        calibrated = (tempered(marginal, temperature) for marginal in marginals)
        marginals = restricted(calibrated, allowed)
        likeliest = best_by_slot(marginals, self.cfg["missing_cost"])
        threshold = self.cfg["threshold"]
        best = tuple(
            slot if marginal.get(slot, 0.0) >= threshold else ()
            for slot, marginal in zip(likeliest, marginals, strict=True)
        )
        confidence = tuple(
            1.0 if kept is not None else marginal.get(slot, 0.0)
            for kept, marginal, slot in zip(fixed, marginals, best, strict=True)
        )
        return Restoration(
            sentence,
            slots=_filled(fixed, without_second_dots(sentence.texts, best)),
            glyphs={
                place: glyph
                for place, glyph in sentence.glyphs.items()
                if fixed[place[0]] is not None
            },
            confidence=confidence,
            explain=distribution.underlying,
            likely=tuple(map(_ranked, marginals)),
            fixed=frozenset(i for i, kept in enumerate(fixed) if kept is not None),
            threshold=threshold,
        )

    def _fixed(self, sentence: BareSentence) -> list[Puncteme | None]:
        """The slots that are not to be restored: parts of words, and what is kept."""
        keep = self.cfg["existing"] == "keep"
        has_spaces = self.spacing.language not in NO_SPACES
        return [
            marks
            if (keep and marks) or (has_spaces and sentence.is_spelling(i))
            else None
            for i, marks in enumerate(sentence.marks)
        ]

    def _allowed(self, inventory: Inventory) -> frozenset[str]:
        """The marks that may be written."""
        known = frozenset(inventory.marks[1:]) - {UNK}
        wanted = self.cfg["marks"]
        if wanted is None:
            return known
        if unknown := sorted(set(wanted) - known):
            raise PunctError(
                Errors.P047.format(
                    component=self.name,
                    unknown=" ".join(unknown),
                    known=" ".join(self.labels),
                )
            )
        return frozenset(wanted)

    def set_annotations(
        self, docs: Iterable[Doc], scores: Iterable[Sequence[Restoration]]
    ) -> None:
        """Write what `predict` found to the extension attributes."""
        writer = Writer(self.spacing, self.cfg["quotes"])
        for doc, sentences in zip(docs, scores, strict=True):
            written = [(s.source, s.slots, s.glyphs) for s in sentences]
            slots = joined_slots([sentence.slots for sentence in sentences])
            pieces = write_text(doc, written, writer, self.cfg["casing"])
            doc.user_data[PIECES] = pieces
            doc._.restored_text = "".join(text + space for text, space, *_ in pieces)
            for key in [k for k in doc.user_data if _is_puncteme(k)]:
                del doc.user_data[key]
            doc._.restored_slots = [list(slot) for slot in slots]
            doc._.restored_confidence = _joined_confidence(sentences)
            for sentence in sentences if self.cfg["explain"] else ():
                for i, (left, right) in zip(
                    sentence.source.positions, sentence.pairs, strict=True
                ):
                    if left:
                        doc[i]._.left_puncteme = list(left)
                    if right:
                        doc[i]._.right_puncteme = list(right)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's scores, and those of the true punctuation on the trees given:
        `punct_ppl`, perplexity per slot, and `punct_prob`, its inverse (the more the
        better).

        examples (Iterable[Example]): Examples, restored.
        RETURNS (dict[str, Any]): The scores; none if there is no true punctuation.
        """
        examples = self._with_gold(examples)
        if not examples:
            return {}
        scores = super().score(examples, **kwargs)
        same = [example for example in examples if is_comparable(example) and example.x]
        if same:
            perplexity = self.punctuation.perplexity(self.examples(same))
            scores |= {"punct_ppl": perplexity, "punct_prob": 1 / perplexity}
        return scores


make_punctuation_restorer = Language.factory(
    "punctuation_restorer",
    requires=["token.dep", "token.head", "token.pos", "doc.sents"],
    assigns=[
        "doc._.restored_text",
        "doc._.restored_slots",
        "doc._.restored_confidence",
        "doc._.restored_doc",
        "token._.left_puncteme",
        "token._.right_puncteme",
    ],
    default_config={
        "model": None,
        **asdict(RestorerSettings()),
        "scorer": {"@scorers": "spacy_punct.punctuation_scorer.v1"},
    },
    default_score_weights={
        "punct_accuracy": 1.0,
        "punct_aed": 0.0,
        "punct_f": 0.0,
        "punct_ppl": 0.0,
        "punct_per_mark": None,
    },
    func=factory_of(
        "punctuation_restorer", PunctuationRestorer, RestorerSettings, _UNTRAINED
    ),
)


def _check_unpunctuated(sentence: BareSentence) -> None:
    """Raise P045 if there is a mark between words."""
    for (slot, _), glyph in sentence.glyphs.items():
        if not sentence.is_spelling(slot):
            words = sentence.tree.words
            where = f"after '{words[slot - 1]}'" if slot else "at the start"
            raise PunctError(Errors.P045.format(mark=glyph, where=where))


def _is_puncteme(key: Any) -> bool:
    """Whether a key of `Doc.user_data` is of a token's puncteme."""
    return (
        isinstance(key, tuple)
        and key[:1] == ("._.",)
        and key[1] in ("left_puncteme", "right_puncteme")
    )


def _filled(fixed: Sequence[Puncteme | None], slots: Slots) -> Slots:
    """The slots, but for those that are fixed."""
    return tuple(
        slot if kept is None else kept for kept, slot in zip(fixed, slots, strict=True)
    )


def _ranked(marginal: Mapping[Puncteme, float]) -> Ranked:
    """What is worth mentioning of a slot's marginal."""
    worth = ((p, marks) for marks, p in marginal.items() if p >= _WORTH_MENTIONING)
    return tuple((marks, p) for p, marks in nlargest(_N_MENTIONED, worth))


def _joined_confidence(sentences: Iterable[Restoration]) -> list[float]:
    """The probability of each slot of a text: see `joined_slots`."""
    confidence = [1.0]
    for sentence in sentences:
        confidence[-1] *= sentence.confidence[0]
        confidence += sentence.confidence[1:]
    return confidence
