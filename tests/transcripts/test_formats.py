"""Every format is told apart, comes back byte for byte, and keeps all but its words."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_punct.errors import PunctError
from spacy_punct.transcripts.formats import TARGETS, read, write
from spacy_punct.transcripts.transcript import Transcript, restored
from tests.transcripts.builders import (
    MAKERS,
    WITH_SPEAKERS,
    WITH_WORD_TIMES,
    Said,
    aws,
    dumped,
    google,
    restore,
    said,
    whisper,
)

WORDS = said(3000)
SHORT = said(90, turn=30)


def bare(text: str) -> str:
    return re.sub(r"[^\w&]", "", text).lower()


def load(name: str, words: list[Said]) -> tuple[str, Transcript]:
    suffix, _, make = MAKERS[name]
    text = make(words)
    return text, read(text, f"talk.{suffix}")


def spoken(transcript: Transcript) -> list[str]:
    return [bare(word) for words in transcript.texts() for word in words]


@pytest.mark.parametrize("name", MAKERS)
def test_formats_are_told_apart_and_come_back_as_they_were(name):
    words = WORDS if name in ("openai-whisper", "aws", "srt", "vtt") else SHORT
    text, transcript = load(name, words)
    assert transcript.format == MAKERS[name][1]
    assert spoken(transcript) == [word.word for word in words]
    assert write(transcript, None, "talk") == text


@pytest.mark.parametrize("name", MAKERS)
def test_formats_know_what_was_said_when_and_by_whom(name):
    _, transcript = load(name, SHORT)
    found = transcript.words()
    assert len(found) == len(SHORT)
    if name in WITH_WORD_TIMES:
        for a, b in zip(found, SHORT, strict=True):
            # whisperX leaves out some times.
            near = 0.3 if name == "whisperx" else 0.011
            assert (a.start, a.end) == pytest.approx((b.start, b.end), abs=near)
    if name in WITH_SPEAKERS:
        changes = [k for k, word in enumerate(found) if word.is_turn]
        assert changes == [0, 30, 60]
        assert found[0].speaker == found[89].speaker != found[30].speaker
        assert [len(words) for words in transcript.texts()] == [30, 30, 30]


@pytest.mark.parametrize("name", MAKERS)
def test_formats_change_words_and_nothing_else(name):
    words = WORDS if name in ("openai-whisper", "deepgram", "srt") else SHORT
    text, transcript = load(name, words)
    new = restored(transcript, restore)
    written = write(new, None, "talk")
    again = read(written, f"talk.{MAKERS[name][0]}")
    assert written != text
    assert spoken(again) == [word.word for word in words]
    assert [w for ws in again.texts() for w in ws] == [
        w for ws in restore(transcript.texts()) for w in ws
    ]
    old_words, new_words = transcript.words(), again.words()
    if name in WITH_WORD_TIMES:
        assert [w[1:4] for w in new_words] == [w[1:4] for w in old_words]
    assert bare_everywhere(written, name) == bare_everywhere(text, name)


def bare_everywhere(text: str, name: str) -> Any:
    """A file without marks and capitals: what must not change."""
    if MAKERS[name][0] not in ("json", "jsonl"):
        return re.sub(r"[.,?]", "", text).lower()
    documents = [json.loads(text)] if name != "vosk-stream" else text
    if name == "aws":
        return without_aws_marks(documents[0])
    if name == "deepgram":
        best = documents[0]["results"]["channels"][0]["alternatives"][0]
        for paragraph in best["paragraphs"]["paragraphs"]:
            joined = " ".join(s["text"] for s in paragraph["sentences"])
            starts = [s["start"] for s in paragraph["sentences"]]
            assert starts[0] == paragraph["start"]
            assert paragraph["sentences"][-1]["end"] == paragraph["end"]
            paragraph["sentences"] = joined
    return re.sub(r"[.,?]", "", json.dumps(documents)).lower()


def without_aws_marks(document: Any) -> Any:
    results = document["results"]
    items = results["items"]
    assert [item["id"] for item in items] == list(range(len(items)))
    kinds = {item["id"]: item["type"] for item in items}
    for segment in results["audio_segments"]:
        contents = [items[k]["alternatives"][0]["content"] for k in segment["items"]]
        kept = [k for k in segment["items"] if kinds[k] == "pronunciation"]
        assert bare("".join(contents)) == bare(segment["transcript"])
        segment["items"] = len(kept)
    results["items"] = [
        {**item, "id": 0} for item in items if item["type"] == "pronunciation"
    ]
    return re.sub(r"[.,?]", "", json.dumps(document)).lower()


REPEATED = {
    "openai-whisper": lambda d: (
        "".join(w["word"] for s in d["segments"] for w in s["words"]),
        ["".join(s["text"] for s in d["segments"]), d["text"]],
    ),
    "whisperx": lambda d: (
        " ".join(w["word"] for s in d["segments"] for w in s["words"]),
        [
            " ".join(w["word"] for w in d["word_segments"]),
            " ".join(s["text"].strip() for s in d["segments"]),
        ],
    ),
    "openai-service": lambda d: (
        " ".join(w["word"] for w in d["words"]),
        [d["text"].strip(), "".join(s["text"] for s in d["segments"]).strip()],
    ),
    "transformers": lambda d: ("".join(c["text"] for c in d["chunks"]), [d["text"]]),
    "vosk": lambda d: (
        " ".join(w["word"] for r in d for w in r["result"]),
        [" ".join(r["text"] for r in d)],
    ),
    "google": lambda d: (
        " ".join(w["word"] for w in d["results"][-1]["alternatives"][0]["words"]),
        [
            "".join(r["alternatives"][0]["transcript"] for r in d["results"][:-1]),
            " ".join(
                w["word"]
                for r in d["results"][:-1]
                for w in r["alternatives"][0]["words"]
            ),
        ],
    ),
    "aws": lambda d: (
        aws_text(d["results"]["items"]),
        [
            d["results"]["transcripts"][0]["transcript"],
            " ".join(s["transcript"] for s in d["results"]["audio_segments"]),
            " ".join(
                aws_text([d["results"]["items"][k] for k in s["items"]])
                for s in d["results"]["audio_segments"]
            ),
        ],
    ),
    "azure": lambda d: (
        " ".join(
            w["displayText"]
            for p in d["recognizedPhrases"]
            for w in p["nBest"][0]["displayWords"]
        ),
        [
            d["combinedRecognizedPhrases"][0]["display"],
            " ".join(p["nBest"][0]["display"] for p in d["recognizedPhrases"]),
        ],
    ),
    "azure-fast": lambda d: (
        " ".join(w["text"] for p in d["phrases"] for w in p["words"]),
        [d["combinedPhrases"][0]["text"], " ".join(p["text"] for p in d["phrases"])],
    ),
    "deepgram": lambda d: (
        " ".join(w["punctuated_word"] for w in best_of(d)["words"]),
        [
            best_of(d)["transcript"],
            " ".join(u["transcript"] for u in d["results"]["utterances"]),
            " ".join(
                w["punctuated_word"]
                for u in d["results"]["utterances"]
                for w in u["words"]
            ),
            " ".join(
                s["text"]
                for p in best_of(d)["paragraphs"]["paragraphs"]
                for s in p["sentences"]
            ),
            re.sub(
                r"\s*Speaker \d: ", " ", best_of(d)["paragraphs"]["transcript"]
            ).strip(),
        ],
    ),
    "assemblyai": lambda d: (
        " ".join(w["text"] for w in d["words"]),
        [
            d["text"],
            " ".join(u["text"] for u in d["utterances"]),
            " ".join(w["text"] for u in d["utterances"] for w in u["words"]),
        ],
    ),
}
"""What the words of a document are together, and the fields that repeat them."""


def best_of(document: Any) -> Any:
    return document["results"]["channels"][0]["alternatives"][0]


def aws_text(items: list[Any]) -> str:
    text = ""
    for item in items:
        gap = " " if text and item["type"] == "pronunciation" else ""
        text += gap + item["alternatives"][0]["content"]
    return text


@pytest.mark.parametrize("name", REPEATED)
def test_formats_repeat_the_same_words_everywhere(name):
    _, transcript = load(name, SHORT)
    written = write(restored(transcript, restore), None, "talk")
    words, repeats = REPEATED[name](json.loads(written))
    assert "," in words and "." in words
    for repeat in repeats:
        assert repeat == words


UNKNOWN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=3).map("x_{}".format), inner, max_size=2)
    ),
    max_leaves=3,
)


def places(value: Any) -> list[dict[str, Any]]:
    """All objects inside a document."""
    found = [value] if isinstance(value, dict) else []
    inner = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        found += [place for item in inner for place in places(item)]
    return found


def strings(value: Any) -> list[Any]:
    """All unknown fields of a document, in order."""
    return [
        (key, item)
        for place in places(value)
        for key, item in place.items()
        if key.startswith("x_")
    ]


@given(
    st.sampled_from(sorted(REPEATED)),
    st.lists(st.tuples(st.integers(0, 10**6), UNKNOWN), min_size=1, max_size=4),
    st.sampled_from([None, 0, 1, "\t"]),
    st.booleans(),
    st.booleans(),
)
def test_formats_keep_what_they_do_not_know(name, more, indent, ascii, compact):
    document = json.loads(MAKERS[name][2](SHORT[:50]))
    for number, value in more:
        found = places(document)
        found[number % len(found)]["x_new"] = value
    separators = (",", ":") if compact else None
    options: Any = {
        "indent": indent,
        "ensure_ascii": ascii,
        "separators": separators,
    }
    text = json.dumps(document, **options)
    transcript = read(text, "talk.json")
    assert write(transcript, None, "talk") == text
    new = json.loads(write(restored(transcript, restore), None, "talk"))
    words, repeats = REPEATED[name](new)
    assert all(repeat == words for repeat in repeats)
    if name == "deepgram":  # sentences that are no more lose what belonged to them
        for value in (document, new):
            for paragraph in best_of(value)["paragraphs"]["paragraphs"]:
                del paragraph["sentences"]
    if name == "aws":  # marks that are no more do so, too
        for value in (document, new):
            items = value["results"]["items"]
            value["results"]["items"] = [i for i in items if i["type"][1] == "r"]
    assert strings(new) == strings(document)


def inside(value: Any) -> list[tuple[Any, Any]]:
    """All containers and keys of a document."""
    keys = value if isinstance(value, dict) else range(len(value))
    found = [(value, key) for key in keys]
    inner = [value[key] for key in keys if isinstance(value[key], dict | list)]
    return found + [place for item in inner for place in inside(item)]


@given(st.sampled_from(sorted(REPEATED)), st.integers(0, 10**6), UNKNOWN)
def test_formats_odd_values_are_kept_or_refused(name, number, value):
    document = json.loads(MAKERS[name][2](SHORT[:14]))
    found = inside(document)
    container, key = found[number % len(found)]
    container[key] = value
    text = json.dumps(document)
    try:
        transcript = read(text, "talk.json")
    except PunctError as error:
        assert str(error).startswith("[P180]")
    else:
        new = restored(transcript, restore)
        json.loads(write(new, None, "talk"))
        write(new, "md", "talk")


@pytest.mark.parametrize("has_ids", [False, True])
def test_formats_channels_of_aws_repeat_the_items(has_ids):
    results = aws(SHORT)["results"]
    del results["speaker_labels"], results["audio_segments"]
    for item in results["items"]:
        item["channel_label"] = item.pop("speaker_label").replace("spk", "ch")
        if not has_ids:
            del item["id"]
    results["channel_labels"] = {
        "number_of_channels": 2,
        "channels": [
            {
                "channel_label": label,
                "items": [i for i in results["items"] if i["channel_label"] == label],
            }
            for label in ("ch_0", "ch_1")
        ],
    }
    transcript = read(json.dumps({"results": results}), "talk.json")
    assert [len(words) for words in transcript.texts()] == [30, 30, 30]
    new = json.loads(write(restored(transcript, restore), None, "talk"))["results"]
    assert len(new["items"]) > len(results["items"])
    for channel in new["channel_labels"]["channels"]:
        label = channel["channel_label"]
        assert channel["items"] == [
            item for item in new["items"] if item["channel_label"] == label
        ]


def channels_of_deepgram(spans: list[list[Said]]) -> Any:
    def heard(words: list[Said]) -> Any:
        listed = [
            {"punctuated_word": w.word, "start": w.start, "end": w.end} for w in words
        ]
        text = " ".join(w.word for w in words)
        return {"alternatives": [{"transcript": text, "words": listed}]}

    by_channel = [[w for words in spans[k::2] for w in words] for k in (0, 1)]
    return {"results": {"channels": list(map(heard, by_channel))}}


def channels_of_azure(spans: list[list[Said]]) -> Any:
    phrases = [
        {
            "channel": k % 2,
            "offsetMilliseconds": round(1000 * words[0].start),
            "durationMilliseconds": round(1000 * (words[-1].end - words[0].start)),
            "text": " ".join(w.word for w in words),
        }
        for k, words in enumerate(spans)
    ]
    return {"phrases": phrases[0::2] + phrases[1::2]}


def channels_of_google(spans: list[list[Said]]) -> Any:
    results = [
        {
            "channelTag": 1 + k % 2,
            "alternatives": [
                {
                    "transcript": " ".join(w.word for w in words),
                    "words": [
                        {"word": w.word, "startTime": f"{w.start}s"} for w in words
                    ],
                }
            ],
        }
        for k, words in enumerate(spans)
    ]
    return {"results": results}


@pytest.mark.parametrize(
    "make", [channels_of_deepgram, channels_of_azure, channels_of_google]
)
def test_formats_channels_are_written_as_they_were_said(make):
    spans = [[w for w in SHORT if k <= w.start < k + 5] for k in range(0, 25, 5)]
    document = make(spans)
    transcript = read(json.dumps(document), "talk.json")
    assert json.loads(write(transcript, None, "talk")) == document

    def marked(texts):
        """Restore texts, with a sentence for each word."""
        for words in texts:
            yield [f"{word}." for word in words]

    page = write(restored(transcript, marked), "txt", "talk")
    turns = [bare(part.partition(": ")[2]) for part in page.strip().split("\n\n")]
    assert turns == ["".join(w.word for w in words) for words in spans]
    assert [part[:8] for part in page.split("\n\n")] == ["Channel "] * len(spans)


def test_formats_what_vosk_has_heard_so_far_stays():
    text = MAKERS["vosk-stream"][2](SHORT)
    parts = '{\n  "partial" : "so when the"\n}\n'
    with_parts = parts + text.replace("}\n{", "}\n" + parts + "{")
    assert with_parts.count("partial") > 2
    new = [
        write(restored(read(own, "talk.json"), restore), None, "talk")
        for own in (text, with_parts)
    ]
    assert new[1].count(parts) == with_parts.count(parts)
    assert new[1].replace(parts, "") == new[0] != text


@pytest.mark.parametrize("place", ["transcript", "inlineResult"])
def test_formats_batches_of_google(place):
    inner = {"results": google(SHORT)["results"][:-1]}
    file = {place: inner if place == "transcript" else {"transcript": inner}}
    batch = {"results": {"gs://talks/one.wav": file}, "totalBilledDuration": "90s"}
    plain = read(json.dumps(inner), "talk.json")
    found = read(json.dumps(batch), "talk.json")
    assert found.words() == plain.words()
    written = write(restored(found, restore), None, "talk")
    assert json.dumps(json.loads(write(restored(plain, restore), None, ""))) in written


def test_formats_add_what_deepgram_calls_a_punctuated_word():
    document = json.loads(MAKERS["deepgram"][2](SHORT[:5]))
    for word in best_of(document)["words"]:
        del word["punctuated_word"]
    del best_of(document)["paragraphs"], document["results"]["utterances"]
    transcript = read(json.dumps(document), "talk.json")
    new = json.loads(write(restored(transcript, restore), None, "talk"))
    found = [word["punctuated_word"] for word in best_of(new)["words"]]
    assert found == ["So", "when", "the", "rain", "stops."]
    assert [word["word"] for word in best_of(new)["words"]] == [
        word.word for word in SHORT[:5]
    ]


def test_formats_numbers_are_as_they_were_written():
    text = dumped(whisper)(SHORT[:12]).replace("0.87", "8.70E-1")
    text = text.replace('"id": 0', '"id": 0.00')
    written = write(restored(read(text, "a.json"), restore), None, "a")
    assert written.count("8.70E-1") == 12
    assert '"id": 0.00' in written


@pytest.mark.parametrize("name", MAKERS)
def test_formats_any_to_any(name):
    words = SHORT[:45]
    _, transcript = load(name, words)
    new = restored(transcript, restore)
    for target in TARGETS:
        if name == "txt" and target in ("srt", "vtt", "sbv", "tsv", "ctm"):
            with pytest.raises(PunctError, match="P184"):
                write(new, target, "talk")
            continue
        written = write(new, target, "talk")
        if target == "jsonl":
            written = "".join(json.loads(r)["text"] for r in written.splitlines())
        if target in ("md", "jsonl"):
            plain = re.sub(r"`.*?`|\*\*.*?\*\*", "", written)
            assert bare(plain) == "".join(word.word for word in words)
        else:
            again = read(written, f"talk.{target}")
            assert spoken(again) == [word.word for word in words], target


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("whisper", '{"text": "", "segments": [], "language": "en"}'),
        ("whisper.cpp", '{"result": {}, "transcription": []}'),
        ("vosk", '{"text": ""}'),
        ("aws", '{"results": {"transcripts": [{"transcript": ""}], "items": []}}'),
        ("azure", '{"combinedRecognizedPhrases": [], "recognizedPhrases": []}'),
        ("azure", '{"combinedPhrases": [], "phrases": []}'),
        (
            "deepgram",
            '{"results": {"channels": [{"alternatives": '
            '[{"transcript": "", "words": []}]}]}}',
        ),
        ("assemblyai", '{"status": "completed", "text": "", "words": []}'),
    ],
)
def test_formats_nothing_may_have_been_said(format, text):
    """A silent recording among others is no failure."""
    transcript = read(text, "talk.json")
    assert transcript.format == format
    assert transcript.texts() == []
    assert write(restored(transcript, restore), None, "talk") == text
    for target in TARGETS:
        write(transcript, target, "talk")


@pytest.mark.parametrize(
    ("text", "name", "code"),
    [
        ("{}", "a.json", "P180"),
        ('{"a": [1, 2]}', "a.json", "P180"),
        ('[{"a": 1}]', "-", "P180"),
        ('{"text": "so", "segments": [', "a.json", "P181"),
        ('{"text": "so', "-", "P181"),
        ("so it goes", "a.json", "P181"),
        ("[" * 100_000, "a.json", "P181"),
        ("<?xml version='1.0'?><tt/>", "a.txt", "P180"),
        ("[Script Info]\nTitle: x\n", "a.txt", "P180"),
        ("so it goes", "a.ass", "P180"),
        ("PK\0\1", "a.txt", "P180"),
        ("a\tb\n1\t2\n", "a.tsv", "P180"),
        ("so it goes\n", "a.ctm", "P180"),
        ("so it goes\n", "a.srt", "P060"),
    ],
)
def test_formats_refuse_what_they_cannot_read(text, name, code):
    with pytest.raises(PunctError, match=code):
        read(text, name)
