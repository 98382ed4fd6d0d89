"""Scores of tags and trees, for spaCy's tables."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import Scorer
from spacy.tokens import Token
from spacy.training import Example


def make_parser_scorer() -> Callable:
    """Registered as `spacy_punct.parser_scorer.v1`."""
    return score_parses


def score_parses(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Compare heads, relations, parts of speech, features and tags with references.

    examples (Iterable[Example]): Parsed examples. Punctuation does not count in trees.
    RETURNS (dict[str, Any]): `dep_uas`, `dep_las`, `pos_acc`, `morph_acc`, `tag_acc`.
    """
    examples = list(examples)
    scores = Scorer.score_deps(examples, "dep", ignore_labels=("p", "punct"), **kwargs)
    scores.pop("dep_las_per_type", None)
    for attribute in ("pos", "morph", "tag"):
        scores |= Scorer.score_token_attr(
            examples, attribute, **{**kwargs, "getter": _key}
        )
    return scores


def _key(token: Token, attribute: str) -> int:
    """An attribute as a number, 0 if it is missing."""
    value = getattr(token, attribute)
    return value.key if attribute == "morph" else value
