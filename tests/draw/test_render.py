"""`render`: what is drawn, and where."""

import re
import sys
from collections import Counter
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

import spacy_punct
from spacy_punct.data.kinds import MESSAGES
from spacy_punct.data.marks import BOS
from spacy_punct.data.treebank import read_treebank
from spacy_punct.draw.explained import explained_sentences, restored_sentences
from spacy_punct.draw.markup import clean
from spacy_punct.draw.render import render, render_svg
from spacy_punct.draw.rewrites import frequent_rewrites, rewrites_picture
from spacy_punct.draw.underlying import UnderlyingOptions
from spacy_punct.errors import PunctError
from spacy_punct.reading.corpus import make_doc
from tests.draw.restored_docs import (
    SLOTS,
    WORDS,
    corrected_doc,
    restored_doc,
)
from tests.reading.docs import parsed_doc, with_marks

ANY_TEXT = st.text(min_size=1, max_size=8)
WORD = ANY_TEXT.filter(lambda text: not (text.isspace() or text.endswith(".")))
"""The dot of an abbreviation is shown with the marks."""


def parsed(markup: str) -> ET.Element:
    """Markup as XML, without the namespace of SVG."""
    return ET.fromstring(f"<all>{markup.replace('xmlns=', 'data-ns=')}</all>")


def of_class(root: ET.Element, name: str) -> list[ET.Element]:
    return [e for e in root.iter() if name in (e.get("class") or "").split()]


def texts_of(node: ET.Element) -> list[ET.Element]:
    return list(node.iter("text"))


def middle(node: ET.Element) -> float:
    xs = [float(text.get("x")) for text in texts_of(node)]
    return sum(xs) / len(xs)


def word_places(root: ET.Element) -> dict[int, float]:
    return {
        int(token.get("data-word")): float(texts_of(token)[0].get("x"))
        for token in of_class(root, "token")
    }


# Underlying


def test_each_puncteme_once_and_in_its_place():
    root = parsed(render(restored_doc(), jupyter=False))
    words = word_places(root)
    assert list(words) == [*range(6)]
    assert sorted(words.values()) == list(words.values())
    chips = {
        (int(chip.get("data-word")), chip.get("class").split()[1]): chip
        for chip in of_class(root, "puncteme")
    }
    assert len(chips) == len(of_class(root, "puncteme"))
    assert {
        key: [text.text for text in texts_of(chip)] for key, chip in chips.items()
    } == {
        (0, "left"): ["“"],
        (0, "right"): ["”", ","],
        (5, "left"): [","],
        (5, "right"): [","],
        (2, "right"): ["."],
    }
    bounds = {**words, -1: 0.0, 6: float("inf")}
    for key, slot in {
        (0, "left"): 0,
        (0, "right"): 2,
        (5, "left"): 4,
        (5, "right"): 6,
        (2, "right"): 6,
    }.items():
        assert chips[key].get("data-slot") == str(slot)
        for text in texts_of(chips[key]):
            assert bounds[slot - 1] < float(text.get("x")) < bounds[slot]
    # Innermost first: my friend's comma before the sentence's period.
    assert middle(chips[5, "right"]) < middle(chips[2, "right"])


def test_a_constituent_has_one_colour():
    root = parsed(render(restored_doc(), jupyter=False))
    colours = {}
    for chip in of_class(root, "puncteme"):
        looks = {text.get("fill") for text in texts_of(chip)}
        looks.add(chip.find("rect").get("stroke"))
        colours.setdefault(chip.get("data-word"), set()).update(looks)
    assert [len(found) for found in colours.values()] == [1, 1, 1]
    assert len(set.union(*colours.values())) == 3
    for arc in of_class(root, "arc"):
        stroke = arc.find("path").get("stroke")
        assert stroke in colours.get(arc.get("data-word"), {"#777777"})


def test_each_rewrite_once_with_its_edits():
    root = parsed(render(restored_doc(), jupyter=False))
    words = {**word_places(root), -1: 0.0, 6: float("inf")}
    slots = {int(slot.get("data-slot")): slot for slot in of_class(root, "rewrite")}
    assert sorted(slots) == [0, 2, 4, 6]
    assert len(of_class(root, "rewrite")) == 4
    assert [e.text for e in of_class(slots[2], "underlying")] == ["”", ","]
    assert [e.text for e in of_class(slots[2], "surface")] == [",", "”"]
    assert len(slots[2].findall("path[@class='moved']")) == 2
    assert [e.text for e in of_class(slots[6], "absorbed")] == [","]
    assert len(of_class(slots[6], "strike")) == 1
    assert [e.text for e in of_class(slots[6], "surface")] == ["."]
    assert slots[6].find("title").text == ", . → ."
    assert slots[0].find("title").text == "“ → “"
    for number, slot in slots.items():
        for text in texts_of(slot):
            assert words[number - 1] < float(text.get("x")) < words[number]
        heights = {
            name: {float(e.get("y")) for e in of_class(slot, name)}
            for name in ("underlying", "surface")
        }
        assert max(heights["underlying"]) < min(heights["surface"])


