"""`punct correct`: better punctuation for texts, files and streams."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import Enum
from typing import Annotated, Any, NamedTuple

import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from spacy_punct.cli.group import Model, command, load_pipeline
from spacy_punct.cli.lines import (
    Inputs,
    Output,
    Source,
    annotated,
    parted,
    target,
    windows,
)
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.corrector.correcting import WrittenMarks, written_marks
from spacy_punct.data.m2 import m2_block, m2_sentence
from spacy_punct.data.marks import is_mark
from spacy_punct.errors import Errors, PunctError, check_range
from spacy_punct.reading.corrected import Correction, applied
from spacy_punct.reading.writing import joined_slots

_SHOWN = 10
"""Words of a constituent to show."""


class Format(str, Enum):
    text = "text"
    jsonl = "jsonl"
    m2 = "m2"


@command
def correct(
    inputs: Inputs = None,
    model: Model = "en",
    output: Output = None,
    format: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            help="jsonl gives corrections with their places and probabilities, m2 the "
            "edits of tokens that scorers of correction read.",
        ),
    ] = Format.text,
    diff: Annotated[
        bool | None,
        typer.Option(
            "--diff/--plain",
            help="Show what changes, or just the corrected text. Default: the former "
            "on a terminal, the latter elsewhere.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Give a reason for each correction, on its own line."
        ),
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="How probable a correction must be, from 0 to 1. Default: the "
            "pipeline's setting.",
            show_default=False,
        ),
    ] = None,
    n_process: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    batch_size: Annotated[int, typer.Option(min=1, help="Texts a batch.")] = 64,
) -> None:
    """Correct the punctuation of texts.

    Each line is a text of its own. Files and lines may be of any size. But for the
    corrections, every character stays as it is. How many there are is said on
    standard error.

    Examples:

    python -m spacy punct correct "Well; it rained." --explain

    python -m spacy punct correct essay.txt -o essay.new.txt --threshold 0.8

    cat essays.txt | python -m spacy punct correct -f jsonl > corrections.jsonl
    """
    if threshold is not None:
        check_range("--threshold", threshold, 0, 1)
    if format is not Format.text and (explain or diff is not None):
        options = "--explain" if explain else "--diff" if diff else "--plain"
        raise PunctError(Errors.P132.format(options=options, format=format.value))
    nlp, corrector = load_pipeline(model, PunctuationCorrector)
    if threshold is not None:
        corrector.cfg["threshold"] = threshold
    on_screen = output is None and sys.stdout.isatty()
    write = {
        Format.text: _writer(on_screen if diff is None else diff, on_screen),
        Format.jsonl: _record,
        Format.m2: _block,
    }[format]
    want = _Want(explain, format is Format.m2, corrector.cfg["quotes"])
    n_lines = n_corrected = n_corrections = 0
    with target(output) as out:
        for source in inputs or ["-"]:
            with Source(source) as lines:
                for line in _corrected(nlp, lines, want, n_process, batch_size):
                    out.write(write(line))
                    n_lines += 1
                    n_corrected += bool(line.corrections)
                    n_corrections += len(line.corrections)
                out.flush()
    typer.echo(
        f"{_count(n_corrections, 'correction')} in {n_corrected} of "
        f"{_count(n_lines, 'line')}",
        err=True,
    )


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


class _Want(NamedTuple):
    """What is wanted of Docs besides their corrections.

    reasons (bool): Whether explanations are.
    marks (bool): Whether the marks between words are.
    quotes: The corrector's setting.
    """

    reasons: bool
    marks: bool
    quotes: Any


@dataclass
class _Line:
    """A line, put together of the parts that went through the pipeline.

    source (str): The line before correction, without its end.
    end (str): Its end.
    corrections (list[dict[str, Any]]): See `Correction`; places are the line's.
    reasons (list[str]): An explanation of each, if wanted.
    marks (list[WrittenMarks]): The words and marks of the parts, if wanted.
    """

    source: str = ""
    end: str = ""
    corrections: list[dict[str, Any]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    marks: list[WrittenMarks] = field(default_factory=list)
    _n_words: int = 0
    _n_tokens: int = 0
    _is_whole: bool = True

    def add(self, doc: Doc, part: "_Part", want: _Want) -> None:
        """Add a part."""
        last = len(doc._.corrected_slots) - 1
        # Where a sentence was cut, nothing is known of what should stand there.
        unknown = {
            slot
            for slot, known in ((0, self._is_whole), (last, part.is_whole))
            if not known
        }
        found = [c for c in doc._.corrections if c.slot not in unknown]
        self.corrections += (self._data(correction) for correction in found)
        if want.reasons:
            self.reasons += (_reason(doc, correction) for correction in found)
        if want.marks:
            self.marks.append(written_marks(doc, found, want.quotes))
        self.source += part.text
        self._n_words += last
        self._n_tokens += len(doc)
        self._is_whole = part.is_whole

    def _data(self, correction: Correction) -> dict[str, Any]:
        start = len(self.source)
        word = correction.word
        return {
            "start": start + correction.start,
            "end": start + correction.end,
            "text": correction.text,
            "before": correction.before,
            "after": correction.after,
            "slot": self._n_words + correction.slot,
            "probability": round(correction.probability, 4),
            "word": {"text": word.text, "i": self._n_tokens + word.i},
        }


class _Part(NamedTuple):
    """A part of a line.

    text (str): The part.
    is_whole (bool): Whether a sentence ends with it.
    end (str | None): The line's end, if it is the last.
    """

    text: str
    is_whole: bool
    end: str | None


def _corrected(
    nlp: Language, lines: Iterable[str], want: _Want, n_process: int, batch_size: int
) -> Iterator[_Line]:
    """Each line, corrected by itself."""
    texts = ((part.text, part) for line in lines for part in _parts(line))
    line = _Line()
    for doc, part in annotated(nlp, texts, n_process, batch_size):
        _check_text(doc, part.text)
        line.add(doc, part, want)
        if part.end is not None:
            line.end = part.end
            yield line
            line = _Line()


def _parts(line: str) -> Iterator[_Part]:
    text, end = parted(line)
    left = len(text)
    for part, is_whole in windows(text):
        left -= len(part)
        yield _Part(part, is_whole, None if left else end)


def _check_text(doc: Doc, text: str) -> None:
    if doc.text == text:
        return
    pairs = enumerate(zip(text, doc.text, strict=False))
    at = next(
        (i for i, (old, new) in pairs if old != new), min(len(text), len(doc.text))
    )
    part = slice(max(at - 10, 0), at + 10)
    raise PunctError(Errors.P133.format(before=text[part], after=doc.text[part]))


# Formats


def _writer(diff: bool, on_screen: bool) -> Callable[[_Line], str]:
    """How to write lines as text."""
    colour = on_screen and not os.environ.get("NO_COLOR")

    def write(line: _Line) -> str:
        shown = (
            _diff(line.source, line.corrections, colour)
            if diff
            else applied(line.source, line.corrections)
        )
        reasons = "".join(f"  {reason}\n" for reason in line.reasons)
        end = line.end or "\n" if reasons else line.end
        return shown + end + reasons

    return write


def _diff(source: str, corrections: Iterable[dict[str, Any]], colour: bool) -> str:
    """A text with what goes and what comes, by colour or in brackets."""
    pieces: list[str] = []
    end = 0
    for correction in corrections:
        old = source[correction["start"] : correction["end"]]
        new = correction["text"]
        pieces.append(source[end : correction["start"]])
        matcher = SequenceMatcher(a=old, b=new, autojunk=False)
        for kind, i, j, k, m in matcher.get_opcodes():
            if kind == "equal":
                pieces.append(old[i:j])
            else:
                pieces += _removed(old[i:j], colour), _inserted(new[k:m], colour)
        end = correction["end"]
    return "".join([*pieces, source[end:]])


def _removed(text: str, colour: bool) -> str:
    if not text:
        return ""
    return typer.style(text, fg="red", strikethrough=True) if colour else f"[-{text}-]"


def _inserted(text: str, colour: bool) -> str:
    if not text:
        return ""
    return typer.style(text, fg="green") if colour else f"{{+{text}+}}"


def _record(line: _Line) -> str:
    record = {
        "text": applied(line.source, line.corrections),
        "source": line.source,
        "corrections": line.corrections,
    }
    return srsly.json_dumps(record) + "\n"


def _block(line: _Line) -> str:
    words = [word for part in line.marks for word in part.words]
    before = joined_slots(part.before for part in line.marks)
    after = joined_slots(part.after for part in line.marks)
    return m2_block(m2_sentence(words, tuple(before), [tuple(after)])) + "\n"


# Explanations


def _reason(doc: Doc, correction: Correction) -> str:
    """A correction and the constituent that is behind it, in words."""
    old = doc.text[correction.start : correction.end].strip()
    new = correction.text.strip()
    if not old:
        change = f"insert {new}"
    elif not new:
        change = f"remove {old}"
    else:
        change = f"{old} -> {new}"
    phrase = _constituent(correction.word)
    edge = "start" if correction.end <= phrase.start_char else "end"
    place = _neighbour(doc, correction.start)
    shown = _shortened(phrase.text.split())
    return f'{place}: {change} ({correction.probability:.2f}), {edge} of "{shown}"'


def _neighbour(doc: Doc, start: int) -> str:
    """The word before a place in a text or, if there is none, the one after."""
    words = [token for token in doc if not (token.is_space or is_mark(token.text))]
    before = [token for token in words if token.idx < start]
    return f'after "{before[-1].text}"' if before else f'before "{words[0].text}"'


def _constituent(word: Token) -> Span:
    """The words of a subtree, without the marks around them."""
    tokens = [
        t for t in word.subtree if t == word or not (t.is_space or is_mark(t.text))
    ]
    return word.doc[tokens[0].i : tokens[-1].i + 1]


def _shortened(words: list[str]) -> str:
    if len(words) > _SHOWN:
        words = [*words[: _SHOWN // 2], "…", *words[-_SHOWN // 2 :]]
    return " ".join(words)
