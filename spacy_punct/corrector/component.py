"""The component `punctuation_corrector`."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from typing import Any, Literal

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_punct.corrector.changes import (
    Change,
    CorrectedSentence,
    Correction,
    applied,
    blamed_word,
    correction_data,
    place,
    shown_slots,
)
from spacy_punct.corrector.expected import in_marks_of, with_expected
from spacy_punct.corrector.pairs import Proposal, complete, has_even_brackets, pair_up
from spacy_punct.corrector.prose import Prose
from spacy_punct.corrector.words import merged, word_edits
from spacy_punct.data.kinds import MESSAGES, kind_of
from spacy_punct.data.marks import ABBREVIATION_DOT, UNK, n_unmatched
from spacy_punct.data.tree import Puncteme, Tree
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.model.distribution import Distribution
from spacy_punct.model.inventory import Inventory, with_own_marks
from spacy_punct.model.scores import Vectors
from spacy_punct.pipe.architectures import SMALL_TOK2VEC
from spacy_punct.pipe.base import (
    PunctuationPipe,
    PunctuationSettings,
    factory_of,
)
from spacy_punct.reading.attributes import CORRECTIONS, register
from spacy_punct.reading.guesses import MARK_GUESSES, with_guesses
from spacy_punct.reading.pieces import joined_slots
from spacy_punct.reading.sentences import BareSentence
from spacy_punct.text.writer import NO_SPACES, QUOTES, Quotes, Writer, quotes_of

SerialComma = Literal["keep", "correct"]
SERIAL_COMMAS: tuple[SerialComma, ...] = ("keep", "correct")

_PAIRS = frozenset({"unpaired-quote", "unpaired-bracket"})
_COMPOUNDS = frozenset({"missing-hyphen", "superfluous-hyphen"})

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
    thresholds (dict[str, float]): The same for some kinds of corrections, whose names
        are in `spacy_punct.data.kinds.MESSAGES`.
    ignore (list[str]): Kinds of corrections that are not proposed.
    serial_comma (SerialComma): "keep" leaves the comma before the last item of a list
        to the writer, "correct" treats it like any other.
    quotes (Quotes | None): How new quotes are written; None for as the text has them.
    """

    threshold: float = 0.5
    thresholds: dict[str, float] = field(default_factory=dict)
    ignore: list[str] = field(default_factory=lambda: ["single-quote"])
    serial_comma: SerialComma = "keep"
    quotes: Quotes | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("threshold", self.threshold, 0, 1)
        for kind, threshold in self.thresholds.items():
            check_range(kind, threshold, 0, 1, inclusive=True)
        for kind in (*self.thresholds, *self.ignore):
            if kind not in MESSAGES:
                raise PunctError(Errors.P220.format(kind=kind))
        self.check_choice("quotes", (None, *QUOTES))
        self.check_choice("serial_comma", SERIAL_COMMAS)


