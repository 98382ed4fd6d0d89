"""JSON of Vosk, Google, AWS, Azure, Deepgram and AssemblyAI.

| service | words | fields that repeat them |
| --- | --- | --- |
| Vosk | `result[].word` | `text`; a file may hold many results |
| Google | `results[].alternatives[0].words[].word` | `transcript` |
| AWS | `results.items[]` | `transcripts`, `audio_segments`, `channel_labels` |
| Azure | `displayWords[].displayText`, else `display` | `combinedRecognizedPhrases` |
| Azure, fast | `phrases[].words[].text` | `phrases[].text`, `combinedPhrases` |
| Deepgram | `words[].punctuated_word` | `transcript`, `paragraphs`, `utterances` |
| AssemblyAI | `words[].text` | `text`, `utterances` |

Only the best alternative of each result is restored. Fields that have no marks by
definition (Azure's `lexical` and `itn`, Deepgram's `word`) stay as they are.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from spacy_punct.transcripts.json_text import Path
from spacy_punct.transcripts.recognisers import (
    Edits,
    Field,
    Reading,
    TimedWord,
    add_text,
    aligned,
    first_of,
    framed,
    number,
    records,
    timed_words,
    together,
    value_at,
    word_entries,
)
from spacy_punct.transcripts.sentences import ends_sentence
from spacy_punct.transcripts.transcript import Entry

_TRAILING = re.compile(r"(?<=\w)[^\w\s%$€£°'’+#]+$|[.,;:!?…]+$")
"""The marks at the end of a word."""
_DURATION = re.compile(r"PT(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:([\d.]+)S)?")
_TICK = 1e-7
_MS = 0.001


# Vosk


def is_vosk(documents: Sequence[Any]) -> bool:
    """Whether documents are results of Vosk, or lists of them."""
    found = [result for _, result in _vosk_results(documents)]
    return bool(found) and all(map(_is_vosk_result, found))


def _is_vosk_result(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return False
    words = records(value.get("result"))
    plain = set(value) <= {"text", "spk", "spk_frames", "confidence"}
    return plain or (bool(words) and all("word" in word for word in words))


def _vosk_results(documents: Sequence[Any]) -> list[tuple[Path, Any]]:
    found: list[tuple[Path, Any]] = []
    for k, document in enumerate(documents):
        if isinstance(document, list):
            found += [((k, j), result) for j, result in enumerate(document)]
        else:
            found.append(((k,), document))
    best: list[tuple[Path, Any]] = []
    for path, result in found:
        if isinstance(result, dict) and "partial" in result:
            continue  # what was heard so far: a result with all of it follows
        if isinstance(result, dict) and records(result.get("alternatives")):
            best.append(((*path, "alternatives", 0), result["alternatives"][0]))
        else:
            best.append((path, result))
    return best


def read_vosk(documents: Sequence[Any]) -> Reading:
    """Read what Vosk's recogniser returned, once or many times."""
    reading = Reading(documents)
    for path, result in _vosk_results(documents):
        words = timed_words((*path, "result"), records(result.get("result")), ["word"])
        add_text(reading, (*path, "text"), result["text"], words)
    return reading


# Google


def _google_results(document: Any) -> tuple[Path, list[dict[str, Any]]]:
    paths: list[Path] = [("results",), ("response", "results")]
    files = value_at(document, ("results",))
    if isinstance(files, dict) and len(files) == 1:  # version 2, in batches
        paths += [
            ("results", *files, "transcript", "results"),
            ("results", *files, "inlineResult", "transcript", "results"),
        ]
    for path in paths:
        found = records(value_at(document, path))
        if found and any(records(result.get("alternatives")) for result in found):
            return (0, *path), found
    return (), []


def is_google(document: Any) -> bool:
    """Whether a document is Google's."""
    return bool(_google_results(document)[1])


