"""The server as clients meet it, good ones and bad ones."""

import http.client
import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spacy_punct.errors import PunctError
from spacy_punct.serve import Limits, PunctuationServer
from tests.serve.conftest import running

JSON = {"Content-Type": "application/json"}
PATHS = ("/restore", "/correct", "/underlying")
fuzz = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def send(server, method, path, body=None, headers=None):
    """Status, headers and JSON of an answer, whatever the request."""
    client = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    try:
        client.request(method, path, body, JSON if headers is None else headers)
        answer = client.getresponse()
        content = answer.read()
        return answer.status, answer.headers, content
    finally:
        client.close()


def post(server, path, fields):
    status, _, content = send(server, "POST", path, json.dumps(fields))
    return status, json.loads(content)


def raw(server, request: bytes, *, half_close: bool = True) -> bytes:
    """All that comes back for some bytes."""
    address = ("127.0.0.1", server.server_port)
    with socket.create_connection(address, timeout=30) as client:
        answer = b""
        try:
            client.sendall(request)
            if half_close:
                client.shutdown(socket.SHUT_WR)
            while received := client.recv(1 << 16):
                answer += received
        except ConnectionError:
            pass
        return answer


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def check_error(status: int, content: bytes, code: str) -> None:
    error = json.loads(content)["error"]
    assert error["code"] == code, (status, error)
    assert error["message"]