def test_the_mark_at_the_beginning_is_not_drawn():
    doc = restored_doc(punctemes={0: ((",",), ())}, slots=[()] * 7)
    root = parsed(render(doc, jupyter=False))
    (slot,) = of_class(root, "rewrite")
    assert [e.text for e in of_class(slot, "absorbed")] == [","]
    assert BOS not in ET.tostring(root, encoding="unicode")
    assert "absorbed by the beginning" in ET.tostring(root, encoding="unicode")


def test_accessible():
    svg = parsed(render(restored_doc(), jupyter=False)).find(".//svg")
    assert svg.get("role") == "img"
    title, description = svg.get("aria-labelledby").split()
    assert svg.find("title").get("id") == title
    assert svg.find("desc").get("id") == description
    assert " ".join(WORDS) in svg.find("title").text
    assert "friend (appos) begins with , and ends with ,." in svg.find("desc").text


def test_right_to_left_is_mirrored():
    left = parsed(render(restored_doc(), jupyter=False)).find(".//svg")
    doc = restored_doc(language="ar")
    right = parsed(render(doc, jupyter=False)).find(".//svg")
    width = float(right.get("width"))
    assert right.get("direction") == "rtl"
    places = list(word_places(right).values())
    assert places == sorted(places, reverse=True)
    assert places == pytest.approx(
        [width - x for x in word_places(left).values()], abs=1
    )
    # An Arabic comma, as it is written.
    shown = {e.text for e in of_class(right, "surface")}
    assert "،" in shown
    assert 'dir="rtl"' in render(doc, page=True, jupyter=False)
    first = of_class(right, "puncteme")[0]
    box = first.find("rect")
    start, size = float(box.get("x")), float(box.get("width"))
    assert start < float(texts_of(first)[0].get("x")) < start + size


@pytest.mark.parametrize("width", [150, 260, 400, None])
def test_long_sentences_wrap(width):
    doc = restored_doc()
    svg = parsed(render(doc, options={"width": width}, jupyter=False)).find(".//svg")
    rows = of_class(svg, "row")
    assert len(rows) == 1 if width is None else len(rows) > 1
    words = Counter(t.get("data-word") for t in of_class(svg, "token"))
    assert words == Counter(map(str, range(6)))
    chips = [
        (c.get("data-word"), c.get("data-slot")) for c in of_class(svg, "puncteme")
    ]
    assert sorted(chips) == [("0", "0"), ("0", "2"), ("2", "6"), ("5", "4"), ("5", "6")]
    assert len(of_class(svg, "rewrite")) == 4
    relations = Counter(e.text for e in of_class(svg, "relation"))
    assert relations == Counter(t.dep_.replace("ROOT", "root") for t in doc)
    whole = float(svg.get("width"))
    for text in texts_of(svg):
        assert 0 <= float(text.get("x")) <= whole
    for row in rows:
        # Each slot's marks are in the row of the word before them.
        here = {int(t.get("data-word")) for t in of_class(row, "token")}
        for slot in of_class(row, "rewrite"):
            assert max(int(slot.get("data-slot")) - 1, 0) in here


def test_a_very_long_sentence():
    n = 120
    doc = restored_doc(
        ["word"] * n,
        heads=[0, *range(n - 1)],
        deps=["ROOT", *["conj"] * (n - 1)],
        punctemes=dict.fromkeys(range(1, n), ((",",), ())) | {0: ((), (".",))},
        slots=[(), *[(",",)] * (n - 1), (".",)],
    )
    svg = parsed(render(doc, jupyter=False)).find(".//svg")
    assert float(svg.get("width")) <= UnderlyingOptions().width
    assert len(of_class(svg, "puncteme")) == n
    assert len(of_class(svg, "rewrite")) == n


