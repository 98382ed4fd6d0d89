"""Windows of written text, drawn at random in the forms that the encoder will meet,
with what is to be learned from them."""

import lzma
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

import numpy as np
import spacy
import torch
from torch import Tensor

from spacy_punct.data.marks import ABBREVIATION_DOT
from spacy_punct.data.spoken import Manner, Vocabulary, spoken
from spacy_punct.data.written import WrittenWord, read_line, written_slots
from spacy_punct.encoder.batches import AROUND
from spacy_punct.encoder.wordpieces import LOWER, TITLE, WordPieces, shape_of
from spacy_punct.errors import PunctError
from spacy_punct.reading.corpus import treebank_files
from spacy_punct.reading.written import seen_forms, tokens_of

IGNORE = -100
"""The label of what is not to be learned."""
LONGEST, USUAL = 384, 192
"""The most pieces of a window, and how many most windows have."""


@dataclass(frozen=True)
class Source:
    """How a source is drawn from.

    share (float): How often.
    connected (bool): Whether its lines follow each other.
    lines_start (bool): Whether each line starts a sentence, even without a capital.
    """

    share: float = 0.01
    connected: bool = True
    lines_start: bool = False


SOURCES = {
    "changelog": Source(0.20),
    "europarl_en": Source(0.12),
    "se": Source(0.13),
    "openstax": Source(0.12),
    "btc": Source(0.12),
    "pres": Source(0.08),
    "pres_early": Source(0.01),
    "earnings22": Source(0.13),
    "digitalgov": Source(0.03),
    "18f": Source(0.01),
    "tatoeba_en": Source(0.02, connected=False),
    "sgd": Source(0.01, lines_start=True),
    "cv_en": Source(0.02, connected=False),
}
"""By the names of their files, as `scripts.collect_text` writes them. Spoken text is
drawn more often than there is of it."""
FORMS = {
    "spoken": 0.45,
    "written": 0.33,
    "cased": 0.12,
    "spoken cased": 0.05,
    "capitals": 0.05,
}
LENGTHS = {LONGEST: 0.2, USUAL: 0.62, 96: 0.08, 48: 0.06, 24: 0.04}
"""Pieces of the windows of a batch: there are short texts, too."""

_CUT = 0.5
"""So many windows begin inside a line, and so many end inside a sentence."""
_MOST_SKIPPED = 60
_DOTS_KEPT = 0.4
"""So many texts in lower case have the dots of their abbreviations."""
_COUNTED = 10_000
"""Windows in which strings of marks are counted, and lines in which words are."""
_KNOWN_WORDS = 200_000
_MOST_BAD_LINES = 20_000

_Key = TypeVar("_Key")


@dataclass
class Window:
    """A window in numbers.

    ids, shapes (list[int]): Its pieces, and the shapes of their tokens.
    firsts (list[int]): The place of each token's first piece.
    slots, starts (list[int]): One label per slot: its string of marks, and whether the
        token after it starts a sentence.
    cases (list[int]): One label per token: its place in `CASES`.
    """

    ids: list[int]
    shapes: list[int]
    firsts: list[int] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    cases: list[int] = field(default_factory=list)

    @classmethod
    def begin(cls, pieces: WordPieces) -> "Window":
        """A window without tokens."""
        return cls([pieces.start], [LOWER])

    def add(
        self, token: str, pieces: WordPieces, slot: int, case: int, starts: bool
    ) -> None:
        """Add a token, and the label of the slot before it."""
        ids, shape = pieces(token)
        self.slots.append(slot)
        self.starts.append(int(starts))
        self.cases.append(case)
        self.firsts.append(len(self.ids))
        self.ids += ids
        self.shapes += [shape] * len(ids)

    def end(self, pieces: WordPieces, slot: int) -> None:
        """Add what is after the last token; nothing starts there."""
        self.slots.append(slot)
        self.starts.append(IGNORE)
        self.ids.append(pieces.end)
        self.shapes.append(LOWER)


