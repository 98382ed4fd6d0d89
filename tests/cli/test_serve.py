"""The command that serves, run as users run it."""

import json
import signal
import subprocess
import sys
import urllib.request

import spacy
from typer.testing import CliRunner

from spacy_punct.cli import punct


def test_serve_until_interrupted(both_path):
    command = [sys.executable, "-m", "spacy", "punct", "serve", str(both_path)]
    process = subprocess.Popen(
        [*command, "--port", "0", "--max-chars", "50"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        url = line.split(" at ")[1].split()[0]
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{url}about", timeout=60) as answer:
            assert json.load(answer)["max_chars"] == 50
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert out == "Ended.\n"
    assert "Traceback" not in err


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


def test_serve_help_has_examples():
    result = CliRunner().invoke(punct, ["serve", "--help"])
    assert result.exit_code == 0
    assert "python -m spacy punct serve" in result.stdout
