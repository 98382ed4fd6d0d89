"""`punct restore`: punctuation for texts, transcripts and subtitles."""

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import srsly
import typer

from spacy_punct.cli.jobs import Job, plan, run_jobs
from spacy_punct.cli.live import arriving, restored_live
from spacy_punct.cli.shared import (
    BatchSize,
    Inputs,
    Model,
    Output,
    Processes,
    WordBar,
    check_inputs,
    is_name,
    load_pipeline,
    parted,
    read_lines,
    target,
    watched,
)
from spacy_punct.data.tree import Puncteme
from spacy_punct.errors import Errors, PunctError
from spacy_punct.restorer.component import PunctuationRestorer, RestorerSettings
from spacy_punct.restorer.live import LOOKAHEAD, LiveRestorer
from spacy_punct.restorer.texts import RestoredWord, restore_texts, restore_units
from spacy_punct.text.languages import check_language
from spacy_punct.transcripts.formats import (
    TARGETS,
    check_target,
    is_text,
    read,
    write,
)
from spacy_punct.transcripts.pages import PARAGRAPHS, Paragraphs
from spacy_punct.transcripts.speech import Line
from spacy_punct.transcripts.transcript import (
    Entry,
    Segment,
    Transcript,
    restored,
    restored_each,
    whole,
)

_LOOKED_AT = 64
"""Lines of a text that are read before it is known what it is."""


def restore(
    inputs: Inputs = None,
    model: Model = "en",
    output: Output = None,
    output_dir: Annotated[
        Path | None,
        typer.Option(help="Folder for the results, one for each file."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            "--format",
            "-f",
            help=f"What to write: {', '.join(TARGETS)}. Default: what the name of the "
            "output says, or else what was read.",
            show_default=False,
        ),
    ] = None,
    join: Annotated[
        bool,
        typer.Option(
            "--join/--lines",
            help="Read all lines of a plain text as one text, so that sentences may go "
            "on from line to line. Words stay on their lines.",
        ),
    ] = False,
    marks: Annotated[
        str | None,
        typer.Option(help="The marks that may be written, such as '.,?'."),
    ] = None,
    casing: Annotated[
        str | None, typer.Option(help="auto, sentence, truecase or keep.")
    ] = None,
    existing: Annotated[
        str | None,
        typer.Option(
            help="Marks that are there: keep them and add others, replace or error."
        ),
    ] = None,
    quotes: Annotated[str | None, typer.Option(help="straight or typographic.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="How probable marks must be to be written, from 0 to 1."),
    ] = None,
    paragraphs: Annotated[
        str | None,
        typer.Option(
            help="Paragraphs of pages: auto (those of the source, or else by speaker, "
            "pause and topic), speaker or none."
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Skip files whose result is there.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Do not check the language of texts.")
    ] = False,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Restore standard input as it comes. What is written never changes. "
            "With --to jsonl, the words that may still change are shown as well.",
        ),
    ] = False,
    lookahead: Annotated[
        int,
        typer.Option(
            min=1, help="With --live, how many words must follow a word first."
        ),
    ] = LOOKAHEAD,
    n_process: Processes = 1,
    batch_size: BatchSize = 64,
) -> None:
    """Write the punctuation back into texts, transcripts and subtitles.

    Of plain text each line is a text of its own; with --join, each file is. Subtitles
    (SRT, WebVTT, SBV), tables (TSV, CTM) and recognisers' JSON keep their times and
    everything else that they have, or are written in another format (--to). Files of
    any size, folders and any number of files can be given.

    Examples:

    python -m spacy punct restore "if it rains we stay"

    python -m spacy punct restore talk.json --to srt -o talk.srt

    python -m spacy punct restore recordings --to md --output-dir pages --resume

    cat talk.txt | python -m spacy punct restore --join --to jsonl > talk.jsonl

    recogniser | python -m spacy punct restore --live --lookahead 5
    """
    settings = {
        "marks": None if marks is None else marks.split() if " " in marks else [*marks],
        "casing": casing,
        "existing": existing,
        "quotes": quotes,
        "threshold": threshold,
    }
    options = Options(
        model,
        {name: value for name, value in settings.items() if value is not None},
        _checked("--to", "txt" if to == "text" else to, TARGETS),
        join,
        _checked("--paragraphs", paragraphs, PARAGRAPHS),
        force,
        n_process,
        batch_size,
    )
    if live:
        if (inputs or ["-"]) != ["-"] or output or output_dir or paragraphs:
            raise PunctError(Errors.P201)
        _checked("--to", options.to, ("txt", "jsonl"))
        FileRestorer(options).live(lookahead)
        return
    sources = check_inputs(inputs, folders=True)
    jobs = plan(sources, output, output_dir, options.to)
    if jobs is not None:
        make = partial(FileRestorer, options)
        run_jobs(jobs, make, resume=resume, n_process=n_process)
        return
    if options.to is None and output is not None:
        options = options.with_target(output, sources)
    _check_outputs(sources)
    restorer = FileRestorer(options)
    with target(output) as out:
        for source in sources:
            out.writelines(restorer.restored(source))


