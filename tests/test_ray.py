"""Texts restored on a Ray of this machine, one of whose processes is killed."""

import gzip
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
import spacy

from spacy_punct.errors import PunctError
from spacy_punct.ray import Done, restore, restore_files
from spacy_punct.restorer.texts import restore_batch
from tests.descendants import PROC, descendants

STORY = ["so it goes", "where did you put the keys", "well the rain stops"]


def test_ray_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(PunctError, match=r"P193.*spacy-punct\[ray\]"):
        restore_files("in", "out")


@pytest.fixture(scope="module")
def cluster():
    """Two processes on this machine."""
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    ray.init(
        num_cpus=2,
        object_store_memory=100 * 2**20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


def kill_one(output: Path, killed: list[int]) -> None:
    """Kill a process that restores, once there are some results."""
    while len(list(output.glob("*.jsonl"))) < 3:
        time.sleep(0.01)
    while not killed:
        for process in descendants(os.getpid(), "MapWorker")[:1]:
            os.kill(process, signal.SIGKILL)
            killed.append(process)
        time.sleep(0.05)


def made(folder: Path, n_files: int, n_rows: int) -> None:
    folder.mkdir()
    for k in range(n_files):
        lines = (
            f'{{"id":{k * n_rows + j}, "text": "{STORY[j % 3]}", "x":[1.50]}}\n'
            for j in range(n_rows)
        )
        (folder / f"{k:03}.jsonl").write_text("".join(lines))


@pytest.mark.slow
@pytest.mark.skipif(not PROC.is_dir(), reason="looks for processes there")
def test_ray_restores_each_file_once_though_a_process_is_killed(
    cluster, both_path, tmp_path
):
    made(tmp_path / "in", 40, 50)
    output = tmp_path / "out"
    killed: list[int] = []
    threading.Thread(target=kill_one, args=(output, killed), daemon=True).start()
    done = restore_files(tmp_path / "in", output, model=str(both_path), batch_size=20)
    assert killed
    assert done == Done(40, 0, 2000)
    assert {p.name for p in output.iterdir()} == {f"{k:03}.jsonl" for k in range(40)}
    nlp = spacy.load(both_path)
    expected = restore_batch(nlp, STORY)
    records = [
        json.loads(line)
        for path in sorted(output.iterdir())
        for line in path.read_text().splitlines()
    ]
    assert [record["id"] for record in records] == list(range(2000))
    for record in records:
        assert record["text"] == expected[record["id"] % 50 % 3]
    # Started again, it does what is not done, and nothing else.
    (output / "007.jsonl").unlink()
    (output / ".008.jsonl.abc.part").write_text("half")
    times = {path: path.stat().st_mtime_ns for path in output.glob("*.jsonl")}
    done = restore_files(tmp_path / "in", output, model=str(both_path))
    assert done == Done(1, 39, 50)
    assert len(list(output.iterdir())) == 40
    assert all(path.stat().st_mtime_ns == old for path, old in times.items())


@pytest.mark.slow
def test_ray_datasets_and_tables_keep_their_other_columns(cluster, both_path, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [*STORY, None] * 8
    table = pa.table({"id": range(32), "said": texts, "x": [[1.5]] * 32})
    (tmp_path / "in").mkdir()
    pq.write_table(table, tmp_path / "in" / "a.parquet")
    record = {"said": STORY[0], "n": 1.0}
    with gzip.open(tmp_path / "in" / "b.jsonl.gz", "wt") as file:
        file.write(json.dumps(record) + "\n\n")
    (tmp_path / "in" / "bad.jsonl").write_text('{"said": 1}\n{"txt": "so"}\n')
    options = {"model": str(both_path), "to": "new", "settings": {"marks": ["."]}}
    output = tmp_path / "out"
    with pytest.raises(PunctError, match=r"P195.*1 of 3.*bad\.jsonl.*P194"):
        restore_files(tmp_path / "in", output, "said", **options)
    found = pq.read_table(output / "a.parquet")
    assert found.drop_columns("new").equals(table)
    new = found.column("new").to_pylist()
    assert [text is None for text in new] == [text is None for text in texts]
    assert {char for text in new[:3] for char in text if not char.isalnum()} <= set(
        " ."
    )
    with gzip.open(output / "b.jsonl.gz", "rt") as file:
        assert file.read() == json.dumps({**record, "new": new[0]}) + "\n\n"
    dataset = cluster.data.from_arrow(table)
    rows = restore(dataset, "said", **options).sort("id").take_all()
    assert [row["new"] for row in rows] == new
    assert [row["said"] for row in rows] == texts
