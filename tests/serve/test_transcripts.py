"""Whole files, restored over HTTP."""

import json

import pytest

from spacy_punct.restorer.texts import restore_words
from spacy_punct.serve import transcripts
from spacy_punct.serve.limits import Limits
from tests.serve.conftest import client_of
from tests.serve.test_app import check_error

SRT = """1
00:00:01,000 --> 00:00:04,000 X1:40
if the rain stops anna

2
00:00:04,000 --> 00:00:06,500
will visit the old gardener [laughter]
"""
WHISPER = {
    "text": " well peter laughs",
    "segments": [
        {
            "id": 0,
            "text": " well peter laughs",
            "start": 0.0,
            "end": 1.5,
            "words": [
                {"word": " well", "start": 0.0, "end": 0.4, "probability": 0.9},
                {"word": " peter", "start": 0.4, "end": 0.9, "probability": 0.8},
                {"word": " laughs", "start": 0.9, "end": 1.5, "probability": 0.7},
            ],
        }
    ],
    "language": "en",
}


def steps(client, text: str, **fields):
    answer = client.post("/transcripts", json={"text": text, **fields})
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_a_file_comes_back_in_its_own_format_and_in_others(client):
    *_, last = steps(client, SRT, name="talk.srt", to=["vtt", "md", "srt"])
    files = last["files"]
    assert last["format"] == "srt"
    assert list(files) == ["srt", "vtt", "md"]
    for kept in ("00:00:01,000 --> 00:00:04,000 X1:40", "[laughter]"):
        assert kept in files["srt"]
    assert files["srt"].lower().split()[:5] == SRT.lower().split()[:5]
    assert files["vtt"].startswith("WEBVTT")


def test_a_recogniser_s_fields_stay(client):
    *_, last = steps(client, json.dumps(WHISPER), name="talk.json")
    found = json.loads(last["files"]["json"])
    own = found["segments"][0]
    assert found["language"] == "en"
    assert own["text"] == "".join(word["word"] for word in own["words"])
    times = [(word["start"], word["probability"]) for word in own["words"]]
    assert times == [(0.0, 0.9), (0.4, 0.8), (0.9, 0.7)]


def test_steps_tell_what_is_done(client, small, monkeypatch):
    monkeypatch.setattr(transcripts, "_STEP", 5)
    words = ["anna", "visits", "peter", "well"] * 3
    found = steps(client, " ".join(words))
    assert [step["done"] for step in found] == [5, 10, 12, 12]
    assert {step["total"] for step in found} == {12}
    text = " ".join(step["text"] for step in found[:-1])
    assert text.split() == " ".join(filter(None, restore_words(words, small))).split()
    assert found[-1]["files"]["txt"].split() == text.split()


@pytest.mark.parametrize("text", ["", " \n", "1\n00:00:01,000 --> 00:00:04,000\n\n"])
def test_files_without_words_stay_as_they_are(client, text):
    (last,) = steps(client, text, to=["md"])
    assert last["files"][last["format"]] == text


def test_formats_that_need_times_are_left_out(client):
    *_, last = steps(client, "anna laughs", to=["srt", "md"])
    assert list(last["files"]) == ["txt", "md"]


def test_what_is_no_transcript_is_refused(client, small):
    for text, name, code in (
        ('{"a": 1}', "a.json", "P180"),
        ('{"a"', "a.json", "P181"),
        ("a", "a.pdf", "P180"),
        ("a" * 10_001, "a.txt", "P158"),
        ("!" * 201, "a.txt", "P159"),
    ):
        answer = client.post("/transcripts", json={"text": text, "name": name})
        check_error(answer, 413 if code == "P158" else 422, code)
    check_error(
        client.post("/transcripts", json={"text": "a", "to": ["x"]}), 422, "P157"
    )
    with client_of(small, Limits(max_file_chars=3)) as strict:
        answer = strict.post("/transcripts", json={"text": "four"})
        check_error(answer, 413, "P168")


def test_settings_hold_for_a_file(client):
    *_, last = steps(client, "anna laughs", marks=[], casing="keep")
    assert last["files"]["txt"] == "anna laughs"
    (last,) = steps(client, "anna laughs", marks=["§"])
    assert last["error"]["code"] == "P047"


def test_a_failure_after_the_first_steps_is_the_last_line(
    client, small, monkeypatch, caplog
):
    restorer = small.get_pipe("punctuation_restorer")
    monkeypatch.setattr(restorer, "predict", lambda docs: 1 / 0)
    (line,) = steps(client, "anna laughs")
    assert line["error"]["code"] == "P163"
    assert "ZeroDivisionError" in caplog.text
    monkeypatch.undo()
    assert steps(client, "anna laughs")[-1]["files"]
