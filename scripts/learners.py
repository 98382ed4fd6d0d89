"""What learners wrote beside its corrections: treebanks, and tokenised text."""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_punct.cli.shared import check_file
from spacy_punct.data.conllu import Sentence, read_conllu
from spacy_punct.data.depunctuation import (
    PunctuatedTree,
    depunctuate,
    has_inner_punctuation,
    has_words,
)
from spacy_punct.data.marks import directed_quotes, is_mark
from spacy_punct.data.tree import Slots
from spacy_punct.errors import Errors, PunctError
from spacy_punct.reading.sentences import MARKS

_ID = re.compile(r"(?:sent_id\s*=|ID=)\s*(.*)")
_NO_TEXT = "_"
_APOSTROPHES = frozenset({"'", "’"})
_PENN_OPENER, _PENN_CLOSER = "``", "''"


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
        if _lack_text(sentences):
            raise PunctError(
                f"{path} has '_' for every word: the annotation without the text. "
                "Merge it with the text first, which has a licence of its own."
            )
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
            raise PunctError(f"{original} and {corrected} do not align: {reason}.")
    else:
        sizes = [len(sentences) for sentences in sides]
        if sizes[0] != sizes[1]:
            reason = f"{sizes[0]} sentences against {sizes[1]}, without ids for all"
            raise PunctError(f"{original} and {corrected} do not align: {reason}.")
        pairs = list(zip(*sides, strict=True))
    examples = [example for pair in pairs if (example := align(*pair)) is not None]
    if not examples:
        reason = f"in none of {len(pairs)} pairs the trees are the same"
        raise PunctError(f"{original} and {corrected} do not align: {reason}.")
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


def _lack_text(sentences: Iterable[Sentence]) -> bool:
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


@dataclass
class _Clue:
    """See `spacy_punct.data.marks.QuoteToken`."""

    form: str
    xpos: str
    head: int = 0


@dataclass(frozen=True)
class MarkedTokens:
    """A sentence cut into tokens.

    tokens (tuple[str, ...]): The tokens.
    marks (tuple[str, ...]): The mark that each is, with quotes that open and close;
        empty for words.
    """

    tokens: tuple[str, ...]
    marks: tuple[str, ...]

    def to_doc(self, vocab: Vocab) -> Doc:
        """The sentence as a Doc of one sentence that knows its marks."""
        starts: list[bool | int | None] = [i == 0 for i in range(len(self.tokens))]
        data = {MARKS: list(self.marks)}
        return Doc(vocab, list(self.tokens), sent_starts=starts, user_data=data)

    @cached_property
    def words(self) -> tuple[str, ...]:
        pairs = zip(self.tokens, self.marks, strict=True)
        return tuple(token for token, mark in pairs if not mark)

    @cached_property
    def slots(self) -> Slots:
        slots: list[list[str]] = [[]]
        for mark in self.marks:
            if mark:
                slots[-1].append(mark)
            else:
                slots.append([])
        return tuple(map(tuple, slots))


@dataclass(frozen=True)
class ParallelSentence:
    """A sentence, and the right marks in the opinion of one annotator or more."""

    source: MarkedTokens
    references: tuple[Slots, ...]


@dataclass(frozen=True)
class ParallelText:
    """The pairs of a corrected text in which nothing but marks and capitals differs.

    sentences (tuple[ParallelSentence, ...]): Those with such a reference.
    n_sents, n_pairs (int): All sentences, and all pairs of one and a reference.
    """

    sentences: tuple[ParallelSentence, ...]
    n_sents: int
    n_pairs: int

    @property
    def n_pairs_used(self) -> int:
        return sum(len(sentence.references) for sentence in self.sentences)


def marked_tokens(
    tokens: Sequence[str], quotes: AbstractSet[str] = frozenset()
) -> MarkedTokens:
    """Tell the marks of a tokenised sentence from its words, by their looks.

    An apostrophe after s, x or z that closes no quote is a word: `the students '`.

    tokens (Sequence[str]): The tokens.
    quotes (AbstractSet[str]): Quotes that the text has elsewhere. If `` is there or in
        the sentence, '' closes, else it may open as well.
    RETURNS (MarkedTokens): The tokens with their marks.
    """
    marks = {}
    is_open = False
    for i, token in enumerate(tokens):
        if not is_mark(token):
            continue
        if token in _APOSTROPHES and not is_open and i:
            before = tokens[i - 1]
            if not is_mark(before) and before[-1].lower() in "sxz":
                continue
        if token in _APOSTROPHES or token in ("`", "‘"):
            is_open = not is_open
        closes = token == _PENN_CLOSER and _PENN_OPENER in {*quotes, *tokens}
        marks[i] = _Clue(token, _PENN_CLOSER if closes else "")
    found = {i: clue.form for i, clue in marks.items()} | directed_quotes(marks)
    return MarkedTokens(
        tuple(tokens), tuple(found.get(i, "") for i in range(len(tokens)))
    )


