"""How much a server accepts."""

from dataclasses import dataclass

from spacy_punct.errors import check_range

_BYTES_PER_CHARACTER = 12  # escaped in JSON
_BYTES_OF_EDITS = 65_536


@dataclass(frozen=True)
class Limits:
    """What a server accepts, so that nobody can use up its memory or its time.

    max_chars (int): Characters per text. Clients have to split longer ones.
    max_file_chars (int): Characters per transcript, which is restored in steps.
    max_connections (int): Connections at the same time; more are answered with 503.
    max_waiting (int): Requests that wait for the pipeline; more are answered with 503.
    wait_seconds (float): How long a request waits for the pipeline before a 503.
    read_seconds (float): How long the body of a request may take to arrive.
    idle_seconds (int): How long a connection may stay open without a whole request.
    """

    max_chars: int = 10_000
    max_file_chars: int = 4_000_000
    max_connections: int = 128
    max_waiting: int = 96
    wait_seconds: float = 60.0
    read_seconds: float = 10.0
    idle_seconds: int = 30

    def __post_init__(self) -> None:
        for name in ("max_chars", "max_file_chars", "max_connections", "max_waiting"):
            check_range(name, getattr(self, name), 1)

    @property
    def max_bytes(self) -> int:
        """Bytes per body: enough for the longest text, however escaped, and edits."""
        return _BYTES_PER_CHARACTER * self.max_chars + _BYTES_OF_EDITS

    @property
    def max_file_bytes(self) -> int:
        """Bytes per body with a transcript; few files have much to escape."""
        return 2 * self.max_file_chars + _BYTES_OF_EDITS
