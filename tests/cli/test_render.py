"""`punct render`, from text to files."""

from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from spacy_punct.cli import punct


def invoke(*args: object, **kwargs):
    return CliRunner().invoke(punct, ["render", *map(str, args)], **kwargs)


def test_files_of_each_style(both_path, tmp_path):
    text = "If the rain stops, Anna <will> visit Dr Hill & Sons."
    for style, ending in (
        ("underlying", "svg"),
        ("underlying", "html"),
        ("rewrites", "svg"),
        ("confidence", "html"),
        ("corrections", "html"),
    ):
        path = tmp_path / "new" / f"{style}.{ending}"
        done = invoke(text, "--style", style, "-m", both_path, "-o", path)
        assert done.exit_code == 0, done.output
        written = path.read_text("utf-8")
        if ending == "svg":
            assert ET.fromstring(written).tag.endswith("svg")
        else:
            assert written.startswith("<!DOCTYPE html>")
            assert "&amp;" in written


def test_standard_input_and_output(both_path):
    done = invoke("-", "-m", both_path, input="Anna will visit Dr Hill")
    assert done.exit_code == 0
    assert "<svg" in done.output


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("a text", "-o", "tree.png"), "P148"),
        (("a text", "-s", "confidence", "-o", "tree.svg"), "P148"),
        ((" ",), "P096"),
        (("a text", "-m", "no_such_model"), "P051"),
    ],
)
def test_bad_input_is_one_line(args, code):
    done = invoke(*args)
    assert done.exit_code == 1
    assert code in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_corrections_need_a_corrector(full_path):
    done = invoke("a text", "-s", "corrections", "-m", full_path)
    assert done.exit_code == 1
    assert "P131" in done.output


def test_help_has_an_example():
    shown = invoke("--help")
    assert shown.exit_code == 0
    assert "python -m spacy punct render" in shown.output
