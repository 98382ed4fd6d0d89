"""The server as clients meet it over a socket, good ones and bad ones."""

import http.client
import json
import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_punct.errors import PunctError
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.server import PunctuationServer
from tests.serve.conftest import running

JSON = {"Content-Type": "application/json"}
HEAD = (
    b"POST /restore HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
)


def send(server, method, path, body=None, headers=None):
    """Status, headers and content of an answer."""
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        client.request(method, path, body, JSON if headers is None else headers)
        answer = client.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        client.close()


def connect(server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=30)


def raw(server, request: bytes) -> bytes:
    """All that comes back for some bytes, after which there are no more."""
    with connect(server) as client:
        answer = b""
        try:
            client.sendall(request)
            client.shutdown(socket.SHUT_WR)
            while received := client.recv(1 << 16):
                answer += received
        except TimeoutError:
            raise
        except OSError:  # the server has ended the connection
            pass
        return answer


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def resident() -> int:
    """Bytes of memory that this process has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_page_is_protected(server):
    for path in ("/", "/static/main.js", "/static/icon.svg", "/?a=b", "/about"):
        status, headers, content = send(server, "GET", path)
        assert status == 200
        assert content
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
    assert (
        send(server, "GET", "/static/main.js")[1].get_content_type().endswith("script")
    )
    status, headers, content = send(server, "HEAD", "/")
    assert (status, content) == (200, b"")
    assert int(headers["Content-Length"]) > 1000


def test_connections_are_kept(server):
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    for number in range(3):
        client.request("POST", "/restore", json.dumps({"text": f"a {number}"}), JSON)
        answer = client.getresponse()
        assert answer.status == 200
        assert str(number) in json.loads(answer.read())["text"]
        assert client.sock is not None
    client.close()


def test_other_sites_cannot_use_the_server(server):
    rebound = {**JSON, "Host": "evil.example"}
    assert send(server, "POST", "/restore", "{}", rebound)[0] == 400
    # What browsers ask before a page of another site may post JSON.
    asked = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    status, headers, _ = send(server, "OPTIONS", "/restore", headers=asked)
    assert status == 405
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize("is_chunked", [False, True])
def test_large_bodies_are_refused_and_the_answer_is_seen(server, is_chunked):
    body = iter([b"a" * 500_000] * 40) if is_chunked else b"a" * 20_000_000
    status, _, content = send(server, "POST", "/restore", body)
    assert status == 413
    assert json.loads(content)["error"]["code"] == "P155"


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 1_000_000,
        b"GET /" + b"a" * 1_000_000,
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        HEAD + b"Content-Length: " + b"9" * 4000 + b"\r\n\r\n{}",
    ],
)
def test_what_is_not_http_is_refused(server, request_):
    # An empty answer: the connection ended before all was sent.
    answer = raw(server, request_)
    assert not answer or status_of(answer) == 400


def test_slow_clients_are_cut_off_and_hold_nobody_up(small):
    with running(small, Limits(read_seconds=0.5, idle_seconds=1)) as server:
        body = HEAD + b'Content-Length: 99\r\n\r\n{"text"'
        starts = [b"", b"POST /res", HEAD, body, b"GET /about HTTP/1.1\r\n"]
        clients = [connect(server) for _ in starts]
        begin = monotonic()
        for client, start in zip(clients, starts, strict=True):
            client.sendall(start)
        assert send(server, "POST", "/restore", '{"text": "well"}')[0] == 200
        # A byte now and then does not help.
        trickling = clients[-1]
        trickling.settimeout(0.1)
        with pytest.raises(ConnectionError):
            while monotonic() < begin + 20:
                trickling.sendall(b"X")
                try:
                    if not trickling.recv(1):
                        raise ConnectionError
                except TimeoutError:
                    continue
        assert monotonic() < begin + 10
        for client, start in zip(clients[:-1], starts, strict=False):
            received = client.recv(1 << 16)
            assert received[9:12] == (b"408" if start == body else b"")
            client.close()


def test_too_many_clients_are_told_to_come_back(small):
    with running(small, Limits(max_connections=2)) as server:
        clients = [connect(server) for _ in range(2)]
        for client in clients:
            client.sendall(b"GET /about HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert status_of(client.recv(1 << 16)) == 200
        assert send(server, "GET", "/about")[0] == 503
        for client in clients:
            client.close()
        deadline = monotonic() + 20
        while send(server, "GET", "/about")[0] == 503:
            assert monotonic() < deadline


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_bounded(server):
    def rush(number: int) -> None:
        words = " ".join(f"new{number}x{k}" for k in range(8))
        send(server, "POST", "/restore", json.dumps({"text": words}))
        send(server, "POST", "/correct", b"a" * 5_000_000)
        raw(server, b"GET / HTTP/1.1\r\nX: " + b"a" * 300_000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(rush, range(6)))
        before = resident()
        list(pool.map(rush, range(6, 22)))
    assert resident() - before < 40e6


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    request=st.binary(max_size=100)
    | st.tuples(
        st.sampled_from([b"GET / ", b"POST /restore ", b"HEAD /about ", b"GET "]),
        st.binary(max_size=20),
        st.sampled_from([b"HTTP/1.1\r\n", b"HTTP/1.0\r\n", b"HTTP/9.9\r\n", b"\n"]),
        st.binary(max_size=60),
        st.sampled_from([b"\r\n\r\n", b"\n\n", b"Host: localhost\r\n\r\n{}", b""]),
    ).map(b"".join)
)
def test_any_bytes_are_survived(server, request):
    answer = raw(server, request)
    if answer:
        assert status_of(answer) not in (500, 502)


def test_addresses_are_checked(small, server):
    for host, port in (("127.0.0.1", server.port), ("256.0.0.1", 0)):
        with pytest.raises(PunctError, match="P165"):
            PunctuationServer(small, host, port)


def test_other_machines_are_served_only_if_that_is_asked_for(small):
    for host, is_local in (("0.0.0.0", False), ("localhost", True)):
        server = PunctuationServer(small, host, 0)
        assert server.is_local == is_local
        assert server.url == f"http://{host}:{server.port}/"
        server.stop()
        server.run()
