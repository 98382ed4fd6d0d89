"""The command that serves, run as users run it."""

import json
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner

from spacy_punct.cli import punct

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
def served(path: Path, punct=PUNCT, **kwargs) -> Iterator[tuple[subprocess.Popen, str]]:
    """The command's process, and the address it prints."""
    process = subprocess.Popen(
        [sys.executable, *punct, "serve", path, "--port", "0", "--max-chars", "500"],
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


def test_serve_answers_before_it_is_terminated(both_path):
    with served(both_path, PUNCT_WITHOUT_IMPORTS) as (process, url):
        body = json.dumps({"text": "anna visits the old gardener and laughs " * 10})
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}restore", body.encode(), headers)
        texts = []

        def ask() -> None:
            with urllib.request.urlopen(request, timeout=60) as answer:
                texts.append(json.load(answer)["text"])

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