def test_sentences_one_below_the_other():
    doc = restored_doc(
        ["Go", "home", "Stay", "here"],
        heads=[0, 0, 2, 2],
        deps=["ROOT", "advmod"] * 2,
        punctemes={0: ((), (".",)), 2: (("``",), ("''",))},
        slots=[(), (), (".", "``"), (), ("''",)],
    )
    first, second = restored_sentences(doc)
    # The slot between them has the marks of both.
    assert first.rewritings[-1].surface == (".",)
    assert second.rewritings[0].surface == (BOS, "``")
    root = parsed(render(doc, jupyter=False))
    assert len(root.findall(".//svg")) == 2
    assert len({e.get("id") for e in root.iter("title") if e.get("id")}) == 2
    one = parsed(render(doc[2:3], jupyter=False))
    assert [e.find("text").text for e in of_class(one, "token")] == ["Stay", "here"]
    file = ET.fromstring(render_svg(doc))
    tops = [float(svg.get("y")) for svg in file]
    assert tops[0] == 0
    assert tops[1] > float(file[0].get("height"))
    assert float(file.get("height")) >= tops[1] + float(file[1].get("height"))


def test_dots_of_abbreviations_are_marks_if_the_model_says_so():
    doc = restored_doc(
        ["Ask", "Mr.", "Hill"],
        heads=[0, 2, 0],
        deps=["ROOT", "nmod", "obj"],
        punctemes={1: ((), ("<abbr>",)), 0: ((), (".",))},
        slots=[(), (), (), (".",)],
    )
    (sentence,) = restored_sentences(doc)
    assert sentence.rewritings[2].surface == ("<abbr>",)
    assert sentence.words == ("Ask", "Mr", "Hill")


@settings(max_examples=15, deadline=None)
@given(st.lists(WORD, min_size=6, max_size=6), WORD)
def test_everything_is_escaped(words, relation):
    doc = restored_doc(words, deps=["dep", relation, "ROOT", "dep", "dep", "dep"])
    tokens = [token.text for token in doc]
    root = parsed(render(doc, jupyter=False))
    assert [e.find("text").text for e in of_class(root, "token")] == [
        clean(text) for text in tokens if not text.isspace()
    ]
    assert clean(relation) in {e.text for e in of_class(root, "relation")}
    strip = parsed(render(doc, "confidence", jupyter=False))
    (text,) = of_class(strip, "text")
    assert "".join(text.itertext()) == clean(doc._.restored_text)
    page = render(doc, page=True, jupyter=False)
    assert page.count("<svg") == 1


def test_tags_and_quotes_of_a_text():
    nasty = ["<script>", "&amp;", '"x"', "a'b", "]]>", "</svg>"]
    markup = render(restored_doc(nasty), jupyter=False)
    assert "<script" not in markup
    assert markup.count("</svg>") == 1
    shown = [e.find("text").text for e in of_class(parsed(markup), "token")]
    assert shown == nasty


def test_empty_doc():
    doc = restored_doc([], heads=[], deps=[], punctemes={}, slots=[()])
    assert render(doc, jupyter=False) == ""
    assert "</html>" in render(doc, page=True, jupyter=False)
    assert len(of_class(parsed(render(doc, "confidence", jupyter=False)), "text")) == 1
    assert render([], jupyter=False) == ""


def test_without_restoration():
    doc = parsed_doc(spacy.blank("en").vocab)
    for style in ("underlying", "confidence"):
        with pytest.raises(PunctError, match="P146"):
            render(doc, style, jupyter=False)
    with pytest.raises(PunctError, match="P147"):
        render(doc, "corrections", jupyter=False)
    with pytest.raises(PunctError, match="P149"):
        render(doc, "rewrites", jupyter=False)
    changed = restored_doc()
    changed._.restored_slots = [list(slot) for slot in SLOTS[:-1]]
    with pytest.raises(PunctError, match="P146"):
        render(changed, jupyter=False)


@pytest.mark.parametrize(
    ("style", "options"),
    [
        ("dep", None),
        ("underlying", {"compact": True}),
        ("underlying", {"surface": "deep"}),
        ("corrections", {"width": 3}),
    ],
)
def test_unknown_styles_and_options(style, options):
    with pytest.raises(PunctError, match="P148"):
        render(restored_doc(), style, options=options, jupyter=False)


def test_only_docs_are_drawn():
    with pytest.raises(PunctError, match="P148"):
        render("a text", jupyter=False)
    with pytest.raises(PunctError, match="P148"):
        render_svg(restored_doc(), "confidence")


def test_page_and_minify():
    doc = restored_doc()
    page = render(doc, page=True, jupyter=False)
    assert page.startswith("<!DOCTYPE html>")
    assert '<html lang="en" dir="ltr">' in page
    plain, small = (render(doc, minify=m, jupyter=False) for m in (False, True))
    assert "\n" in plain
    assert "\n" not in small
    assert plain.replace("\n", "") == small
    assert plain == render(doc, jupyter=False)
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", plain)


