"""The component `punctuation_corrector`."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_punct.corrector.changes import (
    CorrectedSentence,
    Correction,
    applied,
    blamed_word,
    correction_data,
    shown_slots,
)
from spacy_punct.data.marks import ABBREVIATION_DOT, UNK
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inventory import Inventory, with_own_marks
from spacy_punct.model.mbr import best_slot
from spacy_punct.pipe.architectures import SMALL_TOK2VEC
from spacy_punct.pipe.base import (
    PunctuationPipe,
    PunctuationSettings,
    factory_of,
)
from spacy_punct.reading.attributes import CORRECTIONS, register
from spacy_punct.reading.bare import reparsed
from spacy_punct.reading.pieces import joined_slots
from spacy_punct.reading.sentences import BareSentence
from spacy_punct.text.writer import NO_SPACES, QUOTES, Quotes, Writer, quotes_of

_UNTRAINED = {
    "@architectures": "spacy_punct.LexicalAttach.v1",
    "observed_width": 32,
    "tok2vec": SMALL_TOK2VEC,
}
"""A model that reads words and what is written between them."""


def _corrections(doc: Doc) -> list[Correction] | None:
    found = doc.user_data.get(CORRECTIONS)
    if found is None:
        return None
    return [Correction.from_data(doc, correction) for correction in found]


register(
    Doc,
    corrected_text={"default": None},
    corrected_slots={"default": None},
    corrections={"getter": _corrections},
)


@dataclass(frozen=True, kw_only=True)
class CorrectorSettings(PunctuationSettings):
    """The settings of a `punctuation_corrector`; see also `PunctuationSettings`.

    threshold (float): How probable a correction must be; the higher, the more is left
        as it is.
    quotes (Quotes | None): How new quotes are written; None for as the text has them.
    reparse (list[str]): Components of the pipeline that parse the words once more,
        without the marks; for those that have not learned from text with marks. Empty
        for the trees that Docs have.
    """

    threshold: float = 0.5
    quotes: Quotes | None = None
    reparse: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("threshold", self.threshold, 0, 1)
        self.check_choice("quotes", (None, *QUOTES))


class PunctuationCorrector(PunctuationPipe):
    """Proposes corrections of the punctuation of parsed Docs.

    See `PunctuationPipe`; its settings are `CorrectorSettings`, and its model must be
    one that reads what is written.
    """

    def read(self, docs: Sequence[Doc]) -> list[list[BareSentence]]:
        """The sentences of each Doc, with the trees that the model is given."""
        sentences = super().read(docs)
        names = self.cfg["reparse"]
        if not names:
            return sentences
        known: dict[str, Any] = dict(self._nlp.components) if self._nlp else {}
        missing = [name for name in names if name not in known]
        if missing:
            raise PunctError(
                Errors.P139.format(name=self.name, missing=", ".join(missing))
            )
        return reparsed(docs, sentences, [known[n].pipe for n in names], self.name)

    def _answer(
        self, sentence: BareSentence, distribution: Distribution, inventory: Inventory
    ) -> CorrectedSentence:
        observed = sentence.observed
        known = inventory.known(observed)
        marginals = self._marginals(sentence, distribution)
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
            before = distribution.underlying(observed)
            after = distribution.underlying(tuple(slots))
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

    def _open_slots(self, sentence: BareSentence) -> Iterable[int]:
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
            slots = joined_slots([sentence.slots for sentence in sentences])
            doc._.corrected_slots = [list(slot) for slot in slots]

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """The scorer's scores; none if there is no true punctuation.

        examples (Iterable[Example]): Examples, corrected.
        RETURNS (dict[str, Any]): The scores.
        """
        examples = self._with_gold(examples)
        return super().score(examples, **kwargs) if examples else {}


make_punctuation_corrector = Language.factory(
    "punctuation_corrector",
    requires=["token.dep", "token.head", "token.pos", "doc.sents"],
    assigns=["doc._.corrected_text", "doc._.corrected_slots", "doc._.corrections"],
    default_config={
        "model": None,
        **asdict(CorrectorSettings()),
        "scorer": {"@scorers": "spacy_punct.correction_scorer.v1"},
    },
    default_score_weights={
        "correct_f05": 1.0,
        "correct_p": 0.0,
        "correct_r": 0.0,
        "correct_aed": 0.0,
        "correct_aed_before": 0.0,
    },
    func=factory_of(
        "punctuation_corrector", PunctuationCorrector, CorrectorSettings, _UNTRAINED
    ),
)


def _with_unknown(
    best: Puncteme, observed: Puncteme, known: Puncteme
) -> Puncteme | None:
    """An answer with the marks that were too rare to model as they are written.

    None if it is not clear which of them are meant.
    """
    rare = [mark for mark, name in zip(observed, known, strict=True) if name == UNK]
    return with_own_marks(best, iter(rare)) if best.count(UNK) == len(rare) else None


def _with_dot(answer: Puncteme, observed: Puncteme) -> Puncteme:
    """An answer with the dot that the word before has in the text: it is not taken
    away, but may be a full stop as well."""
    has_dot = observed[:1] == (ABBREVIATION_DOT,)
    if has_dot and ABBREVIATION_DOT not in answer and answer[:1] != (".",):
        return (ABBREVIATION_DOT, *answer)
    return answer
