"""A trigram language model with additive smoothing, to measure how natural text is."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log

Trigram = tuple[str, str, str]

_START, _END = "<s>", "</s>"


def trigrams(sentence: Sequence[str]) -> Iterator[Trigram]:
    """The trigrams of a sentence, one for each token and one for its end."""
    padded = [_START, _START, *sentence, _END]
    return zip(padded, padded[1:], padded[2:], strict=False)


class TrigramModel:
    """p(w | u v) = (c(u v w) + λ) / (c(u v) + λ V).

    sentences (Iterable[Sequence[str]]): The tokens to count.
    vocabulary (int): V, how many tokens there are to choose from, without the end.
    smoothing (float): λ.
    """

    def __init__(
        self,
        sentences: Iterable[Sequence[str]],
        vocabulary: int,
        smoothing: float = 0.001,
    ) -> None:
        self._smoothing = smoothing
        self._rest = smoothing * (vocabulary + 1)
        self._trigrams: Counter[Trigram] = Counter()
        for sentence in sentences:
            self._trigrams.update(trigrams(sentence))
        self._bigrams: Counter[tuple[str, str]] = Counter()
        for (u, v, _), n in self._trigrams.items():
            self._bigrams[u, v] += n

    def log_prob(self, trigram: Trigram) -> float:
        """log p(w | u v)."""
        u, v, _ = trigram
        count = self._trigrams.get(trigram, 0) + self._smoothing
        return log(count / (self._bigrams.get((u, v), 0) + self._rest))

    def log_probs(self, sentence: Sequence[str]) -> list[float]:
        """Of each token of a sentence, and of its end."""
        return [self.log_prob(trigram) for trigram in trigrams(sentence)]
