"""What the adapters for recognisers' JSON share.

An adapter reads documents into segments of entries, and says for each field that
repeats words which entries these are from. Writing is then the same for all of them:
each field gets the new text of its entries, and everything else stays as it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from spacy_punct.transcripts.json_text import Path, edited
from spacy_punct.transcripts.speech import Line
from spacy_punct.transcripts.transcript import Entry, Segment, Transcript


class Field(NamedTuple):
    """A field of a document that repeats words.

    path (Path): Where it stands.
    entries (range | tuple[int, ...]): The numbers of the entries that it repeats.
    """

    path: Path
    entries: range | tuple[int, ...]


Edits = dict[Path, Any]


@dataclass
class Reading:
    """What an adapter finds in a file.

    documents (Sequence[Any]): The documents of the file.
    segments (list[Segment]): What was said.
    fields (list[Field]): The fields that repeat it.
    more (list[Callable]): For fields of other shapes: from the new entries to edits.
    n_entries (int): How many entries there are so far.
    in_channels (bool): See `Transcript`.
    """

    documents: Sequence[Any]
    segments: list[Segment] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    more: list[Callable[[Sequence[Entry]], Edits]] = field(default_factory=list)
    n_entries: int = 0
    in_channels: bool = False

    def add(
        self,
        entries: Sequence[Entry],
        speaker: Any = None,
        start: float | None = None,
        end: float | None = None,
        *,
        starts_text: bool = False,
    ) -> range:
        """Add a segment.

        entries (Sequence[Entry]): Its entries.
        speaker (Any), start, end (float | None), starts_text (bool): See `Segment`.
        RETURNS (range): The numbers of the entries.
        """
        if not all(isinstance(entry.text, str) for entry in entries):
            raise TypeError("a text that is none")
        name = None if speaker is None or speaker == "" else str(speaker)
        if name and re.fullmatch(r"\d+|[A-Z]", name):
            name = f"Speaker {name}"
        if entries:
            start = entries[0].start if start is None else start
            end = entries[-1].end if end is None else end
            segment = Segment(tuple(entries), name, start, end, starts_text=starts_text)
            self.segments.append(segment)
        first = self.n_entries
        self.n_entries += len(entries)
        return range(first, self.n_entries)

    def add_by_speaker(
        self,
        entries: Sequence[Entry],
        speakers: Sequence[Any],
        default: Any = None,
        start: float | None = None,
        end: float | None = None,
    ) -> range:
        """Add a segment for each run of entries with the same speaker.

        entries (Sequence[Entry]): Entries that follow each other.
        speakers (Sequence[Any]): Who says each of them; None for the one before.
        default (Any): The speaker of those before the first that is known.
        start, end (float | None): When the first begins and the last ends.
        RETURNS (range): The numbers of the entries.
        """
        first = self.n_entries
        run: list[Entry] = []
        current = default
        for entry, speaker in zip(entries, speakers, strict=True):
            if speaker is not None and speaker != current and run:
                self.add(run, current, start)
                run, start = [], None
            current = current if speaker is None else speaker
            run.append(entry)
        self.add(run, current, start, end)
        return range(first, self.n_entries)

    def transcript(self, text: str, format: str) -> Transcript:
        """What was read, as a transcript that can be written back."""
        transcript = Transcript(
            tuple(self.segments), format, (text, self), in_channels=self.in_channels
        )
        for more in self.more:  # what is odd is found out now, not after the work
            more(transcript.entries)
        return transcript


def rewrite_json(transcript: Transcript) -> str:
    """The file that a transcript was read from, with its new words."""
    text, reading = transcript.source
    entries = transcript.entries
    edits: Edits = {}
    for path, numbers in reading.fields:
        new = together([entries[k] for k in numbers])
        old = value_at(reading.documents, path)
        edits[path] = framed(old, new) if isinstance(old, str) else new.strip()
    for more in reading.more:
        edits.update(more(entries))
    return edited(text, edits)


def together(entries: Iterable[Entry]) -> str:
    """The text of entries that follow each other."""
    text = ""
    for entry in entries:
        gap = not (entry.joined or not text or entry.text[:1].isspace())
        gap = gap and not text[-1:].isspace()
        text += (" " if gap and entry.text else "") + entry.text
    return text


def framed(old: str, new: str) -> str:
    """A new text with the white space around the old one."""
    if not old.strip():
        return new.strip()
    before = old[: len(old) - len(old.lstrip())]
    after = old[len(old.rstrip()) :]
    return before + new.strip() + after


def value_at(documents: Any, path: Path) -> Any:
    """The value at a place; None if there is none."""
    value = documents
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, Sequence) and isinstance(key, int):
            value = value[key] if key < len(value) else None
        else:
            return None
    return value


def records(value: Any) -> list[dict[str, Any]]:
    """A list of objects; empty if it is anything else."""
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    return []


def number(value: Any) -> float | None:
    """A number, or a string that has one, such as `1.5s`."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value.removesuffix("s"))
        except ValueError:
            return None
    return None