def read_google(documents: Sequence[Any]) -> Reading:
    """Read what Google's speech-to-text returned, in either version."""
    reading = Reading(documents)
    base, results = _google_results(documents[0])
    found = []
    for k, result in enumerate(results):
        alternatives = records(result.get("alternatives"))
        if alternatives:
            path = (*base, k, "alternatives", 0)
            found.append((path, result, alternatives[0]))
    lists = [_google_words(path, best) for path, _, best in found]
    # With speakers, the last result has the words of all results once more.
    others = [word for words in lists[:-1] for word in words]
    last = lists[-1] if lists else []
    repeats = bool(others) and [w.text for w in others] == [w.text for w in last]
    tags = {result.get("channelTag") for _, result, _ in found}
    for (path, result, best), words in zip(found, lists, strict=True):
        if repeats and words is last:
            reading.fields += [Field(w.path, (k,)) for k, w in enumerate(last)]
            continue
        if repeats:
            start = reading.n_entries
            who = [word.speaker for word in last[start : start + len(words)]]
            words = [w._replace(speaker=t) for w, t in zip(words, who, strict=True)]
        text = best.get("transcript", "")
        end = _google_time(first_of(result, "resultEndTime", "resultEndOffset"))
        name = f"Channel {result.get('channelTag')}" if len(tags) > 1 else None
        add_text(reading, (*path, "transcript"), text, words, name, end=end)
    return reading


def _google_words(path: Path, best: Mapping[str, Any]) -> list[TimedWord]:
    return [
        TimedWord(
            (*path, "words", k, "word"),
            str(word.get("word", "")),
            _google_time(first_of(word, "startTime", "startOffset", "start_time")),
            _google_time(first_of(word, "endTime", "endOffset", "end_time")),
            first_of(word, "speakerLabel", "speakerTag", "speaker_tag"),
        )
        for k, word in enumerate(records(best.get("words")))
    ]


def _google_time(value: Any) -> float | None:
    if isinstance(value, dict):
        whole, part = number(value.get("seconds", 0)), number(value.get("nanos", 0))
        return round((whole or 0) + (part or 0) * 1e-9, 6)
    return number(value)


# AWS


def is_aws(document: Any) -> bool:
    """Whether a document is of AWS Transcribe."""
    items = records(value_at(document, ("results", "items")))
    contents = [value_at(item, ("alternatives", 0, "content")) for item in items]
    silent = value_at(document, ("results", "items")) == []
    if silent and records(value_at(document, ("results", "transcripts"))):
        return True
    return bool(items) and all(isinstance(content, str) for content in contents)


def read_aws(documents: Sequence[Any]) -> Reading:
    """Read what AWS Transcribe wrote."""
    reading = Reading(documents)
    groups = _aws_groups(records(documents[0]["results"]["items"]))
    speakers = _aws_speakers(documents[0])
    entries: list[Entry] = []
    who: list[Any] = []
    for word, *marks in groups:
        text = "".join(i["alternatives"][0]["content"] for i in (word, *marks))
        start, end = number(word.get("start_time")), number(word.get("end_time"))
        entries.append(Entry(text, start, end, is_word=True))
        speaker = word.get("speaker_label") or speakers.get(word.get("start_time"))
        who.append(speaker or word.get("channel_label"))
    reading.add_by_speaker(entries, who)
    transcripts = records(documents[0]["results"].get("transcripts"))
    if len(transcripts) == 1:
        path: Path = (0, "results", "transcripts", 0, "transcript")
        reading.fields.append(Field(path, range(len(entries))))
    reading.more.append(lambda new: _aws_items(documents[0], groups, new))
    return reading


_AwsGroup = list[dict[str, Any]]
"""The item of a word, and those of the marks after it."""


def _aws_groups(items: Sequence[dict[str, Any]]) -> list[_AwsGroup]:
    groups: list[_AwsGroup] = []
    for item in items:
        if item.get("type") == "punctuation" and groups:
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _aws_speakers(document: Any) -> dict[Any, Any]:
    """Who begins to say a word at a time."""
    segments = records(value_at(document, ("results", "speaker_labels", "segments")))
    return {
        item.get("start_time"): item.get("speaker_label", segment.get("speaker_label"))
        for segment in segments
        for item in records(segment.get("items"))
    }


