"""The results of an experiment as files: JSON, Markdown tables and pictures."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import srsly

from scripts.experiments.collect import collect
from scripts.experiments.plan import Plan
from scripts.experiments.tables import SYSTEMS, Results, report
from scripts.pictures import Baselines, Curve, aed_curves

_DRAWN = ("log-linear", "lexical")
_TAGGER = "bilstm-crf"


def write_report(plan: Plan) -> list[Path]:
    """Write what is known of an experiment so far.

    plan (Plan): The experiment.
    RETURNS (list[Path]): The files: README.md with all tables, a JSON file for each
        treebank, the analyses of the channels, and pictures.
    """
    plan.metrics.mkdir(parents=True, exist_ok=True)
    results = [collect(plan, treebank) for treebank in plan.treebanks]
    written = []
    for result in results:
        path = plan.metrics / f"{result['treebank']}.json"
        srsly.write_json(path, result)
        written += [path, *_analysis(plan, result["treebank"])]
    if any(result["curve"] for result in results):
        written += _curves(results, plan.metrics / "curves")
    page = plan.metrics / "README.md"
    page.write_text(f"# {plan.title}\n\n{report(results)}", "utf-8")
    return [*written, page]


def _analysis(plan: Plan, treebank: str) -> Iterator[Path]:
    """What was learned of a treebank, in a folder of its own."""
    source = plan.folder / treebank / "analysis"
    target = plan.metrics / "analysis" / treebank
    for path in sorted(source.glob("*")):
        if path.suffix in (".md", ".png", ".svg"):
            target.mkdir(parents=True, exist_ok=True)
            yield Path(shutil.copy(path, target))


def _curves(results: Sequence[Results], path: Path) -> tuple[Path, Path]:
    """The paper's Figure 4: edit distance on dev against the quality of trees."""
    curves, baselines = [], []
    for result in results:
        dev = {name: found["dev"] for name, found in result["systems"].items()}
        for name in _DRAWN:
            if result["curve"] and name in dev:
                points = sorted((p["las"], p[name]) for p in result["curve"])
                gold = dev[name]["gold"]["aed"]
                curves.append(Curve(result["title"], SYSTEMS[name], points, gold))
        tagger = dev[_TAGGER]["words"]["aed"] if _TAGGER in dev else None
        trivial = dev["trivial"]["words"]["aed"] if "trivial" in dev else None
        baselines.append(Baselines(result["title"], trivial, tagger))
    return aed_curves(curves, path, baselines=baselines)
