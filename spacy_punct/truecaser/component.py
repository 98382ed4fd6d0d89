"""The component `truecaser`."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import srsly
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, SequenceCategoricalCrossentropy
from thinc.types import Floats2d

from spacy_punct.data.written import STARTERS
from spacy_punct.errors import Errors, PunctError
from spacy_punct.pipe.architectures import SMALL_TAGGER
from spacy_punct.pipe.base import StoredPipe
from spacy_punct.reading.attributes import TRUECASED, register
from spacy_punct.reading.pieces import truecased
from spacy_punct.text.casing import CASES, case_of, folded, has_capital, recased
from spacy_punct.truecaser.forms import true_forms

_SAMPLE = 10
"""Examples that the shapes of the model are read off."""

_UPPER, _PLAIN = CASES.index("upper"), 0.9
_DOUBT = 0.2
"""How probable a capital must be for a word that has one elsewhere in the text."""

register(Token, truecased={"getter": truecased})


class Truecaser(StoredPipe):
    """Says of each token how it is written mid-sentence: anna -> Anna.

    The answer is in `token._.truecased`. That sentences begin with a capital is not
    its business, but the writer's, who knows where they begin.

    vocab (Vocab): The shared vocabulary.
    model (Model): A tagger: Docs to an array of class scores for each.
    name (str): The component's name in the pipeline.
    scorer (Callable | None): The scoring method.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], list[Floats2d]],
        name: str = "truecaser",
        *,
        scorer: Callable | None = None,
    ) -> None:
        super().__init__(vocab, model, name)
        self.scorer = scorer
        self.mixed: dict[str, str] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """The cases a word can be in."""
        return CASES

    @property
    def label_data(self) -> dict[str, str]:
        """The words in mixed case, by their lower-case forms."""
        return self.mixed

    # Predicting

    def predict(self, docs: Iterable[Doc]) -> list[np.ndarray]:
        """Find the case of each token, without changing the Docs.

        docs (Iterable[Doc]): The Docs.
        RETURNS (list[np.ndarray]): For each Doc the tokens' places in `labels`.
        """
        docs = list(docs)
        if not any(map(len, docs)):
            return [np.zeros(0, dtype="int64") for _ in docs]
        if not self._is_trained():
            raise PunctError(Errors.P076.format(name=self.name))
        if self.model.has_ref("softmax"):
            # spaCy's taggers leave the softmax out of predicting unless told otherwise.
            self.model.get_ref("softmax").attrs["softmax_normalize"] = True
        rows = map(self.model.ops.to_numpy, self.model.predict(docs))
        return [
            consistent([folded(token.text, self.vocab.lang) for token in doc], found)
            for doc, found in zip(docs, rows, strict=True)
        ]

    def _is_trained(self) -> bool:
        has_output = self.model.has_ref("output_layer")
        layer = self.model.get_ref("output_layer") if has_output else self.model
        return bool(layer.has_dim("nO"))

    def set_annotations(
        self, docs: Iterable[Doc], scores: Iterable[np.ndarray]
    ) -> None:
        """Write the text with what `predict` found to the user data of each Doc."""
        for doc, cases in zip(docs, scores, strict=True):
            doc.user_data[TRUECASED] = self._written(doc, cases)

    def _written(self, doc: Doc, cases: np.ndarray) -> str:
        """The text of a Doc, each token in its case."""
        text = doc.text
        letters = list(text)
        # Most words of a text without capitals stay as they are.
        changing = range(len(doc)) if has_capital(text) else np.flatnonzero(cases)
        for i in map(int, changing):
            word, start = doc[i].text, doc[i].idx
            letters[start : start + len(word)] = recased(
                word, CASES[cases[i]], self.vocab.lang, self.mixed
            )
        return "".join(letters)

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """Collect the words in mixed case, and give the model its shape.

        get_examples (Callable): Gives examples whose references have their capitals
            and whose predicted Docs, some at least, have none.
        nlp (Language | None): The pipeline.
        labels (Mapping[str, str] | None): What `label_data` gave, to save the pass
            over the data.
        """
        validate_get_examples(get_examples, "Truecaser.initialize")
        self.mixed = self._collected(get_examples()) if labels is None else dict(labels)
        sample = list(islice(get_examples(), _SAMPLE))
        docs = [example.predicted for example in sample]
        scores: list[Any] = [
            self.model.ops.asarray(
                [[float(case == true) for case in CASES] for true in cases],
                dtype="float32",
            ).reshape((-1, len(CASES)))
            for cases in map(self._true_cases, sample)
        ]
        self.model.initialize(X=docs, Y=scores)

    def _collected(self, examples: Iterable[Example]) -> dict[str, str]:
        """The most frequent form of each word in mixed case; of two, the greater."""
        counts: Counter[str] = Counter()
        some_capital = False
        for example in examples:
            for form in true_forms(example):
                if form is None:
                    continue
                some_capital |= has_capital(form)
                if case_of(form, self.vocab.lang) == "mixed":
                    counts[form] += 1
        if not some_capital:
            raise PunctError(Errors.P077.format(name=self.name))
        ordered = sorted(counts, key=lambda form: (counts[form], form))
        return {folded(form, self.vocab.lang): form for form in ordered}

    def get_loss(
        self, examples: Iterable[Example], scores: list[Floats2d]
    ) -> tuple[float, list[Floats2d]]:
        """The loss of scores and its gradient; words of unknown case have none.

        examples (Iterable[Example]): The examples.
        scores (list[Floats2d]): What the model says of their predicted Docs.
        RETURNS (tuple[float, list[Floats2d]]): Loss and gradient.
        """
        examples = list(examples)
        validate_examples(examples, "Truecaser.get_loss")
        loss_of = SequenceCategoricalCrossentropy(names=list(CASES), normalize=False)
        # thinc's types do not know that None stands for a label that is not known.
        truths: list[Any] = list(map(self._true_cases, examples))
        gradient, loss = loss_of(scores, truths)
        if not np.isfinite(loss):
            raise PunctError(Errors.P078.format(name=self.name, loss=loss))
        return float(loss), gradient

    def _true_cases(self, example: Example) -> list[str | None]:
        return [form and case_of(form, self.vocab.lang) for form in true_forms(example)]

    # Storage

    def _writers(self) -> dict[str, Callable[[], bytes]]:
        return {"model": self._pack_model, "mixed": self._mixed_to_bytes}

    def _readers(self) -> dict[str, Callable[[bytes], Any]]:
        return {"model": self._unpack_model, "mixed": self._mixed_from_bytes}

    def _mixed_to_bytes(self) -> bytes:
        return srsly.msgpack_dumps(self.mixed)

    def _mixed_from_bytes(self, data: bytes) -> None:
        self.mixed = dict(srsly.msgpack_loads(data))


