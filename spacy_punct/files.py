"""Files and folders that are written completely or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spacy_punct.errors import Errors, PunctError


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


@contextmanager
def replacing_folder(path: str | Path, names: set[str]) -> Iterator[Path]:
    """Write a folder that takes its place only when it is complete.

    path (str | Path): The folder. If there is one that holds anything else than what
        is written, it is left alone, with an error.
    names (set[str]): What is written.
    YIELDS (Path): Where to write in the meantime.
    """
    path = Path(path).resolve()
    is_free = not path.exists() or (
        path.is_dir() and {p.name for p in path.iterdir()} <= names
    )
    if not is_free:
        raise PunctError(Errors.P034.format(path=path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as tmp:
        new = Path(tmp) / "new"
        new.mkdir()
        yield new
        old = Path(tmp) / "old"
        if path.exists():
            path.rename(old)
        try:
            new.rename(path)
        except BaseException:
            if old.exists():
                old.rename(path)
            raise


def flush(path: Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk."""
    if os.name == "nt" and path.is_dir():  # Windows cannot open folders
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
