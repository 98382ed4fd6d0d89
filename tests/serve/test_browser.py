"""The page as people use it, in a browser without a window."""

import json
from collections.abc import Iterator

import pytest

from tests.serve.browser import CHROMIUM, Browser
from tests.serve.conftest import running

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="no chromium here; on Debian: apt-get install chromium",
)

WORDS = "if the rain stops anna will visit the old gardener however peter laughs"
SENTENCE = "If the rain stops, Anna will visit the old gardener."
ARABIC = "مرحبا بالعالم كيف الحال"
DONE = (
    "document.querySelector('.part') && !document.querySelector('.part.waiting')"
    " && document.getElementById('output').ariaBusy === 'false'"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("chromium"))
    yield found
    found.close()


def load(browser: Browser, url: str) -> None:
    browser.open(url)
    browser.wait("document.querySelector('[aria-selected=true]')")


@pytest.fixture(scope="module")
def opened(browser, server) -> Browser:
    load(browser, server.url)
    return browser


@pytest.fixture
def page(opened) -> Iterator[Browser]:
    """The page as if newly opened; it must not complain."""
    opened.resize(1100, 760)
    opened.run("document.getElementById('clear').click()")
    choose(opened, "restore")
    yield opened
    assert not opened.errors


def write(page: Browser, text: str) -> None:
    """Type a text in place of what is there."""
    page.run("document.getElementById('clear').click()")
    page.type(text)
    shown = json.dumps(text.split()[-1].strip(".").lower())
    page.wait(
        f"document.getElementById('output').innerText.toLowerCase().includes({shown})"
    )
    page.wait(DONE)


def choose(page: Browser, mode: str) -> None:
    page.click(f"document.getElementById('tab-{mode}')")


def result(page: Browser) -> str:
    return page.run("document.getElementById('output').innerText")


def answer(client, path: str, **fields):
    return client.post(path, json=fields).json()


def is_within(page: Browser, selector: str) -> bool:
    return page.run(
        f"(() => {{ const b = document.querySelector('{selector}')"
        ".getBoundingClientRect(); return b.left >= 0 && b.top >= 0"
        " && b.right <= innerWidth && b.bottom <= innerHeight; })()"
    )


def test_type_restore_and_hover(page, client):
    write(page, WORDS)
    page.wait("document.querySelector('.mark')")
    found = answer(client, "/restore", text=WORDS)
    shown = result(page).replace("·", "")
    assert shown == found["text"]
    marks = [
        (sentence, piece)
        for sentence in found["sentences"]
        for piece in sentence["pieces"]
        if "slot" in piece
    ]
    assert page.run("document.querySelectorAll('.mark').length") == len(marks)
    number, (sentence, piece) = next(
        (k, mark) for k, mark in enumerate(marks) if mark[1]["constituent"] is not None
    )
    page.hover(f"document.querySelectorAll('.mark')[{number}]")
    page.wait("!document.getElementById('card').hidden")
    assert is_within(page, "#card")
    (slot,) = (s for s in sentence["slots"] if s["slot"] == piece["slot"])
    assert f"{round(100 * slot['probability'])}%" in page.text("#card")
    word = sentence["words"][piece["constituent"]]
    words = [p["text"] for p in sentence["pieces"] if "word" in p]
    lit = page.run("[...document.querySelectorAll('.lit')].map((e) => e.innerText)")
    assert lit == words[word["start"] : word["end"]]
    page.press("Escape")
    page.wait("document.getElementById('card').hidden")
    assert page.run("document.querySelectorAll('.lit').length") == 0


def test_markup_in_a_text_stays_text(page):
    write(page, "<img src=x onerror=document.title='oh'> <b>anna</b> laughs")
    assert page.run("document.querySelectorAll('#output img, #output b').length") == 0
    assert page.run("document.title") == "Punctuation"


def test_correct_and_refuse(page, client):
    text = "Well; Peter sold , bread, lemons and, onions"
    choose(page, "correct")
    write(page, text)
    page.wait("document.querySelector('.change')")
    found = answer(client, "/correct", text=text)
    n_changes = page.run("document.querySelectorAll('.change').length")
    assert n_changes == len(found["corrections"])
    page.run(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText:"
        "async (text) => { window.copied = text; }}})"
    )
    page.click("document.getElementById('copy')")
    page.wait("window.copied")
    assert page.run("copied") == found["text"]
    for number in range(n_changes):
        page.click(f"document.querySelectorAll('.change')[{number}]")
        page.click("document.querySelector('#card button')")
    page.click("document.getElementById('copy')")
    page.wait(f"window.copied === {json.dumps(text)}")


def tree_texts(page: Browser) -> list[str]:
    return page.run("[...document.querySelectorAll('.head')].map((e) => e.innerText)")


def test_delete_a_subtree_and_undo(page, client):
    choose(page, "rearrange")
    write(page, SENTENCE)
    page.wait("document.querySelector('.node')")
    before = page.text(".surface")
    assert before == SENTENCE
    page.click("document.querySelector('.node:not(.whole) > .relation')")
    page.wait("document.querySelector('.node.selected:not(.whole)')")
    token = page.run("Number(document.querySelector('.node.selected').dataset.token)")
    page.click("document.querySelector('[data-action=delete]')")
    page.wait(f"document.querySelector('.surface').innerText !== {json.dumps(before)}")
    edits = [{"edit": "delete", "word": token}]
    found = answer(client, "/underlying", text=SENTENCE, edits=edits)
    assert page.text(".surface") == found["text"]
    assert tree_texts(page) == [w["text"] for w in found["sentences"][0]["words"]]
    page.click("document.getElementById('undo')")
    assert page.text(".surface") == before
    assert page.run("document.getElementById('undo').disabled")


