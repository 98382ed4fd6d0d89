"""Web servers on this machine, for what downloads."""

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FileServer:
    """Serves bytes, and can misbehave.

    files (Mapping[str, bytes]): Path without the first slash -> content.
    ranges (bool): Whether it gives parts when asked for them.
    cuts (int): How many answers break off halfway.
    status (list[int]): What it answers at first instead of the files.
    shift (int): How far beside the part that was asked for its answers begin.
    halt (bool): Whether it stops halfway, without a word, until it is closed.
    port (int): Where it listens; 0 for any.
    """

    def __init__(
        self,
        files: Mapping[str, bytes],
        *,
        ranges: bool = True,
        cuts: int = 0,
        status: tuple[int, ...] = (),
        shift: int = 0,
        halt: bool = False,
        port: int = 0,
    ) -> None:
        self.files = files
        self.ranges = ranges
        self.cuts = cuts
        self.status = list(status)
        self.shift = shift
        self.halt = halt
        self.requests: list[tuple[str, str | None]] = []
        """Path and Range header of each."""
        self.n_sent: list[int] = []
        self.halted = threading.Event()
        self._closed = threading.Event()
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "FileServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_until_closed(self) -> None:
        self.halted.set()
        self._closed.wait()


class _Handler(BaseHTTPRequestHandler):
    owner: FileServer

    def do_GET(self) -> None:
        owner = self.owner
        path = self.path.lstrip("/")
        wanted = self.headers.get("Range")
        owner.requests.append((path, wanted))
        if owner.status or path not in owner.files:
            self.send_error(owner.status.pop(0) if owner.status else 404)
            return
        content = owner.files[path]
        start = 0
        if wanted and owner.ranges:
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) + owner.shift
        if start and start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = content[start:]
        self.send_response(206 if start else 200)
        if start:
            last = len(content) - 1
            self.send_header("Content-Range", f"bytes {start}-{last}/{len(content)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if owner.cuts or owner.halt:
            owner.cuts = max(owner.cuts - 1, 0)
            body = body[: len(body) // 2]
        self.wfile.write(body)
        self.wfile.flush()
        owner.n_sent.append(len(body))
        if owner.halt:
            owner.wait_until_closed()

    def log_message(self, *_: object) -> None:
        pass
