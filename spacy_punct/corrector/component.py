"""The component `punctuation_corrector`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_punct.corrector.correcting import (
    CorrectedSentence,
    blamed_word,
    correction_data,
    shown_slots,
)
from spacy_punct.data.marks import ABBREVIATION_DOT, UNK
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.channel import Direction
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.mbr import best_slot, pooled
from spacy_punct.pipe.base import PunctuationPipe, underlying
from spacy_punct.reading.attributes import CORRECTIONS
from spacy_punct.reading.corrected import applied
from spacy_punct.reading.reparsing import reparsed
from spacy_punct.reading.sentences import ParsedSentence
from spacy_punct.reading.writing import joined_slots
from spacy_punct.text.glyphs import QUOTES, Quotes, quotes_of
from spacy_punct.text.spacing import NO_SPACES, Spacing
from spacy_punct.text.writer import Writer


class PunctuationCorrector(PunctuationPipe):
    """Proposes corrections of the punctuation of parsed Docs.

    vocab (Vocab): The shared vocabulary.
    model (Model): One of the project's architectures that read what is written.
    name (str): The component's name in the pipeline.
    threshold (float): How probable a correction must be; the higher, the more is left
        as it is.
    guess_share (float): Models may guess each slot on its own beside what constituents
        say of it (`guess_width`). How much the guess counts, from 0 to 1.
    n_samples, prune, max_hypotheses, seed, direction: See `PunctuationRestorer`.
    quotes (Quotes | None): How new quotes are written; None for as the text has them.
    l2, unmatched_weight, squared: See `PunctuationRestorer`.
    reparse (Sequence[str]): Components of the pipeline that parse the words once more,
        without the marks; for those that have not learned from text with marks. None
        for the trees that Docs have.
    nlp (Language | None): The pipeline.
    scorer (Callable | None): The scoring method.
    architecture (dict | None), spacing (Spacing | None): See `PunctuationPipe`.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "punctuation_corrector",
        *,
        threshold: float = 0.5,
        guess_share: float = 0.5,
        n_samples: int = 0,
        prune: float = 1e-3,
        max_hypotheses: int = 32,
        seed: int = 0,
        direction: Direction | None = None,
        quotes: Quotes | None = None,
        l2: float = 1e-4,
        unmatched_weight: float = 0.0,
        squared: bool = True,
        reparse: Sequence[str] = (),
        nlp: Language | None = None,
        scorer: Callable | None = None,
        architecture: dict[str, Any] | None = None,
        spacing: Spacing | None = None,
    ) -> None:
        check_range("threshold", threshold, 0, 1)
        check_range("guess_share", guess_share, 0, 1)
        cfg = {
            "threshold": threshold,
            "guess_share": guess_share,
            "n_samples": n_samples,
            "prune": prune,
            "max_hypotheses": max_hypotheses,
            "seed": seed,
            "direction": direction,
            "quotes": quotes,
            "reparse": list(reparse),
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
        self._check_choice("quotes", (None, *QUOTES))
        self._nlp = nlp

    def read(self, docs: Sequence[Doc]) -> list[list[ParsedSentence]]:
        """The sentences of each Doc, with the trees that the model is given."""
        sentences = super().read(docs)
        names = self.cfg["reparse"]
        if not names:
            return sentences
        known = dict(self._nlp.components) if self._nlp else {}
        missing = [name for name in names if name not in known]
        if missing:
            raise PunctError(
                Errors.P139.format(name=self.name, missing=", ".join(missing))
            )
        return reparsed(docs, sentences, [known[n].pipe for n in names], self.name)

    def _answer(
        self, sentence: ParsedSentence, distribution: Distribution
    ) -> CorrectedSentence:
        observed = sentence.tree.observed
        known = self.punctuation.inventory.known(observed)
        marginals = self._opinions(sentence, distribution)
        slots = list(observed)
        probabilities = [
            marginal.get(slot, 0.0)
            for marginal, slot in zip(marginals, known, strict=True)
        ]
        for i in self._open_slots(sentence):
            best = best_slot(marginals[i])
            written = _with_unknown(best, observed[i], known[i])
            likelier = marginals[i][best] > max(probabilities[i], self.cfg["threshold"])
            if best != known[i] and written is not None and likelier:
                slots[i] = _with_dot(written, observed[i])
                probabilities[i] = marginals[i][best]
        shown = shown_slots(sentence, tuple(slots))
        changed = [i for i, marks in enumerate(sentence.marks) if shown[i] != marks]
        words: list[int] = []
        if changed:
            inventory = self.punctuation.inventory
            before = underlying(distribution, known)
            after = underlying(distribution, inventory.known(slots))
            words = [
                blamed_word(distribution.tree, i, known[i], slots[i], before, after)
                for i in changed
            ]
        return CorrectedSentence(
            sentence,
            tuple(slots),
            shown,
            dict(zip(changed, words, strict=True)),
            tuple(probabilities),
        )

    def _opinions(
        self, sentence: ParsedSentence, distribution: Distribution
    ) -> list[dict[Puncteme, float]]:
        """What should stand in each slot: what the constituents say, and the guess."""
        marginals = self._marginals(sentence, distribution)
        guesses = distribution.guesses()
        share = self.cfg["guess_share"]
        if guesses is None or not share:
            return marginals
        return [
            pooled(marginal, guess, share)
            for marginal, guess in zip(marginals, guesses, strict=True)
        ]

    def _open_slots(self, sentence: ParsedSentence) -> Iterable[int]:
        """The slots that may be corrected: not those within a word as written."""
        has_spaces = self.spacing.language not in NO_SPACES
        for i in range(len(sentence.marks)):
            if not (has_spaces and sentence.is_spelling(i)):
                yield i

    def set_annotations(
        self, docs: Iterable[Doc], scores: Iterable[Sequence[CorrectedSentence]]
    ) -> None:
        """Write what `predict` found to the extension attributes."""
        for doc, sentences in zip(docs, scores, strict=True):
            quotes = self.cfg["quotes"] or quotes_of(doc.text)
            writer = Writer(self.spacing, quotes)
            found = correction_data(doc, sentences, writer)
            doc.user_data[CORRECTIONS] = found
            doc._.corrected_text = applied(doc.text, found)
            slots = joined_slots(sentence.slots for sentence in sentences)
            doc._.corrected_slots = [list(slot) for slot in slots]

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's scores; none if there is no true punctuation.

        examples (Iterable[Example]): Examples, corrected.
        RETURNS (dict[str, Any]): The scores.
        """
        examples = self._with_gold(examples)
        return super().score(examples, **kwargs) if examples else {}


def _with_unknown(
    best: Puncteme, observed: Puncteme, known: Puncteme
) -> Puncteme | None:
    """An answer with the marks that were too rare to model as they are written.

    None if it is not clear which of them are meant.
    """
    rare = [mark for mark, name in zip(observed, known, strict=True) if name == UNK]
    if best.count(UNK) != len(rare):
        return None if UNK in best or rare else best
    remaining = iter(rare)
    return tuple(next(remaining) if mark == UNK else mark for mark in best)


def _with_dot(answer: Puncteme, observed: Puncteme) -> Puncteme:
    """An answer with the dot that the word before has in the text: it is not taken
    away, but may be a full stop as well."""
    has_dot = observed[:1] == (ABBREVIATION_DOT,)
    if has_dot and ABBREVIATION_DOT not in answer and answer[:1] != (".",):
        return (ABBREVIATION_DOT, *answer)
    return answer