def _aws_items(
    document: Any, groups: Sequence[_AwsGroup], entries: Sequence[Entry]
) -> Edits:
    """The new items: marks at the end of a word are an item of their own."""
    new: list[dict[str, Any]] = []
    owners: dict[Any, int] = {}  # from the old identifier of an item to its entry
    by_entry: list[range] = []
    has_ids = all("id" in item for group in groups for item in group)
    for entry, group in zip(entries, groups, strict=True):
        own = _aws_written(entry, group)
        owners.update((item.get("id"), len(by_entry)) for item in group)
        by_entry.append(range(len(new), len(new) + len(own)))
        new += own
    if has_ids:
        new = [{**item, "id": k} for k, item in enumerate(new)]
    edits: Edits = {(0, "results", "items"): new}
    segments = records(value_at(document, ("results", "audio_segments")))
    for k, segment in enumerate(segments):
        if not has_ids or not isinstance(segment.get("items"), list):
            continue
        numbers = [owners[old] for old in segment["items"] if old in owners]
        own_entries = [number for number, _ in groupby(numbers)]
        path: Path = (0, "results", "audio_segments", k)
        edits[(*path, "items")] = [j for e in own_entries for j in by_entry[e]]
        if isinstance(segment.get("transcript"), str):
            text = together(entries[e] for e in own_entries)
            edits[(*path, "transcript")] = framed(segment["transcript"], text)
    return edits | _aws_channels(document, groups, entries, by_entry)


def _aws_written(entry: Entry, group: _AwsGroup) -> list[dict[str, Any]]:
    """The items of a word with its new marks."""
    word, *marks = group
    found = _TRAILING.search(entry.text)
    core = entry.text[: found.start()] if found else entry.text
    own = [_with_content(word, core or entry.text)]
    if found and core:
        mark = marks[0] if marks else _mark_like(word)
        own.append(_with_content(mark, found[0]))
    return own


def _aws_channels(
    document: Any,
    groups: Sequence[_AwsGroup],
    entries: Sequence[Entry],
    by_entry: Sequence[range],
) -> Edits:
    """The items of each channel, which repeat those of the whole."""
    labelled = any("channel_label" in word for word, *_ in groups)

    def place(word: Mapping[str, Any], label: Any) -> tuple[Any, ...]:
        return word.get("start_time"), word.get("end_time"), labelled and label

    known = {
        place(word, word.get("channel_label")): k for k, (word, *_) in enumerate(groups)
    }
    edits: Edits = {}
    channels = records(value_at(document, ("results", "channel_labels", "channels")))
    for c, channel in enumerate(channels):
        own = _aws_groups(records(channel.get("items")))
        label = channel.get("channel_label")
        found = [known.get(place(word, label)) for word, *_ in own]
        if None in found:
            continue
        new: list[dict[str, Any]] = []
        for k, group in zip(found, own, strict=True):
            if k is not None:
                items = _aws_written(entries[k], group)
                new += [
                    {**item, "id": j} if "id" in item else item
                    for j, item in zip(by_entry[k], items, strict=True)
                ]
        edits[(0, "results", "channel_labels", "channels", c, "items")] = new
    return edits


def _with_content(item: Mapping[str, Any], content: str) -> dict[str, Any]:
    first, *others = item["alternatives"]
    return {**item, "alternatives": [{**first, "content": content}, *others]}


def _mark_like(word: Mapping[str, Any]) -> dict[str, Any]:
    """A new item for a mark after a word."""
    mark: dict[str, Any] = {}
    for key in word:
        if key == "alternatives":
            mark[key] = [{"confidence": "0.0", "content": ""}]
        elif key == "type":
            mark[key] = "punctuation"
        elif key in ("id", "speaker_label", "channel_label"):
            mark[key] = word[key]
    return mark


