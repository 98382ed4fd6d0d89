"""The application at an address, run by uvicorn."""

import asyncio
import socket
from ipaddress import ip_address

import h11
import uvicorn
from spacy.language import Language
from uvicorn.protocols.http.h11_impl import H11Protocol

from spacy_punct.errors import Errors, PunctError
from spacy_punct.serve.app import LOCAL_HOSTS, make_app
from spacy_punct.serve.limits import Limits

_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_MAX_HEAD = 32_768
"""Bytes per request before its body."""
_STOP_SECONDS = 10
"""How long requests may go on when the server is to stop."""


class PunctuationServer:
    """Serves the page and the API.

    nlp (Language): A pipeline with a restorer, a corrector or both.
    host (str): The address to listen at; other machines cannot reach the default.
    port (int): The port; 0 for any that is free.
    limits (Limits | None): How much to accept.
    """

    def __init__(
        self,
        nlp: Language,
        host: str = "127.0.0.1",
        port: int = 8080,
        limits: Limits | None = None,
    ) -> None:
        limits = limits or Limits()
        self._socket = _listening(host, port)
        address, self.port, *_ = self._socket.getsockname()
        self.is_local = ip_address(address).is_loopback
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self.port}/"
        hosts = (*LOCAL_HOSTS, name) if self.is_local else ("*",)
        config = uvicorn.Config(
            make_app(nlp, limits, hosts),
            http=_PatientProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            headers=list(_HEADERS.items()),
            limit_concurrency=limits.max_connections + 1,
            timeout_keep_alive=limits.idle_seconds,
            timeout_graceful_shutdown=_STOP_SECONDS,
            h11_max_incomplete_event_size=_MAX_HEAD,
        )
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until SIGINT (Ctrl-C), SIGTERM or `stop`. Requests that are being
        answered are answered first, then the signal has its usual effect."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Let `run` return, which is in another thread."""
        self._server.should_exit = True


def _listening(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, _, _, _, address = found[0]
        return socket.create_server(address[:2], family=family, backlog=128)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        message = Errors.P165.format(host=host, port=port, reason=reason)
        raise PunctError(message) from None


class _PatientProtocol(H11Protocol):
    """HTTP/1.1, with patience for slow clients that ends at some point.

    uvicorn ends connections that are idle after an answer. Here the same time limits
    how long a request may take to arrive, however it trickles in.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect(True)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect(self.conn.their_state in (h11.IDLE, h11.SEND_BODY))

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(False)
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        self.transport.abort()  # even if the client has not read its answer

    def _expect(self, is_expected: bool) -> None:
        """Start to wait for the rest of a request, or stop to."""
        if not is_expected and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        elif is_expected and self._deadline is None:
            seconds = self.timeout_keep_alive
            self._deadline = self.loop.call_later(seconds, self.transport.abort)
