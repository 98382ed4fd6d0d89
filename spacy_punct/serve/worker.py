"""One thread that has the pipeline, and a queue before it."""

from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import Any

from spacy_punct.errors import Errors
from spacy_punct.serve.api import Job
from spacy_punct.serve.faults import RequestError
from spacy_punct.serve.limits import Limits

RETRY_AFTER = 5
"""Seconds after which those who find the queue full may come back."""


class Worker:
    """Computes one answer after the other, first come, first served.

    limits (Limits): How many may wait, and how long.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._places = BoundedSemaphore(limits.max_waiting)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pipeline")

    def run(self, job: Job) -> dict[str, Any]:
        """The answer, when it is its turn; raises if that takes too long."""
        if not self._places.acquire(blocking=False):
            raise busy()
        try:
            future = self._thread.submit(job)
        except RuntimeError:  # the server is about to end
            self._places.release()
            raise busy() from None
        future.add_done_callback(lambda _: self._places.release())
        try:
            return future.result(self._limits.wait_seconds)
        except (NotInTime, CancelledError):
            future.cancel()
            raise busy() from None

    def close(self) -> None:
        """Finish what is being computed, and nothing else."""
        self._thread.shutdown(cancel_futures=True)


def busy() -> RequestError:
    """What is said to those who cannot be served now."""
    message = Errors.P160.format(seconds=RETRY_AFTER)
    headers = {"Retry-After": str(RETRY_AFTER)}
    return RequestError(HTTPStatus.SERVICE_UNAVAILABLE, message, headers)