class PunctuationCorrector(PunctuationPipe):
    """Proposes corrections of the punctuation of parsed Docs.

    See `PunctuationPipe`; its settings are `CorrectorSettings`, and its model must be
    one that reads what is written.
    """

    def predict(self, docs: Iterable[Doc]) -> list[list[CorrectedSentence]]:
        """The corrections of Docs, which stay as they are.

        docs (Iterable[Doc]): Parsed Docs.
        RETURNS (list[list[CorrectedSentence]]): For each Doc, its sentences.
        """
        docs = list(docs)
        found = super().predict(docs)
        return [self._settled(*pair) for pair in zip(docs, found, strict=True)]

    def _sentences(self, doc: Doc, vectors: Vectors | None) -> list[BareSentence]:
        """The sentences of a Doc that was read, with what a `mark_reader` says of
        their slots, if there was one. What a `slot_tagger` says of their words is
        weighed against what is written."""
        sentences = super()._sentences(doc, vectors)
        inventory = self.punctuation.inventory
        if MARK_GUESSES in doc.user_data:
            found = with_guesses(doc, sentences, MARK_GUESSES)
            return [in_marks_of(sentence, inventory) for sentence in found]
        found = with_guesses(doc, sentences)
        return [with_expected(sentence, inventory) for sentence in found]

    def _answer(
        self, sentence: BareSentence, distribution: Distribution, inventory: Inventory
    ) -> CorrectedSentence:
        observed = sentence.observed
        known = inventory.known(observed)
        marginals = self._marginals(sentence, distribution)
        tree = distribution.tree
        proposals: dict[int, Proposal] = {}
        for i in self._open_slots(sentence):
            others = {s: p for s, p in marginals[i].items() if s != known[i]}
            best = max(others, key=others.__getitem__, default=())
            written = _with_unknown(best, observed[i], known[i])
            if written is None or not others:
                continue
            new = _with_dot(written, observed[i])
            if new != observed[i]:
                proposals[i] = new, others[best]
        pair_up(proposals, tree, observed, marginals)
        complete(proposals, observed, marginals)
        slots = list(observed)
        probabilities = [
            marginal.get(slot, 0.0)
            for marginal, slot in zip(marginals, known, strict=True)
        ]
        for i, (new, probability) in proposals.items():
            if self._may_want(tree, i, observed[i], new, probability):
                slots[i], probabilities[i] = new, probability
        shown = shown_slots(sentence, tuple(slots))
        changed = [i for i, marks in enumerate(sentence.marks) if shown[i] != marks]
        changes: dict[int, Change] = {}
        if changed:
            before = distribution.underlying(observed)
            after = distribution.underlying(tuple(slots))
            for i in changed:
                word = blamed_word(tree, i, known[i], slots[i], before, after)
                changes[i] = Change(word, kind_of(tree, i, observed[i], slots[i]))
        return CorrectedSentence(sentence, tuple(slots), changes, tuple(probabilities))

    def _may_want(
        self, tree: Tree, slot: int, written: Puncteme, right: Puncteme, p: float
    ) -> bool:
        """Whether a correction may be made, be it at the end of a text or amid it.

        Before the first word of a sentence there are brackets and quotes only, and
        hyphens are between words.
        """
        kinds = {
            kind_of(tree, slot, written, right, goes_on=goes_on)
            for goes_on in (False, True)
        }
        if slot == 0:
            kinds &= _PAIRS
        if slot == len(tree):
            kinds -= _COMPOUNDS
        return any(self.wants(kind, p) for kind in kinds)

    def _settled(
        self, doc: Doc, sentences: Sequence[CorrectedSentence]
    ) -> list[CorrectedSentence]:
        """The sentences of a text with those changes alone that are wanted, sure enough
        and in prose, and that leave no bracket or quote without its partner."""
        found = []
        prose = Prose(doc.text)
        for sentence, following in zip_longest(sentences, sentences[1:]):
            goes_on = following is not None and "\n\n" not in sentence.source.after
            sentence = self._named(sentence) if goes_on else sentence
            dropped = {
                i
                for i, change in sentence.changes.items()
                if not self.wants(change.kind, sentence.probabilities[i])
                or not prose.allows(*place(doc, sentence.source, i), change.kind)
                or (following is not None and _is_there(sentence, i, following))
            }
            found.append(sentence.without(dropped))
        for kind in sorted(_PAIRS):
            # A partner may be hidden in what looks like an emoticon.
            is_even = kind == "unpaired-bracket" and has_even_brackets(doc.text)
            for k, sentence in enumerate(found):
                changed = {i for i, c in sentence.changes.items() if c.kind == kind}
                if not changed:
                    continue
                kept = [*found[:k], sentence.without(changed), *found[k + 1 :]]
                n_kept = n_unmatched(s.slots for s in kept)
                if is_even or n_unmatched(s.slots for s in found) >= n_kept:
                    found = kept
        return found

    def _named(self, sentence: CorrectedSentence) -> CorrectedSentence:
        """A sentence that another one follows: an error at its end has another name."""
        last = len(sentence.slots) - 1
        if last not in sentence.changes:
            return sentence
        written, right = sentence.source.observed[last], sentence.slots[last]
        tree = sentence.source.tree.projective()
        kind = kind_of(tree, last, written, right, goes_on=True)
        change = Change(sentence.changes[last].word, kind)
        return replace(sentence, changes={**sentence.changes, last: change})

    def wants(self, kind: str, probability: float) -> bool:
        """Whether the settings let a correction be made.

        kind (str): Its kind.
        probability (float): How probable it is.
        RETURNS (bool): Whether it is proposed.
        """
        if kind == "serial-comma" and self.cfg["serial_comma"] == "keep":
            return False
        threshold = self.cfg["thresholds"].get(kind, self.cfg["threshold"])
        return kind not in self.cfg["ignore"] and probability > threshold

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
            prose = Prose(doc.text)
            words = [
                edit
                for edit in word_edits(doc, sentences)
                if self.wants(edit["kind"], edit["probability"])
                and prose.allows(edit["start"], edit["end"], edit["kind"])
            ]
            found = merged(correction_data(doc, sentences, writer), words)
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


def _is_there(
    sentence: CorrectedSentence, slot: int, following: CorrectedSentence
) -> bool:
    """Whether a new mark at a sentence's end is there, before the following one."""
    if slot < len(sentence.slots) - 1:
        return False
    new = {*sentence.shown[slot]} - {*sentence.source.marks[slot]}
    return not new.isdisjoint(following.source.marks[0])


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
