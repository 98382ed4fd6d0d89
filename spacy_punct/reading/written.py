"""Examples to learn from that are drawn from plain text: marks, capitals and sentence
starts, without trees."""

import lzma
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import chain, count, dropwhile, islice, repeat
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_punct.data.apostrophes import label_of, may_change, miswritten
from spacy_punct.data.slips import with_slips
from spacy_punct.data.spoken import Manner, Vocabulary, spoken
from spacy_punct.data.tree import Slots
from spacy_punct.data.written import WrittenWord, read_line, written_slots
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.reading.attributes import APOSTROPHES
from spacy_punct.reading.corpus import treebank_files
from spacy_punct.reading.examples import Reader, with_marks
from spacy_punct.reading.gold import set_gold
from spacy_punct.reading.sentences import WORDS_ONLY
from spacy_punct.text.writer import Spacing, Writer

FORMS = ("spoken", "written", "cased", "spoken cased", "capitals")
"""As recognisers write, in lower case; written words in lower case, and with their
capitals; as recognisers with capitals write; ALL CAPS."""

_SHORT_TEXT = 30
_MOST_SKIPPED = 60
"""A text that begins inside a line begins at most this many words after its start."""
_MOST_BAD_LINES = 20_000
_LONG_SENTENCE = 60
"""Sentences are cut where they have so many words more than a text needs."""
_SAMPLE = 200_000
"""Bytes of each source that frequent words are counted in."""


def create_text_corpus(
    path: Path,
    weights: dict[str, float] | None = None,
    unconnected: list[str] | None = None,
    forms: dict[str, float] | None = None,
    limit: int = 1000,
    max_words: int = 150,
    short: float = 0.2,
    cut: float = 0.5,
    sentences: bool = False,
    anew: bool = False,
    seed: int = 0,
) -> Reader:
    """A reader that draws examples from plain text, `spacy_punct.TextCorpus.v1`.

    To train on other texts in each epoch, set `anew` and let `training.max_epochs` be
    -1: spaCy then asks for examples again.

    path (Path): A `.txt` or `.txt.xz` file, with a paragraph, a speaker's turn or a
        sentence per line, or a folder of such files: the sources.
    weights (dict[str, float] | None): How much is drawn from each source, by the name
        of its file up to the first dot. Sources without a weight are not read. None:
        from each as much as it has.
    unconnected (list[str] | None): Sources whose lines have nothing to do with each
        other.
    forms (dict[str, float] | None): How often the words are given in each of the
        `FORMS`; None for written words in lower case.
    limit (int): How many Docs a pass has.
    max_words (int): How many words a Doc has at most, before it is spoken.
    short (float): The share of Docs that are shorter at random.
    cut (float): The share of Docs that begin inside a line; as many end anywhere, the
        others with a sentence.
    sentences (bool): Whether the predicted Docs know their sentences.
    anew (bool): Whether each pass has other examples.
    seed (int): Seed of what is random.
    RETURNS (Reader): Called with the pipeline, it gives examples: words on both sides,
        in their true case and with punctuation and sentences on the reference.
    """
    check_range("limit", limit, 1)
    check_range("max_words", max_words, 1)
    check_range("short", short, 0, 1, inclusive=True)
    check_range("cut", cut, 0, 1, inclusive=True)
    forms = forms or {"written": 1.0}
    _check_names("forms", forms, FORMS)
    sources = _Sources(Path(path), weights, frozenset(unconnected or ()))
    passes = count() if anew else repeat(0)

    def read(nlp: Language) -> Iterator[Example]:
        rng = random.Random(f"{seed} {next(passes)}")
        cut_up = lru_cache(maxsize=50_000)(lambda form: tokens_of(nlp, form))
        for _ in range(limit):
            n_words = rng.randint(1, max_words) if rng.random() < short else max_words
            words = _run(sources.words(rng), n_words, cut, rng)
            form = _choice(forms, rng)
            if form.startswith("spoken"):
                manner = Manner.draw(rng)
                words = spoken(words, manner, rng, sources.vocabulary)
            seen = seen_forms([word.form for word in words], form, rng)
            tokens = [cut_up(word) for word in seen]
            yield make_example(nlp, words, tokens, sentences=sentences)

    return read


def _run(
    words: Iterator[WrittenWord], n_words: int, cut: float, rng: random.Random
) -> list[WrittenWord]:
    """A run of words; see `cut` of `create_text_corpus`."""
    if rng.random() < cut:
        words = islice(words, rng.randrange(1, _MOST_SKIPPED), None)
        # What is before the first word is not known.
        words = chain([replace(next(words), before=(), starts=False)], words)
    found = list(islice(words, n_words))
    if rng.random() >= cut:
        starts = (i for i in range(len(found) - 1, 0, -1) if found[i].starts)
        found = found[: next(starts, len(found))]
    return found