def read_parallel(source: str | Path, references: Sequence[str | Path]) -> ParallelText:
    """Read a text and its corrections, and keep what differs in punctuation alone.

    Words are compared without regard to case.

    source (str | Path): The text, in UTF-8: a sentence a line, its tokens apart by
        white space.
    references (Sequence[str | Path]): The same sentences, corrected, one file for
        each annotator.
    RETURNS (ParallelText): The sentences of which some correction has the same words.
    """
    texts = [_read_lines(Path(path)) for path in (source, *references)]
    n_sents = len(texts[0])
    for path, lines in zip(references, texts[1:], strict=True):
        if len(lines) != n_sents:
            raise PunctError(
                f"{path} has {len(lines)} lines, but the text that it corrects has "
                f"{n_sents}."
            )
    quotes = {_PENN_OPENER} & set(chain.from_iterable(chain.from_iterable(texts)))
    sentences = []
    for tokens, *corrected in zip(*texts, strict=True):
        written = marked_tokens(tokens, quotes)
        opinions = [marked_tokens(other, quotes) for other in corrected]
        words = _folded(written)
        usable = tuple(o.slots for o in opinions if words and _folded(o) == words)
        if usable:
            sentences.append(ParallelSentence(written, usable))
    if not sentences:
        raise PunctError(f"No correction of {source} has the same words.")
    return ParallelText(tuple(sentences), n_sents, n_sents * len(references))


def read_m2(path: str | Path) -> ParallelText:
    """Read corrected text in M2 format, and let punctuation alone differ.

    The other edits of the first annotator are made in both the text and its
    correction.

    path (str | Path): The file.
    RETURNS (ParallelText): The sentences whose words are then the same.
    """
    blocks = Path(path).read_text("utf8").strip().split("\n\n")
    sentences = []
    for block in blocks:
        (_, *tokens), *edits = (line.split(" ") for line in block.splitlines())
        fields = [" ".join(edit[1:]).split("|||") for edit in edits]
        chosen = [f for f in fields if f[-1] == "0" and f[1] != "noop"]
        others = [f for f in chosen if not f[1].endswith("PUNCT")]
        written, right = (marked_tokens(_edited(tokens, e)) for e in (others, chosen))
        if written.words and _folded(written) == _folded(right):
            sentences.append(ParallelSentence(written, (right.slots,)))
    return ParallelText(tuple(sentences), len(blocks), len(blocks))


def _edited(tokens: Sequence[str], edits: Iterable[Sequence[str]]) -> list[str]:
    """Tokens after edits, each given as the fields of an A line."""
    result = list(tokens)
    for place, _, correction, *_ in reversed(list(edits)):
        start, end = map(int, place.split())
        result[start:end] = correction.split()
    return result


def read_text(path: Path, references: Sequence[Path]) -> ParallelText:
    """Read an M2 file, or the lines of a text and its corrections."""
    if path.suffix == ".m2":
        return read_m2(check_file(path))
    return read_parallel(check_file(path), [check_file(p) for p in references])


def part_of(text: ParallelText, part: str) -> ParallelText:
    """The "first" or the "second" half of a text, or "all" of it."""
    middle = len(text.sentences) // 2
    half = {"all": slice(None), "first": slice(middle), "second": slice(middle, None)}
    return replace(text, sentences=text.sentences[half[part]])


def _folded(sentence: MarkedTokens) -> list[str]:
    return [word.casefold() for word in sentence.words]


def _read_lines(path: Path) -> list[list[str]]:
    """The tokens of each line."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        message = Errors.P003.format(where=path, reason=error.reason)
        raise PunctError(message) from None
    return [line.split() for line in text.removesuffix("\n").split("\n")]
