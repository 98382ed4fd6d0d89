"""The long training: an encoder and its heads learn from written text and treebanks.

    python -m scripts.encoder.train TREEBANK... --text DIR --start FILE --run DIR

The same command goes on from the newest checkpoint. SIGTERM and Ctrl-C save one and end
it within a step or two. Rates rise, stay, and fall to zero once a decay is asked for:
until then a run has no end, so that it can be as long as there is time. A decay should
have a third of the steps or more, and nothing comes after it.

On a CPU, several processes of one thread each change the same weights, without waiting
for each other ("Hogwild"); on a GPU there is one. With glibc, some 5% are gained if
large blocks stay with the process: MALLOC_MMAP_THRESHOLD_=4294967296
MALLOC_TRIM_THRESHOLD_=17179869184 MALLOC_TOP_PAD_=268435456 in the environment.
"""

import json
import math
import os
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import srsly
import torch
import torch.multiprocessing
import typer
from torch import Tensor, nn
from wasabi import msg

from scripts.encoder.assemble import taken_apart
from scripts.encoder.evaluate import (
    Stream,
    StreamReader,
    evaluate_streams,
    evaluate_trees,
    read_streams,
)
from scripts.encoder.reader import PARTS, WEIGHTS, Labels, Reader, losses
from scripts.encoder.start import load
from scripts.encoder.trees import TreeDrawer, read_trees, word_labels
from scripts.encoder.windows import USUAL, Drawer, read_sources
from scripts.steps import Seed, run_step, write_result
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.treebank import split_file
from spacy_punct.encoder.tok2vec import at_most_threads, has_bfloat16
from spacy_punct.encoder.transformer import Transformer
from spacy_punct.encoder.wordpieces import WordPieces
from spacy_punct.errors import PunctError

BEST, CURVE, LOG = "best.pt", "dev.jsonl", "log.jsonl"
"""In the folder of a run: the best checkpoint, its dev figures, and its losses."""
_BETAS, _WEIGHT_DECAY, _MOST_GRADIENT = (0.9, 0.999), 0.01, 1.0
_AVERAGE_DECAY, _AVERAGE_STEPS = 0.999, 5
_KEPT = 3
_LOGGED = 20
_STREAM_WORDS, _SENTENCES = 2500, 3
"""Dev figures are of so many words of each stream, and of every third sentence."""

_processes = torch.multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Settings:
    """How to train.

    run (Path): The folder of checkpoints and figures.
    n_pieces (int): Pieces of a batch.
    rate, head_rate (float): Learning rates of the transformer and of the heads.
    warmup (int): Steps in which the rates rise. Steps are those of all processes.
    tree_share (float): The share of batches that are of treebanks.
    evaluate_every (int): Steps between dev figures.
    save_minutes (float): Minutes between checkpoints.
    seed (int): Seed of what is random.
    """

    run: Path
    n_pieces: int = 4 * USUAL
    rate: float = 2e-4
    head_rate: float = 7e-4
    warmup: int = 300
    tree_share: float = 0.2
    evaluate_every: int = 1400
    save_minutes: float = 10.0
    seed: int = 1


@dataclass(frozen=True)
class Schedule:
    """Rates over time: they rise, stay, and fall to zero.

    warmup (int): Steps in which they rise.
    decay_from, decay_steps (int): The step from which they fall, and for how many. For
        none they do not.
    """

    warmup: int
    decay_from: int = 0
    decay_steps: int = 0

    def factor(self, step: int) -> float:
        """What the rates are multiplied by at a step."""
        left = 1.0
        if self.decay_steps:
            left = min(1.0, 1 - (step - self.decay_from) / self.decay_steps)
        return min(1.0, (step + 1) / max(self.warmup, 1)) * max(0.0, left)

    def is_over(self, step: int) -> bool:
        """Whether the rates have come down to zero."""
        return 0 < self.decay_steps <= step - self.decay_from


