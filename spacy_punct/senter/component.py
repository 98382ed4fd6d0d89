"""The component `stream_senter`."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline.senter import SentenceRecognizer
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_punct.errors import check_range
from spacy_punct.pipe.architectures import SMALL_TAGGER
from spacy_punct.pipe.base import takes
from spacy_punct.reading.starts import has_signs, marked_starts


@dataclass(frozen=True, kw_only=True)
class SenterSettings:
    """The settings of a `stream_senter`.

    threshold (float): How probable a beginning must be.
    missing (float): In texts with end marks, the share of sentences that are expected
        to lack one. The larger it is, the more beginnings are found without a mark.
    inner (float): Factor on the odds of a beginning after a comma or another mark
        that should not end a sentence.
    overwrite (bool): Whether to change sentences that are known already.
    """

    threshold: float = 0.5
    missing: float = 0.15
    inner: float = 0.2
    overwrite: bool = False

    def __post_init__(self) -> None:
        check_range("threshold", self.threshold, 0, 1)
        check_range("missing", self.missing, 0, 1, inclusive=True)
        check_range("inner", self.inner, 0)


class StreamSenter(SentenceRecognizer):
    """spaCy's `senter`, for text in which it can rarely be sure.

    Without punctuation and capitals the places where a sentence may begin are
    many, and each is unlikely on its own. Taking only those that are likelier than
    not finds few of them; the threshold that finds most and errs little is lower.

    Where a text has marks, right or wrong, or lines, these have their say too: see
    `spacy_punct.reading.starts.marked_starts`.

    vocab (Vocab): The shared vocabulary.
    model (Model): A tagger such as `spacy.Tagger.v2`: how likely each token is to go
        on with a sentence, and to begin one. It need not know marks.
    name (str): The component's name in the pipeline.
    settings (SenterSettings): The settings.
    scorer (Callable | None): The scoring method.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "stream_senter",
        settings: SenterSettings | None = None,
        *,
        scorer: Callable | None = None,
    ) -> None:
        self.settings = settings or SenterSettings()
        overwrite = self.settings.overwrite
        super().__init__(vocab, model, name, overwrite=overwrite, scorer=scorer)

    def predict(self, docs: Iterable[Doc]) -> list[np.ndarray]:
        """Find the tokens that begin sentences, without changing the Docs.

        docs (Iterable[Doc]): The Docs.
        RETURNS (list[np.ndarray]): For each Doc, whether each token begins one.
        """
        docs = list(docs)
        if not any(map(len, docs)):
            return super().predict(docs)
        # spaCy's taggers leave the softmax out of predicting unless told otherwise.
        self.model.get_ref("softmax").attrs["softmax_normalize"] = True
        scores = map(self.model.ops.to_numpy, self.model.predict(docs))
        return [
            self._starts(doc, found[:, 1])
            for doc, found in zip(docs, scores, strict=True)
        ]

    def _starts(self, doc: Doc, probabilities: np.ndarray) -> np.ndarray:
        chosen = self.settings
        if not has_signs(doc):
            return probabilities > chosen.threshold
        return marked_starts(
            doc, probabilities, chosen.threshold, chosen.missing, chosen.inner
        )


@Language.factory(
    "stream_senter",
    assigns=["token.is_sent_start"],
    default_config={
        "model": SMALL_TAGGER,
        **asdict(SenterSettings()),
        "scorer": {"@scorers": "spacy.senter_scorer.v1"},
    },
    default_score_weights={"sents_f": 1.0, "sents_p": 0.0, "sents_r": 0.0},
)
@takes(SenterSettings)
def make_stream_senter(
    nlp: Language, name: str, model: Model, scorer: Callable | None, **settings: Any
) -> StreamSenter:
    """Make a `stream_senter`; see `StreamSenter`, and `SenterSettings` for the rest."""
    return StreamSenter(
        nlp.vocab, model, name, SenterSettings(**settings), scorer=scorer
    )