def create_apostrophe_corpus(
    path: Path,
    weights: dict[str, float] | None = None,
    limit: int = 1000,
    max_words: int = 100,
    dropped: float = 0.4,
    added: float = 0.05,
    seed: int = 0,
) -> Reader:
    """A reader of plain text in which apostrophes are missing or wrong,
    `spacy_punct.ApostropheCorpus.v1`. Each pass has other examples.

    path (Path), weights (dict[str, float] | None), limit (int), max_words (int): See
        `create_text_corpus`.
    dropped, added (float): See `spacy_punct.data.apostrophes.miswritten`.
    seed (int): Seed of what is random.
    RETURNS (Reader): Called with the pipeline, it gives examples of the same words on
        both sides. The reference knows where each should have its apostrophe.
    """
    for name, share in (("dropped", dropped), ("added", added)):
        check_range(name, share, 0, 1, inclusive=True)
    sources = _Sources(Path(path), weights, frozenset())
    passes = count()

    def read(nlp: Language) -> Iterator[Example]:
        rng = random.Random(f"{seed} {next(passes)}")
        for _ in range(limit):
            words = [w.form for w in islice(sources.words(rng), max_words)]
            seen = [miswritten(word, rng, dropped, added) for word in words]
            tokens = [tokens_of(nlp, form) for form in seen]
            labels: list[str | None] = []
            for word, parts in zip(words, tokens, strict=True):
                label = label_of(word) if may_change(word) else None
                labels += [label, *[None] * (len(parts) - 1)]
            spaces = [
                i == len(parts) - 1 for parts in tokens for i in range(len(parts))
            ]
            docs = [
                Doc(
                    nlp.vocab,
                    words=list(chain.from_iterable(tokens)),
                    spaces=spaces,
                    user_data={WORDS_ONLY: True, **known},
                )
                for known in ({}, {APOSTROPHES: labels})
            ]
            yield Example(*docs)

    return read


def create_slip_corpus(
    path: Path,
    weights: dict[str, float] | None = None,
    unconnected: list[str] | None = None,
    limit: int = 1000,
    max_words: int = 120,
    short: float = 0.4,
    seed: int = 0,
) -> Reader:
    """A reader of plain text with mistakes in its punctuation,
    `spacy_punct.SlipCorpus.v1`. Each pass has other examples.

    path (Path), weights (dict[str, float] | None), unconnected (list[str] | None),
        limit (int), seed (int): See `create_text_corpus`.
    max_words (int): About how many words a text has at most.
    short (float): The share of texts that have a sentence or a few. Where two of them
        are joined by a comma, these look like one.
    RETURNS (Reader): Called with the pipeline, it gives examples of texts with their
        mistakes (`spacy_punct.data.slips`). The reference has the right punctuation.
    """
    check_range("max_words", max_words, 1)
    check_range("short", short, 0, 1, inclusive=True)
    sources = _Sources(Path(path), weights, frozenset(unconnected or ()))
    passes = count()

    def read(nlp: Language) -> Iterator[Example]:
        rng = random.Random(f"{seed} {next(passes)}")
        writer = Writer(Spacing(nlp.lang or ""))
        cut_up = lru_cache(maxsize=50_000)(lambda form: tokens_of(nlp, form))
        for _ in range(limit):
            most = _SHORT_TEXT if rng.random() < short else max_words
            n_words = rng.randint(1, most)
            text = with_slips(_sentences(sources.words(rng), n_words), rng)
            tokens = list(map(cut_up, text.seen))
            words = Doc(nlp.vocab, words=list(chain.from_iterable(tokens)))
            set_gold(words, _spread(text.slots, tokens))
            doc = with_marks(words, _spread(text.written, tokens), writer)
            yield Example(doc, doc.copy())

    return read


def _sentences(words: Iterator[WrittenWord], n_words: int) -> list[WrittenWord]:
    """Whole sentences, at least so many words of them if they are not too long."""
    words = dropwhile(lambda word: not word.starts, words)
    found: list[WrittenWord] = []
    for word in words:
        if word.starts and len(found) >= n_words:
            break
        found.append(word)
        if len(found) >= n_words + _LONG_SENTENCE:
            break
    return found


def _spread(slots: Slots, tokens: Sequence[Sequence[str]]) -> Slots:
    """The slots of words as those of their tokens: nothing is inside a word."""
    found = [slots[0]]
    for slot, parts in zip(slots[1:], tokens, strict=True):
        found += [()] * (len(parts) - 1) + [slot]
    return tuple(found)


