import re

from spacy_punct.serve.page import page_assets


def test_page_needs_nothing_from_elsewhere():
    assets = page_assets()
    assert set(assets) >= {"/", "/main.js", "/style.css", "/icon.svg"}
    for path, asset in assets.items():
        text = asset.content.decode("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text), path


def test_everything_a_file_names_is_there():
    assets = page_assets()
    for asset in assets.values():
        text = asset.content.decode("utf-8")
        names = re.findall(r"(?:src|href)=\"([^\"]+)\"|from \"\./([^\"]+)\"", text)
        for name in (first or second for first, second in names):
            assert f"/{name}" in assets


def test_text_never_becomes_markup():
    for path, asset in page_assets().items():
        text = asset.content.decode("utf-8")
        for way in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "eval(",
            "document.write",
        ):
            assert way not in text, path
    page = page_assets()["/"].content.decode("utf-8")
    assert not re.search(r"<script>|<style|\sstyle=|\son\w+=", page)
