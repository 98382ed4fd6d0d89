"""The files of the page, as they are."""

import re
from pathlib import Path

from spacy_punct import serve
from spacy_punct.errors import Errors

STATIC = Path(serve.__file__).parent / "static"
FILES = {path.name: path.read_text(encoding="utf-8") for path in STATIC.iterdir()}


def test_page_needs_nothing_from_elsewhere():
    for name, content in FILES.items():
        text = content.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text), name


def test_everything_a_file_names_is_there():
    for name, content in FILES.items():
        folder = "static/" if name == "index.html" else "./"
        pattern = r"(?:src|href)=\"([^\"]+)\"|from \"([^\"]+)\""
        named = [a or b for a, b in re.findall(pattern, content)]
        assert all(other.startswith(folder) for other in named), name
        assert {other.removeprefix(folder) for other in named} <= set(FILES), name


def test_page_knows_the_code_of_text_in_another_language():
    code = Errors.P169.partition("]")[0].lstrip("[")
    assert f'FOREIGN = "{code}"' in FILES["api.js"]
    # It shows all but the last sentence.
    *_, remedy = Errors.P169.split(". ")
    assert '"force"' in remedy


def test_text_never_becomes_markup():
    for name, text in FILES.items():
        for way in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "eval(",
            "document.write",
        ):
            assert way not in text, name
    page = FILES["index.html"]
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=", page)
