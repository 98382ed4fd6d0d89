"""Reading from clients that may be slow, or send without end."""

import io
import socket
from http import HTTPStatus
from time import monotonic

from spacy_punct.errors import Errors
from spacy_punct.serve.faults import RequestError

MAX_HEAD = 32_768
"""Bytes of a request before its body."""
_LINGER_SECONDS = 3.0
_LINGER_BYTES = 1 << 25
_CHUNK = 1 << 16


class BoundedReader(io.RawIOBase):
    """Reads from a socket, for a time and up to a size, however it trickles in.

    connection (socket): The socket.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._deadline = self._seconds = 0.0
        self._left = 0
        self.has_begun = False

    def expect_request(self, idle_seconds: float, seconds: float) -> None:
        """Wait for a request.

        idle_seconds (float): How long it may take to begin.
        seconds (float): How long it may take from then on, body included.
        """
        self._deadline = monotonic() + idle_seconds
        self._seconds = seconds
        self._left = MAX_HEAD
        self.has_begun = False

    def expect_body(self, size: int) -> None:
        """Wait for that many bytes more."""
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        if self._left <= 0:
            reason = f"its head has more than {MAX_HEAD} bytes"
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            raise RequestError(status, Errors.P154.format(reason=reason))
        remaining = self._deadline - monotonic()
        if remaining <= 0:
            raise TimeoutError
        self._connection.settimeout(remaining)
        n = self._connection.recv_into(buffer, min(len(buffer), self._left))
        self._left -= n
        if n and not self.has_begun:
            self.has_begun = True
            self._deadline = monotonic() + self._seconds
        return n


def linger(connection: socket.socket) -> None:
    """Take in what a client still sends, so that it sees the answer before the end."""
    deadline = monotonic() + _LINGER_SECONDS
    n_bytes = 0
    try:
        connection.shutdown(socket.SHUT_WR)
        while n_bytes < _LINGER_BYTES and (left := deadline - monotonic()) > 0:
            connection.settimeout(left)
            received = len(connection.recv(_CHUNK))
            if not received:
                return
            n_bytes += received
    except OSError:
        return
