"""The component `punctuation_restorer`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import Any, Literal

from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.channel import Direction
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.mbr import best_by_slot, restricted
from spacy_punct.pipe.base import PunctuationPipe, underlying
from spacy_punct.reading.attributes import PIECES
from spacy_punct.reading.gold import is_comparable
from spacy_punct.reading.sentences import ParsedSentence
from spacy_punct.reading.writing import (
    Ranked,
    RestoredSentence,
    joined_slots,
    without_second_dots,
    write_pieces,
)
from spacy_punct.text.casing import CASINGS, Casing
from spacy_punct.text.glyphs import QUOTES, Quotes
from spacy_punct.text.spacing import NO_SPACES, Spacing
from spacy_punct.text.writer import Writer

Existing = Literal["replace", "keep", "error"]
EXISTING: tuple[Existing, ...] = ("replace", "keep", "error")

_WORTH_MENTIONING = 0.005
_N_MENTIONED = 6
"""What is told of what else might stand in a slot."""


class PunctuationRestorer(PunctuationPipe):
    """Restores the punctuation of parsed Docs.

    vocab (Vocab): The shared vocabulary.
    model (Model): One of the project's architectures.
    name (str): The component's name in the pipeline.
    n_samples (int): Samples a sentence; 0 for marginals without randomness, except
        that what is restored beside kept marks is always sampled, 1,000 times then.
    prune (float): Without samples, hypotheses less probable than the best one by this
        factor are dropped.
    max_hypotheses (int): Without samples, how many of them a constituent keeps.
    seed (int): With the words of a sentence, what its samples depend on.
    direction (Direction | None): Which way the channel slides; None for right to
        left in English and left to right elsewhere. It is fixed by training.
    marks (list[str] | None): The marks that may be written; None for all.
    existing (Existing): What to do with punctuation that is there: take it away and
        restore, keep it and restore the rest given it, or raise an error.
    casing (Casing): Whether to capitalise sentences, and words as a truecaser before
        this component says; "auto" if there is no capital.
    quotes (Quotes): How quotes are written.
    l2 (float): ς, pulls ATTACH's weights to where they started.
    unmatched_weight (float): ξ, discourages brackets without a partner.
    squared (bool): Whether ξ weighs the square of their expected count.
    scorer (Callable | None): The scoring method.
    architecture (dict | None): How to make a model like this one, if the config of
        the pipeline does not say. It is stored with the weights.
    spacing (Spacing | None): What goes with a trained model; None for the language's.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "punctuation_restorer",
        *,
        n_samples: int = 1000,
        prune: float = 1e-3,
        max_hypotheses: int = 32,
        seed: int = 0,
        direction: Direction | None = None,
        marks: list[str] | None = None,
        existing: Existing = "replace",
        casing: Casing = "auto",
        quotes: Quotes = "straight",
        l2: float = 1e-4,
        unmatched_weight: float = 0.03,
        squared: bool = True,
        scorer: Callable | None = None,
        architecture: dict[str, Any] | None = None,
        spacing: Spacing | None = None,
    ) -> None:
        cfg = {
            "n_samples": n_samples,
            "prune": prune,
            "max_hypotheses": max_hypotheses,
            "seed": seed,
            "direction": direction,
            "marks": marks,
            "existing": existing,
            "casing": casing,
            "quotes": quotes,
        }
        training = {
            "l2": l2,
            "unmatched_weight": unmatched_weight,
            "squared": squared,
        }
        super().__init__(
            vocab,
            model,
            name,
            cfg,
            training,
            scorer=scorer,
            architecture=architecture,
            spacing=spacing,
        )
        self._check_choice("existing", EXISTING)
        self._check_choice("casing", CASINGS)
        self._check_choice("quotes", QUOTES)

    def _answer(
        self, sentence: ParsedSentence, distribution: Distribution
    ) -> RestoredSentence:
        words = sentence.texts
        inventory = self.punctuation.inventory
        fixed = self._fixed(sentence)
        observed = None
        if self.cfg["existing"] == "keep":
            observed = [
                None if slot is None else inventory.known((slot,))[0] for slot in fixed
            ]
        marginals = self._marginals(sentence, distribution, observed)
        allowed = self._allowed()
        marginals = [restricted(marginal, allowed) for marginal in marginals]
        best = best_by_slot(marginals)
        confidence = tuple(
            1.0 if kept is not None else marginal.get(slot, 0.0)
            for kept, marginal, slot in zip(fixed, marginals, best, strict=True)
        )
        surface = inventory.known(_filled(fixed, best))
        pairs = underlying(distribution, surface)
        slots = _filled(fixed, without_second_dots(words, best))
        kept = tuple(slot is not None for slot in fixed)
        likely = tuple(map(_ranked, marginals))
        return RestoredSentence(sentence, slots, kept, confidence, pairs, likely)

    def _fixed(self, sentence: ParsedSentence) -> list[Puncteme | None]:
        """The slots that are not to be restored: parts of words, and what is kept."""
        keep = self.cfg["existing"] == "keep"
        has_spaces = self.spacing.language not in NO_SPACES
        return [
            marks
            if (keep and marks) or (has_spaces and sentence.is_spelling(i))
            else None
            for i, marks in enumerate(sentence.marks)
        ]

    def _allowed(self) -> frozenset[str]:
        wanted = self.cfg["marks"]
        if wanted is None:
            return frozenset(self.labels)
        unknown = sorted(set(wanted) - set(self.labels))
        if unknown:
            raise PunctError(
                Errors.P047.format(
                    component=self.name,
                    unknown=" ".join(unknown),
                    known=" ".join(self.labels),
                )
            )
        return frozenset(wanted)

    def _check(self, sentences: Sequence[ParsedSentence]) -> None:
        """Raise or warn about input that cannot or should not be restored."""
        if self.cfg["existing"] == "error":
            for sentence in sentences:
                for (slot, _), glyph in sentence.glyphs.items():
                    if not sentence.is_spelling(slot):
                        words = sentence.tree.words
                        where = f"after '{words[slot - 1]}'" if slot else "at the start"
                        raise PunctError(Errors.P045.format(mark=glyph, where=where))
        super()._check(sentences)

    def set_annotations(
        self, docs: Iterable[Doc], scores: Iterable[Sequence[RestoredSentence]]
    ) -> None:
        """Write what `predict` found to the extension attributes."""
        writer = Writer(self.spacing, self.cfg["quotes"])
        for doc, sentences in zip(docs, scores, strict=True):
            pieces = write_pieces(doc, sentences, writer, self.cfg["casing"])
            doc.user_data[PIECES] = pieces
            doc._.restored_text = "".join(text + space for text, space, *_ in pieces)
            for key in [k for k in doc.user_data if _is_puncteme(k)]:
                del doc.user_data[key]
            slots = joined_slots(sentence.slots for sentence in sentences)
            doc._.restored_slots = [list(slot) for slot in slots]
            doc._.restored_confidence = _joined_confidence(sentences)
            for sentence in sentences:
                for i, (left, right) in zip(
                    sentence.source.positions, sentence.pairs, strict=True
                ):
                    if left:
                        doc[i]._.left_puncteme = list(left)
                    if right:
                        doc[i]._.right_puncteme = list(right)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's scores, and those of the true punctuation on the trees given:
        `punct_ppl`, perplexity a slot, and `punct_prob`, its inverse (the more the
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


def _joined_confidence(sentences: Iterable[RestoredSentence]) -> list[float]:
    """The probability of each slot of a text: see `joined_slots`."""
    confidence = [1.0]
    for sentence in sentences:
        confidence[-1] *= sentence.confidence[0]
        confidence += sentence.confidence[1:]
    return confidence
