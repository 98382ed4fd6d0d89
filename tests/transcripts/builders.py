"""Transcripts in all formats, made from one list of words with times and speakers."""

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

STORY = (
    "so when the rain stops anna will visit us in the old house by the river and we "
    "will talk about the boats that peter sold last year he said it was a good price "
    "but nobody knows what the baker paid for them well that is another story okay "
)


class Said(NamedTuple):
    """A word, when it was said and by whom."""

    word: str
    start: float
    end: float
    speaker: int


def said(n: int = 3000, turn: int = 120) -> list[Said]:
    """Words of two people who take turns, about three words per second."""
    words = (STORY * (n // len(STORY.split()) + 1)).split()[:n]
    found = []
    clock = 0.5
    for k, word in enumerate(words):
        length = round(0.08 + 0.045 * len(word), 2)
        found.append(
            Said(word, round(clock, 2), round(clock + length, 2), k // turn % 2)
        )
        clock += length + (0.9 if k % 17 == 16 else 0.02)
    return found


def restore(texts):
    """A restorer for tests: marks and capitals at regular places."""
    for words in texts:
        new = [word.strip(".,?") for word in words]
        for k, word in enumerate(new):
            is_last = k == len(new) - 1
            if k % 11 == 0:
                word = word[:1].upper() + word[1:]
            if is_last or k % 11 == 10:
                word += "." if k % 3 else "?"
            elif k % 11 == 5:
                word += ","
            new[k] = word
        yield new


def segments(words: Sequence[Said], size: int = 12) -> list[list[Said]]:
    """Words in segments of one speaker."""
    found: list[list[Said]] = []
    for _, group in groupby(words, key=lambda word: word.speaker):
        own = list(group)
        found += [own[k : k + size] for k in range(0, len(own), size)]
    return found


def text(words: Sequence[Said]) -> str:
    return " ".join(word.word for word in words)


# Whisper


def whisper(words: Sequence[Said], **more: Any) -> dict[str, Any]:
    found = [
        {
            "id": k,
            "seek": 0,
            "start": own[0].start,
            "end": own[-1].end,
            "text": f" {text(own)}",
            "tokens": [50364, 407, 562],
            "avg_logprob": -0.25,
            "words": [
                {
                    "word": f" {w.word}",
                    "start": w.start,
                    "end": w.end,
                    "probability": 0.87,
                }
                for w in own
            ],
        }
        for k, own in enumerate(segments(words))
    ]
    return {"text": f" {text(words)}", "segments": found, "language": "en", **more}


def faster_whisper(words: Sequence[Said]) -> list[dict[str, Any]]:
    return whisper(words)["segments"]


def whisperx(words: Sequence[Said]) -> dict[str, Any]:
    found, flat = [], []
    for own in segments(words):
        listed = [
            {
                "word": w.word,
                "start": w.start,
                "end": w.end,
                "score": 0.91,
                "speaker": f"SPEAKER_0{w.speaker}",
            }
            for w in own
        ]
        del listed[-1]["start"], listed[-1]["end"]  # as it does with numbers
        flat += [{k: v for k, v in word.items() if k != "speaker"} for word in listed]
        found.append(
            {
                "start": own[0].start,
                "end": own[-1].end,
                "text": f" {text(own)}",
                "words": listed,
                "speaker": f"SPEAKER_0{own[0].speaker}",
            }
        )
    return {"segments": found, "word_segments": flat, "language": "en"}


def openai_service(words: Sequence[Said]) -> dict[str, Any]:
    found = whisper(words, task="transcribe", duration=99.5)
    for segment in found["segments"]:
        del segment["words"]
    found["words"] = [{"word": w.word, "start": w.start, "end": w.end} for w in words]
    return found


def transformers(words: Sequence[Said]) -> dict[str, Any]:
    chunks = [
        {"text": f" {text(own)}", "timestamp": [own[0].start, own[-1].end]}
        for own in segments(words)
    ]
    return {"text": f" {text(words)}", "chunks": chunks}


def whisper_cpp(words: Sequence[Said]) -> dict[str, Any]:
    def times(start: float, end: float) -> dict[str, Any]:
        return {
            "timestamps": {"from": "00:00:00,000", "to": "00:00:01,000"},
            "offsets": {"from": round(start * 1000), "to": round(end * 1000)},
        }

    found = []
    for own in segments(words):
        tokens: list[dict[str, Any]] = [{"text": "[_BEG_]", "id": 50363, "p": 0.9}]
        for w in own:
            half = len(w.word) // 2 + 1
            parts = [part for part in (f" {w.word[:half]}", w.word[half:]) if part]
            middle = round((w.start + w.end) / 2, 3)
            starts = [w.start, middle][: len(parts)]
            ends = [middle, w.end][-len(parts) :] if len(parts) == 2 else [w.end]
            tokens += [
                {"text": p, **times(a, b), "id": 7, "p": 0.5, "t_dtw": -1}
                for p, a, b in zip(parts, starts, ends, strict=True)
            ]
        span = times(own[0].start, own[-1].end)
        found.append({**span, "text": f" {text(own)}", "tokens": tokens})
    return {
        "systeminfo": "AVX = 1 | AVX2 = 1",
        "params": {"model": "models/ggml-base.en.bin", "language": "en"},
        "result": {"language": "en"},
        "transcription": found,
    }


# Services


def vosk(words: Sequence[Said]) -> list[dict[str, Any]]:
    return [
        {
            "result": [
                {"conf": 1.0, "end": w.end, "start": w.start, "word": w.word}
                for w in own
            ],
            "text": text(own),
        }
        for own in segments(words)
    ]


def google(words: Sequence[Said]) -> dict[str, Any]:
    results: list[dict[str, Any]] = []
    tagged = []
    for k, own in enumerate(segments(words, 40)):
        listed = [
            {"startTime": f"{w.start}s", "endTime": f"{w.end}s", "word": w.word}
            for w in own
        ]
        pairs = zip(listed, own, strict=True)
        tagged += [{**item, "speakerTag": w.speaker + 1} for item, w in pairs]
        best = {
            "transcript": (" " if k else "") + text(own),
            "confidence": 0.98,
            "words": listed,
        }
        other = {"transcript": "so wen the rain"}
        end = f"{own[-1].end}s"
        results.append(
            {
                "alternatives": [best, other],
                "resultEndTime": end,
                "languageCode": "en-us",
            }
        )
    results.append({"alternatives": [{"words": tagged}]})
    return {"results": results, "totalBilledTime": "90s", "requestId": "12345"}


def aws(words: Sequence[Said]) -> dict[str, Any]:
    items: list[dict[str, Any]] = []
    audio: list[dict[str, Any]] = []
    labels = []
    written = []
    for own in segments(words):
        numbers = []
        for k, w in enumerate(own):
            item = {
                "id": len(items),
                "type": "pronunciation",
                "alternatives": [{"confidence": "0.99", "content": w.word}],
                "start_time": f"{w.start:.2f}",
                "end_time": f"{w.end:.2f}",
                "speaker_label": f"spk_{w.speaker}",
            }
            numbers.append(len(items))
            items.append(item)
            if k == len(own) - 1:
                mark = {"confidence": "0.0", "content": "."}
                numbers.append(len(items))
                items.append(
                    {
                        "id": len(items),
                        "type": "punctuation",
                        "alternatives": [mark],
                        "speaker_label": f"spk_{w.speaker}",
                    }
                )
        span = {
            "start_time": f"{own[0].start:.2f}",
            "end_time": f"{own[-1].end:.2f}",
            "speaker_label": f"spk_{own[0].speaker}",
        }
        written.append(f"{text(own)}.")
        audio.append(
            {"id": len(audio), "transcript": written[-1], **span, "items": numbers}
        )
        labels.append(
            {
                **span,
                "items": [
                    {
                        "start_time": f"{w.start:.2f}",
                        "end_time": f"{w.end:.2f}",
                        "speaker_label": f"spk_{w.speaker}",
                    }
                    for w in own
                ],
            }
        )
    return {
        "jobName": "job",
        "accountId": "111122223333",
        "results": {
            "transcripts": [{"transcript": " ".join(written)}],
            "speaker_labels": {"segments": labels, "speakers": 2},
            "items": items,
            "audio_segments": audio,
        },
        "status": "COMPLETED",
    }


def azure(words: Sequence[Said]) -> dict[str, Any]:
    def span(start: float, end: float) -> dict[str, Any]:
        length = end - start
        return {
            "offset": f"PT{start:.2f}S",
            "duration": f"PT{length:.2f}S",
            "offsetInTicks": round(start * 100) * 1e5,
            "durationInTicks": round(length * 100) * 1e5,
        }

    phrases = []
    for own in segments(words):
        plain = text(own)
        shown = [{"displayText": w.word, **span(w.start, w.end)} for w in own]
        spoken = [
            {"word": w.word, **span(w.start, w.end), "confidence": 0.9} for w in own
        ]
        best = {
            "confidence": 0.93,
            "lexical": plain,
            "itn": plain,
            "maskedITN": plain,
            "display": plain,
            "words": spoken,
            "displayWords": shown,
        }
        phrases.append(
            {
                "recognitionStatus": "Success",
                "channel": 0,
                "speaker": own[0].speaker + 1,
                **span(own[0].start, own[-1].end),
                "nBest": [best, {"confidence": 0.1, "display": "so wen"}],
            }
        )
    whole = dict.fromkeys(("lexical", "itn", "maskedITN", "display"), text(words))
    return {
        "source": "https://example.com/talk.wav",
        "durationInTicks": 25800000,
        "combinedRecognizedPhrases": [{"channel": 0, **whole}],
        "recognizedPhrases": phrases,
    }


def azure_fast(words: Sequence[Said]) -> dict[str, Any]:
    def span(start: float, end: float) -> dict[str, Any]:
        return {
            "offsetMilliseconds": round(start * 1000),
            "durationMilliseconds": round((end - start) * 1000),
        }

    phrases = [
        {
            **span(own[0].start, own[-1].end),
            "speaker": own[0].speaker,
            "text": text(own),
            "words": [{"text": w.word, **span(w.start, w.end)} for w in own],
            "locale": "en-US",
            "confidence": 0.93,
        }
        for own in segments(words)
    ]
    combined = [{"text": text(words)}]
    return {
        "durationMilliseconds": 99000,
        "combinedPhrases": combined,
        "phrases": phrases,
    }


def deepgram(words: Sequence[Said]) -> dict[str, Any]:
    def listed(own: Sequence[Said]) -> list[dict[str, Any]]:
        return [
            {
                "word": w.word,
                "start": w.start,
                "end": w.end,
                "confidence": 0.99,
                "speaker": w.speaker,
                "punctuated_word": w.word,
            }
            for w in own
        ]

    parts = segments(words)
    paragraphs = [
        {
            "sentences": [
                {"text": text(own), "start": own[0].start, "end": own[-1].end}
            ],
            "speaker": own[0].speaker,
            "num_words": len(own),
            "start": own[0].start,
            "end": own[-1].end,
        }
        for own in parts
    ]
    best = {
        "transcript": text(words),
        "confidence": 0.98,
        "words": listed(words),
        "paragraphs": {
            "transcript": "\n"
            + "\n\n".join(f"Speaker {own[0].speaker}: {text(own)}" for own in parts),
            "paragraphs": paragraphs,
        },
    }
    utterances = [
        {
            "start": own[0].start,
            "end": own[-1].end,
            "channel": 0,
            "transcript": text(own),
            "words": listed(own),
            "speaker": own[0].speaker,
            "id": f"u{k}",
        }
        for k, own in enumerate(parts)
    ]
    return {
        "metadata": {"request_id": "abc", "duration": 25.933313, "channels": 1},
        "results": {"channels": [{"alternatives": [best]}], "utterances": utterances},
    }


def assemblyai(words: Sequence[Said]) -> dict[str, Any]:
    def listed(own: Sequence[Said]) -> list[dict[str, Any]]:
        return [
            {
                "text": w.word,
                "start": round(w.start * 1000),
                "end": round(w.end * 1000),
                "confidence": 0.97,
                "speaker": "AB"[w.speaker],
            }
            for w in own
        ]

    utterances = [
        {
            "text": text(own),
            "start": round(own[0].start * 1000),
            "end": round(own[-1].end * 1000),
            "confidence": 0.9,
            "speaker": "AB"[own[0].speaker],
            "words": listed(own),
        }
        for own in segments(words)
    ]
    return {
        "id": "5551722",
        "status": "completed",
        "text": text(words),
        "words": listed(words),
        "utterances": utterances,
        "audio_duration": 281,
    }


# Files


def _clock(time: float, mark: str) -> str:
    ms = round(time * 1000)
    minutes, ms = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{ms // 1000:02}{mark}{ms % 1000:03}"


def srt(words: Sequence[Said]) -> str:
    return "\n".join(
        f"{k}\n{_clock(own[0].start, ',')} --> {_clock(own[-1].end, ',')}\n"
        f"<i>{text(own[:6])}</i>\n{text(own[6:])}\n"
        for k, own in enumerate(segments(words), start=1)
    )


def vtt(words: Sequence[Said]) -> str:
    head = "WEBVTT - a talk\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE x\n"
    names = ("Anna", "Tom &amp; Co")
    blocks = (
        f"c{k}\n{_clock(own[0].start, '.')} --> {_clock(own[-1].end, '.')} "
        "align:start\n"
        f"<v {names[own[0].speaker]}>{text(own)}\n"
        for k, own in enumerate(segments(words))
    )
    return "\n".join([head, *blocks])


def sbv(words: Sequence[Said]) -> str:
    return "\n".join(
        f"{_clock(own[0].start, '.')[1:]},{_clock(own[-1].end, '.')[1:]}\n{text(own)}\n"
        for own in segments(words)
    )


def tsv(words: Sequence[Said]) -> str:
    rows = (
        f"{round(own[0].start * 1000)}\t{round(own[-1].end * 1000)}\t{text(own)}\n"
        for own in segments(words)
    )
    return "".join(["start\tend\ttext\n", *rows])


def ctm(words: Sequence[Said]) -> str:
    return ";; made by hand\n" + "".join(
        f"talk 1 {w.start:.2f} {w.end - w.start:.2f} {w.word} 0.97\n" for w in words
    )


def txt(words: Sequence[Said]) -> str:
    return "\n".join(text(own) for own in segments(words, 40)) + "\n"


def dumped(make: Callable[[Sequence[Said]], Any]) -> Callable[[Sequence[Said]], str]:
    return lambda words: json.dumps(make(words), indent=2) + "\n"


def vosk_stream(words: Sequence[Said]) -> str:
    """As it comes from a recogniser that is asked again and again."""
    return "\n".join(json.dumps(result, indent=2) for result in vosk(words))


MAKERS: dict[str, tuple[str, str, Callable[[Sequence[Said]], str]]] = {
    "openai-whisper": ("json", "whisper", dumped(whisper)),
    "faster-whisper": ("json", "whisper", dumped(faster_whisper)),
    "whisperx": ("json", "whisper", dumped(whisperx)),
    "openai-service": ("json", "whisper", dumped(openai_service)),
    "transformers": ("json", "transformers", dumped(transformers)),
    "whisper.cpp": ("json", "whisper.cpp", dumped(whisper_cpp)),
    "vosk": ("json", "vosk", dumped(vosk)),
    "vosk-stream": ("jsonl", "vosk", vosk_stream),
    "google": ("json", "google", dumped(google)),
    "aws": ("json", "aws", dumped(aws)),
    "azure": ("json", "azure", dumped(azure)),
    "azure-fast": ("json", "azure", dumped(azure_fast)),
    "deepgram": ("json", "deepgram", dumped(deepgram)),
    "assemblyai": ("json", "assemblyai", dumped(assemblyai)),
    "srt": ("srt", "srt", srt),
    "vtt": ("vtt", "vtt", vtt),
    "sbv": ("sbv", "sbv", sbv),
    "tsv": ("tsv", "tsv", tsv),
    "ctm": ("ctm", "ctm", ctm),
    "txt": ("txt", "txt", txt),
}
"""By name: the ending of a file, the format, and what makes it."""
WITH_SPEAKERS = frozenset(
    {
        "whisperx",
        "google",
        "aws",
        "azure",
        "azure-fast",
        "deepgram",
        "assemblyai",
        "vtt",
    }
)
WITH_WORD_TIMES = WITH_SPEAKERS - {"vtt"} | {
    "openai-whisper",
    "faster-whisper",
    "openai-service",
    "whisper.cpp",
    "vosk",
    "vosk-stream",
    "ctm",
}
