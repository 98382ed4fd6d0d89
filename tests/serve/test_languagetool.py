"""Clients of LanguageTool find what they expect."""

from itertools import takewhile

import pytest

from spacy_punct.data.kinds import MESSAGES

OF_SLOTS = [
    kind.upper().replace("-", "_")
    for kind in takewhile(lambda kind: kind != "missing-apostrophe", MESSAGES)
]
"""The rules that ask a model."""
TEXT = "😀 Anna laughs ,you said. I dont know."


def check(client, **form) -> dict:
    answer = client.post("/v2/check", data={"language": "en-US", **form})
    assert answer.status_code == 200
    return answer.json()


def applied(text: str, matches: list[dict]) -> str:
    """The text with all replacements; offsets count UTF-16 units."""
    units = text.encode("utf-16-le")
    for match in reversed(matches):
        start, end = 2 * match["offset"], 2 * (match["offset"] + match["length"])
        new = match["replacements"][0]["value"].encode("utf-16-le")
        units = units[:start] + new + units[end:]
    return units.decode("utf-16-le")


def test_check_and_languages(client):
    codes = [language["longCode"] for language in client.get("/v2/languages").json()]
    assert "en-US" in codes
    matches = check(client, text=TEXT, disabledRules=",".join(OF_SLOTS))["matches"]
    assert applied(TEXT, matches) == "😀 Anna laughs, you said. I don't know."
    matches = check(client, text=TEXT)["matches"]
    ends = [match["offset"] + match["length"] for match in matches]
    assert all(m["offset"] >= end for m, end in zip(matches[1:], ends, strict=False))
    kinds = {kind.upper().replace("-", "_"): kind for kind in MESSAGES}
    for match in matches:
        assert match["length"] > 0
        assert match["message"] == MESSAGES[kinds[match["rule"]["id"]]]


def test_rules_may_be_disabled(client):
    found = check(client, text=TEXT, disabledRules="MISSING_APOSTROPHE,OTHER")
    assert "MISSING_APOSTROPHE" not in {m["rule"]["id"] for m in found["matches"]}


def test_annotated_text(client):
    data = '{"annotation": [{"text": "I dont "}, {"markup": "<b>"}, {"text": "know"}]}'
    found = check(client, data=data)["matches"]
    assert [m["offset"] for m in found if m["rule"]["id"] == "MISSING_APOSTROPHE"] == [
        2
    ]
    for wrong in ("[1]", "{", '{"annotation": 1}'):
        answer = client.post("/v2/check", data={"data": wrong})
        assert answer.json()["error"]["code"] == "P221"


def test_language_tool_python(server):
    tool = pytest.importorskip("language_tool_python")
    client = tool.LanguageTool("en-US", remote_server=server.url)
    client.disabled_rules.update(OF_SLOTS)
    assert client.correct("I dont know ,he said.") == "I don't know, he said."
