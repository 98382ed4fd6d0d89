"""`spacy train`, but it can be stopped at any time and goes on where it was.

Random numbers, the optimizer and the data are all put back where they were at the
last evaluation, so that the weights in the end are those of a training that was
never stopped.
"""

import hashlib
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from timeit import default_timer as timer
from typing import Any

import srsly
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import (
    DIR_MODEL_BEST,
    DIR_MODEL_LAST,
    clean_output_dir,
    create_before_to_disk_callback,
    create_evaluation_callback,
    create_train_batches,
    subdivide_batch,
    update_meta,
)
from spacy.util import (
    load_config,
    load_model_from_config,
    registry,
    resolve_dot_names,
)
from thinc.api import Config, ConfigValidationError, fix_random_seed
from tqdm import tqdm
from wasabi import msg

from spacy_punct.errors import Errors, PunctError
from spacy_punct.files import flush, write_safely
from spacy_punct.pipe.checkpoint import (
    Checkpoint,
    Progress,
    put_back,
    random_states,
    read_checkpoint,
    set_random_states,
    take_checkpoint,
    write_checkpoint,
)
from spacy_punct.pipe.ops import computing_with, ops_named, quickest_ops

CHECKPOINT = "checkpoint"
TRAINED = "trained.json"


def train(
    config: Path, output: Path, *, overrides: dict[str, Any] | None = None
) -> Path:
    """Train a pipeline, or finish its training.

    A training with the same settings and the same data (all that is in the config's
    section `paths`) goes on from its last evaluation and ends with the very weights
    it would have had. One that is finished is left as it is. For that the versions
    of libraries and the number of numpy's threads should be the same, and callbacks
    of the config should depend on nothing but their arguments.

    config (Path): The training config, as for `spacy train`.
    output (Path): The folder for `model-best` and `model-last`.
    overrides (dict[str, Any] | None): Other values of settings, such as
        {"paths.train": "train.conllu"}.
    RETURNS (Path): The folder `model-best`.
    """
    settings, fingerprint = _prepared(Path(config), overrides or {})
    output = Path(output)
    best, marker = output / DIR_MODEL_BEST, output / TRAINED
    finished = {"fingerprint": fingerprint}
    if best.is_dir() and marker.is_file() and srsly.read_json(marker) == finished:
        msg.info(f"Already trained: {best}")
        return best
    checkpoint = read_checkpoint(output / CHECKPOINT)
    if checkpoint is not None and checkpoint.fingerprint != fingerprint:
        checkpoint = None
    msg.info(f"Saving to output directory: {output}")
    ops = ops_named(checkpoint.ops) if checkpoint else quickest_ops()
    with computing_with(ops):
        msg.divider("Initializing pipeline")
        nlp = init_nlp(settings)
        msg.good("Initialized pipeline")
        output.mkdir(parents=True, exist_ok=True)
        marker.unlink(missing_ok=True)
        if checkpoint is None:
            (output / CHECKPOINT).unlink(missing_ok=True)
            clean_output_dir(output)
        msg.divider("Training pipeline")
        _Training(nlp, output, fingerprint, ops.name).run(checkpoint)
    write_safely(marker, srsly.json_dumps(finished).encode())
    (output / CHECKPOINT).unlink()
    msg.good("Saved pipeline to output directory", str(best))
    return best


def _prepared(path: Path, overrides: dict[str, Any]) -> tuple[Config, str]:
    """A config, and the fingerprint of what it and its data say."""
    try:
        settings = load_config(path, overrides=overrides, interpolate=False)
        filled = load_model_from_config(settings, auto_fill=True).config
        values = filled.interpolate().get("paths", {})
    except (PunctError, ConfigValidationError, OSError):
        raise
    except (ValueError, KeyError) as error:
        raise PunctError(Errors.P092.format(path=path, reason=error)) from None
    # Where the data is does not matter, but what it is.
    filled["paths"] = {name: _digest(value) for name, value in values.items()}
    return settings, hashlib.sha256(filled.to_str().encode("utf8")).hexdigest()


