"""Text from checkouts of repositories, each in a format of its own."""

import lzma
from pathlib import Path

import pytest
import srsly

from scripts.collect_text import SOURCES, main, paragraphs, split
from spacy_punct.errors import PunctError
from tests.conftest import REPOSITORY

POST = """\
---
title: "Not text"
---
# A heading

A paragraph that
goes on.

- An item.
- Another one.

```
code
```

The end.
"""
XHTML = """\
<html xmlns="http://www.w3.org/1999/xhtml"><body><h2>I</h2>
<p><abbr>Mr.</abbr> Holmes, on the 16th–17th,
was late.</p></body></html>"""
EUROPARL = """\
<text><p sl="en">Mr President, I agree.</p><p sl="de">Not I.</p></text>"""
CALL = """\
token|speaker|ts|endTs|punctuation|prepunctuation|case|tags
Good|0|||||UC|[]
morning|0|||.||LC|[]
Hi|1|||,||UC|[]
all|1|||.|"|LC|[]
"""
DIALOGUES = '[{"turns": [{"utterance": "Hi there."}, {"utterance": "Yes?"}]}]'
TRANSCRIPT = "**Jerod Santo:** So there was a tweet.\n\nAdam:\n\nYes. As I said: no.\n"
FILES = {
    "changelog": ("podcast/a.md", TRANSCRIPT),
    "europarl_en": ("proceedings/xml/en/a.xml", EUROPARL),
    "se": ("src/epub/text/chapter-1.xhtml", XHTML),
    "openstax": (
        "modules/m1/index.cnxml",
        '<document xmlns="http://cnx.rice.edu/cnxml"><para>One <m>two</m>.</para>'
        "<figure>Three.</figure></document>",
    ),
    "btc": ("talks/2017/b.md", POST),
    "pres": ("data/1961-01-20-a.txt", "President: X\n\nMy fellow citizens:\nAsk not."),
    "pres_early": ("data/1789-04-30-a.txt", "President: Y\n\nFellow citizens."),
    "digitalgov": ("content/news/a.md", POST),
    "18f": ("content/posts/a.md", POST),
    "tatoeba_en": ("data/dev/afr-eng/dev.txt", "afr\teng\tAksie!\tAction!\n" * 2),
    "sgd": ("dev/dialogues_001.json", DIALOGUES),
    "cv_en": ("server/data/en/a.txt", "One.\n\nTwo.\n"),
    "earnings22": ("earnings22/transcripts/nlp_references/1.nlp", CALL),
}
IN_POST = ["A paragraph that goes on.", "- An item.", "- Another one.", "The end."]
EXPECTED = {
    "changelog": ["So there was a tweet.", "Yes. As I said: no."],
    "europarl_en": ["Mr President, I agree."],
    "se": ["Mr. Holmes, on the 16th-17th, was late."],
    "openstax": ["One two."],
    "btc": IN_POST,
    "pres": ["My fellow citizens:", "Ask not."],
    "pres_early": ["Fellow citizens."],
    "digitalgov": IN_POST,
    "18f": IN_POST,
    "tatoeba_en": ["Action!"],
    "sgd": ["Hi there.", "Yes?"],
    "cv_en": ["One.", "Two."],
    "earnings22": ["Good morning.", 'Hi, "all.'],
}


def write(folder: Path, name: str) -> Path:
    path, content = FILES[name]
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(content, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", SOURCES)
def test_collect_reads_each_source(tmp_path, name):
    assert list(paragraphs(name, [write(tmp_path, name)])) == EXPECTED[name]


def test_collect_leaves_out_what_is_no_source(tmp_path):
    for path in ("bigtent/a.md", "brainscience/b.md"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(f"It is {path}.")
    (tmp_path / "brainscience" / "c.es.md").write_text("Hola a todos.")
    assert list(paragraphs("changelog", [tmp_path])) == ["It is brainscience/b.md."]
    (tmp_path / "src/epub/text").mkdir(parents=True)
    (tmp_path / "src/epub/text/colophon.xhtml").write_text(XHTML)
    (tmp_path / "src/epub/text/broken.xhtml").write_text("<p>")
    assert list(paragraphs("se", [tmp_path])) == []
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "dialogues_002.json").write_text('[{"turns"')
    assert list(paragraphs("sgd", [tmp_path])) == []


def test_collect_parts_are_apart():
    lines = [f"word{i} and more" for i in range(1000)]
    parts = split(lines, 300, 30)
    assert len(parts["dev"]) == len(parts["test"]) == 100
    assert parts["train"] + parts["dev"] + parts["test"] == [
        *lines[:780],
        *lines[790:890],
        *lines[900:],
    ]
    assert split(lines, 3000, 30) == {"train": lines}


def test_collect_writes_what_there_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(REPOSITORY)
    listed = srsly.read_yaml("project.yml")["vars"]["text"]
    assert {name for name in SOURCES if name != "pres_early"} == set(listed)
    assert all(set(e) == {"repository", "commit", "licence"} for e in listed.values())
    checkouts, output = tmp_path / "checkouts", tmp_path / "text"
    write(checkouts / "kfogel+presidential-speeches", "pres")
    write(checkouts / "kfogel+presidential-speeches", "pres_early")
    main(checkouts, output, ["pres", "pres_early", "se"], 100)
    with lzma.open(output / "train" / "pres.txt.xz", "rt") as file:
        assert file.read() == "My fellow citizens:\nAsk not.\n"
    written = sorted(path.name for path in output.rglob("*.*"))
    assert written == ["pres.txt.xz", "pres_early.txt.xz"]
    assert "se: no checkout of standardebooks/*" in capsys.readouterr().out
    with pytest.raises(PunctError, match="no source other"):
        main(checkouts, output, ["other"], 100)
