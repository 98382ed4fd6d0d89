"""`punct render`, from text to files."""

from xml.etree import ElementTree as ET


def test_render_files_of_each_style(invoke, both_path, tmp_path):
    text = "If the rain stops, Anna <will> visit Dr Hill & Sons."
    for style, ending in (
        ("underlying", "svg"),
        ("underlying", "html"),
        ("rewrites", "svg"),
        ("confidence", "html"),
        ("corrections", "html"),
    ):
        path = tmp_path / "new" / f"{style}.{ending}"
        done = invoke("render", text, "--style", style, "-m", both_path, "-o", path)
        assert done.exit_code == 0, done.output
        written = path.read_text("utf-8")
        if ending == "svg":
            assert ET.fromstring(written).tag.endswith("svg")
        else:
            assert written.startswith("<!DOCTYPE html>")
            assert "&amp;" in written


def test_render_standard_input_and_output(invoke, both_path):
    done = invoke("render", "-", "-m", both_path, stdin="Anna will visit Dr Hill")
    assert done.exit_code == 0
    assert "<svg" in done.output
