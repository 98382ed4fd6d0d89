"""The component `stream_senter`."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from spacy.pipeline.senter import SentenceRecognizer
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from spacy_punct.errors import check_range


class StreamSenter(SentenceRecognizer):
    """spaCy's `senter`, for text in which it can rarely be sure.

    Without punctuation and capitals the places where a sentence may begin are
    many, and each is unlikely on its own. Taking only those that are likelier than
    not finds few of them; the threshold that finds most and errs little is lower.

    vocab (Vocab): The shared vocabulary.
    model (Model): A tagger such as `spacy.Tagger.v2`: how likely each token is to go
        on with a sentence, and to begin one.
    name (str): The component's name in the pipeline.
    threshold (float): How probable a beginning must be.
    overwrite (bool): Whether to change sentences that are known already.
    scorer (Callable | None): The scoring method.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "stream_senter",
        *,
        threshold: float = 0.5,
        overwrite: bool = False,
        scorer: Callable | None = None,
    ) -> None:
        check_range("threshold", threshold, 0, 1)
        super().__init__(vocab, model, name, overwrite=overwrite, scorer=scorer)
        self.threshold = threshold

    def predict(self, docs: Iterable[Doc]) -> list[np.ndarray]:
        # spaCy's taggers leave the softmax out of predicting unless told otherwise.
        self.model.get_ref("softmax").attrs["softmax_normalize"] = True
        return super().predict(docs)

    def _scores2guesses(self, scores: Sequence[Floats2d]) -> list[np.ndarray]:
        to_numpy = self.model.ops.to_numpy
        return [to_numpy(found[:, 1]) > self.threshold for found in scores]
