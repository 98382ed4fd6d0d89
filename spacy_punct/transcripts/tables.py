"""TSV (one segment per line) and CTM (one word per line)."""

import re
from collections.abc import Sequence

from spacy_punct.transcripts.speech import LINE_ENDS, Line
from spacy_punct.transcripts.transcript import Entry, Segment, Transcript

_CTM = re.compile(
    r"(?P<before>\s*(?P<file>\S+)\s+\S+\s+(?P<start>-?\d+(?:\.\d+)?)"
    r"\s+(?P<length>\d+(?:\.\d+)?)\s+)(?P<word>\S+)(?P<after>.*)",
    re.DOTALL,
)
_MILLISECONDS = 1000


def is_ctm(lines: Sequence[str]) -> bool:
    """Whether all lines but comments are those of a CTM file."""
    written = [line for line in lines if line.strip() and not line.startswith(";;")]
    return bool(written) and all(map(_CTM.fullmatch, written))


def is_tsv(lines: Sequence[str]) -> bool:
    """Whether a file has the header of a table with a column of text."""
    names = _header(lines[0]) if lines else []
    return "text" in names and len({"start", "end", "speaker"} & set(names)) > 0


def _header(line: str) -> list[str]:
    return line.lstrip("\ufeff").rstrip(LINE_ENDS).lower().split("\t")


def read_ctm(text: str, name: str) -> Transcript:
    """Read a CTM file: recording, channel, start, duration, word, and anything.

    text (str): The file.
    name (str): How messages call it.
    RETURNS (Transcript): An entry for each word, a segment for each recording.
    """
    lines = text.splitlines(keepends=True)
    segments: list[Segment] = []
    entries: list[Entry] = []
    places: list[int] = []
    recording = None
    for k, line in enumerate(lines):
        found = None if line.startswith(";;") else _CTM.fullmatch(line)
        if found is None:
            continue
        if found["file"] != recording and entries:
            segments.append(_recording(entries))
            entries = []
        recording = found["file"]
        start = float(found["start"])
        end = round(start + float(found["length"]), 3)
        word = found["word"]
        # `<eps>`, `@` and the like stand for no word.
        text = word if word != "@" else "[@]"
        entries.append(Entry(text, start, end, is_word=True))
        places.append(k)
    if entries:
        segments.append(_recording(entries))
    return Transcript(tuple(segments), "ctm", (lines, places))


def _recording(entries: list[Entry]) -> Segment:
    return Segment(
        tuple(entries), None, entries[0].start, entries[-1].end, starts_text=True
    )


def rewrite_ctm(transcript: Transcript) -> str:
    """The file that a transcript was read from, with its new words."""
    lines, places = transcript.source
    lines = list(lines)
    for k, entry in zip(places, transcript.entries, strict=True):
        found = _CTM.fullmatch(lines[k])
        if found and Line(found["word"], True).words:
            # Fields are parted by white space.
            word = "".join(entry.text.split()) or found["word"]
            lines[k] = found["before"] + word + found["after"]
    return "".join(lines)


def read_tsv(text: str, name: str) -> Transcript:
    """Read a table with the columns `start` and `end` (in milliseconds), `text` and,
    if need be, `speaker`, as Whisper writes it.

    text (str): The file.
    name (str): How messages call it.
    RETURNS (Transcript): A segment for each row.
    """
    lines = text.splitlines(keepends=True)
    names = _header(lines[0])
    segments: list[Segment] = []
    places: list[int] = []
    for k, line in enumerate(lines[1:], start=1):
        cells = line.rstrip(LINE_ENDS).split("\t")
        if len(cells) < len(names):
            continue
        row = dict(zip(names, cells, strict=False))
        start, end = _time(row.get("start")), _time(row.get("end"))
        entry = Entry(row["text"])
        segments.append(Segment((entry,), row.get("speaker") or None, start, end))
        places.append(k)
    return Transcript(tuple(segments), "tsv", (lines, places), has_cues=True)


def _time(cell: str | None) -> float | None:
    """Milliseconds, or seconds if they have a fraction."""
    try:
        number = float(cell or "")
    except ValueError:
        return None
    return number if cell and "." in cell else number / _MILLISECONDS


def rewrite_tsv(transcript: Transcript) -> str:
    """The file that a transcript was read from, with its new words."""
    lines, places = transcript.source
    lines = list(lines)
    column = _header(lines[0]).index("text")
    for k, entry in zip(places, transcript.entries, strict=True):
        body = lines[k].rstrip(LINE_ENDS)
        cells = body.split("\t")
        cells[column] = entry.text
        lines[k] = "\t".join(cells) + lines[k][len(body) :]
    return "".join(lines)
