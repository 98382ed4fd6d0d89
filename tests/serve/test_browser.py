"""The page as people use it, in a browser without a window."""

import json
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.serve.browser import CHROMIUM, Browser
from tests.serve.conftest import running
from tests.serve.test_transcripts import SRT

pytestmark = pytest.mark.skipif(
    CHROMIUM is None,
    reason="no chromium here; on Debian: apt-get install chromium",
)

WORDS = "if the rain stops anna will visit the old gardener however peter laughs"
SPANISH = (
    "bueno pues yo creo que no es tan fácil como la gente dice pero en el fondo se "
    "trata de una idea muy buena para los niños"
)
SENTENCE = "If the rain stops, Anna will visit the old gardener."
LONG = "\n\n".join(f"{WORDS} number {n}" for n in range(400))
RUN_ON = "anna visits the old gardener and peter sells lemons if the rain stops " * 40
ARABIC = "مرحبا بالعالم كيف حال"
DONE = (
    "document.querySelector('.part') && !document.querySelector('.part.waiting')"
    " && document.getElementById('output').ariaBusy === 'false'"
)


ARROW = 18
"""The pixels that the arrow of a select takes."""
AXE = os.environ.get("SPACY_PUNCT_AXE")
"""The file axe.min.js of axe-core (npm install axe-core)."""


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
    page.wait("document.querySelector('#output .mark')")
    found = answer(client, "/restore", text=WORDS)
    shown = result(page).replace("·", "")
    assert shown == found["text"]
    marks = [
        (sentence, piece)
        for sentence in found["sentences"]
        for piece in sentence["pieces"]
        if "slot" in piece
    ]
    assert page.run("document.querySelectorAll('#output .mark').length") == len(marks)
    number, (sentence, piece) = next(
        (k, mark) for k, mark in enumerate(marks) if mark[1]["constituent"] is not None
    )
    page.hover(f"document.querySelectorAll('#output .mark')[{number}]")
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
    page.wait("document.querySelector('#output .change')")
    found = answer(client, "/correct", text=text)
    n_changes = page.run("document.querySelectorAll('#output .change').length")
    assert n_changes == len(found["corrections"])
    page.run(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText:"
        "async (text) => { window.copied = text; }}})"
    )
    page.click("document.getElementById('copy')")
    page.wait("window.copied")
    assert page.run("copied") == found["text"]
    for number in range(n_changes):
        page.click(f"document.querySelectorAll('#output .change')[{number}]")
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
    page.wait("document.querySelector('#output .mark')")
    page.tap("document.querySelectorAll('#output .mark')[0]")
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


# What people come with, and leave with


def fresh(page: Browser, server, fragment: str = "") -> None:
    """Open the page as on a first visit."""
    load(page, server.url)  # another server's page has a storage of its own
    page.run("localStorage.clear()")
    load(page, f"{server.url}#{fragment}")
    page.wait(DONE)


def paste(page: Browser, text: str) -> None:
    page.run(
        f"source.value = {json.dumps(text)}; source.dispatchEvent(new Event('input'))"
    )


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize(
    ("mode", "shown"),
    [("restore", ".mark"), ("correct", ".change"), ("rearrange", ".node")],
)
def test_page_starts_with_an_example_that_works(page, server, mode, shown):
    fresh(page, server, mode)
    assert page.run("source.value")
    page.wait(f"document.querySelector('#output {shown}')")
    assert page.run("!copy.disabled && !download.disabled")
    legend = "[...document.querySelectorAll('.legend')].filter((e) => !e.hidden)"
    assert page.run(f"{legend}.map((e) => e.dataset.mode)") == [mode]


def test_text_and_task_survive_a_reload(page, server):
    choose(page, "rearrange")
    write(page, SENTENCE)
    load(page, server.url)
    page.wait(DONE)
    assert page.run("source.value") == SENTENCE
    assert page.run("document.body.className") == "is-rearrange"
    page.run("document.getElementById('clear').click()")
    load(page, server.url)
    assert page.run("source.value") == ""


def test_long_sentences_go_on_from_part_to_part(page, client):
    page.run(
        "window.sent = []; window.fetched = fetch; window.fetch = (path, request) =>"
        "{ sent.push(JSON.parse(request.body).text); return fetched(path, request); }"
    )
    paste(page, RUN_ON)
    page.wait(f"document.querySelectorAll('.part').length > 1 && {DONE}")
    assert words(result(page)) == words(RUN_ON)
    page.run("window.fetch = fetched")
    sent = page.run("sent")
    assert len(sent) > 1
    for text, following in pairwise(sent):
        *_, last = answer(client, "/restore", text=text)["sentences"]
        assert following.startswith(" ".join(word["text"] for word in last["words"]))