def _checked(name: str, value: Any, choices: tuple[str, ...]) -> Any:
    if value is not None and value not in choices:
        listed = ", ".join(choices)
        raise PunctError(Errors.P148.format(name=name, value=value, choices=listed))
    return value


def _check_outputs(sources: list[str]) -> None:
    """Raise P183 if several transcripts would be written one after the other."""
    if len(sources) < 2:
        return
    for source in sources:
        if source != "-" and is_name(source):
            with Path(source).open("rb") as file:
                start = file.read(4096).decode("utf-8", errors="ignore")
            if not is_text(start, source):
                raise PunctError(Errors.P183)


@dataclass(frozen=True)
class Options:
    """What a command was asked to do with each file.

    model (str): The pipeline.
    settings (dict[str, Any]): Settings of its restorer that are not as they were.
    to (str | None): What to write.
    join (bool): Whether lines of plain text are one text.
    paragraphs (Paragraphs | None): How pages are divided.
    force (bool): Whether languages are not checked.
    n_process, batch_size (int): See `Language.pipe`.
    """

    model: str
    settings: dict[str, Any]
    to: str | None = None
    join: bool = False
    paragraphs: Paragraphs | None = None
    force: bool = False
    n_process: int = 1
    batch_size: int = 64

    def with_target(self, output: Path, sources: list[str]) -> "Options":
        """The same, writing what the name of an output says."""
        ending = output.suffix.lower()
        own = {Path(s).suffix.lower() for s in sources if s != "-" and is_name(s)}
        if ending[1:] not in TARGETS or ending in own:
            return self
        return replace(self, to=ending[1:])


