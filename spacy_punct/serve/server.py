"""The web server: the page, and the API behind it."""

import io
import ipaddress
import json
import socket
import socketserver
import sys
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any, NamedTuple

from spacy.language import Language

from spacy_punct.errors import Errors, PunctError
from spacy_punct.serve.api import Api
from spacy_punct.serve.connection import BoundedReader, linger
from spacy_punct.serve.faults import RequestError, error_data
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.page import page_assets
from spacy_punct.serve.requests import json_fields, printable
from spacy_punct.serve.worker import Worker, busy

_JSON = "application/json"
_LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SAFETY = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_MAX_LINE = 8_192


class PunctuationServer(ThreadingHTTPServer):
    """Serves the page and the API.

    nlp (Language): A pipeline with a restorer, a corrector or both.
    host (str): The address to listen at: loopback unless others are to be served.
    port (int): The port; 0 for any that is free.
    limits (Limits | None): How much to bear.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self,
        nlp: Language,
        host: str = "127.0.0.1",
        port: int = 8080,
        limits: Limits | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.api = Api(nlp, self.limits)
        self.worker = Worker(self.limits)
        self.assets = page_assets()
        self.host = host
        self._places = BoundedSemaphore(self.limits.max_connections)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            self.address_family, _, _, _, address = found[0]
            super().__init__(address[:2], _Handler)
        except (OSError, OverflowError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            message = Errors.P165.format(host=host, port=port, reason=reason)
            raise PunctError(message) from None

    @property
    def is_local(self) -> bool:
        """Whether nobody but this machine can get here."""
        return ipaddress.ip_address(self.server_address[0]).is_loopback

    @property
    def url(self) -> str:
        """Where the page is."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.server_port}/"

    def server_bind(self) -> None:
        # HTTPServer would look up the name of the host, which may take long.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self._turn_away(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def _turn_away(self, request: socket.socket) -> None:
        error = busy()
        content = _encoded(error_data(str(error)))
        head = [
            f"HTTP/1.1 {error.status.value} {error.status.phrase}",
            *(f"{name}: {value}" for name, value in error.headers.items()),
            f"Content-Type: {_JSON}",
            f"Content-Length: {len(content)}",
            "Connection: close",
        ]
        try:
            request.settimeout(1)
            request.sendall("\r\n".join([*head, "", ""]).encode("ascii") + content)
        except OSError:
            pass
        self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # clients come and go
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        super().server_close()
        self.worker.close()


class _Reply(NamedTuple):
    status: HTTPStatus
    content: bytes
    type: str = _JSON
    headers: Mapping[str, str] = {}