def test_move_by_keyboard(page, client):
    choose(page, "rearrange")
    write(page, SENTENCE)
    page.wait("document.querySelector('.node')")
    page.click("document.querySelector('.node:not(.whole) > .relation')")
    page.wait("document.activeElement.classList.contains('selected')")
    token = page.run("Number(document.activeElement.dataset.token)")
    page.press("ArrowRight", alt=True)
    page.wait("!document.getElementById('undo').disabled")
    edits = [{"edit": "move", "word": token, "position": 1}]
    found = answer(client, "/underlying", text=SENTENCE, edits=edits)
    assert page.text(".surface") == found["text"] != SENTENCE
    assert page.run("Number(document.activeElement.dataset.token)") == token
    page.press("Delete")
    page.wait(f"!document.querySelector('[data-token=\"{token}\"]')")


def test_drag_a_constituent(page, client):
    choose(page, "rearrange")
    write(page, SENTENCE)
    page.wait("document.querySelector('.node')")
    # The first dependent of the root, dropped after the last item of its row.
    row = "document.querySelector('.node.whole > .row')"
    token = page.run(f"Number({row}.querySelector(':scope > .node').dataset.token)")
    items = f"[...{row}.children].filter((e) => 'item' in e.dataset)"
    n_items = page.run(f"{items}.length")
    start = page.middle(f"{row}.querySelector(':scope > .node > .relation')")
    end = page.run(
        f"(() => {{ const b = {items}.at(-1).getBoundingClientRect();"
        "return [b.right + 2, b.bottom - 5]; })()"
    )
    page.drag(start, tuple(end))
    page.wait("!document.getElementById('undo').disabled")
    edits = [{"edit": "move", "word": token, "position": n_items - 1}]
    found = answer(client, "/underlying", text=SENTENCE, edits=edits)
    assert page.text(".surface") == found["text"] != SENTENCE


def test_phone(page, server):
    page.resize(360, 640, touch=True)
    load(page, server.url)
    write(page, WORDS)
    page.wait("document.querySelector('.mark')")
    page.tap("document.querySelectorAll('.mark')[0]")
    page.wait("!document.getElementById('card').hidden")
    assert is_within(page, "#card")
    for mode in ("restore", "correct", "rearrange"):
        choose(page, mode)
        page.wait(DONE)
        assert page.run("document.documentElement.scrollWidth") <= 360
        assert page.run(
            "[...document.querySelectorAll('button')].every((b) => b.hidden"
            " || !b.offsetWidth || b.offsetHeight >= 36)"
        )


def direction(page: Browser, selector: str) -> str:
    return page.run(f"getComputedStyle(document.querySelector('{selector}')).direction")


def test_right_to_left(page):
    write(page, ARABIC)
    for selector in ("#source", ".part"):
        assert direction(page, selector) == "rtl"
    choose(page, "rearrange")
    page.wait("document.querySelector('.node')")
    assert direction(page, ".tree") == "rtl"
    places = page.run(
        "[...document.querySelector('.tree').querySelectorAll('.head')]"
        ".map((e) => e.getBoundingClientRect().x)"
    )
    assert len(places) > 1
    assert places == sorted(places, reverse=True)


def test_long_pastes_are_worked_on_where_they_are_seen(page):
    paragraph = "anna visits the old gardener and peter sells lemons " * 20
    text = "\n\n".join(f"{paragraph} number {n}" for n in range(100))
    page.run("document.getElementById('source').focus()")
    page.run(
        f"document.getElementById('source').value = {json.dumps(text)};"
        "document.getElementById('source').dispatchEvent(new Event('input'))"
    )
    page.wait("document.querySelectorAll('.part').length === 100")
    page.wait("document.querySelector('.part .mark')")
    page.run("document.querySelectorAll('.part')[80].scrollIntoView()")
    seen = (
        "document.elementFromPoint(innerWidth * 0.75, innerHeight / 2).closest('.part')"
    )
    page.wait(f"{seen}.querySelector('.mark')")
    waiting = page.run(
        "[...document.querySelectorAll('.part')]"
        ".map((e) => e.classList.contains('waiting'))"
    )
    number = page.run(f"[...document.querySelectorAll('.part')].indexOf({seen})")
    assert number > 60
    assert sum(waiting[10:60]) > 10, "others have to wait"
    page.run("document.getElementById('clear').click()")
    page.wait("!document.querySelector('.part')")


def test_page_hides_what_the_pipeline_cannot_do(browser, that_corrects):
    that_corrects.remove_pipe("punctuation_corrector")
    with running(that_corrects) as server:
        load(browser, server.url)
        shown = browser.run(
            "[...document.querySelectorAll('[role=tab]')].filter((t) => !t.hidden)"
            ".map((t) => t.innerText)"
        )
        assert shown == ["Restore", "Rearrange"]