def consistent(words: Sequence[str], rows: np.ndarray) -> np.ndarray:
    """The case of each word of a text, names alike wherever they are.

    Words that have a capital in one place and are not plainly without one in another
    have one there, too, if on average they have; which kind, all of them decide.
    A common word (IT, THIS) is in capitals throughout only beside others that are, or
    where that is plain.

    words (Sequence[str]): The words, in lower case.
    rows (np.ndarray): [words, cases], the probability of each case.
    RETURNS (np.ndarray): The place of each word's case in `CASES`.
    """
    rows = rows.copy()
    beside = np.pad(rows.argmax(axis=1) == _UPPER, 1)
    alone = ~(beside[:-2] | beside[2:]) & (rows[:, _UPPER] < _PLAIN)
    doubtful = [i for i in np.flatnonzero(alone).tolist() if words[i] in STARTERS]
    rows[doubtful, _UPPER] = 0.0
    cases = rows.argmax(axis=1)
    places: dict[str, list[int]] = {}
    for i, word in enumerate(words):
        places.setdefault(word, []).append(i)
    for i in np.flatnonzero(cases).tolist():
        same = np.array(places.pop(words[i], []), dtype=np.int64)
        if len(same) < 2:
            continue
        capital = 1 - rows[same, 0]
        named = cases[same] > 0
        if capital.mean() > 0.5:
            named |= capital > _DOUBT
        cases[same[named]] = 1 + rows[same[named], 1:].sum(axis=0).argmax()
    return cases


@Language.factory(
    "truecaser",
    assigns=["token._.truecased"],
    default_config={
        "model": SMALL_TAGGER,
        "scorer": {"@scorers": "spacy_punct.case_scorer.v1"},
    },
    default_score_weights={
        "case_acc": 1.0,
        "case_p": None,
        "case_r": None,
        "case_f": 0.0,
    },
)
def make_truecaser(
    nlp: Language, name: str, model: Model, scorer: Callable | None
) -> Truecaser:
    """Make a `truecaser`; see `Truecaser`."""
    return Truecaser(nlp.vocab, model, name, scorer=scorer)