def test_long_work_shows_progress_and_can_be_stopped(page):
    paste(page, LONG)
    page.wait("!work.hidden && progress.value > 0")
    assert re.match(r"[\d,]+ of [\d,]+ words", page.text("#count"))
    assert is_within(page, "#progress")
    page.click("document.getElementById('stop')")
    page.wait("document.getElementById('stop').textContent === 'Go on'")
    done = page.run("progress.value")
    sleep(0.3)
    assert page.run("progress.value") == done < page.run("progress.max")
    page.click("document.getElementById('stop')")
    page.wait(f"progress.value > {done}")
    # Whoever goes on at once does so before the last request is given up.
    twice = "for (const _ of '12') document.getElementById('stop').click();"
    done = page.run(f"{twice} progress.value")
    page.wait(f"progress.value > {done}")


def test_panes_scroll_together(page):
    paste(page, "\n\n".join([WORDS] * 60))
    page.wait("output.scrollHeight > 2 * output.clientHeight")
    share = "(pane) => pane.scrollTop / (pane.scrollHeight - pane.clientHeight)"
    for pane, other in (("source", "output"), ("output", "source")):
        page.run(f"{pane}.scrollTop = {pane}.scrollHeight * 0.4")
        page.wait(f"Math.abs(({share})({pane}) - ({share})({other})) < 0.05")
        page.run(f"{pane}.scrollTop = 0")
        page.wait(f"{other}.scrollTop === 0")


def test_a_dropped_file_comes_back_in_any_format(page, server, tmp_path):
    file = tmp_path / "talk.srt"
    file.write_text(SRT, encoding="utf-8")
    page.drop(file, "source")
    page.wait("document.querySelector('.file')")
    assert "talk.srt" in page.text("#note")
    assert "00:00:01,000 --> 00:00:04,000 X1:40" in result(page)
    page.downloads_to(tmp_path)
    for name, beginning in (("srt", "1\n"), ("vtt", "WEBVTT")):
        page.run(f"format.value = '{name}'; format.dispatchEvent(new Event('change'))")
        page.click("document.getElementById('download')")
        saved = tmp_path / f"talk.restored.{name}"
        deadline = monotonic() + 20
        while not saved.exists() and monotonic() < deadline:
            sleep(0.02)
        assert saved.read_text("utf-8").startswith(beginning)
        assert saved.read_text("utf-8").strip() == result(page).strip()
    load(page, server.url)
    page.wait("document.querySelector('.file')")
    assert page.run("document.getElementById('tab-correct').disabled")
    page.run("document.getElementById('clear').click()")
    assert not page.run("document.getElementById('tab-correct').disabled")


def test_a_file_that_cannot_be_read_says_so(page, tmp_path):
    file = tmp_path / "other.json"
    file.write_text('{"a": 1}', encoding="utf-8")
    page.drop(file, "source")
    page.wait("document.querySelector('.failed')")
    assert "other.json" in page.run("document.querySelector('.failed').dataset.error")
    assert page.run("copy.disabled")
    page.errors.clear()  # the browser logs the status


# Other languages


def test_text_in_another_language_is_restored_if_one_insists(page, client):
    force = "document.querySelector('#refusal button')"
    write(page, WORDS)
    assert page.run("refusal.childElementCount") == 0
    for mode, label in (("restore", "Restore it anyway"), ("correct", "Correct")):
        page.run("document.getElementById('clear').click()")
        choose(page, mode)
        write(page, SPANISH)
        page.wait(force)
        said = page.text("#refusal")
        assert "The text seems to be Spanish, but the pipeline is for English." in said
        assert label in said
        assert '"force"' not in said
        assert result(page) == SPANISH
        page.run(f"{force}.focus()")
        page.press("Enter")
        page.wait(f"document.querySelector('.part:not(.refused)') && {DONE}")
        assert page.run("document.activeElement.id") == "output"
        found = answer(client, f"/{mode}", text=SPANISH, force=True)["text"]
        page.wait("output.querySelector('.mark, .change')")
        if mode == "restore":
            assert result(page).replace("·", "") == found
        assert page.run("refusal.childElementCount") == 0
    page.errors.clear()  # the browser logs the status


def test_a_part_in_another_language_does_not_stop_the_others(page):
    paste(page, f"{WORDS}\n\n{SPANISH}\n\n{WORDS}")
    page.wait(f"document.querySelector('#refusal button') && {DONE}")
    refused = (
        "[...document.querySelectorAll('.part')].map((e) => e.matches('.refused'))"
    )
    assert page.run(refused) == [False, True, False]
    paste(page, WORDS)
    page.wait("!refusal.childElementCount")
    page.errors.clear()


def test_a_file_in_another_language_is_restored_if_one_insists(page, tmp_path):
    file = tmp_path / "charla.srt"
    file.write_text(f"1\n00:00:01,000 --> 00:00:09,000\n{SPANISH}\n", "utf-8")
    page.drop(file, "source")
    page.wait("document.querySelector('#refusal button')")
    assert "charla.srt seems to be Spanish" in page.text("#refusal")
    assert page.run("copy.disabled")
    page.click("document.querySelector('#refusal button')")
    page.wait("document.querySelector('.file')")
    assert page.run("refusal.childElementCount") == 0
    page.errors.clear()


