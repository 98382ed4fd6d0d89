"""The page and what it is made of, ready to be sent."""

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class Asset:
    """A file as it is sent."""

    content: bytes
    type: str


def page_assets() -> dict[str, Asset]:
    """All files of the page, by their address.

    They are read once: what a client asks for never becomes the name of a file.
    """
    assets = {
        f"/{path.name}": Asset(path.read_bytes(), _TYPES[path.suffix])
        for path in sorted(_FOLDER.iterdir())
        if path.suffix in _TYPES
    }
    return {"/": assets.pop("/index.html"), **assets}
