"""Windows of treebank sentences without their punctuation, with their trees and tags
to be learned beside marks, starts and case."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from scripts.encoder.windows import IGNORE, USUAL, Batch, Window, case_label, collate
from spacy_punct.data.conllu import read_conllu
from spacy_punct.data.depunctuation import (
    PunctuatedTree,
    depunctuate,
    has_inner_punctuation,
    has_words,
)
from spacy_punct.data.marks import ABBREVIATION_DOT, is_dash, is_ellipsis
from spacy_punct.data.written import DASH, ELLIPSIS
from spacy_punct.encoder.batches import AROUND
from spacy_punct.encoder.wordpieces import WordPieces
from spacy_punct.reading.written import seen_forms

FORMS = {"written": 0.62, "cased": 0.33, "capitals": 0.05}
LOWER_CASE = {"written": 1.0}
FIRST_WEIGHT = 1.3
"""The first treebank, whose dev part is measured, counts so much more than by size."""

_RUNS = 0.5
"""Half of the batches have runs of sentences, half have single ones."""
_DOTS_KEPT, _HYPHENS_KEPT = 0.4, 0.5
_SORTED = 400
"""Single sentences of a batch are of similar length: neighbours among so many."""
_HYPHEN = "-"


@dataclass
class TreeBatch(Batch):
    """Windows whose sentences have trees, these side by side: [sentences, words].

    words (Tensor): The first piece of each word; anything at the padding.
    heads (Tensor): The number of its head in the sentence, from 1 on; 0 for the root,
        IGNORE at the padding.
    relations, morphs, tags (Tensor): Its labels.
    """

    words: Tensor
    heads: Tensor
    relations: Tensor
    morphs: Tensor
    tags: Tensor


def read_trees(path: Path) -> list[PunctuatedTree]:
    """The usable sentences of a treebank file; not all are projective."""
    return [
        depunctuate(sentence)
        for sentence in read_conllu(path)
        if has_words(sentence) and not has_inner_punctuation(sentence)
    ]


def morphs_of(example: PunctuatedTree) -> list[str]:
    """Part of speech and features of each word, as one label."""
    return [f"{token.upos}|{token.feats}" for token in example.tokens]


def word_labels(examples: Sequence[PunctuatedTree]) -> dict[str, list[str]]:
    """The labels of words that are there more than once, the most frequent first."""
    counts: dict[str, Counter[str]] = {
        "relations": Counter(r for ex in examples for r in ex.tree.relations),
        "morphs": Counter(m for ex in examples for m in morphs_of(ex)),
        "tags": Counter(token.xpos for ex in examples for token in ex.tokens),
    }
    return {
        name: [label for label, n in found.most_common() if n > 1]
        for name, found in counts.items()
    }


def slot_string(marks: Sequence[str]) -> str:
    """The marks of a slot as written text has them; the dot of an abbreviation belongs
    to its word."""
    return " ".join(_mark(mark) for mark in marks if mark != ABBREVIATION_DOT)


def _mark(mark: str) -> str:
    if is_ellipsis(mark):
        return ELLIPSIS
    if is_dash(mark) and mark != _HYPHEN:
        return DASH
    return mark[0] if mark.strip("!") == "" or mark.strip("?") == "" else mark


class TreeDrawer:
    """Draws windows of treebank sentences.

    treebanks (Sequence[Sequence[PunctuatedTree]]): The sentences of each, in order.
    labels (Mapping[str, Sequence[str]]): "slots", "relations", "morphs" and "tags" ->
        the labels to learn.
    pieces (WordPieces): Cuts words into pieces.
    seed (int): Seed of what is random.
    """

    def __init__(
        self,
        treebanks: Sequence[Sequence[PunctuatedTree]],
        labels: Mapping[str, Sequence[str]],
        pieces: WordPieces,
        seed: int = 0,
    ) -> None:
        self.pieces = pieces
        self.rng = random.Random(seed)
        self._treebanks = treebanks
        self._weights = [float(len(treebank)) for treebank in treebanks]
        self._weights[0] *= FIRST_WEIGHT
        self._numbers = {
            name: {label: i for i, label in enumerate(found)}
            for name, found in labels.items()
        }

    def batch(self, n_pieces: int) -> TreeBatch:
        """A batch of about so many pieces."""
        is_run = self.rng.random() < _RUNS
        runs = self._runs(n_pieces) if is_run else self._single(n_pieces)
        return self.collate(runs, FORMS)

    def _runs(self, n_pieces: int) -> list[list[PunctuatedTree]]:
        """Sentences that follow each other, as many as fit into each window."""
        rng, found = self.rng, []
        for _ in range(max(1, n_pieces // USUAL)):
            (sentences,) = rng.choices(self._treebanks, self._weights)
            start = rng.randrange(len(sentences))
            end, size = start + 1, AROUND + self._size(sentences[start])
            while end < len(sentences):
                size += self._size(sentences[end])
                if size > USUAL:
                    break
                end += 1
            found.append(list(sentences[start:end]))
        return found

    def _single(self, n_pieces: int) -> list[list[PunctuatedTree]]:
        """Single sentences of similar length."""
        rng = self.rng
        treebanks = rng.choices(self._treebanks, self._weights, k=_SORTED)
        sentences = sorted(map(rng.choice, treebanks), key=self._size)
        at = rng.randrange(len(sentences))
        found: list[list[PunctuatedTree]] = []
        longest = 0
        for sentence in sentences[at:] + sentences[:at][::-1]:
            longest = max(longest, AROUND + self._size(sentence))
            if found and longest * (len(found) + 1) > n_pieces:
                break
            found.append([sentence])
        return found

    def _size(self, example: PunctuatedTree) -> int:
        return sum(len(self.pieces(word).ids) for word in example.tree.words)

    def collate(
        self, runs: Sequence[Sequence[PunctuatedTree]], forms: Mapping[str, float]
    ) -> TreeBatch:
        """Runs of sentences as a batch.

        runs (Sequence[Sequence[PunctuatedTree]]): The sentences of each window.
        forms (Mapping[str, float]): How often they are in each form.
        RETURNS (TreeBatch): The batch.
        """
        names, shares = list(forms), list(forms.values())
        drawn = [self.window(run, self.rng.choices(names, shares)[0]) for run in runs]
        batch = collate([window for window, _ in drawn])
        length = batch.ids.shape[1]
        rows = [
            (example, np.add(firsts, i * length))
            for i, (run, (_, places)) in enumerate(zip(runs, drawn, strict=True))
            for example, firsts in zip(run, places, strict=True)
        ]
        shape = len(rows), max(len(firsts) for _, firsts in rows)
        words = np.zeros(shape, dtype=np.int64)
        heads = np.full(shape, IGNORE, dtype=np.int64)
        labels = {
            name: np.full(shape, IGNORE, dtype=np.int64)
            for name in ("relations", "morphs", "tags")
        }
        for row, (example, firsts) in enumerate(rows):
            size = len(firsts)
            words[row, :size] = firsts
            heads[row, :size] = np.add(example.tree.heads, 1)
            for name, found in (
                ("relations", example.tree.relations),
                ("morphs", morphs_of(example)),
                ("tags", [token.xpos for token in example.tokens]),
            ):
                number = self._numbers[name].get
                labels[name][row, :size] = [number(value, IGNORE) for value in found]
        return TreeBatch(
            **vars(batch),
            words=torch.from_numpy(words),
            heads=torch.from_numpy(heads),
            **{name: torch.from_numpy(array) for name, array in labels.items()},
        )

    def window(
        self, run: Sequence[PunctuatedTree], form: str
    ) -> tuple[Window, list[list[int]]]:
        """A window of sentences.

        run (Sequence[PunctuatedTree]): Sentences that follow each other.
        form (str): "written", "cased" or "capitals".
        RETURNS (tuple[Window, list[list[int]]]): The window, and the first piece of
            each word of each sentence. A hyphen between words that is kept, as in
            written text, is a token of its own.
        """
        rng, pieces, slots = self.rng, self.pieces, self._numbers["slots"]
        keeps_dots = rng.random() < _DOTS_KEPT
        keeps_hyphens = rng.random() < _HYPHENS_KEPT
        words = [
            word + "." * (keeps_dots and ABBREVIATION_DOT in slot)
            for example in run
            for word, slot in zip(example.tree.words, example.slots[1:], strict=True)
        ]
        seen = iter(seen_forms(words, form, rng))
        window = Window.begin(pieces)
        places: list[list[int]] = []
        before = ""
        for example in run:
            marks = list(map(slot_string, example.slots))
            marks[0] = f"{before} {marks[0]}".strip()
            places.append([])
            for i, word in enumerate(example.tree.words):
                slot = slots.get(marks[i], IGNORE)
                is_joined = i and marks[i] == _HYPHEN and not any(example.spaces[i])
                if keeps_hyphens and is_joined:
                    slot = slots[""]
                    window.add(_HYPHEN, pieces, slot, IGNORE, False)
                case = case_label(word, is_first=not i)
                window.add(next(seen), pieces, slot, case, not i)
                places[-1].append(window.firsts[-1])
            before = marks[-1]
        window.end(pieces, slots.get(before, IGNORE))
        return window, places