# Azure


def is_azure(documents: Sequence[Any]) -> bool:
    """Whether documents are of Azure's batch or fast transcription, or of its SDK."""
    if len(documents) == 1 and isinstance(documents[0], dict):
        pairs = (
            ("recognizedPhrases", "combinedRecognizedPhrases"),
            ("phrases", "combinedPhrases"),
        )
        if any(documents[0].get(a) == [] and b in documents[0] for a, b in pairs):
            return True  # nothing was said
    return bool(_azure_phrases(documents))


def _azure_phrases(documents: Sequence[Any]) -> list[tuple[Path, dict[str, Any]]]:
    """The phrases, and where they stand."""
    found: list[tuple[Path, dict[str, Any]]] = []
    for k, document in enumerate(documents):
        if isinstance(document, list):
            results = [((k, j), item) for j, item in enumerate(records(document))]
            found += [(p, r) for p, r in results if records(r.get("NBest"))]
        elif isinstance(document, dict) and records(document.get("NBest")):
            found.append(((k,), document))
        elif isinstance(document, dict):
            for key in ("recognizedPhrases", "phrases"):
                phrases = records(document.get(key))
                found += [((k, key, j), p) for j, p in enumerate(phrases)]
    return found


def read_azure(documents: Sequence[Any]) -> Reading:
    """Read what Azure wrote."""
    reading = Reading(documents)
    channels: dict[Any, list[int]] = {}
    phrases = _azure_phrases(documents)
    names = {first_of(phrase, "channel", "Channel") for _, phrase in phrases}
    reading.in_channels = len(names) > 1
    for path, phrase in phrases:
        numbers = _add_phrase(reading, path, phrase)
        channels.setdefault(phrase.get("channel"), []).extend(numbers)
    for name, key in (
        ("combinedRecognizedPhrases", "display"),
        ("combinedPhrases", "text"),
    ):
        combined = records(value_at(documents, (0, name)))
        for k, record in enumerate(combined):
            own = channels.get(record.get("channel"))
            if own is None and len(combined) == 1:
                own = list(range(reading.n_entries))
            if own and isinstance(record.get(key), str):
                reading.fields.append(Field((0, name, k, key), tuple(own)))
    return reading


def _add_phrase(reading: Reading, path: Path, phrase: Mapping[str, Any]) -> range:
    start, end = _azure_times(phrase)
    speaker = first_of(phrase, "speaker", "SpeakerId", "Speaker")
    if speaker is None and reading.in_channels:
        speaker = f"Channel {first_of(phrase, 'channel', 'Channel')}"
    if isinstance(phrase.get("text"), str):  # fast transcription
        words = _azure_words((*path, "words"), records(phrase.get("words")), "text")
        return add_text(
            reading, (*path, "text"), phrase["text"], words, speaker, start, end
        )
    key = "nBest" if "nBest" in phrase else "NBest"
    best = records(phrase.get(key))[:1]
    if not best:
        return range(0)
    where = (*path, key, 0)
    name = "display" if "display" in best[0] else "Display"
    text = best[0].get(name) or ""
    words = []
    for listed, of in (
        ("displayWords", "displayText"),
        ("DisplayWords", "DisplayText"),
    ):
        found = records(best[0].get(listed))
        words = words or _azure_words((*where, listed), found, of)
    shown = bool(words)
    for listed, of in (("words", "word"), ("Words", "Word")):
        found = records(best[0].get(listed))
        words = words or _azure_words((*where, listed), found, of)
    numbers = add_text(reading, (*where, name), text, words, speaker, start, end)
    if not shown:  # words without marks, by definition
        lexical = {word.path for word in words}
        reading.fields = [f for f in reading.fields if f.path not in lexical]
    if isinstance(phrase.get("DisplayText"), str):
        reading.fields.append(Field((*path, "DisplayText"), numbers))
    return numbers


