"""Files that are written completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spacy_punct.processes import is_running


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write a file that takes its place only when it is complete.

    path (Path): The file. Its folder is made if need be.
    YIELDS (Path): Where to write in the meantime. After an error or an interruption
        this is removed, and the old file, if any, stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        flush(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    flush(path.parent)


def sweep(folder: Path) -> None:
    """Remove what processes that were killed have left of files in a folder."""
    for part in folder.glob(".*.part"):
        number = part.name.split(".")[-2]
        if number.isdecimal() and not is_running(int(number)):
            part.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk."""
    if os.name == "nt" and path.is_dir():  # Windows cannot open folders
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