def first_of(record: Mapping[str, Any], *keys: str) -> Any:
    """The value of the first key that a record has; None if it has none."""
    return next((record[key] for key in keys if record.get(key) is not None), None)


def aligned(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Which words of two texts are the same, by their numbers.

    old, new (Sequence[str]): The words, with or without marks and capitals.
    RETURNS (dict[int, int]): From the first to the second.
    """

    def bare(word: str) -> str:
        return "".join(filter(str.isalnum, word.lower()))

    a, b = list(map(bare, old)), list(map(bare, new))
    if a == b:
        return dict(zip(range(len(a)), range(len(b)), strict=True))
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    return {i + k: j + k for i, j, n in blocks for k in range(n)}


def per_word(text: str) -> list[str]:
    """Cut a text into parts with one word each; together they are the text."""
    parts = [""]
    has_word = False
    gap = ""
    last: int | None = None
    for run in Line(text).runs:
        if run.kind == "space":
            gap += run.text
            continue
        is_next = run.word is not None and run.word != last and has_word
        if is_next:
            parts.append("")
        parts[-1] += gap + run.text
        gap = ""
        last = run.word if run.word is not None else last
        has_word = has_word or run.word is not None
    parts[-1] += gap
    return parts


class TimedWord(NamedTuple):
    """A word in a list that goes with a text.

    path (Path): Where it stands.
    text (str): The word.
    start, end (float | None): Its times in seconds.
    speaker (Any): Who says it.
    """

    path: Path
    text: str
    start: float | None
    end: float | None
    speaker: Any = None


def timed_words(
    path: Path,
    words: Sequence[Mapping[str, Any]],
    keys: Sequence[str] = ("word", "text"),
    scale: float = 1.0,
) -> list[TimedWord]:
    """The words of a list of records with the keys `start` and `end`.

    path (Path): Where the list stands.
    words (Sequence[Mapping[str, Any]]): The list.
    keys (Sequence[str]): Which keys may have the text; the first one found does.
    scale (float): How many seconds a unit of time is.
    RETURNS (list[TimedWord]): The words. None if one of the records has no text.
    """
    found = []
    for k, word in enumerate(words):
        key = next((key for key in keys if isinstance(word.get(key), str)), None)
        if key is None:
            return []
        start, end = (
            None if value is None else round(value * scale, 6)
            for value in (number(word.get("start")), number(word.get("end")))
        )
        place = (*path, k, key)
        found.append(TimedWord(place, word[key], start, end, word.get("speaker")))
    return found


def word_entries(words: Sequence[TimedWord]) -> list[Entry]:
    """An entry for each word of a list.

    Where words come with the space before them, one that has none is joined.
    """
    spaced = any(word.text[:1].isspace() for word in words[1:])
    return [
        Entry(
            word.text,
            word.start,
            word.end,
            joined=spaced and k > 0 and not word.text[:1].isspace(),
            is_word=True,
        )
        for k, word in enumerate(words)
    ]


def add_text(
    reading: Reading,
    path: Path,
    text: str,
    words: Sequence[TimedWord],
    speaker: Any = None,
    start: float | None = None,
    end: float | None = None,
) -> range:
    """Add a text and the list of words that goes with it.

    reading (Reading): What is added to.
    path (Path): Where the text stands.
    text (str): The text.
    words (Sequence[TimedWord]): Its words. If they are not quite those of the text,
        the text is right, and those that it has get its marks.
    speaker (Any), start, end (float | None): Of the whole.
    RETURNS (range): The numbers of the new entries.
    """
    entries = word_entries(words)
    listed = [word for entry in entries for word in entry.line.words]
    if words and len(Line(text).words) == len(listed):
        speakers = [word.speaker for word in words]
        numbers = reading.add_by_speaker(entries, speakers, speaker, start, end)
        places = dict(zip(range(len(words)), numbers, strict=True))
    elif words:
        parts = per_word(text)
        own = aligned([word.text for word in words], parts)
        times = {j: words[i] for i, j in own.items()}
        entries = [
            Entry(
                part,
                times[j].start if j in times else None,
                times[j].end if j in times else None,
                joined=j > 0 and not part[:1].isspace(),
                is_word=j > 0,
            )
            for j, part in enumerate(parts)
        ]
        numbers = reading.add(entries, speaker, start, end)
        places = {i: numbers[j] for i, j in own.items()}
    else:
        numbers = reading.add([Entry(text, start, end)], speaker, start, end)
        places = {}
    reading.fields.append(Field(path, numbers))
    reading.fields += [Field(words[i].path, (j,)) for i, j in places.items()]
    return numbers
