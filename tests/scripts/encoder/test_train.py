import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import srsly
import torch

from scripts.encoder import train
from scripts.encoder.reader import (
    PARTS,
    WEIGHTS,
    Labels,
    Reader,
    averaged_reader,
    losses,
)
from scripts.encoder.start import load
from scripts.encoder.train import Schedule, Settings, Training, decayed
from scripts.encoder.trees import TreeDrawer, read_trees, word_labels
from scripts.encoder.windows import IGNORE, Drawer, read_sources
from tests.conftest import REPOSITORY
from tests.scripts.encoder.builders import PIECES, SLOTS, make_folders

QUICK = ("--pieces", "192", "--warmup", "5", "--head-rate", "0.01", "--rate", "0.001")


@pytest.fixture
def arguments(tmp_path) -> list[str]:
    return make_folders(tmp_path)


def make_training(folder: Path) -> tuple[Training, Drawer, TreeDrawer]:
    examples = read_trees(folder / "treebank" / "train.conllu")
    labels = Labels(SLOTS, **word_labels(examples))
    transformer, _ = load(folder / "start.npz")
    (folder / "run").mkdir(exist_ok=True)
    settings = Settings(folder / "run", warmup=1, rate=1e-3, head_rate=1e-2)
    training = Training(Reader(transformer, labels), labels, settings)
    text = Drawer(read_sources(folder / "text" / "train"), PIECES, SLOTS)
    return training, text, TreeDrawer([examples], labels.by_name(), PIECES)


def test_schedule():
    plain = Schedule(10)
    assert [plain.factor(step) for step in (0, 9, 10_000)] == [0.1, 1.0, 1.0]
    assert not plain.is_over(10_000)
    ending = Schedule(10, 100, 20)
    factors = [ending.factor(step) for step in (50, 100, 110, 120, 200)]
    assert factors == [1.0, 1.0, 0.5, 0.0, 0.0]
    assert not ending.is_over(119) and ending.is_over(120)


def test_decay_begins_once():
    plain = Schedule(10)
    assert decayed(plain, 50, 0, None) == plain
    now = decayed(plain, 50, 20, None)
    assert now == Schedule(10, 50, 20)
    assert decayed(now, 60, 20, None) == now  # the same command again
    assert decayed(now, 60, 20, 55) == Schedule(10, 55, 20)


def test_every_part_of_the_loss_falls(arguments, tmp_path):
    training, text, trees = make_training(tmp_path)
    weights = torch.tensor(WEIGHTS)
    batches = [text.batch(96), trees.batch(96)]
    found = []
    for _ in range(15):
        parts = [losses(training.reader.train(), batch) for batch in batches]
        found.append(torch.stack(parts).detach())
        for loss in parts:
            training.take_step(loss @ weights, 100)
    assert training.counters.tolist() == [30, 3000]
    assert (found[0][0, 3:] == 0).all()
    assert (found[-1][0, :3] < found[0][0, :3]).all()
    assert (found[-1][1] < found[0][1]).all()
    pieces = training.reader.transformer.pieces.weight
    assert (pieces == load(tmp_path / "start.npz")[0].pieces.weight).all()


def test_nothing_to_learn_is_no_loss(arguments, tmp_path):
    """And no gradient: a batch may know no start of a sentence, or no mark at all."""
    training, text, trees = make_training(tmp_path)
    batches = [text.batch(96), trees.batch(96)]
    for batch in batches:
        whole = losses(training.reader.eval(), batch)
        batch.starts[:] = IGNORE
        part = losses(training.reader, batch)
        assert part[PARTS.index("start")] == 0
        others = [k for k, name in enumerate(PARTS) if name != "start"]
        assert torch.equal(part[others], whole[others])
    for batch in batches:
        batch.slots[:] = batch.cases[:] = IGNORE
        (losses(training.reader, batch) @ torch.tensor(WEIGHTS)).backward()
    slopes = [p.grad for p in training.trained.values() if p.grad is not None]
    assert slopes and all(slope.isfinite().all() for slope in slopes)


def test_frozen_layers_stay_as_they_are_on_average(arguments, tmp_path):
    training, text, _ = make_training(tmp_path)
    training.average["transformer.layers.0.qkv.weight"] += 1
    training.freeze(1)
    before = {n: p.detach().clone() for n, p in training.trained.items()}
    assert torch.equal(
        before["transformer.layers.0.qkv.weight"],
        training.average["transformer.layers.0.qkv.weight"],
    )
    parts = losses(training.reader.train(), text.batch(96))
    training.take_step(parts @ torch.tensor(WEIGHTS), 100)
    moved = {n for n, p in training.trained.items() if not torch.equal(p, before[n])}
    assert "slots.0.weight" in moved
    assert not any(name.startswith("transformer.layers.0.") for name in moved)
    assert "transformer.positions.weight" not in moved


def test_edges_are_zeros(arguments, tmp_path):
    training, _, _ = make_training(tmp_path)
    reader = training.reader.eval()
    vectors = torch.randn(2, 24)
    slots, starts = reader.read_slots(
        vectors, torch.tensor([-1, 0, 1]), torch.tensor([0, 1, -1])
    )
    nothing = torch.zeros(1, 24)
    rows = torch.cat([nothing, vectors]), torch.cat([vectors, nothing])
    expected = reader.slots(torch.cat(rows, dim=1))
    assert torch.allclose(slots, expected)
    assert starts.shape == (3,)


