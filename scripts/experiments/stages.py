"""The jobs of an experiment, stage by stage."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.experiments.jobs import Job, Work
from scripts.experiments.plan import HALF, WHOLE, Plan, TreebankPlan
from scripts.experiments.scoring import (
    analyze_channel,
    score_baseline,
    score_curve,
    score_restorer,
    score_trivial,
)
from scripts.experiments.training import (
    assemble,
    make_corpus,
    make_package,
    parse_corpus,
    train_baseline,
    train_lexical,
    train_log_linear,
    train_parser,
    train_udpipe_parser,
)
from spacy_punct.model.channel import DIRECTIONS

STAGES = ("corpus", "parsers", "restorers", "baselines", "scores", "packages")


def jobs_of(plan: Plan, stages: Iterable[str] = STAGES) -> list[Job]:
    """The jobs of some stages, and all that they need.

    plan (Plan): The experiment.
    stages (Iterable[str]): Some of STAGES.
    RETURNS (list[Job]): Every job after those it needs.
    """
    staged = [pair for treebank in plan.treebanks for pair in _staged(plan, treebank)]
    chosen = set(stages)
    wanted = {job.name for stage, job in staged if stage in chosen}
    for _, job in reversed(staged):
        if job.name in wanted:
            wanted |= set(job.needs.values())
    return [job for _, job in staged if job.name in wanted]


def _staged(plan: Plan, treebank: TreebankPlan) -> Iterator[tuple[str, Job]]:
    """The jobs of a treebank, each after those it needs, and their stages."""
    source = plan.source / treebank.name
    files = tuple(sorted(source.glob("*.conllu")))
    weight = treebank.passes * sum(path.stat().st_size for path in files)
    for stage, jobs in (
        ("corpus", _corpus(plan, treebank)),
        ("parsers", _parsers(plan, treebank)),
        ("restorers", _restorers(plan, treebank)),
        ("baselines", _baselines(plan, treebank)),
        ("scores", _scores(plan, treebank)),
        ("packages", _packages(treebank)),
    ):
        for name, work, size, needs, settings in jobs:
            yield (
                stage,
                Job(
                    f"{treebank.name}/{name}",
                    work,
                    settings,
                    {role: f"{treebank.name}/{need}" for role, need in needs.items()},
                    (*(files if "source" in settings else ()), *_configs(settings)),
                    size * weight,
                ),
            )


_Jobs = Iterator[tuple[str, Work, float, Mapping[str, str], Mapping[str, Any]]]
"""Name, function, size, role -> name of a needed job, settings."""
_CORPUS = {"corpus": "corpus"}


def _corpus(plan: Plan, treebank: TreebankPlan) -> _Jobs:
    yield "corpus", make_corpus, 1, {}, _source(plan, treebank) | _lang(treebank)


def _parsers(plan: Plan, treebank: TreebankPlan) -> _Jobs:
    for name, part, share in (
        *((parser(share), "train", share) for share in _shares(plan)),
        ("parser-second", "second", WHOLE),
    ):
        is_curve = share not in (HALF, WHOLE)
        passes = plan.curve_passes if is_curve else plan.parser_passes
        settings = {
            **_lang(treebank),
            "config": "configs/parser.cfg",
            "part": part,
            "share": share,
            "passes": passes * treebank.passes,
            "min_words": plan.min_words,
            "seed": plan.seed,
        }
        # The curve can wait: all else needs the parsers of halves and the whole.
        size = 0.01 if is_curve else passes * share / WHOLE
        yield name, train_parser, size, _CORPUS, settings
    needs = {"first": parser(HALF), "second": "parser-second", "whole": parser(WHOLE)}
    yield "trees", parse_corpus, 1, _CORPUS | needs, {}
    if plan.udpipe:
        settings = _source(plan, treebank) | _lang(treebank)
        yield "udpipe", train_udpipe_parser, 5, _CORPUS, settings


def _restorers(plan: Plan, treebank: TreebankPlan) -> _Jobs:
    common = _lang(treebank) | {"seed": plan.seed}
    log_linear = common | {
        "config": "configs/paper.cfg",
        "passes": plan.log_linear_passes * treebank.passes,
    }
    for name, direction, channel in _log_linear_models(plan):
        settings = log_linear | {"direction": direction, "channel": channel}
        yield name, train_log_linear, plan.log_linear_passes, _CORPUS, settings
    needs = {"trees": "trees"} | {direction: direction for direction in DIRECTIONS}
    settings = common | {
        "config": "configs/lexical.cfg",
        "passes": float(plan.lexical_passes),
    }
    yield "lexical", train_lexical, 3 * plan.lexical_passes, _CORPUS | needs, settings


def _baselines(plan: Plan, treebank: TreebankPlan) -> _Jobs:
    for kind in plan.taggers:
        settings = {
            **_source(plan, treebank),
            "kind": kind,
            "epochs": max(round(plan.tagger_epochs * treebank.passes), 5),
            "seed": plan.seed,
        }
        yield kind, train_baseline, plan.tagger_epochs, {}, settings


def _scores(plan: Plan, treebank: TreebankPlan) -> _Jobs:
    trees = {"trees": "trees"} | ({"udpipe": "udpipe"} if plan.udpipe else {})
    directions = {direction: direction for direction in DIRECTIONS}
    restorers = {"log-linear": directions, "lexical": {"restorer": "lexical"}}
    if plan.attach_only:
        restorers["attach"] = {"restorer": "attach"}
    for name, needs in restorers.items():
        yield f"scores/{name}", score_restorer, 1, _CORPUS | trees | needs, {}
    for kind in plan.taggers:
        needs, settings = {"tagger": kind}, _source(plan, treebank)
        yield f"scores/{kind}", score_baseline, 1, needs, settings
    needs = _CORPUS | {"restorer": "lexical"}
    yield "scores/trivial", score_trivial, 0.1, needs, {}
    if plan.shares:
        parsers = {str(share): parser(share) for share in _shares(plan)}
        needs = _CORPUS | parsers | directions | {"lexical": "lexical"}
        yield "curve", score_curve, 0.01, needs, {}
    yield "analysis", analyze_channel, 1, _CORPUS | directions, {}


def _packages(treebank: TreebankPlan) -> _Jobs:
    needs = {
        "whole": parser(WHOLE),
        "lexical": "lexical",
        "scores": "scores/lexical",
    }
    rest = re.sub(r"\W+", "_", treebank.name.removeprefix(treebank.lang)).strip("_")
    settings = {"name": f"punct_{rest}", "title": treebank.title}
    yield "pipeline", assemble, 0.1, _CORPUS | needs, settings
    yield "package", make_package, 0.1, {"pipeline": "pipeline"}, {}


def parser(share: int) -> str:
    """The name of the parser of a share of the training data."""
    return f"parser-{share}"


def _shares(plan: Plan) -> list[int]:
    return sorted({*plan.shares, HALF, WHOLE})


def _log_linear_models(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Name, direction and channel."""
    for direction in DIRECTIONS:
        yield direction, direction, "table"
    if plan.attach_only:
        yield "attach", "left-to-right", "identity"


def _configs(settings: Mapping[str, Any]) -> tuple[Path, ...]:
    """The training config that a job reads, if any."""
    return (Path(settings["config"]),) if "config" in settings else ()


def _source(plan: Plan, treebank: TreebankPlan) -> dict[str, Any]:
    return {"source": str(plan.source / treebank.name)}


def _lang(treebank: TreebankPlan) -> dict[str, Any]:
    return {"lang": treebank.lang}