def test_in_a_notebook(monkeypatch):
    shown = []
    fake = SimpleNamespace(HTML=str, display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=fake))
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    assert render(restored_doc(), jupyter=True) is None
    assert "<svg" in shown[0]
    assert render(restored_doc()).startswith("<figure")


def test_the_package_has_it():
    assert spacy_punct.render is render


# Confidence


def test_marks_and_nearly_marks():
    doc = restored_doc(confidence=[1.0, 0.6, 0.42, 0.85, 0.97, 1.0, 0.999])
    root = parsed(render(doc, "confidence", jupyter=False))
    (text,) = of_class(root, "text")
    marks = [(m.text, m.get("title")) for m in text.iter("mark")]
    assert marks == [
        ("``", "`` 100%"),
        (",", ", 42%"),
        ("''", "'' 42%"),
        (",", ", 97%"),
        (".", ". >99%"),
    ]
    looks = [m.get("style") for m in text.iter("mark")]
    assert looks[1] == looks[2]
    assert len({looks[0], looks[1], looks[4]}) == 2
    (tick,) = of_class(text, "tick")
    assert tick.get("title") == "no mark 60%"
    assert list(text).index(tick) == 1
    assert len(of_class(root, "legend")) == 1
    two = parsed(render([doc, doc], "confidence", jupyter=False))
    assert len(of_class(two, "legend")) == 1
    strict = render(doc, "confidence", options={"tick": 0.9}, jupyter=False)
    assert len(of_class(of_class(parsed(strict), "text")[0], "tick")) == 2
    numbers = render(doc, "confidence", options={"numbers": True}, jupyter=False)
    assert "42%" in [sub.text for sub in parsed(numbers).iter("sub")]


# Corrections


def corrected() -> Doc:
    """If it rains <we stay; they, go."""
    words = ["If", "it", "rains", "<we", "stay", ";", "they", ",", "go", "."]
    doc = Doc(
        spacy.blank("en").vocab,
        words=words,
        spaces=[True, True, True, True, False, True, False, True, False, False],
        heads=[2, 2, 4, 4, 4, 4, 8, 8, 4, 4],
        deps=[
            *("mark", "nsubj", "advcl", "nsubj", "ROOT"),
            *("punct", "nsubj", "punct", "parataxis", "punct"),
        ],
    )
    at = {word: doc.text.index(word) for word in ("rains", ";", ",")}
    common = {"kind": "wrong-mark", "probability": 0.93}
    return corrected_doc(
        doc,
        [
            {
                **common,
                "slot": 3,
                "before": [],
                "after": [","],
                "word": 2,
                "start": at["rains"] + 5,
                "end": at["rains"] + 5,
                "text": ",",
            },
            {
                **common,
                "slot": 5,
                "before": [";"],
                "after": [":"],
                "word": 8,
                "start": at[";"],
                "end": at[";"] + 1,
                "text": ":",
            },
            {
                **common,
                "slot": 6,
                "before": [","],
                "after": [],
                "word": 6,
                "start": at[","],
                "end": at[","] + 1,
                "text": "",
            },
        ],
    )


def text_without(node: ET.Element, tag: str) -> str:
    """The text of an element but for what is inside some others."""
    own = "" if node.tag == tag else (node.text or "")
    inner = "" if node.tag == tag else "".join(text_without(c, tag) for c in node)
    return own + inner + (node.tail or "")


def test_corrections_are_shown():
    doc = corrected()
    root = parsed(render(doc, "corrections", jupyter=False))
    text = root.find(".//div")
    assert text_without(text, "ins") == doc.text
    assert text_without(text, "del") == doc._.corrected_text
    assert [e.text for e in text.iter("del")] == [";", ","]
    assert [e.text for e in text.iter("ins")] == [",", ":"]
    labels = [e.get("title") for e in of_class(text, "correction")]
    assert labels[0] == "nothing → ,, 93%: at the edge of “rains” (advcl)"
    assert "not at the edge of “they”" in labels[2]
    for k, constituent in enumerate(("If it rains", "they, go", "they")):
        found = of_class(text, f"constituent-{k}")
        shown = (text_without(e, "ins").removesuffix(e.tail or "") for e in found)
        assert "".join(shown) == constituent
    css = root.find(".//style").text
    for k in range(3):
        assert f":has(.correction-{k}:hover) .constituent-{k}" in css
    assert "<script" not in ET.tostring(root, encoding="unicode")


