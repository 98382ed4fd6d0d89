"""The M2 format of corrected text, as in the CoNLL-2014 shared task and ERRANT."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spacy_punct.data.edits import edits
from spacy_punct.data.marks import ABBREVIATION_DOT, SPECIAL_GLYPHS
from spacy_punct.data.tree import Puncteme, Slots
from spacy_punct.errors import Errors, PunctError
from spacy_punct.files import write_safely

_FIELDS = 6
_NONE = "-NONE-"
_NOOP = "noop"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A correction by an annotator: one A line.

    start, end (int): The tokens that are replaced, as a half-open range.
    kind (str): The error's type, such as M:PUNCT.
    corrections (tuple[str, ...]): What may stand there instead, tokens apart by a
        space; an empty string if nothing.
    annotator (int): Who says so.
    """

    start: int
    end: int
    kind: str
    corrections: tuple[str, ...]
    annotator: int = 0


@dataclass(frozen=True, slots=True)
class M2Sentence:
    """A sentence and its corrections: one block of lines.

    tokens (tuple[str, ...]): The sentence before correction.
    annotations (tuple[Annotation, ...]): What the annotators change.
    annotators (tuple[int, ...]): All of them, those who change nothing too.
    """

    tokens: tuple[str, ...]
    annotations: tuple[Annotation, ...] = ()
    annotators: tuple[int, ...] = (0,)

    def corrected(self, annotator: int = 0) -> list[str]:
        """The tokens after an annotator's first-named corrections."""
        tokens = list(self.tokens)
        own = [a for a in self.annotations if a.annotator == annotator]
        for annotation in reversed(own):
            replacement = annotation.corrections[0].split()
            tokens[annotation.start : annotation.end] = replacement
        return tokens


def m2_sentence(
    words: Sequence[str], observed: Slots, references: Sequence[Slots]
) -> M2Sentence:
    """A sentence with observed marks and its corrections by one or more annotators.

    Marks are tokens of their own, but the dot of an abbreviation is part of its word.

    words (Sequence[str]): The words.
    observed (Slots): The marks before correction.
    references (Sequence[Slots]): The right marks, one for each annotator.
    RETURNS (M2Sentence): The edits are those of `edits`; where only one has an
        abbreviation dot, the word is misspelt.
    """
    tokens, starts = _tokens(words, observed)
    annotations = []
    for annotator, reference in enumerate(references):
        for slot, (before, after) in enumerate(zip(observed, reference, strict=True)):
            start = starts[slot]
            if slot and _spelling(words[slot - 1], after) != tokens[start - 1]:
                correction = _spelling(words[slot - 1], after)
                annotations.append(
                    Annotation(start - 1, start, "R:SPELL", (correction,), annotator)
                )
            for edit in edits(_marks(before), _marks(after)):
                missing, more = edit.start == edit.end, edit.replacement
                kind = "M:PUNCT" if missing else "R:PUNCT" if more else "U:PUNCT"
                annotations.append(
                    Annotation(
                        start + edit.start,
                        start + edit.end,
                        kind,
                        (" ".join(edit.replacement),),
                        annotator,
                    )
                )
    return M2Sentence(tuple(tokens), tuple(annotations), tuple(range(len(references))))


def _tokens(words: Sequence[str], slots: Slots) -> tuple[list[str], list[int]]:
    """The tokens, and where the marks of each slot start among them."""
    tokens: list[str] = []
    starts = []
    for i, slot in enumerate(slots):
        if i:
            tokens.append(_spelling(words[i - 1], slot))
        starts.append(len(tokens))
        tokens += _marks(slot)
    return tokens, starts


def _spelling(word: str, slot: Puncteme) -> str:
    dotted = ABBREVIATION_DOT in slot
    return word + SPECIAL_GLYPHS[ABBREVIATION_DOT] if dotted else word


def _marks(slot: Puncteme) -> Puncteme:
    return tuple(mark for mark in slot if mark != ABBREVIATION_DOT)


def write_m2(path: str | Path, sentences: Iterable[M2Sentence]) -> None:
    """Write sentences and their corrections to a file.

    path (str | Path): The file, written whole or not at all.
    sentences (Iterable[M2Sentence]): The sentences.
    """
    write_safely(Path(path), "\n".join(map(m2_block, sentences)).encode("utf8"))


def m2_block(sentence: M2Sentence) -> str:
    """The lines of a sentence and its corrections; an empty one parts two blocks."""
    return "".join(f"{line}\n" for line in _lines(sentence))


def _lines(sentence: M2Sentence) -> Iterator[str]:
    yield " ".join(("S", *sentence.tokens))
    for annotator in sentence.annotators:
        own = [a for a in sentence.annotations if a.annotator == annotator]
        for a in own or [Annotation(-1, -1, _NOOP, (_NONE,), annotator)]:
            corrections = "||".join(a.corrections)
            fields = (a.kind, corrections, "REQUIRED", _NONE, str(annotator))
            yield "|||".join((f"A {a.start} {a.end}", *fields))


def read_m2(path: str | Path) -> Iterator[M2Sentence]:
    """Yield the sentences of an M2 file.

    path (str | Path): The file, in UTF-8.
    YIELDS (M2Sentence): One for each S line. One without A lines is right as it is.
    """
    path = Path(path)
    if not path.is_file():
        raise PunctError(Errors.P121.format(path=path))
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        message = Errors.P003.format(where=path, reason=error.reason)
        raise PunctError(message) from None
    tokens: tuple[str, ...] | None = None
    annotations: list[Annotation] = []
    for number, line in enumerate(lines, start=1):
        kind, _, rest = line.rstrip("\r").partition(" ")
        if kind == "S":
            if tokens is not None:
                yield _sentence(tokens, annotations)
            tokens, annotations = tuple(rest.split()), []
        elif kind == "A" and tokens is not None:
            annotations.append(_annotation(rest, len(tokens), f"{path}:{number}"))
        elif line.strip() and kind != "I":
            raise PunctError(Errors.P122.format(where=f"{path}:{number}", line=line))
    if tokens is not None:
        yield _sentence(tokens, annotations)


def _annotation(text: str, n_tokens: int, where: str) -> Annotation:
    span, *fields = text.split("|||")
    try:
        start, end = map(int, span.split())
        annotator = int(fields[-1])
    except (ValueError, IndexError):
        start = end = n_tokens + 1
    noop = len(fields) > 0 and fields[0] == _NOOP
    inside = start == end == -1 if noop else 0 <= start <= end <= n_tokens
    if len(fields) != _FIELDS - 1 or not inside:
        raise PunctError(Errors.P122.format(where=where, line=f"A {text}"))
    corrections = tuple(
        "" if correction == _NONE else correction
        for correction in fields[1].split("||")
    )
    return Annotation(start, end, fields[0], corrections, annotator)


def _sentence(tokens: tuple[str, ...], annotations: list[Annotation]) -> M2Sentence:
    annotators = sorted({a.annotator for a in annotations}) or [0]
    changes = tuple(a for a in annotations if a.kind != _NOOP)
    return M2Sentence(tokens, changes, tuple(annotators))