def _digest(value: Any) -> Any:
    """What identifies the file or the folder at a path, or else the value."""
    if not isinstance(value, str) or not value or not Path(value).exists():
        return value
    root = Path(value)
    files = sorted(p for p in root.rglob("*") if p.is_file()) or [root]
    digest = hashlib.sha256()
    for file in files:
        if file.is_file():
            name = file.relative_to(root).as_posix()
            digest.update(f"{name}\n{file.stat().st_size}\n".encode())
            with file.open("rb") as content:
                while part := content.read(1 << 20):
                    digest.update(part)
    return digest.hexdigest()


def train_batches(
    nlp: Language, corpus: Callable, batcher: Callable, max_epochs: int
) -> Iterator[tuple[int, Iterable[Example]]]:
    """The batches of `spacy train`, except that a corpus that says it is `fresh` is
    asked for its examples in each epoch. Others are read once.

    nlp (Language): The pipeline.
    corpus (Callable): Pipeline -> examples.
    batcher (Callable): Examples -> batches.
    max_epochs (int): As in a config: 0 for no end, -1 for a stream.
    YIELDS (tuple[int, Iterable[Example]]): The number of the epoch, and a batch.
    """
    if max_epochs < 0 or not getattr(corpus, "fresh", False):
        yield from create_train_batches(nlp, corpus, batcher, max_epochs)
        return
    epochs = count() if max_epochs == 0 else range(max_epochs)
    for epoch in epochs:
        for _, batch in create_train_batches(nlp, corpus, batcher, max_epochs=1):
            yield epoch, batch