def test_corrections_of_words_are_shown():
    deps = ["nsubj", "ROOT"]
    doc = Doc(spacy.blank("en").vocab, words=["I", "dont"], heads=[1, 1], deps=deps)
    data = {"kind": "missing-apostrophe", "slot": None, "probability": 0.99}
    data |= {"before": ["dont"], "after": ["don't"], "word": 1}
    doc = corrected_doc(doc, [{**data, "start": 2, "end": 6, "text": "don't"}])
    text = parsed(render(doc, "corrections", jupyter=False)).find(".//div")
    (label,) = (e.get("title") for e in of_class(text, "correction"))
    assert label == f"“dont” → “don't”, 99%: {MESSAGES['missing-apostrophe']}"


@settings(max_examples=15, deadline=None)
@given(st.lists(WORD, min_size=4, max_size=4), ANY_TEXT, st.integers(0, 3))
def test_corrections_are_escaped(words, new, word):
    doc = Doc(
        spacy.blank("en").vocab,
        words=words,
        heads=[0, 0, 1, 1],
        deps=["ROOT", "dep", "dep", "dep"],
    )
    start = doc[1].idx + len(doc[1])
    data = {"kind": "wrong-mark", "slot": 2, "before": [], "after": [new]}
    data |= {"probability": 0.5, "word": word}
    doc = corrected_doc(doc, [{**data, "start": start, "end": start + 1, "text": new}])
    text = parsed(render(doc, "corrections", jupyter=False)).find(".//div")
    assert text_without(text, "ins") == clean(doc.text)
    assert text_without(text, "del") == clean(doc._.corrected_text)


# With a model


def test_restored_by_a_model(on_trees, sample):
    restorer = on_trees.get_pipe("punctuation_restorer")
    for example in read_treebank(sample / "dev.conllu").examples[:8]:
        doc = on_trees(make_doc(example, on_trees.vocab))
        for channel in (None, restorer.channel):
            (sentence,) = restored_sentences(doc, channel)
            shown = [r.surface for r in sentence.rewritings]
            slots = [tuple(slot) for slot in doc._.restored_slots]
            assert shown == [(BOS, *slots[0]), *slots[1:]]
            for rewriting in sentence.rewritings:
                assert None not in rewriting.origins
        root = parsed(render(doc, nlp=on_trees, jupyter=False))
        n = sum(len(side) for pair in sentence.pairs for side in pair)
        assert len(of_class(root, "underlying")) == n


def test_what_is_written_is_explained(on_trees):
    restorer = on_trees.get_pipe("punctuation_restorer")
    doc = with_marks(on_trees.vocab)
    (sentence,) = explained_sentences(doc, restorer)
    assert sentence.rewritings[-1].surface == ("!",)
    assert sentence.pairs == tuple(restorer.explain(doc)[0][1])
    root = parsed(render(doc, nlp=on_trees, jupyter=False))
    marks = [e.text for e in of_class(root, "surface")]
    assert marks == [";", "!"]
    options = {"surface": "restored"}
    again = render(doc, nlp=on_trees, options=options, jupyter=False)
    restored = restorer(doc.copy())
    marks = [e.text for e in of_class(parsed(again), "surface")]
    slots = restored._.restored_slots
    assert marks == [m.replace("<abbr>", ".") for slot in slots for m in slot]
    assert doc._.restored_slots is None


def check_panels(drawing: ET.Element) -> list[ET.Element]:
    """The panels, whose bars are probabilities."""
    panels = of_class(drawing, "panel")
    for panel in panels:
        p = [float(e.get("data-p")) for e in of_class(panel, "outcome")]
        assert sum(p) == pytest.approx(1, abs=1e-3)
        bars = [e.find("rect") for e in of_class(panel, "outcome")]
        heights = [float(bar.get("height")) for bar in bars]
        assert heights == sorted(heights, reverse=True)
    return panels


def test_rewrites_of_a_model(on_trees):
    written = with_marks(on_trees.vocab)
    for options, docs in (({"n": 3}, []), (None, [written])):
        markup = render(docs, "rewrites", nlp=on_trees, options=options, jupyter=False)
        panels = check_panels(parsed(markup))
        assert len(panels) == 3 or docs
    channel = on_trees.get_pipe("punctuation_restorer").channel
    counts = Counter({(",", "."): 5, ("''", "."): 9, ("no", "mark"): 20})
    panels = check_panels(rewrites_picture(frequent_rewrites(channel, counts, 12)))
    titles = [of_class(panel, "bigram")[0].text for panel in panels]
    assert titles == ["” .", ", ."]
    (p,) = [
        float(e.get("data-p"))
        for e in of_class(panels[1], "outcome")
        if e.find("title").text.startswith(", . → . (")
    ]
    assert p == pytest.approx(channel.rewrite((",", "."))[(".",)], abs=1e-4)