def resident() -> int:
    """Bytes of memory that this process has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# Good clients


def test_answers_are_those_of_the_api(server, api):
    fields = {"text": "if the rain stops anna will visit"}
    for path in PATHS:
        status, answer = post(server, path, fields)
        assert status == 200
        assert answer == api.plan(path, fields)()


def test_page_is_safe(server):
    for path in ("/", "/main.js", "/style.css", "/icon.svg", "/?a=b", "/about"):
        status, headers, content = send(server, "GET", path)
        assert status == 200
        assert content
        assert headers["X-Content-Type-Options"] == "nosniff"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    status, headers, content = send(server, "HEAD", "/")
    assert (status, content) == (200, b"")
    assert int(headers["Content-Length"]) > 1000


def test_connections_are_kept(server):
    client = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    for number in range(3):
        client.request("POST", "/restore", json.dumps({"text": f"a {number}"}), JSON)
        answer = client.getresponse()
        assert answer.status == 200
        assert str(number) in json.loads(answer.read())["text"]
    client.close()


def test_fifty_clients_at_once_are_all_served(server, api):
    texts = [f"if the rain stops anna will buy {n} lemons" for n in range(50)]
    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(lambda t: post(server, "/restore", {"text": t}), texts))
    assert [status for status, _ in found] == [200] * 50
    for text, (_, answer) in zip(texts[::10], found[::10], strict=True):
        assert answer == api.plan("/restore", {"text": text})()


def test_bodies_may_be_announced(server):
    body = json.dumps({"text": "well"}).encode()
    head = (
        b"POST /restore HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    )
    answer = raw(server, head + body)
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


# Wrong requests


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/../main.js",
        "/..%2fserver.py",
        "/./main.js",
        "//etc/passwd",
        "/main.js/",
        "/main.js%00.html",
        "/\\..\\server.py",
        "/index.html",
        "/__init__.py",
        "http://example.com/main.js",
        "file:///etc/passwd",
        "*",
        "/" + "a" * 5000,
        "/%ff%fe",
    ],
)
def test_paths_lead_nowhere_else(server, path):
    for method in ("GET", "POST"):
        headers = {**JSON, "Host": "localhost"}
        status, _, content = send(server, method, path, "{}", headers)
        assert status == 404
        check_error(status, content, "P152")
        assert len(content) < 1000


@pytest.mark.parametrize("path", ["/\0", "/\x7f", "/a b", "/\xff", "/\r", "/" * 9000])
def test_odd_bytes_in_paths_are_no_trouble(server, path):
    line = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode("latin-1")
    assert status_of(raw(server, line)) in (400, 404, 414, 200 if path == "/\r" else 0)


def test_methods_are_checked(server):
    for method, path, allowed in (
        ("GET", "/restore", "POST"),
        ("PUT", "/correct", "POST"),
        ("OPTIONS", "/underlying", "POST"),
        ("POST", "/", "GET, HEAD"),
        ("DELETE", "/about", "GET, HEAD"),
        ("BREW", "/main.js", "GET, HEAD"),
    ):
        status, headers, content = send(server, method, path, "{}")
        assert status == 405
        assert headers["Allow"] == allowed
        check_error(status, content, "P153")


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Content-Type": "text/plain"}, 415, "P162"),
        ({}, 415, "P162"),
        ({**JSON, "Host": "evil.example"}, 421, "P161"),
        ({**JSON, "Host": "127.0.0.1.evil.example:80"}, 421, "P161"),
        ({**JSON, "Host": ""}, 421, "P161"),
        ({**JSON, "Origin": "http://evil.example"}, 403, "P161"),
        ({**JSON, "Origin": "null"}, 403, "P161"),
        ({**JSON, "Content-Length": "-1"}, 400, "P154"),
        ({**JSON, "Content-Length": "two"}, 400, "P154"),
        ({**JSON, "Content-Length": "٣"}, 400, "P154"),
        ({**JSON, "Content-Length": "9" * 4000}, 413, "P155"),
        ({**JSON, "Transfer-Encoding": "chunked"}, 411, "P154"),
    ],
)
def test_headers_are_checked(server, headers, status, code):
    sent = {k: v.encode("utf-8").decode("latin-1") for k, v in {**headers}.items()}
    found, _, content = send(server, "POST", "/restore", '{"text": "a"}', sent)
    assert found == status
    check_error(found, content, code)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:{port}", "[::1]", "LOCALHOST."]
)
def test_own_names_are_known(server, host):
    headers = {"Host": host.format(port=server.server_port)}
    assert send(server, "GET", "/about", headers=headers)[0] == 200


def test_length_is_needed(server):
    head = b"POST /restore HTTP/1.1\r\nHost: localhost\r\n" + _type() + b"\r\n"
    answer = raw(server, head)
    assert status_of(answer) == 411
    twice = head[:-2] + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"
    assert status_of(raw(server, twice)) == 400


def _type() -> bytes:
    return b"Content-Type: application/json\r\n"


def test_host_is_needed_once(server):
    assert status_of(raw(server, b"GET / HTTP/1.1\r\n\r\n")) == 400
    two = b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    assert status_of(raw(server, two)) == 400


@pytest.mark.parametrize("size", [100_001, 1_000_000, 20_000_000])
def test_large_bodies_are_refused_and_the_answer_is_seen(server, size):
    status, headers, content = send(server, "POST", "/restore", b"a" * size)
    assert status == 413
    assert headers["Connection"] == "close"
    check_error(status, content, "P155")


def test_long_texts_are_refused(server):
    status, answer = post(server, "/restore", {"text": "a" * 10_001})
    assert (status, answer["error"]["code"]) == (413, "P158")


def test_heads_without_end_are_refused(server):
    start = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    assert status_of(raw(server, start + b"X: " + b"a" * 1_000_000)) == 431
    many = b"".join(b"X-%d: a\r\n" % n for n in range(5000))
    assert status_of(raw(server, start + many)) == 431
    assert status_of(raw(server, b"GET /" + b"a" * 1_000_000)) == 414


# Slow clients, and many


def test_slow_clients_are_cut_off_and_hold_nobody_up(small):
    limits = Limits(read_seconds=0.6, idle_seconds=0.6)
    with running(small, limits) as server:
        address = ("127.0.0.1", server.server_port)
        head = b"POST /restore HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n"
        starts = [b"", b"POST /res", head, head + _type() + b'\r\n{"text"']
        clients = [socket.create_connection(address, timeout=30) for _ in starts]
        for client, start in zip(clients, starts, strict=True):
            client.sendall(start)
        assert post(server, "/restore", {"text": "well"})[0] == 200
        # A byte now and then does not help.
        deadline = monotonic() + 20
        trickling = clients[2]
        trickling.settimeout(0.1)
        answer = b""
        while not answer and monotonic() < deadline:
            trickling.sendall(b"a")
            try:
                answer = trickling.recv(1 << 16)
            except TimeoutError:
                continue
        assert status_of(answer) == 408
        for client, start in zip(clients, starts, strict=True):
            client.settimeout(20)
            if client is not trickling:
                received = client.recv(1 << 16)
                assert not received if not start else status_of(received) == 408
            client.close()


def test_too_many_clients_are_told_to_come_back(small):
    with running(small, Limits(max_connections=2)) as server:
        address = ("127.0.0.1", server.server_port)
        clients = [socket.create_connection(address, timeout=30) for _ in range(2)]
        for client in clients:
            client.sendall(b"GET /about HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert status_of(client.recv(1 << 16)) == 200
        with socket.create_connection(address, timeout=30) as another:
            answer = another.recv(1 << 16)
        assert status_of(answer) == 503
        assert b"Retry-After" in answer
        check_error(503, answer.partition(b"\r\n\r\n")[2], "P160")
        for client in clients:
            client.close()
        deadline = monotonic() + 20
        while send(server, "GET", "/about")[0] == 503:
            assert monotonic() < deadline


def test_memory_is_bounded(server):
    def rush(number: int) -> None:
        words = " ".join(f"new{number}x{k}" for k in range(60))
        post(server, "/restore", {"text": words})
        send(server, "POST", "/correct", b"a" * 1_000_000)
        raw(server, b"GET / HTTP/1.1\r\nX: " + b"a" * 300_000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(rush, range(16)))
        before = resident()
        list(pool.map(rush, range(16, 48)))
    assert resident() - before < 40e6


# Anything at all

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
edits = st.dictionaries(
    st.sampled_from(["edit", "word", "words", "order", "position", "before", "x"]),
    st.sampled_from(["delete", "move", "permute", "keep", "extract"])
    | st.integers(-3, 12)
    | st.lists(st.integers(-1, 9), max_size=4)
    | json_values,
    max_size=4,
)
requests = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=40) | json_values,
        "edits": st.lists(edits, max_size=3) | json_values,
        "txt": json_values,
    },
)


@fuzz
@given(path=st.sampled_from(PATHS), body=requests | json_values)
def test_any_json_has_an_answer(server, path, body):
    status, answer = post(server, path, body)
    assert status in (200, 400, 413, 422), answer
    assert ("error" in answer) == (status != 200)


@fuzz
@given(path=st.sampled_from(PATHS), body=st.binary(max_size=200))
def test_any_body_has_an_answer(server, path, body):
    status, _, content = send(server, "POST", path, body)
    assert status in (200, 400, 422), content
    json.loads(content)


@fuzz
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
    if answer.startswith(b"HTTP/1.1"):
        assert status_of(answer) not in (500, 502)


# Addresses


def test_addresses_are_checked(small, server):
    for host, port in (("127.0.0.1", server.server_port), ("256.0.0.1", 0)):
        with pytest.raises(PunctError, match="P165"):
            PunctuationServer(small, host, port)


def test_other_hosts_may_ask_where_that_is_wanted(small):
    with PunctuationServer(small, "0.0.0.0", 0) as server:
        assert not server.is_local
    with PunctuationServer(small, "localhost", 0) as server:
        assert server.is_local
        assert server.url == f"http://localhost:{server.server_port}/"
