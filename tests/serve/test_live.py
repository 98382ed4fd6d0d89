"""Live text over a WebSocket."""

import json

import pytest
from starlette.websockets import WebSocketDisconnect

from spacy_punct import live
from spacy_punct.serve.app import make_app
from spacy_punct.serve.limits import Limits
from tests.serve.conftest import running
from tests.serve.test_app import WORDS

URL = "ws://localhost/live"


def talk(socket, **message):
    socket.send_text(json.dumps(message))
    return json.loads(socket.receive_text())


def test_live_is_what_the_generator_gives(client, small):
    settings = {"lookahead": 3, "step": 2}
    expected = [found._asdict() for found in live(WORDS.split(), small, **settings)]
    with client.websocket_connect(URL) as socket:
        first, *words = WORDS.split()
        found = [talk(socket, words=[first], **settings)]
        found += [talk(socket, words=[word]) for word in words]
        found.append(talk(socket, end=True))
    assert found == expected


def test_live_messages_may_be_bytes(client):
    with client.websocket_connect(URL) as socket:
        socket.send_bytes(b'{"words": ["anna"]}')
        assert json.loads(socket.receive_text())["tail"] == ["anna"]


def test_live_takes_settings(client):
    with client.websocket_connect(URL) as socket:
        found = talk(socket, words=["who", "laughs"], end=True, marks=[], casing="keep")
        assert found == {"stable": ["who", "laughs"], "tail": []}
        assert talk(socket, words=["anna"], end=True)["stable"] == ["anna"]


@pytest.mark.parametrize(
    "message, code",
    [
        ("no json", "P156"),
        ('{"words": ["two words"]}', "P157"),
        ('{"lookahead": 0}', "P157"),
        ('{"words": ["a"], "marks": ["§"], "end": true}', "P047"),
        (json.dumps({"words": ["a" * 900] * 12}), "P158"),
    ],
)
def test_live_says_what_is_wrong_and_closes(client, message, code):
    with client.websocket_connect(URL) as socket:
        socket.send_text(message)
        assert json.loads(socket.receive_text())["error"]["code"] == code
        with pytest.raises(WebSocketDisconnect):
            socket.receive_text()


def test_live_settings_belong_into_the_first_message(client):
    with client.websocket_connect(URL) as socket:
        talk(socket, words=["anna"])
        assert talk(socket, lookahead=3)["error"]["code"] == "P202"


def test_live_is_not_for_pages_of_other_sites(client, small):
    other = {"Origin": "http://evil.example"}
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(URL, headers=other),
    ):
        pass
    own = {"Origin": "http://localhost"}
    with client.websocket_connect(URL, headers=own) as socket:
        assert talk(socket, words=["anna"])["tail"] == ["anna"]
    open_ = type(client)(make_app(small, origins=["*"]), "http://localhost")
    with open_.websocket_connect(URL, headers=other) as socket:
        assert talk(socket, words=["anna"])["tail"] == ["anna"]


def test_live_over_the_network(server):
    sync = pytest.importorskip("websockets.sync.client")
    with sync.connect(f"ws://127.0.0.1:{server.port}/live") as socket:
        socket.send(json.dumps({"words": ["who", "laughs"], "end": True}))
        assert len(json.loads(socket.recv(timeout=60))["stable"]) == 2


def test_live_connections_may_be_silent(small):
    sync = pytest.importorskip("websockets.sync.client")
    with (
        running(small, Limits(idle_seconds=1)) as server,
        sync.connect(f"ws://127.0.0.1:{server.port}/live") as socket,
    ):
        with pytest.raises(TimeoutError):
            socket.recv(timeout=2)
        socket.send(json.dumps({"words": ["who"]}))
        assert json.loads(socket.recv(timeout=60))["tail"] == ["who"]