class _Training:
    """The training of an initialized pipeline. See `spacy.training.loop`."""

    def __init__(self, nlp: Language, output: Path, fingerprint: str, ops: str) -> None:
        config = nlp.config.interpolate()
        if config["training"]["seed"] is not None:
            fix_random_seed(config["training"]["seed"])
        settings = registry.resolve(config["training"], schema=ConfigSchemaTraining)
        names = [settings["train_corpus"], settings["dev_corpus"]]
        train_corpus, self._dev_corpus = resolve_dot_names(config, names)
        self._nlp = nlp
        self._output = output
        self._fingerprint = fingerprint
        self._ops = ops
        self._settings = settings
        self._optimizer = settings["optimizer"]
        self._before_to_disk = create_before_to_disk_callback(
            settings["before_to_disk"]
        )
        self._batches = train_batches(
            nlp, train_corpus, settings["batcher"], settings["max_epochs"]
        )
        self._progress = Progress()

    def run(self, checkpoint: Checkpoint | None) -> None:
        """Train to the end, from a checkpoint if there is one."""
        nlp, settings = self._nlp, self._settings
        frozen, annotating = (
            settings[f"{kind}_components"] for kind in ("frozen", "annotating")
        )
        msg.info(f"Pipeline: {nlp.pipe_names}")
        if frozen:
            msg.info(f"Frozen components: {frozen}")
        if annotating:
            msg.info(f"Set annotations on update for: {annotating}")
        msg.info(f"Initial learn rate: {self._optimizer.learn_rate}")
        if checkpoint is not None:
            msg.info(f"Going on after step {checkpoint.progress.step}")
            self._return_to(checkpoint)
        with nlp.select_pipes(disable=frozen):
            log_step, finalize_logger = settings["logger"](nlp, sys.stdout, sys.stderr)
        try:
            for info, is_best in self._steps():
                if is_best is not None:
                    with nlp.select_pipes(disable=frozen):
                        update_meta(settings, nlp, info)
                    self._save(is_best)
                    self._write_checkpoint()
                    info["output_path"] = str(self._output / DIR_MODEL_LAST)
                log_step(info if is_best is not None else None)
        finally:
            finalize_logger()
            self._save(False)

    def _return_to(self, checkpoint: Checkpoint) -> None:
        """Read the data again as far as it was read, and put back all the rest."""
        self._progress = checkpoint.progress
        done = range(self._progress.step + 1)
        for step in tqdm(done, unit="batch", leave=False, disable=None):
            set_random_states(self._progress.draws.get(step, {}))
            next(self._batches)
            self._optimizer.step_schedules()
        if hasattr(self._dev_corpus, "passes"):
            self._dev_corpus.passes = self._progress.dev_passes
        put_back(checkpoint, self._nlp, self._optimizer)

    def _steps(self) -> Iterator[tuple[dict[str, Any], bool | None]]:
        """Learn from batch after batch. Gives the news for a logger, and whether the
        pipeline is now the best so far, None if it was not evaluated."""
        settings, progress = self._settings, self._progress
        start = timer() - progress.seconds
        evaluate = self._evaluation()
        losses: dict[str, float] = {}
        while not self._is_finished() and (batch := self._next_batch()) is not None:
            self._update(batch, losses)
            score, scores, is_best = None, None, None
            if progress.step % settings["eval_frequency"] == 0:
                with self._nlp.use_params(self._optimizer.averages):
                    score, scores = evaluate()
                progress.weighed = [k for k in self._weighed() if k in scores]
                progress.dev_passes = getattr(self._dev_corpus, "passes", 0)
                progress.results.append((score, progress.step))
                is_best = score == max(progress.results)[0]
            progress.words += sum(map(len, batch))
            progress.seconds = timer() - start
            info = {
                "epoch": progress.epoch,
                "step": progress.step,
                "score": score,
                "other_scores": scores,
                "losses": losses,
                "checkpoints": progress.results,
                "seconds": int(progress.seconds),
                "words": progress.words,
            }
            yield info, is_best
            if is_best is not None:
                losses = {}

    def _is_finished(self) -> bool:
        """Whether there were enough steps, or too many since the best one."""
        step, results = self._progress.step, self._progress.results
        if not results:
            return False
        # Of equal scores the first is the best.
        _, best = max(results, key=lambda result: (result[0], -result[1]))
        patience, max_steps = self._settings["patience"], self._settings["max_steps"]
        is_hopeless = bool(patience) and step - best >= patience
        return is_hopeless or (bool(max_steps) and step >= max_steps)

    def _next_batch(self) -> list[Any] | None:
        """The examples of the next step, None if there is none."""
        before = random_states()
        found = next(self._batches, None)
        if found is None:
            return None
        progress = self._progress
        progress.step += 1
        progress.epoch, batch = found
        after = random_states()
        if drawn := {k: before[k] for k in before if before[k] != after[k]}:
            progress.draws[progress.step] = drawn
        return list(batch)

    def _update(self, batch: list[Any], losses: dict[str, float]) -> None:
        nlp, settings = self._nlp, self._settings
        exclude = settings["frozen_components"]
        if settings["before_update"]:
            where = {"step": self._progress.step, "epoch": self._progress.epoch}
            settings["before_update"](nlp, where)
        for part in subdivide_batch(batch, settings["accumulate_gradient"]):
            nlp.update(
                part,
                drop=settings["dropout"],
                losses=losses,
                sgd=False,
                exclude=exclude,
                annotates=settings["annotating_components"],
            )
        for name, component in nlp.pipeline:
            if (
                name not in exclude
                and getattr(component, "is_trainable", False)
                and component.model not in (True, False, None)
            ):
                component.finish_update(self._optimizer)
        self._optimizer.step_schedules()

    def _evaluation(self) -> Callable[[], tuple[float, dict[str, Any]]]:
        weights = self._settings["score_weights"]
        weighed = {key: weights[key] for key in self._weighed()}
        return create_evaluation_callback(self._nlp, self._dev_corpus, weighed)

    def _weighed(self) -> list[str]:
        """The scores that still count: spaCy forgets those that are once missing."""
        weighed = self._progress.weighed
        return list(self._settings["score_weights"]) if weighed is None else weighed

    def _save(self, is_best: bool) -> None:
        """Write the pipeline with averaged weights."""
        last, best = (self._output / x for x in (DIR_MODEL_LAST, DIR_MODEL_BEST))
        with self._nlp.use_params(self._optimizer.averages):
            self._before_to_disk(self._nlp).to_disk(last)
        if not is_best:
            return
        part = best.with_name(f"{best.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(last, part)
        for path in part.rglob("*"):
            flush(path)
        shutil.rmtree(best, ignore_errors=True)
        part.rename(best)

    def _write_checkpoint(self) -> None:
        self._progress.performance = self._nlp.meta["performance"]
        checkpoint = take_checkpoint(
            self._nlp,
            self._optimizer,
            self._progress,
            fingerprint=self._fingerprint,
            ops=self._ops,
            frozen=self._settings["frozen_components"],
        )
        write_checkpoint(checkpoint, self._output / CHECKPOINT)