class Training:
    """What the processes share: weights, their average, Adam's state and counters.

    reader (Reader): What is trained.
    labels (Labels): What it learns.
    settings (Settings): How.
    """

    def __init__(self, reader: Reader, labels: Labels, settings: Settings) -> None:
        self.reader, self.labels, self.settings = reader, labels, settings
        self.device = reader.transformer.positions.weight.device
        self.trained = {n: p for n, p in reader.named_parameters() if p.requires_grad}
        self.average = {n: p.detach().clone() for n, p in self.trained.items()}
        self.optimizer = self._optimizer()
        self.counters = torch.zeros(2, dtype=torch.long)  # steps, pieces
        self.schedule = Schedule(settings.warmup)
        self.best = 0.0
        self.main_process = os.getpid()
        self.lock, self.stop = _processes.Lock(), _processes.Event()

    @property
    def step(self) -> int:
        """Steps of all processes so far."""
        return int(self.counters[0])

    @property
    def is_over(self) -> bool:
        return self.schedule.is_over(self.step)

    def share(self) -> None:
        """Move everything to where other processes can change it."""
        self.reader.share_memory()
        self.counters.share_memory_()
        for state in self.optimizer.state.values():
            for tensor in state.values():
                tensor.share_memory_()

    def take_step(self, loss: Tensor, n_pieces: int) -> tuple[int, float]:
        """Change the weights.

        loss (Tensor): Of a batch.
        n_pieces (int): How many pieces it has.
        RETURNS (tuple[int, float]): The steps so far, and the gradient's norm. If it
            is not finite nothing changes.
        """
        loss.backward()
        parameters = list(self.trained.values())
        norm = nn.utils.clip_grad_norm_(parameters, _MOST_GRADIENT).item()
        if math.isfinite(norm):
            factor = self.schedule.factor(self.step)
            for group in self.optimizer.param_groups:
                group["lr"] = group["base"] * factor
            self.optimizer.step()
        self.optimizer.zero_grad()
        with self.lock:
            self.counters += torch.tensor([1, n_pieces])
            return self.step, norm

    def update_average(self, n_steps: int) -> None:
        """Move the average towards the weights, as so many steps move it.

        At first it reaches over the last fifth of the steps: there is no beginning to
        correct for.
        """
        decay = min(_AVERAGE_DECAY, self.step / (self.step + _AVERAGE_STEPS))
        for name, parameter in self.trained.items():
            self.average[name].lerp_(parameter.detach(), 1 - decay**n_steps)

    def averaged_reader(self) -> Reader:
        """A reader with the averaged weights."""
        transformer = Transformer(self.reader.transformer.sizes)
        reader = Reader(transformer, self.labels).to(self.device)
        reader.load_state_dict(self.reader.state_dict() | self.average)
        return reader.eval()

    def save(self) -> Path:
        """Write a checkpoint, all of it or nothing, and remove older ones.

        RETURNS (Path): Its path.
        """
        counters = self.counters.clone()  # others go on counting
        path = self.settings.run / f"step-{int(counters[0]):07d}.pt"
        state = {
            "weights": {n: p.detach() for n, p in self.trained.items()},
            "average": self.average,
            "adam": {n: self.optimizer.state[p] for n, p in self.trained.items()},
            "counters": counters,
            "schedule": asdict(self.schedule),
            "best": self.best,
            "labels": self.labels.by_name(),
        }
        part = path.with_suffix(".part")
        torch.save(state, part)
        part.replace(path)
        for old in checkpoints(self.settings.run)[:-_KEPT]:
            old.unlink()
        return path

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        for name, parameter in self.trained.items():
            parameter.data.copy_(state["weights"][name])
            self.average[name].copy_(state["average"][name])
            for key, value in self.optimizer.state[parameter].items():
                value.copy_(state["adam"][name][key])
        self.counters.copy_(state["counters"])
        schedule = {**state["schedule"], "warmup": self.settings.warmup}
        self.schedule = Schedule(**schedule)
        self.best = state["best"]

    def freeze(self, n_layers: int) -> None:
        """Leave the lowest layers, and what is below them, as they are on average.

        No gradient is computed for them.

        n_layers (int): How many layers.
        """
        frozen = tuple(f"transformer.layers.{i}." for i in range(n_layers))
        below = ("transformer.positions", "transformer.shapes", "transformer.norm")
        for name, parameter in self.trained.items():
            if n_layers and name.startswith((*below, *frozen)):
                parameter.data.copy_(self.average[name])
                parameter.requires_grad_(False)

    def _optimizer(self) -> torch.optim.AdamW:
        """Adam; only matrices of layers are drawn to zero."""
        groups: dict[tuple[bool, bool], list[nn.Parameter]] = {}
        for name, parameter in self.trained.items():
            is_embedding = name.endswith(("positions.weight", "shapes.weight"))
            is_matrix = parameter.dim() == 2 and not is_embedding
            is_head = not name.startswith("transformer.")
            groups.setdefault((is_head, is_matrix), []).append(parameter)
        rates = {False: self.settings.rate, True: self.settings.head_rate}
        optimizer = torch.optim.AdamW(
            [
                {
                    "params": parameters,
                    "base": rates[is_head],
                    "weight_decay": _WEIGHT_DECAY if is_matrix else 0.0,
                }
                for (is_head, is_matrix), parameters in groups.items()
            ],
            betas=_BETAS,
            fused=True,
        )
        # Adam makes its state at the first step: too late to share it.
        for parameter in self.trained.values():
            optimizer.state[parameter] = {
                "step": torch.zeros((), device=self.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        return optimizer


def checkpoints(run: Path) -> list[Path]:
    """The checkpoints of a run, the oldest first."""
    return sorted(run.glob("step-*.pt"))


def read_checkpoint(run: Path) -> dict[str, Any] | None:
    """The newest checkpoint of a run."""
    found = checkpoints(run)
    if not found:
        return None
    msg.info(f"Going on from {found[-1]}")
    return torch.load(found[-1], map_location="cpu", weights_only=True)


@dataclass(frozen=True)
class Exam:
    """What dev figures are of.

    pieces (WordPieces): The transformer's vocabulary.
    streams (dict[str, list[Stream]]): The documents of each stream.
    examples (Sequence[PunctuatedTree]): Sentences with trees.
    metrics (Path | None): Where the learning curve is written, beside the run.
    """

    pieces: WordPieces
    streams: dict[str, list[Stream]]
    examples: Sequence[PunctuatedTree]
    metrics: Path | None = None


class Chief:
    """What only the first process does: averages weights, saves, and evaluates."""

    def __init__(self, training: Training, exam: Exam) -> None:
        self._training, self._exam = training, exam
        self._averaged = training.step
        self._evaluated = training.step // training.settings.evaluate_every
        self._saved = time.monotonic()

    def after_step(self) -> None:
        """Do what is due."""
        training, settings = self._training, self._training.settings
        step = training.step
        training.update_average(step - self._averaged)
        self._averaged = step
        if time.monotonic() - self._saved > 60 * settings.save_minutes:
            training.save()
            self._saved = time.monotonic()
        if step // settings.evaluate_every > self._evaluated:
            self._evaluated = step // settings.evaluate_every
            self.evaluate()

    def evaluate(self) -> None:
        """Add to the learning curve, and keep a checkpoint that is the best."""
        training, exam = self._training, self._exam
        steps, pieces = training.counters.tolist()
        reader = training.averaged_reader()
        streams = StreamReader(reader, exam.pieces, training.labels)
        figures = evaluate_streams(streams, exam.streams)
        figures["trees"] = evaluate_trees(
            reader, exam.pieces, training.labels, exam.examples
        )
        curve = training.settings.run / CURVE
        add_line(curve, {"step": steps, "pieces": pieces, **figures})
        if exam.metrics is not None:
            write_result(exam.metrics, list(srsly.read_jsonl(curve)))
        msg.good(f"step {steps}: {figures['mean']} {figures['trees']}")
        if figures["mean"]["micro"] > training.best:
            training.best = figures["mean"]["micro"]
            part = curve.with_name(f"{BEST}.part")
            shutil.copy(training.save(), part)
            part.replace(curve.with_name(BEST))


class LossLog:
    """Mean losses of some steps of one process, as lines of a file."""

    def __init__(self, path: Path, process: int) -> None:
        self._path, self._process = path, process
        self._begin()

    def _begin(self) -> None:
        self._sums = torch.zeros(len(PARTS))
        self._steps = self._trees = 0

    def add(self, step: int, parts: Tensor, norm: float, rate: float) -> None:
        """Count one step."""
        self._sums += parts.detach().cpu()
        self._steps += 1
        self._trees += int(parts[3] > 0)
        if self._steps == _LOGGED:
            sizes = [self._steps] * 3 + [max(self._trees, 1)] * 4
            means = (self._sums / torch.tensor(sizes)).tolist()
            seconds = round(time.process_time(), 1)
            record = {"process": self._process, "step": step, "cpu_seconds": seconds}
            record |= {n: round(x, 4) for n, x in zip(PARTS, means, strict=True)}
            add_line(self._path, {**record, "norm": round(norm, 3), "rate": rate})
            self._begin()


def add_line(path: Path, record: dict[str, Any]) -> None:
    """Add a record to a file of lines, with the time."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"time": time.strftime("%F %T"), **record}) + "\n")


def work(
    rank: int, training: Training, text: Drawer, trees: TreeDrawer, exam: Exam
) -> None:
    """One process: draws, learns and counts until there is a reason to stop.

    rank (int): Its number. The first also does what a `Chief` does.
    training (Training): What is shared.
    text (Drawer), trees (TreeDrawer): Where batches come from.
    exam (Exam): What dev figures are of.
    """
    settings = training.settings
    text.rng.seed(f"{settings.seed} {rank} {training.step}")
    trees.rng.seed(text.rng.getrandbits(60))
    torch.manual_seed(text.rng.getrandbits(60))
    chief = Chief(training, exam) if rank == 0 else None
    log = LossLog(settings.run / LOG, rank)
    weights = torch.tensor(WEIGHTS, device=training.device)
    training.reader.train()
    while not training.stop.is_set() and not training.is_over:
        if training.main_process not in (os.getpid(), os.getppid()):
            return  # it was killed
        drawer = trees if text.rng.random() < settings.tree_share else text
        batch = drawer.batch(settings.n_pieces).to(training.device)
        parts = losses(training.reader, batch)
        n_pieces = int(batch.is_piece.sum())
        step, norm = training.take_step(parts @ weights, n_pieces)
        log.add(step, parts, norm, training.optimizer.param_groups[0]["lr"])
        if chief:
            chief.after_step()
    if chief:
        if training.is_over:
            chief.evaluate()
        training.save()


def run(
    training: Training, text: Drawer, trees: TreeDrawer, exam: Exam, processes: int
) -> None:
    """Train until a decay or a signal ends it; arguments as of `work`.

    processes (int): How many; one is this one.
    """
    if training.is_over:
        msg.info("This run has come to its end")
        return
    onednn = training.reader.in_halves  # for float32, plain MKL is a little faster
    with _until_told(training), at_most_threads(1), _with_onednn(onednn):
        if processes == 1:
            work(0, training, text, trees, exam)
            return
        training.share()
        workers = [
            _processes.Process(target=work, args=(rank, training, text, trees, exam))
            for rank in range(processes)
        ]
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers):
            for worker in workers:
                worker.join(timeout=0.5)
            if any(worker.exitcode for worker in workers):
                training.stop.set()
        if any(worker.exitcode for worker in workers):
            raise PunctError("A process has failed")


@contextmanager
def _until_told(training: Training) -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end a training after its step."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(n, lambda *_: training.stop.set()) for n in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@contextmanager
def _with_onednn(wanted: bool) -> Iterator[None]:
    before = torch.backends.mkldnn.set_flags(wanted)[0]
    try:
        yield
    finally:
        torch.backends.mkldnn.set_flags(before)


def decayed(schedule: Schedule, step: int, steps: int, start: int | None) -> Schedule:
    """A schedule with a decay.

    schedule (Schedule): What a checkpoint or the settings say.
    step (int): Where the training is.
    steps (int): How long the decay is to be. For 0 the schedule stays.
    start (int | None): Where it is to begin; None for now, unless it has begun.
    RETURNS (Schedule): The new one.
    """
    if not steps or (start is None and schedule.decay_steps):
        return schedule
    return Schedule(schedule.warmup, step if start is None else start, steps)


def main(
    treebanks: Annotated[
        list[Path],
        typer.Argument(help="Folders with train.conllu; the first has dev.conllu."),
    ],
    text: Annotated[
        Path, typer.Option(help="Folder with train/, as scripts.collect_text makes it.")
    ],
    start: Annotated[
        Path,
        typer.Option(
            help="Weights of scripts.encoder.start, or a folder of scripts.encoder."
            "assemble with heads that know something already."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--run", help="Folder of checkpoints and figures.")
    ],
    bench: Annotated[
        Path | None, typer.Option(help="Folder of dev streams; else TEXT/bench/dev.")
    ] = None,
    metrics: Annotated[
        Path | None, typer.Option(help="File to write the learning curve to.")
    ] = None,
    decay_steps: Annotated[
        int,
        typer.Option(min=0, help="Let rates fall to zero in so many steps."),
    ] = 0,
    decay_from: Annotated[
        int | None, typer.Option(min=0, help="The step to begin that at; else now.")
    ] = None,
    processes: Annotated[int, typer.Option(min=1, help="On a CPU.")] = 2,
    n_pieces: Annotated[
        int, typer.Option("--pieces", min=1, help="Word pieces of a batch.")
    ] = Settings.n_pieces,
    rate: Annotated[float, typer.Option(help="Of the transformer.")] = Settings.rate,
    head_rate: Annotated[float, typer.Option()] = Settings.head_rate,
    warmup: Annotated[
        int, typer.Option(help="Steps, of all processes together.")
    ] = Settings.warmup,
    tree_share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of batches with trees.")
    ] = Settings.tree_share,
    slots: Annotated[int, typer.Option(min=1, help="Strings of marks to learn.")] = 150,
    evaluate_every: Annotated[
        int, typer.Option(min=1, help="Steps between dev figures.")
    ] = Settings.evaluate_every,
    save_minutes: Annotated[
        float, typer.Option(min=0, help="Between checkpoints.")
    ] = Settings.save_minutes,
    frozen_layers: Annotated[
        int, typer.Option(min=0, help="Lowest layers that stay as they are.")
    ] = 0,
    seed: Seed = Settings.seed,
) -> None:
    """Train the encoder and its heads on text and treebanks, or go on with it.

    Example: python -m scripts.encoder.train assets/ud/en-2.16 assets/ud/en_gum-open
    --text corpus/text --start corpus/gte-small.npz --run training/en-encoder
    """
    settings = Settings(
        output,
        n_pieces,
        rate,
        head_rate,
        warmup,
        tree_share,
        evaluate_every,
        save_minutes,
        seed,
    )
    output.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    reader: Reader | None = None
    if start.is_dir():
        reader, pieces, labels = taken_apart(start)
    else:
        transformer, pieces = load(start)
    texts = read_sources(text / "train")
    examples = [read_trees(split_file(folder, "train")) for folder in treebanks]
    state = read_checkpoint(output)
    if state is not None:
        labels = Labels(**state["labels"])
    elif reader is None:
        counted = Drawer(texts, pieces, seed=seed).count_slots().most_common(slots)
        known = [example for treebank in examples for example in treebank]
        labels = Labels([slot for slot, _ in counted], **word_labels(known))
    cuda = torch.cuda.is_available()
    if reader is None:
        reader = Reader(transformer, labels)
    reader.to("cuda" if cuda else "cpu")
    reader.in_halves = torch.cuda.is_bf16_supported() if cuda else has_bfloat16()
    training = Training(reader, labels, settings)
    if state is not None:
        training.load(state)
        del state
    training.freeze(frozen_layers)
    training.schedule = decayed(
        training.schedule, training.step, decay_steps, decay_from
    )
    exam = Exam(
        pieces,
        read_streams(bench or text / "bench" / "dev", _STREAM_WORDS),
        read_trees(split_file(treebanks[0], "dev"))[::_SENTENCES],
        metrics,
    )
    drawers = (
        Drawer(texts, pieces, labels.slots),
        TreeDrawer(examples, labels.by_name(), pieces),
    )
    run(training, *drawers, exam, 1 if cuda else processes)


if __name__ == "__main__":
    run_step(main)
