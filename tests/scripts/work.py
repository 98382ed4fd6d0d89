"""What the jobs of tests do."""

import time
from collections.abc import Mapping
from pathlib import Path

import srsly


def add(folder: Path, needs: Mapping[str, Path], *, value: int) -> None:
    """Add the results of other jobs to a value."""
    with (folder / "starts.txt").open("a") as file:
        file.write("started\n")
    found = [srsly.read_json(path / "sum.json") for path in needs.values()]
    srsly.write_json(folder / "sum.json", value + sum(found))


def fail(folder: Path, needs: Mapping[str, Path]) -> None:
    raise ValueError("it broke")


def count_up(folder: Path, needs: Mapping[str, Path], *, to: int, pause: float) -> None:
    """Count, from where an earlier start stopped."""
    path = folder / "counted.txt"
    start = len(path.read_text().split()) if path.is_file() else 0
    for n in range(start, to):
        with path.open("a") as file:
            file.write(f"{n}\n")
        print("counted to", n, flush=True)
        time.sleep(pause)