def test_options_are_those_that_the_server_has(page, client):
    body = client.get("/openapi.json").json()["paths"]["/restore"]["post"]
    name = body["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    known = {"casing", "existing", "quotes"} & set(
        schemas[name.rpartition("/")[2]]["properties"]
    )
    assert page.run("document.querySelectorAll('#options select').length") == len(known)
    write(page, WORDS)
    if "casing" in known:
        page.run(
            "(() => { const own = document.querySelector('#options select');"
            "own.value = 'keep'; own.dispatchEvent(new Event('change')); })()"
        )
        found = answer(client, "/restore", text=WORDS, casing="keep")["text"]
        page.wait(f"output.innerText === {json.dumps(found)}")
    page.click("document.getElementById('doubts')")
    assert page.run(
        "[...document.querySelectorAll('#output .maybe')].every((e) => !e.offsetWidth)"
    )
    page.click("document.getElementById('doubts')")


# Everybody


def test_keys_reach_every_mark_and_what_it_offers(page):
    choose(page, "correct")
    write(page, "Well; Peter sold , bread, lemons and, onions")
    page.wait("document.querySelector('#output .change')")
    page.run("output.focus()")
    page.press("ArrowRight")
    assert page.run("document.activeElement.classList.contains('change')")
    page.wait("!card.hidden")
    page.press("Enter")
    page.wait("card.contains(document.activeElement)")
    page.press("Escape")
    page.wait("card.hidden")
    assert page.run("document.activeElement.classList.contains('change')")
    page.press("Enter")
    page.press("Enter")
    page.wait("document.querySelector('#output .change.kept')")


@pytest.mark.parametrize("size", [(390, 844), (360, 640), (1280, 800)])
def test_the_result_is_never_off_screen(page, size):
    page.resize(*size, touch=size[0] < 500)
    for mode in ("restore", "correct", "rearrange"):
        choose(page, mode)
        paste(page, f"{SENTENCE} " * 60)
        page.wait("document.querySelector('.part:not(.waiting)')")
        assert page.run("output.clientHeight") > 150
        assert is_within(page, "#output")
        assert is_within(page, "#copy")
        legend = f"#result .legend[data-mode={mode}]"
        assert is_within(page, legend)
        assert page.run("result.getBoundingClientRect().bottom") >= page.run(
            f"document.querySelector('{legend}').getBoundingClientRect().bottom"
        )
        page.run("document.getElementById('clear').click()")


@pytest.mark.parametrize("width", [320, 360, 390])
def test_what_is_chosen_does_not_touch_its_arrow(page, width):
    page.resize(width, 700, touch=True)
    for value in ("of sentences", "typographic “…”"):
        page.run(
            "(() => { for (const own of document.querySelectorAll('#options select'))"
            "for (const option of own.options)"
            f"if (option.text === {json.dumps(value)}) own.value = option.value; }})()"
        )
    cramped = page.run(
        "[...document.querySelectorAll('#options select')].filter((own) => {"
        "const style = getComputedStyle(own);"
        "const pen = document.createElement('canvas').getContext('2d');"
        "pen.font = style.font;"
        "const text = pen.measureText(own.selectedOptions[0].text).width;"
        "const room = own.clientWidth - parseFloat(style.paddingInlineStart);"
        f"return text + {ARROW} > room; }}).map((own) => own.value)"
    )
    assert cramped == []


@pytest.mark.skipif(AXE is None, reason="SPACY_PUNCT_AXE names no axe.min.js")
@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(page, server, tmp_path, width, is_dark):
    page.resize(width, 844, touch=width < 500)
    page.dark(is_dark)
    page.run(Path(AXE).read_text("utf-8") + "; 0")

    def check(state: str) -> None:
        found = page.run(
            "axe.run().then(({ violations }) => JSON.stringify(violations.map("
            "({ id, nodes }) => [id, nodes.map(({ html }) => html)])))"
        )
        assert json.loads(found) == [], state

    for mode, text in (("restore", WORDS), ("correct", "Well; Peter sold , bread")):
        choose(page, mode)
        check(f"{mode}, nothing")
        write(page, text)
        check(mode)
        page.run("document.querySelector('#output [role=button]').focus()")
        page.wait("!card.hidden")
        check(f"{mode}, a card")
        page.run("document.getElementById('clear').click()")
    choose(page, "restore")
    write(page, SPANISH)
    page.wait("document.querySelector('#refusal button')")
    check("another language")
    page.errors.clear()  # the browser logs the status
    page.run("document.getElementById('clear').click()")
    choose(page, "rearrange")
    write(page, SENTENCE)
    check("rearrange")
    page.click("document.querySelector('.node:not(.whole) > .relation')")
    check("rearrange, a part selected")
    choose(page, "restore")
    paste(page, LONG)
    page.wait("!work.hidden && progress.value > 0")
    check("restore, at work")
    page.click("document.getElementById('stop')")
    check("restore, stopped")
    file = tmp_path / "talk.srt"
    file.write_text(SRT, encoding="utf-8")
    page.drop(file, "source")
    page.wait("document.querySelector('.file')")
    check("a file")
    page.dark(False)
