"""The formats of transcripts, told apart, read and written."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spacy_punct.errors import Errors, PunctError
from spacy_punct.transcripts import cues, pages, services, whisper
from spacy_punct.transcripts.json_text import read_json
from spacy_punct.transcripts.pages import Paragraphs
from spacy_punct.transcripts.recognisers import Reading, rewrite_json
from spacy_punct.transcripts.speech import LINE_ENDS, word_set
from spacy_punct.transcripts.subtitles import (
    begins_cues,
    read_subtitles,
    rewrite_subtitles,
)
from spacy_punct.transcripts.tables import (
    is_ctm,
    is_tsv,
    read_ctm,
    read_tsv,
    rewrite_ctm,
    rewrite_tsv,
)
from spacy_punct.transcripts.transcript import Entry, Segment, Transcript

TARGETS = ("txt", "md", "srt", "vtt", "sbv", "tsv", "ctm", "json", "jsonl")
"""What can be written."""
SUFFIXES = frozenset(
    {".txt", ".srt", ".vtt", ".sbv", ".tsv", ".ctm", ".json", ".jsonl", ".md"}
)
"""How the names of transcripts end."""


class _Json(NamedTuple):
    """A recogniser whose JSON can be read.

    name (str): What it is called.
    fits (Callable): Whether the documents of a file are its own.
    read (Callable): Reads them.
    """

    name: str
    fits: Callable[[Sequence[Any]], bool]
    read: Callable[[Sequence[Any]], Reading]


def _first(fits: Callable[[Any], bool]) -> Callable[[Sequence[Any]], bool]:
    return lambda documents: len(documents) == 1 and fits(documents[0])


RECOGNISERS = (
    _Json("whisper.cpp", _first(whisper.is_cpp), whisper.read_cpp),
    _Json("transformers", _first(whisper.is_chunks), whisper.read_chunks),
    _Json("deepgram", _first(services.is_deepgram), services.read_deepgram),
    _Json("aws", _first(services.is_aws), services.read_aws),
    _Json("google", _first(services.is_google), services.read_google),
    _Json("azure", services.is_azure, services.read_azure),
    _Json("vosk", services.is_vosk, services.read_vosk),
    _Json("whisper", _first(whisper.is_whisper), whisper.read_whisper),
    _Json("assemblyai", _first(services.is_assembly), services.read_assembly),
)
"""In the order in which they are asked."""

_STARTS_OF_OTHERS = ("<?xml", "<tt", "<html", "<!doctype", "[script info]", "{\\rtf")
_OTHERS = word_set(
    ".ass .ssa .ttml .dfxp .xml .stl .smi .sub .html .htm .pdf .doc .docx .odt .rtf "
    ".mp3 .mp4 .wav .m4a .flac .ogg .mkv .webm .zip .gz .textgrid .eaf"
)


def is_text(text: str, name: str) -> bool:
    """Whether a file is plain text, to be read line by line.

    text (str): The file, or how it begins.
    name (str): Its name.
    RETURNS (bool): False for a transcript; an error for what cannot be read.
    """
    suffix = Path(name).suffix.lower()
    start = text.lstrip("\ufeff \t\r\n")
    if suffix in _OTHERS or start[:100].lower().startswith(_STARTS_OF_OTHERS):
        raise PunctError(Errors.P180.format(name=name, known=_known()))
    if "\0" in text:
        raise PunctError(Errors.P180.format(name=name, known=_known()))
    if suffix in (".json", ".jsonl", ".srt", ".vtt", ".sbv", ".tsv", ".ctm"):
        return False
    lines = text.splitlines(keepends=True)
    return not (_looks_like_json(start) or begins_cues(lines) or is_tsv(lines))


def _looks_like_json(start: str) -> bool:
    return start[:1] in ("{", "[") and start[1:].lstrip()[:1] in ('"', "{", "[")


def _known() -> str:
    names = ", ".join(recogniser.name for recogniser in RECOGNISERS)
    return f"plain text, SRT, WebVTT, SBV, TSV, CTM, and JSON of {names}"


def read(text: str, name: str, *, join: bool = False) -> Transcript:
    """Read a transcript.

    text (str): The file.
    name (str): Its name. Its ending counts only where the text leaves a doubt.
    join (bool): Whether sentences of plain text go on from line to line.
    RETURNS (Transcript): The transcript.
    """
    if is_text(text, name):
        return _read_text(text, join)
    suffix = Path(name).suffix.lower()
    start = text.lstrip("\ufeff \t\r\n")
    lines = text.splitlines(keepends=True)
    if suffix in (".json", ".jsonl") or _looks_like_json(start):
        return _read_json(text, name)
    if suffix == ".ctm" and is_ctm(lines):
        return read_ctm(text, name)
    if is_tsv(lines):
        return read_tsv(text, name)
    if suffix in (".ctm", ".tsv"):
        raise PunctError(Errors.P180.format(name=name, known=_known()))
    if start.startswith("WEBVTT"):
        return read_subtitles(text, name, "vtt")
    if suffix == ".sbv" or (suffix != ".srt" and "-->" not in text):
        return read_subtitles(text, name, "sbv")
    return read_subtitles(text, name, "vtt" if suffix == ".vtt" else "srt")


def _read_json(text: str, name: str) -> Transcript:
    try:
        documents = read_json(text)
    except ValueError as error:
        raise PunctError(Errors.P181.format(name=name, reason=error)) from None
    message = Errors.P180.format(name=name, known=_known())
    for recogniser in RECOGNISERS:
        if documents and recogniser.fits(documents):
            try:
                return recogniser.read(documents).transcript(text, recogniser.name)
            except (AttributeError, LookupError, TypeError, ValueError):
                # The right names, but with values of other kinds.
                raise PunctError(message) from None
    raise PunctError(message)


def _read_text(text: str, join: bool) -> Transcript:
    segments: list[Segment] = []
    lines = text.splitlines(keepends=True)
    is_paragraph = False
    places = []
    for k, line in enumerate(lines):
        body = line.rstrip(LINE_ENDS)
        if not body.strip():
            is_paragraph = bool(segments)
            continue
        entry = Entry(body)
        segments.append(
            Segment(
                (entry,),
                starts_text=is_paragraph or not join,
                is_paragraph=is_paragraph,
            )
        )
        places.append(k)
        is_paragraph = False
    return Transcript(tuple(segments), "txt", (lines, places))


def _rewrite_text(transcript: Transcript) -> str:
    lines, places = transcript.source
    lines = list(lines)
    for k, entry in zip(places, transcript.entries, strict=True):
        body = lines[k].rstrip(LINE_ENDS)
        lines[k] = entry.text + lines[k][len(body) :]
    return "".join(lines)


def target_of(transcript: Transcript) -> str:
    """What a transcript is written as if nothing else is asked for."""
    is_json = transcript.format in {recogniser.name for recogniser in RECOGNISERS}
    return "json" if is_json else transcript.format


def check_target(transcript: Transcript, target: str | None, name: str) -> None:
    """Raise P184 if a transcript cannot be written because it has no times.

    transcript (Transcript): The transcript.
    target (str | None): See `write`.
    name (str): How messages call it.
    """
    is_timed = target in ("srt", "vtt", "sbv", "tsv", "ctm")
    if is_timed and target != target_of(transcript) and not transcript.has_cues:
        cues.timed(transcript, name)


def write(
    transcript: Transcript,
    target: str | None,
    name: str,
    paragraphs: Paragraphs | None = None,
) -> str:
    """Write a transcript.

    transcript (Transcript): The transcript.
    target (str | None): One of `TARGETS`; None for the format it was read from. That
        format keeps everything but the words as it was.
    name (str): How messages call it.
    paragraphs (Paragraphs | None): See `split_paragraphs`; None to leave lines of
        plain text where they are.
    RETURNS (str): The file.
    """
    own = target_of(transcript)
    target = target or own
    is_same = target == own and transcript.source is not None
    if is_same and not (target == "txt" and paragraphs):
        if target == "json":
            return rewrite_json(transcript)
        rewrite = {"txt": _rewrite_text, "tsv": rewrite_tsv, "ctm": rewrite_ctm}
        return rewrite.get(target, rewrite_subtitles)(transcript)
    if target in ("txt", "md"):
        page = pages.write_text if target == "txt" else pages.write_markdown
        return page(transcript, paragraphs or "auto")
    if target in ("json", "jsonl"):
        return (pages.write_json if target == "json" else pages.write_records)(
            transcript
        )
    if target == "ctm":
        return cues.write_ctm(cues.timed(transcript, name), Path(name).stem)
    writers = {
        "srt": cues.write_srt,
        "vtt": cues.write_vtt,
        "sbv": cues.write_sbv,
        "tsv": cues.write_tsv,
    }
    return writers[target](cues.make_cues(transcript, name))
