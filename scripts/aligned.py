"""Learner corpora: sentences as they were written, beside their corrections."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spacy_punct.data.conllu import Sentence, read_conllu
from spacy_punct.data.depunctuation import (
    PunctuatedTree,
    depunctuate,
    has_inner_punctuation,
    has_words,
)
from spacy_punct.errors import Errors, PunctError

_ID = re.compile(r"(?:sent_id\s*=|ID=)\s*(.*)")
_NO_TEXT = "_"


@dataclass(frozen=True)
class AlignedTreebank:
    """The usable pairs of an original and a corrected treebank, in the former's order.

    examples (tuple[PunctuatedTree, ...]): The original words and tree, made
        projective, with the original marks as `tree.observed` and the corrected ones
        as `slots`.
    n_pairs (int): All pairs of sentences.
    """

    examples: tuple[PunctuatedTree, ...]
    n_pairs: int

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def share(self) -> float:
        """How many of the pairs are used, from 0 to 1."""
        return len(self.examples) / self.n_pairs


def read_aligned(original: str | Path, corrected: str | Path) -> AlignedTreebank:
    """Read examples of correction from two CoNLL-U files (section 5.2).

    Sentences are paired by their ids (`# sent_id = `, or `#ID=` as in UD_English-ESL)
    if each has one of its own in both files, else by their order. By ids, sentences
    that only one of the files has are no pair.

    original (str | Path): The sentences as they were written.
    corrected (str | Path): The same, corrected.
    RETURNS (AlignedTreebank): The pairs whose trees are isomorphic (`align`).
    """
    sides = list(read_conllu(original)), list(read_conllu(corrected))
    for path, sentences in zip((original, corrected), sides, strict=True):
        if not sentences:
            raise PunctError(Errors.P006.format(path=path))
        if lack_text(sentences):
            raise PunctError(Errors.P127.format(path=path))
    names = {"original": original, "corrected": corrected}
    ids = [[_id(sentence) for sentence in sentences] for sentences in sides]
    if all(None not in side and len(set(side)) == len(side) for side in ids):
        counterpart = dict(zip(ids[1], sides[1], strict=True))
        pairs = [
            (sentence, counterpart[key])
            for key, sentence in zip(ids[0], sides[0], strict=True)
            if key in counterpart
        ]
        if not pairs:
            reason = "they have no sentence id in common"
            raise PunctError(Errors.P125.format(**names, reason=reason))
    else:
        sizes = [len(sentences) for sentences in sides]
        if sizes[0] != sizes[1]:
            reason = f"{sizes[0]} sentences against {sizes[1]}, without ids for all"
            raise PunctError(Errors.P125.format(**names, reason=reason))
        pairs = list(zip(*sides, strict=True))
    examples = [example for pair in pairs if (example := align(*pair)) is not None]
    if not examples:
        reason = f"in none of {len(pairs)} pairs the trees are the same"
        raise PunctError(Errors.P125.format(**names, reason=reason))
    return AlignedTreebank(tuple(examples), len(pairs))


def align(original: Sentence, corrected: Sentence) -> PunctuatedTree | None:
    """An example of correction, if the depunctuated trees are isomorphic.

    That is: as many words, each with its head at the same place, so that the slots of
    one are those of the other. Words, tags and relations may differ, as errors in
    words are corrected too and that changes what they are called; the example has the
    original ones, since these are what a corrector will see.

    original, corrected (Sentence): The sentence as it was written, and corrected.
    RETURNS (PunctuatedTree | None): None if the trees differ, or if one of the
        sentences has no words or punctuation that is not a leaf.
    """
    for sentence in (original, corrected):
        if not has_words(sentence) or has_inner_punctuation(sentence):
            return None
    before, after = _depunctuated(original), _depunctuated(corrected)
    if before.tree.heads != after.tree.heads:
        return None
    tree = replace(before.tree.projective(), observed=before.slots)
    return replace(after, tree=tree, tokens=before.tokens)


def lack_text(sentences: Iterable[Sentence]) -> bool:
    """Whether all words are `_`, as in treebanks whose text has another licence."""
    return all(
        token.form == _NO_TEXT for sentence in sentences for token in sentence.tokens
    )


def _depunctuated(sentence: Sentence) -> PunctuatedTree:
    try:
        return depunctuate(sentence)
    except PunctError as error:
        raise PunctError(f"{sentence.where}: {error}") from None


def _id(sentence: Sentence) -> str | None:
    found: Sequence[re.Match] = [
        match for comment in sentence.comments if (match := _ID.fullmatch(comment))
    ]
    return found[0][1] if found else None
