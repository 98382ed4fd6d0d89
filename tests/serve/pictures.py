"""The pictures of docs/serve.md, taken of the page with the bundled pipeline.

python -m tests.serve.pictures docs
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import spacy_punct
from tests.serve.browser import Browser
from tests.serve.conftest import running

DONE = "document.querySelector('#output .part') && output.ariaBusy === 'false'"
MARK = "document.querySelector('#output .mark')"
ROW = "document.querySelector('.node.whole > .row')"


def main(folder: Path) -> None:
    """Write the pictures to a folder."""
    nlp = spacy_punct.load("en")
    nlp.enable_pipe("punctuation_corrector")
    with TemporaryDirectory() as own, running(nlp) as server:
        browser = Browser(Path(own))

        def opened(mode: str, width: int, height: int) -> None:
            browser.resize(width, height, touch=width < 500)
            browser.open(f"{server.url}#{mode}")
            browser.wait(DONE)

        def write(name: str) -> None:
            (folder / f"serve-{name}.png").write_bytes(browser.screenshot())

        opened("restore", 1100, 560)
        browser.hover(MARK)
        browser.wait("!card.hidden")
        write("restore")
        opened("rearrange", 1100, 560)
        start = browser.middle(f"{ROW}.querySelector(':scope > .node > .relation')")
        end = browser.run(
            f"(() => {{ const b = {ROW}.lastElementChild.getBoundingClientRect();"
            "return [b.right - 2, b.bottom - 5]; })()"
        )
        browser.drag(start, tuple(end))
        browser.wait("!document.getElementById('undo').disabled")
        write("rearrange")
        browser.dark(True)
        opened("restore", 390, 844)
        browser.tap(MARK)
        browser.wait("!card.hidden")
        write("phone")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
