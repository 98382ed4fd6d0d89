"""Dev figures of a reader: marks and case of the streams of the bench, counted as its
`score.py` does, and trees of a treebank."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import spacy
import torch

from scripts.encoder.reader import Labels, Reader
from scripts.encoder.trees import LOWER_CASE, TreeDrawer, morphs_of
from scripts.encoder.windows import IGNORE, LONGEST
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.encoder.batches import batches
from spacy_punct.encoder.tok2vec import Encoder, EncoderSettings
from spacy_punct.encoder.wordpieces import WordPieces
from spacy_punct.errors import PunctError
from spacy_punct.reading.written import tokens_of
from spacy_punct.text.casing import CASES

KINDS = ("", ",", ".", "?")
_FOLDED = dict(zip(",:—.!;…?", ",,,....?", strict=True))
_APART = "ted"
"""The stream that is no part of the mean: its licence forbids to train on such text."""
_MARGIN, _BATCH_PIECES = 32, 1024
_SENTENCES = 16


@dataclass(frozen=True)
class Stream:
    """Words without punctuation, the mark after each, and its written form."""

    words: Sequence[str]
    marks: Sequence[str]
    forms: Sequence[str]


def read_streams(folder: Path, n_words: int) -> dict[str, list[Stream]]:
    """The beginning of each stream; of one with several documents, that of each.

    folder (Path): Has files of lines WORD, MARK and FORM, separated by tabs.
    n_words (int): How many words to take of each file.
    RETURNS (dict[str, list[Stream]]): The documents of each file, by its name.
    """
    paths = sorted(folder.glob("*.tsv"))
    if not paths:
        raise PunctError(f"There are no streams in {folder}")
    streams = {}
    for path in paths:
        documents = path.read_text("utf-8").strip("\n").split("\n\n")
        size = n_words // len(documents)
        streams[path.stem] = [
            Stream(*zip(*(line.split("\t") for line in lines[:size]), strict=True))
            for lines in (document.split("\n") for document in documents)
        ]
    return streams


def folded(slot: str) -> str:
    """The one mark that a slot counts as: its first end of a sentence, or a comma."""
    found = ""
    for mark in slot.split():
        if found in ("", ","):
            found = _FOLDED.get(mark, "") or found
    return found


def in_case(token: str, case: int) -> str:
    """A token in a case; which letters of a mixed one are capitals is not known."""
    if CASES[case] == "upper":
        return token.upper()
    return token[:1].upper() + token[1:] if CASES[case] == "title" else token


class StreamReader:
    """Marks and forms of words by a reader.

    reader (Reader): The reader.
    pieces (WordPieces): The vocabulary of its transformer.
    labels (Labels): What its heads say.
    """

    def __init__(self, reader: Reader, pieces: WordPieces, labels: Labels) -> None:
        self._reader, self._pieces = reader, pieces
        sizes = reader.transformer.sizes
        self._window = min(LONGEST, sizes.n_positions)
        settings = EncoderSettings(
            sizes.width,
            self._window,
            _MARGIN,
            _BATCH_PIECES,
            precision="float32",
            threads=1,
        )
        self._encoder = Encoder(settings)
        self._encoder.fill(reader.transformer, pieces)
        self._nlp = spacy.blank("en")
        device = reader.transformer.positions.weight.device
        self._folding = torch.zeros(len(labels.slots), len(KINDS), device=device)
        for i, slot in enumerate(labels.slots):
            self._folding[i, KINDS.index(folded(slot))] = 1

    @torch.no_grad()
    def read(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """The mark after each word, and its form."""
        tokens = [tokens_of(self._nlp, word) for word in words]
        owners = [i for i, parts in enumerate(tokens) for _ in parts]
        texts = list(chain.from_iterable(tokens))
        windows = batches(
            [texts],
            self._pieces,
            window=self._window,
            margin=_MARGIN,
            batch_pieces=_BATCH_PIECES,
        )
        vectors = self._encoder(list(windows), len(texts))
        places = torch.arange(len(texts), device=vectors.device)
        after = torch.cat([places[1:], places.new_tensor([-1])])
        slots, _ = self._reader.read_slots(vectors, places, after)
        kinds = (slots.softmax(1) @ self._folding).argmax(1).tolist()
        cases = self._reader.cases(vectors).argmax(1).tolist()
        marks, forms = [""] * len(words), [""] * len(words)
        for i, token, kind, case in zip(owners, texts, kinds, cases, strict=True):
            marks[i] = KINDS[kind]
            forms[i] += _letters(in_case(token, case))
        for i in range(len(words)):
            if i == 0 or marks[i - 1] in (".", "?"):
                forms[i] = forms[i][:1].upper() + forms[i][1:]
        return marks, forms


def f_score(
    pairs: Sequence[tuple[str, str]], kinds: Sequence[str], *, same: bool = True
) -> float:
    """F1 of some kinds of marks.

    pairs (Sequence[tuple[str, str]]): The true and the found mark after each word.
    kinds (Sequence[str]): The marks that count.
    same (bool): Whether the true one must be found, or any of them.
    RETURNS (float): Its value; 0 if there are none.
    """
    right = sum(a in kinds and b in kinds and (a == b or not same) for a, b in pairs)
    total = sum((a in kinds) + (b in kinds) for a, b in pairs)
    return 2 * right / max(total, 1)


def figures_of(
    documents: Sequence[Stream], found: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> dict[str, float | None]:
    """Figures of one stream.

    documents (Sequence[Stream]): Its documents.
    found (Sequence[tuple]): The marks and the forms that a system gave to each; empty
        forms do not count.
    RETURNS (dict[str, float | None]): F of commas, of sentence ends and of all marks,
        and the share of words in the right case.
    """
    pairs: list[tuple[str, str]] = []
    cased: list[bool] = []
    for stream, (marks, forms) in zip(documents, found, strict=True):
        pairs += zip(stream.marks, marks, strict=True)
        for form, true in zip(forms, map(_letters, stream.forms), strict=True):
            if form and len(true) == len(form):
                cased.append(form == true)
    return {
        "comma": round(f_score(pairs, (",",)), 4),
        "end": round(f_score(pairs, (".", "?"), same=False), 4),
        "micro": round(f_score(pairs, (",", ".", "?")), 4),
        "case": round(sum(cased) / len(cased), 4) if cased else None,
    }


def mean_of(
    figures: Mapping[str, Mapping[str, float | None]],
) -> dict[str, float | None]:
    """The average of streams, but for the one that is no part of it."""
    mean: dict[str, float | None] = {}
    for key in ("comma", "end", "micro", "case"):
        found = [f[key] for name, f in figures.items() if name != _APART]
        values = [value for value in found if value is not None]
        mean[key] = round(sum(values) / len(values), 4) if values else None
    return mean


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def evaluate_streams(
    reader: StreamReader, streams: Mapping[str, Sequence[Stream]]
) -> dict[str, Any]:
    """Figures per stream, and on average: "streams" and "mean", see `figures_of`."""
    figures = {
        name: figures_of(documents, [reader.read(d.words) for d in documents])
        for name, documents in streams.items()
    }
    return {"mean": mean_of(figures), "streams": figures}


@torch.no_grad()
def evaluate_trees(
    reader: Reader,
    pieces: WordPieces,
    labels: Labels,
    examples: Sequence[PunctuatedTree],
) -> dict[str, float]:
    """Attachment and tagging of single sentences in lower case; heads are greedy.

    reader (Reader), pieces (WordPieces), labels (Labels): As for `StreamReader`.
    examples (Sequence[PunctuatedTree]): The sentences.
    RETURNS (dict[str, float]): "uas", "las", "upos", "feats" and "tags", all shares of
        words.
    """
    drawer = TreeDrawer([examples], labels.by_name(), pieces)
    device = reader.transformer.positions.weight.device
    counts: Counter[str] = Counter()
    ordered = sorted(examples, key=lambda example: len(example.tree))
    for at in range(0, len(ordered), _SENTENCES):
        chunk = ordered[at : at + _SENTENCES]
        batch = drawer.collate([[example] for example in chunk], LOWER_CASE)
        words = reader.vectors(batch.to(device))[batch.words]
        scores = reader.parser(words, (batch.heads != IGNORE).to(device))
        heads = scores.arcs.argmax(2)
        found = (
            reader.parser.relation_scores(words, heads).argmax(2),
            *(labelled.argmax(2) for labelled in (scores.morphs, scores.tags)),
        )
        for row, example in enumerate(chunk):
            relations, morphs, tags = (
                [names[i] for i in numbers[row, : len(example.tree)].tolist()]
                for names, numbers in zip(
                    (labels.relations, labels.morphs, labels.tags), found, strict=True
                )
            )
            for i, morph in enumerate(morphs_of(example)):
                is_head = int(heads[row, i]) == example.tree.heads[i] + 1
                is_relation = relations[i] == example.tree.relations[i]
                counts["n"] += 1
                counts["uas"] += is_head
                counts["las"] += is_head and is_relation
                for k, name in enumerate(("upos", "feats")):
                    parts = (m.partition("|")[2 * k] for m in (morph, morphs[i]))
                    counts[name] += next(parts) == next(parts)
                counts["tags"] += tags[i] == example.tokens[i].xpos
    names = ("uas", "las", "upos", "feats", "tags")
    return {name: round(counts[name] / counts["n"], 4) for name in names}