@dataclass
class Batch:
    """Windows side by side, padded to the longest.

    ids, shapes, is_piece (Tensor): See `spacy_punct.encoder.batches.Batch`.
    left, right (Tensor): The first pieces of the tokens around each slot, as places in
        the flattened batch; -1 for none.
    tokens (Tensor): The first piece of each token.
    slots, starts, cases (Tensor): The labels of slots and tokens; see `Window`.
    """

    ids: Tensor
    shapes: Tensor
    is_piece: Tensor
    left: Tensor
    right: Tensor
    tokens: Tensor
    slots: Tensor
    starts: Tensor
    cases: Tensor

    def to(self, device: torch.device) -> "Batch":
        """The same on another device."""
        found = {f.name: getattr(self, f.name).to(device) for f in fields(self)}
        return type(self)(**found)


def collate(windows: Sequence[Window]) -> Batch:
    """Windows as a batch."""
    length = max(len(window.ids) for window in windows)
    ids, shapes = np.zeros((2, len(windows), length), dtype=np.int64)
    is_piece = np.zeros((len(windows), length), dtype=bool)
    left: list[int] = []
    right: list[int] = []
    tokens: list[int] = []
    for row, window in enumerate(windows):
        size = len(window.ids)
        ids[row, :size], shapes[row, :size] = window.ids, window.shapes
        is_piece[row, :size] = True
        firsts = [row * length + first for first in window.firsts]
        left += [-1, *firsts]
        right += [*firsts, -1]
        tokens += firsts

    def labels(name: str) -> Tensor:
        found = chain.from_iterable(getattr(window, name) for window in windows)
        return torch.tensor(list(found), dtype=torch.long)

    return Batch(
        *map(torch.from_numpy, (ids, shapes, is_piece)),
        *(torch.tensor(places, dtype=torch.long) for places in (left, right, tokens)),
        *map(labels, ("slots", "starts", "cases")),
    )


def case_label(written: str, *, is_first: bool) -> int:
    """The case to learn. Nobody knows whose capital it is that starts a sentence."""
    case = shape_of(written)
    if not any(map(str.isalpha, written)) or (is_first and case == TITLE):
        return IGNORE
    return case


def with_dots(words: Sequence[WrittenWord], *, keep: bool) -> list[WrittenWord]:
    """Words to which the dots of abbreviations belong, as readers see them.

    words (Sequence[WrittenWord]): The words, whose own dots are among their marks.
    keep (bool): Whether `Mr` has its dot. `U.S.` always has.
    RETURNS (list[WrittenWord]): Words whose own dots are among their letters.
    """
    found = []
    for word in words:
        if word.after[:1] == (ABBREVIATION_DOT,):
            dot = "." if keep or "." in word.form else ""
            word = replace(word, form=word.form + dot, after=word.after[1:])
        found.append(word)
    return found


def label(
    words: Sequence[WrittenWord],
    tokens: Sequence[Sequence[str]],
    pieces: WordPieces,
    slots: Mapping[str, int],
) -> Window:
    """The window of some words.

    words (Sequence[WrittenWord]): The words as written, of `with_dots`.
    tokens (Sequence[Sequence[str]]): The tokens of each as the encoder sees them.
    pieces (WordPieces): Cuts them into pieces.
    slots (Mapping[str, int]): The label of each string of marks; others are ignored.
    RETURNS (Window): Nothing is between the tokens of a word.
    """
    marks = [slots.get(" ".join(slot), IGNORE) for slot in written_slots(list(words))]
    window = Window.begin(pieces)
    for word, parts, mark in zip(words, tokens, marks, strict=False):
        at = 0
        for part in parts:
            starts = word.starts and not at
            case = case_label(word.form[at : at + len(part)], is_first=starts)
            window.add(part, pieces, slots[""] if at else mark, case, starts)
            at += len(part)
    window.end(pieces, marks[-1])
    return window


def read_sources(folder: Path) -> dict[str, list[str]]:
    """The lines of all sources in a folder, by the names of their files.

    folder (Path): Has `.txt` and `.txt.xz` files.
    RETURNS (dict[str, list[str]]): "changelog" -> its lines.
    """
    found = {}
    for path in treebank_files(folder, (".txt", ".xz")):
        opened = lzma.open if path.suffix == ".xz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            found[path.name.split(".")[0]] = file.read().split("\n")
    return found


