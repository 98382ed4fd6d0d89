"""What the jobs of an experiment found out about a treebank, as plain data."""

from pathlib import Path
from typing import Any

import srsly

from scripts.experiments.jobs import finished, names_of_finished
from scripts.experiments.plan import Plan, TreebankPlan
from scripts.experiments.scoring import SCORED
from scripts.experiments.stages import jobs_of
from scripts.experiments.training import best_direction
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.channel import DIRECTIONS
from spacy_punct.model.evaluation import permutation_test

_SCORES = "scores/"
"""What the names of jobs that measure begin with."""
LISTS = ("edits", "log_probs")
"""Scores of single sentences, which tests need and readers do not."""


def collect(plan: Plan, treebank: TreebankPlan) -> dict[str, Any]:
    """All results for a treebank, of the jobs that are finished.

    plan (Plan): The experiment.
    treebank (TreebankPlan): One of its treebanks.
    RETURNS (dict[str, Any]): "data", "direction" of the channel, "systems" (name ->
        split -> trees -> scores), "tests" (p-values on test), "curve" (errors on dev
        for each parser) and "seconds" of each job.
    """
    root = plan.folder / treebank.name
    jobs = jobs_of(plan.only([treebank.name]))
    prefix = f"{treebank.name}/"
    done = {n.removeprefix(prefix) for n in names_of_finished(jobs, plan.folder)}
    if "corpus" not in done:
        raise PunctError(Errors.P114.format(name=treebank.name))
    systems = {
        name.removeprefix(_SCORES): _scores(root / name)
        for name in sorted(done)
        if name.startswith(_SCORES)
    }
    curve = root / "curve" / "curve.json"
    models = {name: root / name for name in DIRECTIONS if name in done}
    return {
        "treebank": treebank.name,
        "title": treebank.title,
        "lang": treebank.lang,
        "seed": plan.seed,
        "data": srsly.read_json(root / "corpus" / "data.json"),
        "direction": best_direction(models) if len(models) == len(DIRECTIONS) else None,
        "systems": {
            name: {
                split: {
                    trees: {k: v for k, v in found.items() if k not in LISTS}
                    for trees, found in by_trees.items()
                }
                for split, by_trees in by_split.items()
            }
            for name, by_split in systems.items()
        },
        "tests": _tests(systems),
        "curve": srsly.read_json(curve) if "curve" in done else [],
        "seconds": {name: finished(root / name)["seconds"] for name in sorted(done)},
    }


def _scores(folder: Path) -> dict[str, dict[str, Any]]:
    """Split -> trees -> scores."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.*.json")):
        split, trees, _ = path.name.split(".")
        if split in SCORED:
            found.setdefault(split, {})[trees] = srsly.read_json(path)
    return found


def _tests(systems: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Paired permutation tests over the sentences of test.

    RETURNS (dict): "aed" and "perplexity" -> "one / other" -> p-value. Systems with
        trees are compared with parsed ones in edit distance, gold ones in perplexity.
    """
    edits, log_probs = {}, {}
    for name, by_split in systems.items():
        by_trees = by_split.get("test", {})
        answers = by_trees.get("parsed") or by_trees.get("words")
        if answers:
            edits[name] = answers["edits"]
        given = by_trees.get("gold") or by_trees.get("words")
        if given and "log_probs" in given:
            log_probs[name] = given["log_probs"]
    return {
        measure: {
            f"{one} / {other}": permutation_test(losses[one], losses[other])
            for one in losses
            for other in losses
            if one < other
        }
        for measure, losses in (("aed", edits), ("perplexity", log_probs))
    }