def test_average_follows_the_weights(arguments, tmp_path):
    training, _, _ = make_training(tmp_path)
    name, parameter = next(iter(training.trained.items()))
    before = parameter.detach().clone()
    parameter.data += 1
    training.counters[0] = 5
    training.update_average(1)
    assert torch.allclose(training.average[name], before + 0.5, atol=1e-5)
    training.update_average(2)  # as far as twice one step
    assert torch.allclose(training.average[name], before + 0.875, atol=1e-5)
    training.counters[0] = 10**6
    training.update_average(1)
    assert torch.allclose(
        training.average[name], before + 0.875 + 0.001 * 0.125, atol=1e-5
    )
    reader = training.averaged_reader()
    assert torch.equal(dict(reader.named_parameters())[name], training.average[name])


def test_checkpoint_is_read_back(arguments, tmp_path):
    training, text, _ = make_training(tmp_path)
    loss = losses(training.reader, text.batch(192)) @ torch.tensor(WEIGHTS)
    training.take_step(loss, 180)
    training.update_average(1)
    training.schedule, training.best = Schedule(1, 1, 7), 0.5
    path = training.save()
    assert path.name == "step-0000001.pt"
    other, _, _ = make_training(tmp_path)
    other.load(torch.load(path, weights_only=True))
    assert other.counters.tolist() == [1, 180]
    assert (other.schedule, other.best) == (training.schedule, 0.5)
    for name, parameter in training.trained.items():
        twin = other.trained[name]
        assert torch.equal(twin, parameter)
        assert torch.equal(other.average[name], training.average[name])
        ours, theirs = (
            t.optimizer.state[p] for t, p in ((training, parameter), (other, twin))
        )
        assert all(torch.equal(ours[key], theirs[key]) for key in ours)
        # Nothing was learned of trees.
        assert int(ours["step"]) == (not name.startswith("parser."))
    reader, _, labels = averaged_reader(path, tmp_path / "start.npz")
    assert labels.slots == SLOTS
    name = "slots.0.weight"
    assert torch.equal(reader.state_dict()[name], training.average[name])


def test_only_the_last_checkpoints_are_kept(arguments, tmp_path):
    training, _, _ = make_training(tmp_path)
    for step in range(5):
        training.counters[0] = step
        training.save()
    names = [path.stem for path in train.checkpoints(tmp_path / "run")]
    assert names == ["step-0000002", "step-0000003", "step-0000004"]


def test_training_goes_on_and_ends(invoke, arguments, tmp_path):
    """One process: a decay ends it, and the same command does nothing more."""
    curve = tmp_path / "metrics" / "curve.json"
    options = ("--processes", 1, "--evaluate-every", 4, "--metrics", curve)
    first = invoke(train.main, *arguments, *QUICK, *options, "--decay-steps", 6)
    assert first.exit_code == 0, first.output
    (path,) = train.checkpoints(tmp_path / "run")[-1:]
    state = torch.load(path, weights_only=True)
    assert int(state["counters"][0]) == 6
    assert state["schedule"] == {"warmup": 5, "decay_from": 0, "decay_steps": 6}
    assert len(state["labels"]["slots"]) <= 150
    figures = srsly.read_json(curve)
    assert [record["step"] for record in figures] == [4, 6]
    assert set(figures[0]["trees"]) == {"uas", "las", "upos", "feats", "tags"}
    assert set(figures[0]["streams"]) == {"talk"}
    assert (tmp_path / "run" / "best.pt").exists() == (state["best"] > 0)
    again = invoke(train.main, *arguments, *QUICK, *options, "--decay-steps", 6)
    assert "come to its end" in again.output
    longer = invoke(
        train.main, *arguments, *QUICK, *options, "--decay-from", 6, "--decay-steps", 2
    )
    assert longer.exit_code == 0, longer.output
    steps = [path.stem for path in train.checkpoints(tmp_path / "run")]
    assert steps[-1] == "step-0000008"


@pytest.mark.slow
def test_a_signal_saves(arguments, tmp_path):
    """Two processes change the same weights until they are told to stop."""
    command = [sys.executable, "-m", "scripts.encoder.train", *arguments, *QUICK]
    command += ["--pieces", "24", "--tree-share", "0.1"]
    log = tmp_path / "run" / train.LOG
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment)
    try:
        end = time.monotonic() + 200
        ranks: set[int] = set()
        while ranks != {0, 1} and time.monotonic() < end and process.poll() is None:
            time.sleep(0.2)
            if log.exists():
                # The last line may be half written.
                *lines, _ = log.read_text("utf-8").split("\n")
                ranks = {srsly.json_loads(line)["process"] for line in lines}
        assert ranks == {0, 1}
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
    (path,) = train.checkpoints(tmp_path / "run")[-1:]
    state = torch.load(path, weights_only=True)
    steps = int(state["counters"][0])
    assert steps >= 40 and path.stem == f"step-{steps:07d}"
    # Both have added to one state of Adam; some steps of theirs may have collided.
    assert int(state["adam"]["slots.0.weight"]["step"]) > steps / 2
