"""`punct train`, stopped as rudely as can be."""

import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from spacy_punct.cli import punct
from tests.conftest import REPOSITORY
from tests.reading.training_data import files, small_training


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return small_training(tmp_path_factory.mktemp("data"))


def invoke(*args: object):
    return CliRunner().invoke(punct, ["train", *map(str, args)])


def test_train_goes_on_after_it_was_killed(config, tmp_path):
    output = tmp_path / "killed"
    options = ("--training.eval_frequency", "2")
    command = (sys.executable, "-m", "spacy", "punct", "train", str(config))
    command += ("--output", str(output), *options)
    running = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 200
    while not (output / "checkpoint").exists():
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    assert not (output / "trained.json").exists()

    again = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert "Going on after step" in again.stdout
    done = invoke(config, "--output", tmp_path / "whole", *options)
    assert done.exit_code == 0, done.output
    for name in ("model-best", "model-last"):
        assert files(output / name) == files(tmp_path / "whole" / name)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--paths.train", "absent.conllu", "P050"),
        ("--components.parser.factory", "absent", "P092"),
        ("--training.dropout", "much", "Config validation error"),
    ],
)
def test_train_says_what_is_wrong(config, tmp_path, option, value, said):
    done = invoke(config, "--output", tmp_path / "out", option, value)
    assert done.exit_code == 1
    assert said in done.output
    assert "Traceback" not in done.output


def test_train_says_what_is_missing(tmp_path):
    done = invoke(tmp_path / "absent.cfg", "--output", tmp_path / "out")
    assert done.exit_code == 1
    assert "P053" in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
    assert invoke("--help").output.count("Example: ") == 2