class FileRestorer:
    """A pipeline, and how it is used on files.

    options (Options): What to do.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.nlp, restorer = load_pipeline(options.model, PunctuationRestorer)
        restorer.cfg["explain"] = False
        self.language = self.nlp.lang or ""
        settings = {**restorer.cfg, **options.settings}
        RestorerSettings(**settings)  # raises if a setting is not valid
        restorer.cfg.update(settings)

    def file(self, job: Job, bar: WordBar) -> None:
        """Restore a file."""
        with target(job.target) as out:
            out.writelines(self.restored(str(job.source), job.to, bar))

    def restored(
        self, source: str, to: str | None = None, bar: WordBar | None = None
    ) -> Iterator[str]:
        """Restore a text, a file or standard input.

        source (str): Its name, '-', or the text.
        to (str | None): What to write instead of what the options say.
        bar (WordBar | None): Is told of progress; None for a new one.
        YIELDS (str): Parts of the result.
        """
        to = to or self.options.to
        lines = read_lines(source)
        first = list(islice(lines, _LOOKED_AT))
        name = source if source == "-" or is_name(source) else "<text>"
        plain = is_text("".join(first), name)
        lines = chain(first, lines)
        if not plain or to not in (None, "txt", "jsonl") or self.options.paragraphs:
            text = "".join(lines)
            yield self._transcript(text, name, to, bar)
            return
        if not self.options.force:
            sample = [word for line in first for word in Line(line).words]
            check_language(sample, self.language, Errors.P190, name=name)
        lines = watched(lines, source, bar)
        form = _record if to == "jsonl" else _text
        restored = self.joined(lines) if self.options.join else self.by_line(lines)
        yield from map(form, restored)

    def _transcript(
        self, text: str, name: str, to: str | None, bar: WordBar | None
    ) -> str:
        transcript = read(text, name, join=self.options.join)
        texts = transcript.texts()
        if not self.options.force:
            words = chain.from_iterable(texts)
            check_language(words, self.language, Errors.P190, name=name)
        check_target(transcript, to, name)
        n_words = sum(map(len, texts))
        with WordBar() if bar is None else nullcontext(bar) as own:
            own.found(n_words, len(text.encode("utf-8", errors="ignore")))

            def restore(texts: Iterable[list[str]]) -> Iterator[list[str]]:
                size = self.options.batch_size
                found = restore_texts(
                    self.nlp, texts, batch_size=size, progress=own.done
                )
                return ([word.text for word in words] for words in found)

            return write(
                restored(transcript, restore), to, name, self.options.paragraphs
            )

    def live(self, lookahead: int) -> None:
        """Restore standard input as it comes, and write it to standard output.

        lookahead (int): How many words must follow a word first.
        """
        restorer = LiveRestorer(self.nlp, lookahead=lookahead)
        for text, words in restored_live(restorer, arriving(sys.stdin.buffer)):
            if self.options.to == "jsonl":
                text = srsly.json_dumps(words._asdict()) + "\n"
            sys.stdout.write(text)
            sys.stdout.flush()

    def by_line(self, lines: Iterable[str]) -> Iterator["RestoredLine"]:
        """Restore each line by itself."""
        ahead: deque[tuple[str, int]] = deque()
        found: deque[list[RestoredWord]] = deque()

        def transcripts() -> Iterator[Transcript]:
            for line in lines:
                text, end = parted(line)
                transcript = Transcript((Segment((Entry(text),)),))
                ahead.append((end, len(transcript.texts())))
                yield transcript

        def restore(texts: Iterable[list[str]]) -> Iterator[list[str]]:
            for words in restore_texts(
                self.nlp,
                texts,
                n_process=self.options.n_process,
                batch_size=self.options.batch_size,
            ):
                found.append(words)
                yield [word.text for word in words]

        for transcript in restored_each(transcripts(), restore):
            end, n_turns = ahead.popleft()
            words = [word for _ in range(n_turns) for word in found.popleft()]
            yield restored_line(transcript.entries[0].text, end, words)

    def joined(self, lines: Iterable[str]) -> Iterator["RestoredLine"]:
        """Restore all lines as one text; each word stays on its line."""
        units = (_unit(*parted(line)) for line in lines)
        for (line, end), words in restore_units(self.nlp, units):
            texts = [
                whole(word, found.text)
                for word, found in zip(line.words, words, strict=True)
            ]
            yield restored_line(line.with_words(texts).text, end, words)


def _unit(text: str, end: str) -> tuple[tuple[Line, str], tuple[str | None, ...]]:
    """A line with its words; None where somebody else begins to speak."""
    line = Line(text)
    return (line, end), line.spoken


class RestoredLine(NamedTuple):
    """A restored line.

    text (str): The line with its punctuation.
    end (str): How the line ends.
    words (list[str]): The words that the model saw.
    slots (list[Puncteme]): The marks before, between and after these.
    confidence (list[float]): The probability of each slot.
    """

    text: str
    end: str
    words: list[str]
    slots: list[Puncteme]
    confidence: list[float]


def restored_line(text: str, end: str, words: Iterable[RestoredWord]) -> RestoredLine:
    """A line, and what is known of its words."""
    slots: list[Puncteme] = [()]
    confidence = [1.0]
    tokens: list[str] = []
    for word in words:
        if word.tokens:
            tokens += word.tokens
            slots[-1] += word.slots[0]
            slots += word.slots[1:]
            confidence[-1:] = word.confidence
    return RestoredLine(text, end, tokens, slots, confidence)


def _text(line: RestoredLine) -> str:
    return line.text + line.end


def _record(line: RestoredLine) -> str:
    record = {
        "text": line.text,
        "words": line.words,
        "slots": line.slots,
        "confidence": [round(p, 4) for p in line.confidence],
    }
    return srsly.json_dumps(record) + "\n"
