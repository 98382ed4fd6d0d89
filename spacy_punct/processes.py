"""Processes, and whether they have ended."""

import multiprocessing
import os
import threading
from contextlib import suppress
from pathlib import Path


def end_with_parent() -> None:
    """Let this process end with the one that started it, even if that is killed."""
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def is_running(process: int) -> bool:
    """Whether a process has not ended, as far as the system tells."""
    if os.name == "nt":  # there, this would end it
        return True
    with suppress(OSError):  # ended, but nobody has asked how: there is such a file
        status = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
        return status.rpartition(")")[2].split()[0] not in "ZX"
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
