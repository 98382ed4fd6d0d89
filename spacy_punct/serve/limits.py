"""How much a server takes upon itself."""

from dataclasses import dataclass

from spacy_punct.errors import check_range

_BYTES_A_CHARACTER = 10


@dataclass(frozen=True)
class Limits:
    """What a server bears, so that nobody can fill its memory or its time.

    max_chars (int): Characters of a text. Longer ones are for the client to cut.
    max_edits (int): Edits of a request.
    max_connections (int): Clients at a time; others are told to come back.
    max_waiting (int): Requests that are waiting for the pipeline or have it.
    wait_seconds (float): How long they wait for it.
    read_seconds (float): How long a request may take to arrive, from its first byte.
    idle_seconds (float): How long a connection may be silent between two.
    """

    max_chars: int = 10_000
    max_edits: int = 100
    max_connections: int = 128
    max_waiting: int = 96
    wait_seconds: float = 60.0
    read_seconds: float = 10.0
    idle_seconds: float = 30.0

    def __post_init__(self) -> None:
        for name in ("max_chars", "max_edits", "max_connections", "max_waiting"):
            check_range(name, getattr(self, name), 1)

    @property
    def max_bytes(self) -> int:
        """Bytes of a body: enough for the longest text in any script, and edits."""
        return _BYTES_A_CHARACTER * self.max_chars