def _encoded(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    server: PunctuationServer
    protocol_version = "HTTP/1.1"
    server_version = "spacy-punct"
    sys_version = ""
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._reader = BoundedReader(self.connection)
        self.rfile = io.BufferedReader(self._reader)

    def handle_one_request(self) -> None:
        self._has_unread = True
        # What an answer needs to know, should there be nothing to read it from.
        self.requestline = self.command = ""
        self.request_version = self.protocol_version
        limits = self.server.limits
        self._reader.expect_request(limits.idle_seconds, limits.read_seconds)
        try:
            self._read_request()
        except RequestError as error:
            self.close_connection = True
            self._send(_error(error))
        except TimeoutError:
            self.close_connection = True
            if self._reader.has_begun:
                message = Errors.P164.format(seconds=limits.read_seconds)
                self._send(_error(RequestError(HTTPStatus.REQUEST_TIMEOUT, message)))
        except ConnectionError:
            self.close_connection = True

    def _read_request(self) -> None:
        self.raw_requestline = self.rfile.readline(_MAX_LINE + 1)
        if not self.raw_requestline:
            self.close_connection = True
        elif len(self.raw_requestline) > _MAX_LINE:
            self.send_error(HTTPStatus.REQUEST_URI_TOO_LONG)
        elif self.parse_request():
            self._send(self._reply())

    def handle_expect_100(self) -> bool:
        return True  # said when it is known that the body is wanted

    def send_error(
        self, code: int, message: str | None = None, explain: str | None = None
    ) -> None:
        """What the standard library finds wrong with a request, as JSON."""
        status = HTTPStatus(code)
        reason = printable(message or status.description or status.phrase)
        self.close_connection = True
        self._send(_error(RequestError(status, Errors.P154.format(reason=reason))))

    def log_message(self, *_: object) -> None:
        pass

    # Answers

    def _reply(self) -> _Reply:
        try:
            return self._answer()
        except RequestError as error:
            return _error(error)
        except OSError:
            raise
        except Exception as error:
            traceback.print_exc()
            message = Errors.P163.format(reason=type(error).__name__)
            return _error(RequestError(HTTPStatus.INTERNAL_SERVER_ERROR, message))

    def _answer(self) -> _Reply:
        self._has_unread = self._declares_body()
        self._check_host()
        server = self.server
        path = self.path.partition("?")[0]
        if path in server.api.paths:
            self._check_method("POST")
            fields = json_fields(self._body())
            answer = server.worker.run(server.api.plan(path, fields))
            return _Reply(HTTPStatus.OK, _encoded(answer))
        if path == "/about":
            self._check_method("GET", "HEAD")
            return _Reply(HTTPStatus.OK, _encoded(server.api.about()))
        if path in server.assets:
            self._check_method("GET", "HEAD")
            asset = server.assets[path]
            return _Reply(HTTPStatus.OK, asset.content, asset.type)
        known = ", ".join(["/", *server.api.paths, "/about"])
        message = Errors.P152.format(path=printable(path), known=known)
        raise RequestError(HTTPStatus.NOT_FOUND, message)

    def _check_host(self) -> None:
        """Refuse pages that got here by a name of their own (DNS rebinding)."""
        hosts = self.headers.get_all("Host", [])
        if len(hosts) > 1 or (not hosts and self.request_version == "HTTP/1.1"):
            message = Errors.P154.format(reason=f"it has {len(hosts)} Host headers")
            raise RequestError(HTTPStatus.BAD_REQUEST, message)
        origin = self.headers.get("Origin")
        if origin is not None and hosts and origin != f"http://{hosts[0]}":
            message = Errors.P161.format(name=printable(origin), url=self.server.url)
            raise RequestError(HTTPStatus.FORBIDDEN, message)
        if not self.server.is_local or not hosts:
            return
        name = _host_name(hosts[0])
        if name not in _LOCAL_NAMES | {self.server.host.lower()}:
            message = Errors.P161.format(name=printable(name), url=self.server.url)
            raise RequestError(HTTPStatus.MISDIRECTED_REQUEST, message)

    def _check_method(self, *allowed: str) -> None:
        if self.command not in allowed:
            names = " or ".join(allowed)
            message = Errors.P153.format(method=printable(self.command), allowed=names)
            headers = {"Allow": ", ".join(allowed)}
            raise RequestError(HTTPStatus.METHOD_NOT_ALLOWED, message, headers)

    def _declares_body(self) -> bool:
        length = self.headers.get("Content-Length", "0").strip()
        return length != "0" or "Transfer-Encoding" in self.headers

    def _body(self) -> bytes:
        """The body of a request, if it is JSON of a known and modest length."""
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or not lengths:
            message = Errors.P154.format(reason="it has no Content-Length")
            raise RequestError(HTTPStatus.LENGTH_REQUIRED, message)
        length = lengths[0].strip()
        if len(lengths) > 1 or not (length.isascii() and length.isdigit()):
            message = Errors.P154.format(reason="its Content-Length is no number")
            raise RequestError(HTTPStatus.BAD_REQUEST, message)
        limit = self.server.limits.max_bytes
        # Numbers with thousands of digits are not even read.
        if len(length) > 12 or int(length) > limit:
            message = Errors.P155.format(n=printable(length), limit=limit)
            raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
        if self.headers.get_content_type() != _JSON:
            message = Errors.P162.format(type=self.headers.get_content_type())
            raise RequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(HTTPStatus.CONTINUE)
            self.end_headers()
        self._reader.expect_body(int(length))
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ConnectionAbortedError
        self._has_unread = False
        return body

    def _send(self, reply: _Reply) -> None:
        if self._has_unread:
            self.close_connection = True
        self.connection.settimeout(self.server.limits.idle_seconds)
        self.send_response(reply.status)
        headers = {
            "Content-Type": reply.type,
            "Content-Length": str(len(reply.content)),
            "Cache-Control": "no-store" if reply.type == _JSON else "no-cache",
            **_SAFETY,
            **reply.headers,
        }
        if self.close_connection:
            headers["Connection"] = "close"
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.content)
        if self._has_unread:
            linger(self.connection)


def _error(error: RequestError) -> _Reply:
    content = _encoded(error_data(str(error)))
    return _Reply(error.status, content, headers=error.headers)


def _host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].rstrip(".").lower()
