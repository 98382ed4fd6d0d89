"""Artefacts are made once, whole or not at all, in as many processes as wanted."""

import os
from pathlib import Path

import pytest
import srsly

from scripts.steps import MADE, Task, lang_of, make, passes_over, record, step_app
from spacy_punct.errors import PunctError


def count(folder: Path, n: int) -> None:
    """Work that other processes can import."""
    if n < 0:
        raise PunctError(f"cannot count\nto {n}")
    (folder / "n.txt").write_text(str(n))


def test_an_artefact_is_made_once(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("1")
    task = Task(tmp_path / "deep" / "one", count, {"n": 1}, [source])
    make([task])
    assert (task.folder / "n.txt").read_text() == "1"
    before = (task.folder / MADE).stat().st_mtime_ns
    make([task._replace(settings={"n": 2})])
    assert (task.folder / "n.txt").read_text() == "1"
    # What it was made of is newer.
    os.utime(source, ns=(before + 10**9, before + 10**9))
    make([task._replace(settings={"n": 2})])
    assert (task.folder / "n.txt").read_text() == "2"


def test_what_needs_a_new_artefact_is_made_anew(tmp_path):
    first = Task(tmp_path / "first", count, {"n": 1})
    second = Task(tmp_path / "second", count, {"n": 2}, [first.folder])
    make([first])
    make([second])
    assert second.is_done
    later = (second.folder / MADE).stat().st_mtime_ns + 1
    os.utime(first.folder / MADE, ns=(later, later))
    assert first.is_done
    assert not second.is_done


def test_an_interrupted_artefact_starts_anew(tmp_path):
    part = tmp_path / "one.part"
    part.mkdir()
    (part / "rest.txt").write_text("half of it")
    make([Task(tmp_path / "one", count, {"n": 1})])
    assert not part.exists()
    assert {p.name for p in (tmp_path / "one").iterdir()} == {"n.txt", MADE}
    with pytest.raises(PunctError, match="cannot count"):
        make([Task(tmp_path / "two", count, {"n": -1})])
    assert not (tmp_path / "two").exists()


def test_processes_do_what_they_can(tmp_path):
    tasks = [Task(tmp_path / str(n), count, {"n": n}) for n in (-1, 1, 2)]
    with pytest.raises(PunctError, match=r"1 of 3 failed; .*-1: cannot count to -1"):
        make(tasks, workers=2)
    assert [task.is_done for task in tasks] == [False, True, True]
    record(tmp_path, "counting", tasks[1:])
    made = srsly.read_json(tmp_path / "counting.json")
    assert list(made) == [(tmp_path / n).as_posix() for n in "12"]
    assert all(entry["seconds"] >= 0 for entry in made.values())


def test_names_tell_the_language():
    for name, lang in (("en-2.16", "en"), ("es_ancora-1.4", "es"), ("zh", "zh")):
        assert lang_of(Path("ud") / name, None) == lang
    assert lang_of(Path("assets/sample"), "en") == "en"
    assert passes_over(Path("hi-1.4"), 10) < 10 == passes_over(Path("en-1.4"), 10)


def test_errors_of_steps_are_one_line(invoke):
    def missing() -> None:
        raise ModuleNotFoundError("No module named 'matplotlib'")

    def wrong() -> None:
        raise PunctError("this\nis wrong")

    for main, said in ((missing, "spacy-punct[project]"), (wrong, "this is wrong")):
        done = invoke(main)
        assert done.exit_code == 1
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert step_app(wrong).registered_commands
