"""The application at an address, run by uvicorn."""

import asyncio
import multiprocessing
import signal
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from multiprocessing.process import BaseProcess
from typing import Any

import h11
import uvicorn
from spacy.language import Language
from uvicorn.protocols.http.h11_impl import H11Protocol

from spacy_punct.errors import Errors, PunctError
from spacy_punct.processes import end_with_parent
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
_LOG: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        "uvicorn.access": {"handlers": ["stderr"], "propagate": False},
        "uvicorn.error": {"handlers": ["stderr"], "propagate": False},
    },
}
_LOOK_SECONDS = 1.0
"""How often to look whether all workers live."""
_STOP_SECONDS = 10
"""How long requests may go on when the server is to stop."""


class PunctuationServer:
    """Serves the page and the API.

    nlp (Language): A pipeline with a restorer, a corrector or both.
    host (str): The address to listen at; other machines cannot reach the default.
    port (int): The port; 0 for any that is free.
    limits (Limits | None): How much to accept.
    origins (Sequence[str]): Other sites whose pages may use the API; see `make_app`.
    access_log (bool): Whether to log each request on standard error, without its text.
    workers (int): Processes. Each has a copy of the pipeline.
    """

    def __init__(
        self,
        nlp: Language,
        host: str = "127.0.0.1",
        port: int = 8080,
        limits: Limits | None = None,
        *,
        origins: Sequence[str] = (),
        access_log: bool = False,
        workers: int = 1,
    ) -> None:
        limits = limits or Limits()
        self._socket = _listening(host, port)
        address, self.port, *_ = self._socket.getsockname()
        self.is_local = ip_address(address).is_loopback
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self.port}/"
        hosts = (*LOCAL_HOSTS, name) if self.is_local else ("*",)
        self._arguments = (nlp, limits, hosts, origins, access_log)
        self._workers = workers
        self._server = _uvicorn(*self._arguments)
        self._stopping = threading.Event()

    def run(self) -> None:
        """Serve until SIGINT (Ctrl-C), SIGTERM or `stop`. Requests that are being
        answered are answered first, then the signal has its usual effect."""
        if self._workers == 1:
            self._server.run(sockets=[self._socket])
        else:
            self._supervise()

    def stop(self) -> None:
        """Let `run` return, which is in another thread."""
        self._server.should_exit = True
        self._stopping.set()

    def _supervise(self) -> None:
        """Let others serve, and replace those that die."""
        caught: list[int] = []
        handlers: dict[signal.Signals, Any] = {}

        def catch(number: int, _: object) -> None:
            caught.append(number)
            self._stopping.set()

        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handlers[number] = signal.signal(number, catch)
        workers: list[BaseProcess] = []
        try:
            while not self._stopping.is_set():
                workers = [worker for worker in workers if worker.is_alive()]
                workers += [self._worker() for _ in range(self._workers - len(workers))]
                self._stopping.wait(_LOOK_SECONDS)
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.join()
            for number, handler in handlers.items():
                signal.signal(number, handler)
        if caught:
            signal.raise_signal(caught[0])

    def _worker(self) -> BaseProcess:
        context = multiprocessing.get_context("spawn")
        worker = context.Process(
            target=_work, args=(self._socket, *self._arguments), daemon=True
        )
        worker.start()
        return worker


def _work(listening: socket.socket, *arguments: Any) -> None:
    """Serve in a process of its own."""
    end_with_parent()
    with suppress(KeyboardInterrupt):
        _uvicorn(*arguments).run(sockets=[listening])


def _uvicorn(
    nlp: Language,
    limits: Limits,
    hosts: Sequence[str],
    origins: Sequence[str],
    access_log: bool,
) -> uvicorn.Server:
    config = uvicorn.Config(
        make_app(nlp, limits, hosts, origins),
        http=_PatientProtocol,
        lifespan="off",
        log_config=_LOG if access_log else None,
        log_level="info" if access_log else "error",
        access_log=access_log,
        proxy_headers=False,
        server_header=False,
        headers=list(_HEADERS.items()),
        limit_concurrency=limits.max_connections + 1,
        timeout_keep_alive=limits.idle_seconds,
        timeout_graceful_shutdown=_STOP_SECONDS,
        h11_max_incomplete_event_size=_MAX_HEAD,
        ws_max_size=limits.max_bytes,
    )
    return uvicorn.Server(config)


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
    _is_upgraded = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect(True)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        waits = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        self._expect(waits and not self._is_upgraded)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._is_upgraded = True
        super().handle_websocket_upgrade(event)

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
