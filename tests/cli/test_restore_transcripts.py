"""`punct restore` on transcripts: formats, folders, switches and languages."""

import json

import pytest

from tests.conftest import letters
from tests.transcripts.builders import MAKERS, said, srt, text

WORDS = said(60, turn=30)
SPANISH = (
    "bueno pues yo creo que no es tan fácil como la gente dice pero en el fondo se "
    "trata de una idea muy buena para los niños"
)


@pytest.fixture
def restore(invoke, full_path):
    return lambda *args, **kwargs: invoke("restore", "-m", full_path, *args, **kwargs)


@pytest.fixture
def talk(tmp_path):
    path = tmp_path / "talk.json"
    path.write_text(MAKERS["whisperx"][2](WORDS))
    return path


def test_restore_json_keeps_its_times(restore, talk):
    old = json.loads(talk.read_text())
    done = restore(talk)
    assert done.exit_code == 0, done.output
    new = json.loads(done.output)
    assert new != old
    for a, b in zip(old["segments"], new["segments"], strict=True):
        assert letters(a["text"]) == letters(b["text"])
        for x, y in zip(a["words"], b["words"], strict=True):
            assert {**x, "word": letters(x["word"])} == {
                **y,
                "word": letters(y["word"]),
            }
    assert restore(stdin=talk.read_text()).output == done.output


def test_restore_json_to_other_formats(restore, talk, tmp_path):
    page = restore(talk, "--to", "md").output
    assert page.startswith("`00:00:00` **SPEAKER_00:** ")
    assert letters(text(WORDS)[:20]) in letters(page)
    target = tmp_path / "talk.srt"
    assert restore(talk, "-o", target).exit_code == 0
    assert target.read_text().startswith("1\n00:00:00,500 --> ")
    assert "\nSPEAKER_01: " in target.read_text()
    records = [json.loads(r) for r in restore(talk, "-f", "jsonl").output.splitlines()]
    assert records[0]["start"] == 0.5


def test_restore_a_folder(restore, talk, tmp_path):
    talks = tmp_path / "talks"
    talks.mkdir()
    talk.rename(talks / "a.json")
    (talks / "b.srt").write_text(srt(WORDS))
    (talks / "c.json").write_text('{"so": 1}')
    (talks / "d.txt").write_text(f"{text(WORDS[:9])}\n")
    output = tmp_path / "pages"
    done = restore(talks, "--to", "txt", "--output-dir", output)
    assert done.exit_code == 1
    assert "3 written, 0 skipped, 1 failed" in done.output
    assert "[P180]" in done.output and "[P188]" in done.output
    assert sorted(path.name for path in output.iterdir()) == ["a.txt", "b.txt", "d.txt"]
    for path in output.iterdir():
        assert letters(text(WORDS[:9])) in letters(path.read_text())
    again = restore(talks, "--to", "txt", "--output-dir", output, "--resume")
    assert "0 written, 3 skipped, 1 failed" in again.output


def test_restore_several_transcripts_need_several_outputs(restore, talk, tmp_path):
    (tmp_path / "b.srt").write_text(srt(WORDS))
    done = restore(talk, tmp_path / "b.srt", "-o", tmp_path / "both.srt")
    assert done.exit_code == 1 and "[P183]" in done.output
    assert not (tmp_path / "both.srt").exists()


@pytest.mark.parametrize(
    ("content", "options", "code"),
    [
        ('{"so": 1}', [], "P180"),
        ('{"text": "so', [], "P181"),
        (text(WORDS), ["--to", "srt"], "P184"),
        (text(WORDS), ["--to", "docx"], "P148"),
        (text(WORDS), ["--paragraphs", "many"], "P148"),
        (text(WORDS), ["--casing", "LOUD"], "P046"),
        (text(WORDS), ["--existing", "burn"], "P046"),
        (text(WORDS), ["--quotes", "none"], "P046"),
        (text(WORDS), ["--marks", "§"], "P047"),
        (text(WORDS), ["--threshold", "2"], "P024"),
        ("so, it goes", ["--existing", "error"], "P045"),
        (SPANISH, [], "P190"),
        ("ну вот мы вчера говорили о том что это не так", [], "P190"),
    ],
)
def test_restore_refuses_in_one_line_and_writes_nothing(
    restore, tmp_path, content, options, code
):
    out = tmp_path / "out"
    done = restore(*options, "-o", out, stdin=content)
    assert done.exit_code == 1
    assert f"[{code}]" in done.output
    assert len(done.output.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_restore_other_languages_by_force(restore):
    done = restore("--force", stdin=SPANISH)
    assert letters(done.output) == letters(SPANISH)


def test_restore_switches(restore):
    plain = text(WORDS)
    full = restore(stdin=plain).output
    assert "," in full and "So" in full
    assert "," not in restore("--marks", ".?", stdin=plain).output
    assert restore("--casing", "keep", stdin=plain).output.islower()
    kept = restore("--existing", "keep", stdin=f"well! {plain}").output
    assert "Well!" in kept
    sure = restore("--threshold", "1", stdin=plain).output
    assert sum(map(sure.count, ".,?")) < sum(map(full.count, ".,?"))
    paged = restore("--paragraphs", "none", stdin=f"{plain}\n{plain}\n").output
    assert paged.count("\n") == 1


def test_restore_text_keeps_what_is_not_speech(restore):
    line = "[00:01] ANNA: so when the rain stops [music] >> anna will visit us"
    for options in ([], ["--join"]):
        new = restore(*options, stdin=f"{line}\n\n[applause]\n").output
        first, *rest = new.split("\n")
        assert rest == ["", "[applause]", ""]
        assert first.startswith("[00:01] ANNA: So")
        assert " [music] >> Anna" in first
        assert letters(first) == letters(line)
