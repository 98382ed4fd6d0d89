"""The processes that a process has started."""

from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def descendants(process: int, name: str = "") -> list[int]:
    """The processes that one has started, and those that these have (Linux).

    process (int): The process.
    name (str): What the command lines of those that count contain.
    RETURNS (list[int]): Their numbers.
    """
    parents: dict[int, int] = {}
    commands: dict[int, str] = {}
    for stat in PROC.glob("[0-9]*/stat"):
        number = int(stat.parent.name)
        with suppress(OSError):  # it has ended
            commands[number] = (stat.parent / "cmdline").read_text("utf-8", "replace")
            _, parent, *_ = stat.read_text("utf-8").rpartition(")")[2].split()
            parents[number] = int(parent)
    found = [process]
    for parent in found:
        found += [child for child, own in parents.items() if own == parent]
    return [number for number in found[1:] if name in commands[number]]
