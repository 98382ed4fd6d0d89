"""Text that is plainly in another language is refused, unless it is forced."""

import json

import pytest
from starlette.websockets import WebSocketDisconnect

from tests.serve.test_app import WORDS, ask, check_error
from tests.serve.test_live import URL, talk
from tests.serve.test_transcripts import steps

SPANISH = (
    "bueno pues yo creo que no es tan fácil como la gente dice pero en el fondo se "
    "trata de una idea muy buena para los niños"
)
SPOKEN = [{"word": word} for word in SPANISH.split()]
SHORT = [
    "no es la casa",
    "pero como se dice",
    "y el niño",
    "que en un día",
    "yo muy",
]
SRT = f"1\n00:00:01,000 --> 00:00:09,000\n{SPANISH}\n"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/restore", {"text": SPANISH}),
        ("/correct", {"text": SPANISH}),
        ("/restore_words", {"words": SPOKEN}),
        ("/transcripts", {"text": SRT, "name": "charla.srt"}),
    ],
)
def test_another_language_is_refused_unless_it_is_forced(client, path, body):
    message = check_error(client.post(path, json=body), 422, "P169")
    name = body.get("name", "The text")
    assert message.startswith(f"{name} seems to be Spanish, but the pipeline is for En")
    assert '"force": true' in message
    check_error(client.post(path, json={**body, "force": False}), 422, "P169")
    assert client.post(path, json={**body, "force": True}).status_code == 200
    check_error(client.post(path, json={**body, "force": "yes"}), 422, "P157")


def test_forced_text_is_restored(client, small):
    found = ask(client, "/restore", text=SPANISH, force=True)
    assert found["text"] == small(SPANISH)._.restored_text
    assert ask(client, "/restore", text=WORDS, force=True) == ask(
        client, "/restore", text=WORDS
    )
    *_, last = steps(client, SRT, name="charla.srt", force=True)
    assert "niños" in last["files"]["srt"]


@pytest.mark.parametrize("path", ["/restore", "/correct"])
def test_batches_say_which_item_is_refused(client, path):
    def post(*items):
        return client.post(f"{path}/batch", json={"items": items})

    english, spanish = {"text": WORDS}, {"text": SPANISH}
    message = check_error(post(english, spanish), 422, "P169")
    assert message.startswith("items[1] seems to be Spanish")
    assert post(english, {**spanish, "force": True}).status_code == 200
    check_error(post(spanish, {**spanish, "force": True}), 422, "P169")


def test_short_items_of_a_batch_are_looked_at_together(client):
    items = [{"text": text} for text in SHORT]
    for item in items:
        ask(client, "/restore", **item)
    answer = client.post("/restore/batch", json={"items": items})
    assert "items seems to be Spanish" in check_error(answer, 422, "P169")
    forced = [{**item, "force": True} for item in items]
    assert len(ask(client, "/restore/batch", items=forced)["items"]) == len(items)


def test_live_text_is_refused_once_enough_is_heard(client):
    words = (SPANISH.split() * 5)[:100]
    with client.websocket_connect(URL) as socket:
        assert "error" not in talk(socket, words=words[:99])
        assert talk(socket, words=words[99:])["error"]["code"] == "P169"
        with pytest.raises(WebSocketDisconnect):
            socket.receive_text()
    with client.websocket_connect(URL) as socket:
        assert "error" not in talk(socket, words=words, force=True)
        assert "error" not in talk(socket, words=words)
    english = (WORDS.split() * 5)[:100]
    with client.websocket_connect(URL) as socket:  # it is checked at the start only
        for heard in (english, words, words):
            assert "error" not in talk(socket, words=heard)


def test_the_description_tells_of_force(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    bodies = ("RestoreBody", "CorrectBody", "WordsBody", "TranscriptBody")
    for name in bodies:
        field = schemas[name]["properties"]["force"]
        assert field["type"] == "boolean"
        assert field["default"] is False
        assert "P169" in field["description"]
        assert "force" not in schemas[name]["required"]
    assert "force" not in schemas["EditedBody"]["properties"]


def test_editors_that_know_languagetool_are_not_refused(client):
    answer = client.post("/v2/check", data={"text": SPANISH, "language": "auto"})
    assert answer.status_code == 200
    assert json.loads(answer.text)["matches"] is not None