class Drawer:
    """Draws windows of text.

    texts (Mapping[str, list[str]]): The lines of each source.
    pieces (WordPieces): Cuts tokens into pieces.
    slots (Sequence[str]): The strings of marks to learn.
    seed (int): Seed of what is random.
    """

    def __init__(
        self,
        texts: Mapping[str, list[str]],
        pieces: WordPieces,
        slots: Sequence[str] = (),
        seed: int = 0,
    ) -> None:
        self.texts, self.pieces = texts, pieces
        self.slots = {slot: i for i, slot in enumerate(slots)}
        self.rng = random.Random(seed)
        self._sources = {name: SOURCES.get(name, Source()) for name in texts}
        self._shares = {name: found.share for name, found in self._sources.items()}
        nlp = spacy.blank("en")
        self._tokens = lru_cache(_KNOWN_WORDS)(lambda form: tokens_of(nlp, form))
        fixed = random.Random(0)
        samples = (
            fixed.sample(lines, min(len(lines), _COUNTED // len(texts)))
            for lines in texts.values()
        )
        self._vocabulary = Vocabulary.of(chain.from_iterable(samples))

    def batch(self, n_pieces: int) -> Batch:
        """A batch of about so many pieces, in windows of about the same length."""
        length = min(self._choice(LENGTHS), n_pieces)
        n_windows = max(1, n_pieces // length)
        return collate([self.window(length) for _ in range(n_windows)])

    def window(self, length: int) -> Window:
        """A window of at most so many pieces: a run of text in one of the `FORMS`."""
        rng = self.rng
        words = self.words(length)
        form = self._choice(FORMS)
        if form.startswith("spoken"):
            words = spoken(words, Manner.draw(rng), rng, self._vocabulary)
            words = with_dots(words, keep=False)
        else:
            keep = form != "written" or rng.random() < _DOTS_KEPT
            words = with_dots(words, keep=keep)
        seen = seen_forms([word.form for word in words], form, rng)
        tokens = list(map(self._tokens, seen))
        end = self._fitting(tokens, length)
        if rng.random() >= _CUT:
            last = min(end, len(words) - 1)
            end = next((i for i in range(last, 0, -1) if words[i].starts), end)
        window = label(words[:end], tokens[:end], self.pieces, self.slots)
        if not words[0].starts:  # nobody knows what was before
            window.slots[0] = window.starts[0] = IGNORE
        return window

    def words(self, n_words: int) -> list[WrittenWord]:
        """So many words of some source."""
        words = self._stream(self._choice(self._shares))
        if self.rng.random() < _CUT:
            words = islice(words, self.rng.randrange(1, _MOST_SKIPPED), None)
            words = chain([replace(next(words), before=())], words)
        return list(islice(words, n_words))

    def count_slots(self) -> Counter[str]:
        """How often each string of marks is in some windows of the text."""
        counts: Counter[str] = Counter()
        for _ in range(min(_COUNTED, sum(map(len, self.texts.values())))):
            words = with_dots(self.words(LONGEST), keep=True)
            counts.update(map(" ".join, written_slots(words)))
        return counts

    def _stream(self, name: str) -> Iterator[WrittenWord]:
        """The words of a source from a random line on, without an end."""
        source = self._sources[name]
        n_bad = 0
        for line in self._lines(name):
            words = read_line(line)
            n_bad = 0 if words else n_bad + 1
            if n_bad > _MOST_BAD_LINES:
                raise PunctError(f"There is no good text in {name}")
            if words and source.lines_start:
                words[0].starts = True
            yield from words

    def _lines(self, name: str) -> Iterator[str]:
        lines, source, rng = self.texts[name], self._sources[name], self.rng
        at = rng.randrange(len(lines))
        while True:
            yield lines[at]
            at = at + 1 if source.connected else rng.randrange(len(lines))
            at %= len(lines)

    def _fitting(self, tokens: Sequence[Sequence[str]], length: int) -> int:
        """How many words fit into a window."""
        used = AROUND
        for i, parts in enumerate(tokens):
            used += sum(len(self.pieces(part).ids) for part in parts)
            if used > length:
                return i
        return len(tokens)

    def _choice(self, shares: Mapping[_Key, float]) -> _Key:
        return self.rng.choices(list(shares), list(shares.values()))[0]