def _azure_words(
    path: Path, words: Sequence[Mapping[str, Any]], key: str
) -> list[TimedWord]:
    if not all(isinstance(word.get(key), str) for word in words):
        return []
    return [
        TimedWord((*path, k, key), word[key], *_azure_times(word))
        for k, word in enumerate(words)
    ]


def _azure_times(record: Mapping[str, Any]) -> tuple[float | None, float | None]:
    start = _azure_time(record, "offset")
    length = _azure_time(record, "duration")
    end = None if start is None or length is None else round(start + length, 6)
    return start, end


def _azure_time(record: Mapping[str, Any], name: str) -> float | None:
    """An offset or a duration, in whatever unit there is."""
    upper = name.capitalize()
    for key, unit in (
        (f"{name}Milliseconds", _MS),
        (f"{name}InTicks", _TICK),
        (upper, _TICK),
    ):
        if (value := number(record.get(key))) is not None:
            return round(value * unit, 6)
    value = record.get(name)
    if isinstance(value, str) and (found := _DURATION.fullmatch(value)):
        hours, minutes, rest = (float(part or 0) for part in found.groups())
        return round(3600 * hours + 60 * minutes + rest, 6)
    plain = number(value)
    return None if plain is None else round(plain * _MS, 6)


# Deepgram


def is_deepgram(document: Any) -> bool:
    """Whether a document is Deepgram's."""
    channels = records(value_at(document, ("results", "channels")))
    return bool(channels) and all("alternatives" in c for c in channels)


def read_deepgram(documents: Sequence[Any]) -> Reading:
    """Read what Deepgram returned."""
    reading = Reading(documents)
    results = documents[0]["results"]
    listed: list[TimedWord] = []
    channels = records(results["channels"])
    reading.in_channels = len(channels) > 1
    for c, channel in enumerate(channels):
        name = f"Channel {c}" if reading.in_channels else None
        path: Path = (0, "results", "channels", c, "alternatives", 0)
        best = records(channel["alternatives"])[:1]
        if not best:
            continue
        words = _deepgram_words(path, best[0])
        numbers = _add_words(reading, words, name, starts_text=c > 0)
        if not words:
            entry = Entry(best[0].get("transcript", ""))
            numbers = reading.add([entry], name, starts_text=c > 0)
        listed += words or [TimedWord(path, "", None, None)]
        reading.fields.append(Field((*path, "transcript"), numbers))
        _add_paragraphs(reading, path, best[0], numbers)
    by_time = {word[1:4]: k for k, word in enumerate(listed)}
    for u, utterance in enumerate(records(results.get("utterances"))):
        path = (0, "results", "utterances", u)
        words = _deepgram_words(path, utterance)
        _repeat_by_time(reading, by_time, words, (*path, "transcript"))
    return reading


def _deepgram_words(path: Path, record: Mapping[str, Any]) -> list[TimedWord]:
    return [
        TimedWord(
            (*path, "words", k, "punctuated_word"),
            word.get("punctuated_word") or word.get("word", ""),
            number(word.get("start")),
            number(word.get("end")),
            word.get("speaker"),
        )
        for k, word in enumerate(records(record.get("words")))
    ]


def _add_words(
    reading: Reading,
    words: Sequence[TimedWord],
    speaker: str | None = None,
    *,
    starts_text: bool = False,
) -> range:
    first = reading.n_entries
    n = len(reading.segments)
    speakers = [word.speaker for word in words]
    reading.add_by_speaker(word_entries(words), speakers, speaker)
    if starts_text and len(reading.segments) > n:
        old = reading.segments[n]
        reading.segments[n] = type(old)(
            old.entries, old.speaker, old.start, old.end, starts_text=True
        )
    numbers = range(first, reading.n_entries)
    pairs = zip(words, numbers, strict=True)
    reading.fields += [Field(word.path, (k,)) for word, k in pairs]
    return numbers


