"""Worker processes."""

import os
from functools import cache

import torch


@cache
def survive_forks() -> None:
    """Let `nlp.pipe(n_process=2)` work after torch was used in this process.

    A forked worker inherits torch's pool of threads, but not the threads, and would
    wait for them forever. One thread is what our small arrays want anyway.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_use_one_thread)


def _use_one_thread() -> None:
    torch.set_num_threads(1)
