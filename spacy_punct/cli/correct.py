"""`punct correct`: better punctuation for texts, files and streams."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from spacy.language import Language
from spacy.tokens import Doc, Token

from spacy_punct.cli.shared import (
    BatchSize,
    Inputs,
    Model,
    Output,
    Processes,
    check_inputs,
    format_option,
    is_name,
    load_pipeline,
    parted,
    read_lines,
    target,
    watched,
)
from spacy_punct.corrector.changes import (
    Correction,
    WrittenMarks,
    applied,
    written_marks,
)
from spacy_punct.corrector.component import PunctuationCorrector
from spacy_punct.corrector.texts import sure_corrections
from spacy_punct.data.kinds import MESSAGES
from spacy_punct.data.m2 import m2_block, m2_sentence
from spacy_punct.data.marks import is_mark
from spacy_punct.errors import Errors, PunctError, check_range, check_same_text
from spacy_punct.reading.pieces import joined_slots
from spacy_punct.reading.windows import annotated, windows
from spacy_punct.text.paragraphs import SUFFIXES, paragraphs
from spacy_punct.text.writer import Quotes

_SHOWN = 10
"""How many words of a constituent are shown."""


class Format(str, Enum):
    text = "text"
    jsonl = "jsonl"
    m2 = "m2"


Formatted = Annotated[
    Format,
    format_option(
        "jsonl gives one record per line, with the place and probability of "
        "each correction; m2 gives edits of tokens, for scorers of correction.",
    ),
]


def correct(
    inputs: Inputs = None,
    model: Model = "en",
    output: Output = None,
    format: Formatted = Format.text,
    diff: Annotated[
        bool | None,
        typer.Option(
            "--diff/--plain",
            help="Show what changes, or just the corrected text. By default changes "
            "are shown on a terminal only.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Give the reason for each correction on a line below."
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
    write: Annotated[
        bool,
        typer.Option("--write", help="Correct the files in place, and show a diff."),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Write nothing but file:line:column: kind: message for each "
            "correction. The exit code is 1 if there are any.",
        ),
    ] = False,
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A kind of correction to leave out; may be repeated."),
    ] = None,
    n_process: Processes = 1,
    batch_size: BatchSize = 64,
) -> None:
    """Correct the punctuation of texts.

    Files whose names end in .md, .markdown or .txt are read as paragraphs. Elsewhere,
    each line is a text of its own. Files and lines may be of any size. Every
    character that is not corrected stays as it is. The number of corrections is
    printed on standard error.

    Examples:

    python -m spacy punct correct "Well; it rained." --explain

    python -m spacy punct correct essay.txt -o essay.new.txt --threshold 0.8

    cat essays.txt | python -m spacy punct correct -f jsonl > corrections.jsonl

    python -m spacy punct correct README.md --check
    """
    if threshold is not None:
        check_range("--threshold", threshold, 0, 1, inclusive=True)
    if format is not Format.text and (explain or diff is not None):
        options = "--explain" if explain else "--diff" if diff else "--plain"
        raise PunctError(Errors.P132.format(options=options, format=format.value))
    is_text = format is Format.text
    chosen = {"--write": write, "--check": check, "--output": output is not None}
    given = [option for option, is_given in chosen.items() if is_given]
    if len(given) > 1 or ((write or check) and not is_text):
        options = ", ".join(given if is_text else [*given, "--format"])
        raise PunctError(Errors.P223.format(options=options))
    sources = check_inputs(inputs)
    for source in sources:
        if write and not _is_file(source):
            raise PunctError(Errors.P222.format(option="write", source=source))
    nlp, corrector = load_pipeline(model, PunctuationCorrector)
    quotes = corrector.cfg["quotes"]
    if threshold is not None:
        corrector.cfg["threshold"] = threshold
    for kind in ignore or ():
        if kind not in MESSAGES:
            raise PunctError(Errors.P220.format(kind=kind))
    corrector.cfg["ignore"] = [*corrector.cfg["ignore"], *(ignore or ())]
    on_screen = output is None and sys.stdout.isatty()
    shown: dict[Format, Callable[[CorrectedLine], str]] = {
        Format.text: _writer(on_screen if diff is None else diff, on_screen, explain),
        Format.jsonl: _record,
        Format.m2: _block,
    }
    counts: list[int] = []

    def corrected(source: str) -> Iterator[CorrectedLine]:
        texts = watched(_texts(source), source)
        for line in _corrected(nlp, texts, n_process, batch_size, quotes):
            counts.append(len(line.corrections))
            yield line

    if check:
        for source in sources:
            _report(source, corrected(source))
    elif write:
        for source in sources:
            _rewrite(Path(source), corrected(source), on_screen)
    else:
        with target(output) as out:
            for source in sources:
                out.writelines(map(shown[format], corrected(source)))
    n_corrected = sum(map(bool, counts))
    unit = "paragraph" if any(map(_has_paragraphs, sources)) else "line"
    typer.echo(
        f"{_count(sum(counts), 'correction')} in {n_corrected} of "
        f"{_count(len(counts), unit)}",
        err=True,
    )
    if check and n_corrected:
        raise typer.Exit(1)


def _is_file(source: str) -> bool:
    return source != "-" and is_name(source)


def _has_paragraphs(source: str) -> bool:
    return _is_file(source) and Path(source).suffix.lower() in SUFFIXES


def _texts(source: str) -> Iterator[str]:
    """What is corrected together: paragraphs of prose, or lines."""
    lines = read_lines(source)
    return paragraphs(lines) if _has_paragraphs(source) else lines


def _report(source: str, lines: Iterable["CorrectedLine"]) -> None:
    """Print where corrections are, and why."""
    number = 1
    name = source if _is_file(source) else "-"
    for line in lines:
        for c in line.corrections:
            before = line.source[: c["start"]]
            row = number + before.count("\n")
            column = len(before) - before.rfind("\n")
            typer.echo(f"{name}:{row}:{column}: {c['kind']}: {c['message']}")
        number += (line.source + line.end).count("\n")


def _rewrite(path: Path, lines: Iterable["CorrectedLine"], on_screen: bool) -> None:
    """Correct a file in place, and show what changes."""
    diff = _writer(True, on_screen, False)
    found = list(lines)
    changed = [line for line in found if line.corrections]
    for line in changed:
        typer.echo(f"{path}: {diff(line)}".rstrip("\r\n"))
    if changed:
        with target(path) as out:
            out.writelines(line.text + line.end for line in found)


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


# Correcting


@dataclass
class CorrectedLine:
    """A line and its corrections.

    source (str): The line before correction, without its end.
    end (str): How it ends.
    corrections (list[dict[str, Any]]): See `Correction`; places are the line's.
    reasons (list[str]): An explanation of each.
    marks (list[WrittenMarks]): Its words and marks, in the parts that went through
        the pipeline.
    """

    source: str = ""
    end: str = ""
    corrections: list[dict[str, Any]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    marks: list[WrittenMarks] = field(default_factory=list)
    _n_tokens: int = 0
    _is_whole: bool = True

    def add(self, doc: Doc, is_whole: bool, quotes: Quotes | None) -> None:
        """Add a part of the line.

        doc (Doc): The part, corrected.
        is_whole (bool): Whether a sentence ends with it. Where a sentence was cut,
            nothing is known of what should stand there.
        quotes (Quotes | None): The corrector's setting.
        """
        sure = sure_corrections(doc, self._is_whole, is_whole)
        found = [Correction.from_data(doc, data) for data in sure]
        start, n_words = len(self.source), sum(len(part.words) for part in self.marks)
        for c in found:
            self.corrections.append(
                {
                    "start": start + c.start,
                    "end": start + c.end,
                    "text": c.text,
                    "kind": c.kind,
                    "message": c.message,
                    "before": c.before,
                    "after": c.after,
                    "slot": None if c.slot is None else n_words + c.slot,
                    "probability": round(c.probability, 4),
                    "word": {"text": c.word.text, "i": self._n_tokens + c.word.i},
                }
            )
        self.reasons += (_reason(doc, correction) for correction in found)
        self.marks.append(written_marks(doc, found, quotes))
        self.source += doc.text
        self._n_tokens += len(doc)
        self._is_whole = is_whole

    @property
    def text(self) -> str:
        """The corrected line, without its end."""
        return applied(self.source, self.corrections)


def _corrected(
    nlp: Language,
    lines: Iterable[str],
    n_process: int,
    batch_size: int,
    quotes: Quotes | None = None,
) -> Iterator[CorrectedLine]:
    """Correct each line by itself."""

    def parts() -> Iterator[tuple[str, tuple[str, bool, str | None]]]:
        for line in lines:
            text, end = parted(line)
            for part, is_whole, is_last in windows(text):
                yield part, (part, is_whole, end if is_last else None)

    line = CorrectedLine()
    for doc, (part, is_whole, end) in annotated(nlp, parts(), n_process, batch_size):
        check_same_text(part, doc.text, Errors.P133)
        line.add(doc, is_whole, quotes)
        if end is not None:
            line.end = end
            yield line
            line = CorrectedLine()


def _reason(doc: Doc, correction: Correction) -> str:
    """A correction, and the constituent that explains it, in words."""
    sure = f"({correction.kind}, {correction.probability:.2f})"
    if correction.slot is None:
        change = f'"{correction.before[0]}" -> "{correction.after[0]}"'
        return f'at "{correction.word}": {change} {sure}. {correction.message}'
    old = doc.text[correction.start : correction.end].strip()
    new = correction.text.strip()
    change = f"{old} -> {new}"
    if not (old and new):
        change = f"remove {old}" if old else f"insert {new}"
    words = [t for t in doc if _is_word(t)]
    before = [t for t in words if t.idx < correction.start]
    place = f'after "{before[-1]}"' if before else f'before "{words[0]}"'
    head = correction.word
    subtree = [t for t in head.subtree if t == head or _is_word(t)]
    phrase = doc[subtree[0].i : subtree[-1].i + 1]
    edge = "start" if correction.end <= phrase.start_char else "end"
    shown = phrase.text.split()
    if len(shown) > _SHOWN:
        shown = [*shown[: _SHOWN // 2], "…", *shown[-_SHOWN // 2 :]]
    quoted = " ".join(shown)
    return f'{place}: {change} {sure}, {edge} of "{quoted}". {correction.message}'


def _is_word(token: Token) -> bool:
    return not (token.is_space or is_mark(token.text))


# Writing


def _writer(
    diff: bool, on_screen: bool, explain: bool
) -> Callable[[CorrectedLine], str]:
    """How to write lines as text."""
    colour = on_screen and not os.environ.get("NO_COLOR")

    def write(line: CorrectedLine) -> str:
        shown = _diff(line, colour) if diff else line.text
        if not (explain and line.reasons):
            return shown + line.end
        reasons = "".join(f"  {reason}\n" for reason in line.reasons)
        return shown + (line.end or "\n") + reasons

    return write


def _diff(line: CorrectedLine, colour: bool) -> str:
    """A line with what goes and what comes, in colour or in brackets."""
    pieces: list[str] = []
    end = 0
    for correction in line.corrections:
        old = line.source[correction["start"] : correction["end"]]
        new = correction["text"]
        pieces.append(line.source[end : correction["start"]])
        matcher = SequenceMatcher(a=old, b=new, autojunk=False)
        for kind, i, j, k, m in matcher.get_opcodes():
            if kind == "equal":
                pieces.append(old[i:j])
                continue
            if gone := old[i:j]:
                shown = typer.style(gone, fg="red", strikethrough=True)
                pieces.append(shown if colour else f"[-{gone}-]")
            if come := new[k:m]:
                pieces.append(
                    typer.style(come, fg="green") if colour else f"{{+{come}+}}"
                )
        end = correction["end"]
    return "".join([*pieces, line.source[end:]])


def _record(line: CorrectedLine) -> str:
    record = {
        "text": line.text,
        "source": line.source,
        "corrections": line.corrections,
    }
    return srsly.json_dumps(record) + "\n"


def _block(line: CorrectedLine) -> str:
    words = [word for part in line.marks for word in part.words]
    before = joined_slots(part.before for part in line.marks)
    after = joined_slots(part.after for part in line.marks)
    return m2_block(m2_sentence(words, tuple(before), [tuple(after)])) + "\n"
