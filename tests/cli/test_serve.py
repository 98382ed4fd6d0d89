"""The command that serves, run as users run it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner

from spacy_punct.cli import punct
from tests.descendants import PROC, descendants

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has other signals"
)


PUNCT = ("-m", "spacy", "punct")
PUNCT_WITHOUT_IMPORTS = (
    "-c",
    "import sys; from spacy_punct.cli import punct;"
    "assert not {'starlette', 'uvicorn'} & set(sys.modules); punct()",
)
"""The command, whose extra is imported by nothing but its run."""


@contextmanager
def served(
    path: Path, punct=PUNCT, options=(), **kwargs
) -> Iterator[tuple[subprocess.Popen, str]]:
    """The command's process, and the address it prints."""
    options = ("--port", "0", "--max-chars", "500", *options)
    process = subprocess.Popen(
        [sys.executable, *punct, "serve", path, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **kwargs,
    )
    try:
        line = process.stdout.readline()
        yield process, line.split(" at ")[1].split()[0]
    finally:
        process.kill()
        process.communicate()


def ignore_interrupts() -> None:
    """As shells do for what they start in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def test_serve_until_interrupted(both_path):
    with served(both_path, preexec_fn=ignore_interrupts) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{url}about", timeout=60) as answer:
            assert json.load(answer)["max_chars"] == 500
        port = url.rstrip("/").rpartition(":")[2]
        result = CliRunner().invoke(punct, ["serve", str(both_path), "--port", port])
        assert result.exit_code == 1
        assert "P165" in result.stderr
        assert len(result.stderr.splitlines()) == 1
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == "Stopped.\n"
    assert not err


def restored(url: str, text: str) -> str:
    body = json.dumps({"text": text}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}restore", body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["text"]


def test_serve_answers_before_it_is_terminated(both_path):
    with served(both_path, PUNCT_WITHOUT_IMPORTS) as (process, url):
        texts = []

        def ask() -> None:
            texts.append(restored(url, "anna visits the old gardener and laughs " * 10))

        threads = [threading.Thread(target=ask) for _ in range(2)]
        threads[0].start()
        threads[0].join()
        threads[1].start()
        threads[1].join(0.05)
        process.send_signal(signal.SIGTERM)
        threads[1].join()
        _, err = process.communicate(timeout=60)
    assert len(texts) == 2
    assert process.returncode == -signal.SIGTERM
    assert not err


@pytest.mark.slow
@pytest.mark.skipif(not PROC.is_dir(), reason="looks for processes there")
def test_serve_replaces_workers_that_die_and_logs_requests(both_path):
    options = ("--workers", "2", "--access-log")
    with served(both_path, options=options) as (process, url):
        assert "gardener" in restored(url, "the gardener laughs").lower()
        first, second = descendants(process.pid, "spawn_main")
        os.kill(first, signal.SIGKILL)
        while set(workers := descendants(process.pid, "spawn_main")) <= {first, second}:
            time.sleep(0.05)
        assert second in workers
        os.kill(second, signal.SIGKILL)  # the new one has to answer
        assert "gardener" in restored(url, "the gardener laughs").lower()
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=60)  # ends when all of them have
    assert process.returncode == -signal.SIGTERM
    assert log.count('"POST /restore HTTP/1.1" 200') == 2
    assert "gardener" not in log


def test_serve_says_what_is_wrong_in_one_line(tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    for arguments, code in (
        ([str(tmp_path / "blank")], "P166"),
        ([str(tmp_path / "missing")], "P051"),
    ):
        result = CliRunner().invoke(punct, ["serve", *arguments, "--port", "0"])
        assert result.exit_code == 1
        assert code in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_serve_without_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "spacy_punct.serve.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = CliRunner().invoke(punct, ["serve", "missing"])
    assert result.exit_code == 1
    assert "P167" in result.stderr
    assert "pip install 'spacy-punct[serve]'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_serve_help_has_examples():
    result = CliRunner().invoke(punct, ["serve", "--help"])
    assert result.exit_code == 0
    assert "python -m spacy punct serve" in result.stdout
