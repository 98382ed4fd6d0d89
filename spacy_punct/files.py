"""Files that are whole or not there."""

import os
from pathlib import Path


def write_safely(path: Path, data: bytes) -> None:
    """Write a file, all of it or nothing, even if the power goes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data)
    flush(part)
    os.replace(part, path)
    flush(path.parent)


def flush(path: Path) -> None:
    """Wait until a file or the names in a folder are on the disk."""
    if os.name == "nt" and path.is_dir():  # Windows cannot open folders
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