def _repeat_by_time(
    reading: Reading,
    by_time: Mapping[tuple[Any, ...], int],
    words: Sequence[TimedWord],
    path: Path,
) -> None:
    """Let an utterance repeat the words that are said when its own are."""
    found = [by_time.get(w[1:4]) for w in words]
    own = [k for k in found if k is not None]
    reading.fields += [
        Field(word.path, (k,))
        for word, k in zip(words, found, strict=True)
        if k is not None
    ]
    if own and len(own) == len(words):
        reading.fields.append(Field(path, tuple(own)))


def _add_paragraphs(
    reading: Reading, path: Path, best: Mapping[str, Any], numbers: range
) -> None:
    """Keep the paragraphs of an alternative, with sentences where they now end."""
    found = records(value_at(best, ("paragraphs", "paragraphs")))
    sizes = [int(number(paragraph.get("num_words")) or 0) for paragraph in found]
    if not found or sum(sizes) != len(numbers):
        return
    base = (*path, "paragraphs")

    def edits(entries: Sequence[Entry]) -> Edits:
        changes: Edits = {}
        texts = []
        position = numbers.start
        for k, (paragraph, size) in enumerate(zip(found, sizes, strict=True)):
            own = entries[position : position + size]
            position += size
            old = records(paragraph.get("sentences"))
            new = _sentences(own, old)
            changes[(*base, "paragraphs", k, "sentences")] = new
            speaker = paragraph.get("speaker")
            name = "" if speaker is None else f"Speaker {speaker}: "
            texts.append(name + together(own))
        whole = value_at(best, ("paragraphs", "transcript"))
        if isinstance(whole, str):
            named = bool(re.match(r"\s*Speaker \d+:", whole))
            if not named:
                texts = [re.sub(r"^Speaker \S+: ", "", text) for text in texts]
            changes[(*base, "transcript")] = framed(whole, "\n\n".join(texts))
        return changes

    reading.more.append(edits)


def _sentences(
    entries: Sequence[Entry], old: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The sentences of a paragraph; one that was there before keeps its fields."""
    known = {(sentence.get("start"), sentence.get("end")): sentence for sentence in old}
    sentences = []
    run: list[Entry] = []
    for k, entry in enumerate(entries):
        run.append(entry)
        after = entries[k + 1].text if k + 1 < len(entries) else None
        if after is None or ends_sentence(entry.text, after):
            span = {"start": run[0].start, "end": run[-1].end}
            before = known.get((span["start"], span["end"]), {})
            sentences.append({**before, "text": together(run).strip(), **span})
            run = []
    return sentences


# AssemblyAI


def is_assembly(document: Any) -> bool:
    """Whether a document is AssemblyAI's."""
    words = records(document.get("words")) if isinstance(document, dict) else []
    if not words and isinstance(document, dict):
        # Nothing was said.
        return document.get("status") == "completed" and document.get("words") == []
    return bool(words) and all("text" in w and "start" in w for w in words)


def read_assembly(documents: Sequence[Any]) -> Reading:
    """Read what AssemblyAI returned."""
    reading = Reading(documents)
    document = documents[0]
    words = timed_words((0, "words"), records(document["words"]), ["text"], _MS)
    numbers = _add_words(reading, words)
    if isinstance(document.get("text"), str):
        reading.fields.append(Field((0, "text"), numbers))
    by_time = {word[1:4]: k for k, word in enumerate(words)}
    for u, utterance in enumerate(records(document.get("utterances"))):
        path: Path = (0, "utterances", u)
        own = timed_words(
            (*path, "words"), records(utterance.get("words")), ["text"], _MS
        )
        if own:
            _repeat_by_time(reading, by_time, own, (*path, "text"))
            continue
        start, end = utterance.get("start"), utterance.get("end")
        inside = [
            k
            for k, word in enumerate(records(document["words"]))
            if start is not None and end is not None and start <= word["start"] < end
        ]
        text = utterance.get("text")
        if isinstance(text, str) and inside:
            same = aligned(text.split(), [words[k].text for k in inside])
            if len(same) == len(inside):
                reading.fields.append(Field((*path, "text"), tuple(inside)))
    return reading