class _Sources:
    """Files of text, read when they are needed for the first time.

    path (Path), weights (Mapping | None), unconnected: See `create_text_corpus`.
    """

    def __init__(
        self,
        path: Path,
        weights: Mapping[str, float] | None,
        unconnected: frozenset[str],
    ) -> None:
        paths = {p.name.split(".")[0]: p for p in treebank_files(path, (".txt", ".xz"))}
        for setting in (weights or {}), unconnected:
            _check_names(str(path), setting, paths)
        self._paths = {n: p for n, p in paths.items() if not weights or n in weights}
        self._unconnected = unconnected
        self._weights = dict(weights or {})
        self._texts: dict[str, bytes] = {}

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The frequent words of all sources."""
        samples = [text[:_SAMPLE] for text in self._read().values()]
        return Vocabulary.of(sample.decode("utf-8", "ignore") for sample in samples)

    def words(self, rng: random.Random) -> Iterator[WrittenWord]:
        """The words of a source from a random line on, without an end."""
        texts = self._read()
        name = _choice(self._weights, rng)
        n_bad = 0
        for line in _lines(texts[name], name not in self._unconnected, rng):
            words = read_line(line)
            n_bad = 0 if words else n_bad + 1
            if n_bad > _MOST_BAD_LINES:
                raise PunctError(Errors.P175.format(path=self._paths[name]))
            yield from words

    def _read(self) -> dict[str, bytes]:
        if not self._texts:
            for name, path in self._paths.items():
                opened = lzma.open if path.suffix == ".xz" else open
                with opened(path, "rb") as file:
                    self._texts[name] = file.read().strip() + b"\n"
            if not self._weights:
                self._weights = {n: len(text) for n, text in self._texts.items()}
        return self._texts


def _lines(text: bytes, is_connected: bool, rng: random.Random) -> Iterator[str]:
    """The lines of a text from a random one on, over and over; if they are not
    connected, each a random one."""
    start = None
    while True:
        if start is None or not is_connected:
            start = text.rfind(b"\n", 0, rng.randrange(len(text))) + 1
        end = text.index(b"\n", start)
        yield text[start:end].decode("utf-8", "replace")
        start = (end + 1) % len(text)


def _choice(weights: Mapping[str, float], rng: random.Random) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]


def _check_names(where: str, names: Iterable[str], known: Iterable[str]) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        listed = ", ".join(sorted(known))
        raise PunctError(
            Errors.P174.format(where=where, names=", ".join(unknown), known=listed)
        )


def seen_forms(words: list[str], form: str, rng: random.Random) -> list[str]:
    """Words as the pipeline is to see them, in one of the `FORMS`: the same but for
    case."""
    if form in ("spoken", "written"):
        return [_recased(word, word.lower()) for word in words]
    if form == "capitals":
        return [_recased(word, word.upper()) for word in words]
    # Half of the writers forget capitals.
    kept = 1.0 if rng.random() < 0.5 else rng.random()
    found = [
        word if rng.random() < kept else _recased(word, word.lower()) for word in words
    ]
    if form == "spoken cased":
        found = [_recased(word, word[0] + word[1:].lower()) for word in found]
    return found


def _recased(word: str, other: str) -> str:
    """A word in another case, unless that has more letters."""
    return other if len(other) == len(word) else word


def tokens_of(nlp: Language, form: str) -> tuple[str, ...]:
    """The tokens of a word."""
    tokens = tuple(token.text for token in nlp.tokenizer(form))
    return tokens if "".join(tokens) == form else (form,)


def make_example(
    nlp: Language,
    words: list[WrittenWord],
    tokens: list[tuple[str, ...]],
    *,
    sentences: bool = False,
) -> Example:
    """The words of a text as an example.

    nlp (Language): The pipeline.
    words (list[WrittenWord]): The words in their true case.
    tokens (list[tuple[str, ...]]): The tokens of each as the pipeline sees them; only
        their case may differ.
    sentences (bool): Whether the predicted Doc knows its sentences.
    RETURNS (Example): Punctuation and sentences are on the reference. Where a word
        has several tokens nothing is between these.
    """
    texts: list[str] = []
    spaces: list[bool] = []
    starts: list[bool | int | None] = []
    for word, parts in zip(words, tokens, strict=True):
        at = 0
        for part in parts:
            texts.append(word.form[at : at + len(part)])
            starts.append(word.starts and not at)
            at += len(part)
        spaces += [False] * (len(parts) - 1) + [True]
    if starts and not starts[0]:
        starts[0] = None  # nobody knows what was before
    reference = Doc(
        nlp.vocab,
        words=texts,
        spaces=spaces,
        sent_starts=starts,
        user_data={WORDS_ONLY: True},
    )
    set_gold(reference, _spread(written_slots(words), tokens))
    predicted = Doc(
        nlp.vocab,
        words=list(chain.from_iterable(tokens)),
        spaces=spaces,
        sent_starts=starts if sentences else None,
        user_data={WORDS_ONLY: True},
    )
    return Example(predicted, reference)
