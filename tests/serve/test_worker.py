import threading
from time import sleep

import pytest

from spacy_punct.serve.faults import RequestError
from spacy_punct.serve.limits import Limits
from spacy_punct.serve.worker import Worker


def test_jobs_are_done_one_at_a_time_and_errors_come_back():
    worker = Worker(Limits())
    active, most = 0, 0

    def job():
        nonlocal active, most
        active += 1
        most = max(most, active)
        sleep(0.002)
        active -= 1
        return {}

    threads = [threading.Thread(target=worker.run, args=(job,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    with pytest.raises(ZeroDivisionError):
        worker.run(lambda: {"a": 1 / 0})
    worker.close()


def test_those_who_would_wait_too_long_are_told():
    worker = Worker(Limits(max_waiting=2, wait_seconds=0.05))
    gate = threading.Event()
    with pytest.raises(RequestError, match="P160") as caught:
        worker.run(gate.wait)
    assert caught.value.status == 503
    assert caught.value.headers["Retry-After"]
    with pytest.raises(RequestError, match="P160"):
        worker.run(dict)  # cancelled, so that its place is free again
    gate.set()
    while True:
        try:
            assert worker.run(lambda: {"a": 1}) == {"a": 1}
            break
        except RequestError:
            sleep(0.01)
    worker.close()
    with pytest.raises(RequestError, match="P160"):
        worker.run(dict)


def test_a_full_queue_takes_nobody():
    worker = Worker(Limits(max_waiting=1))
    gate = threading.Event()
    first = threading.Thread(target=worker.run, args=(gate.wait,))
    first.start()
    while worker._places._value:
        sleep(0.001)
    with pytest.raises(RequestError, match="P160"):
        worker.run(dict)
    gate.set()
    first.join()
    assert worker.run(dict) == {}
    worker.close()
