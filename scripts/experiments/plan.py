"""What an experiment is made of: treebanks, parsers, restorers and baselines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import srsly

from scripts.baselines.networks import NETWORKS
from spacy_punct.errors import Errors, PunctError, check_range

HALF, WHOLE = 50, 100
"""Shares of the training data, in percent, that every experiment has a parser of."""


@dataclass(frozen=True)
class TreebankPlan:
    """A treebank of an experiment.

    name (str): Its folder.
    lang (str): The language's code.
    title (str): The language's name.
    passes (float): Factor on the passes over the training data, except those of the
        lexical restorer: less for a large treebank, more for a small one.
    """

    name: str
    lang: str
    title: str
    passes: float = 1.0


@dataclass(frozen=True)
class Plan:
    """An experiment, as its file under `configs/` describes it.

    title (str): Of the page with its results.
    treebanks (tuple[TreebankPlan, ...]): On which treebanks.
    source (Path): The folder of their folders.
    folder (Path): Where jobs keep what they make.
    metrics (Path): Where tables and pictures go.
    shares (tuple[int, ...]): Of how much of the training data parsers are trained, in
        percent, besides its halves and the whole.
    parser_passes, curve_passes (float): Passes over their training data of the
        parsers of halves and the whole, and of the others.
    min_words (int): A parser is trained on at least so many words, counting
        repetitions.
    log_linear_passes, lexical_passes (float): The same of restorers.
    taggers (tuple[str, ...]): Baselines that read words alone.
    tagger_epochs (int): Their passes at most.
    attach_only (bool): Whether there is a model without a channel.
    udpipe (bool): Whether there are UDPipe parsers.
    seed (int): Of everything random.
    """

    title: str
    treebanks: tuple[TreebankPlan, ...]
    source: Path
    folder: Path
    metrics: Path
    shares: tuple[int, ...] = ()
    parser_passes: float = 8.0
    curve_passes: float = 5.0
    min_words: int = 150_000
    log_linear_passes: float = 8.0
    lexical_passes: float = 8.0
    taggers: tuple[str, ...] = ()
    tagger_epochs: int = 12
    attach_only: bool = False
    udpipe: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for share in self.shares:
            check_range("shares", share, 1, WHOLE + 1)
        passes = ("parser", "curve", "log_linear", "lexical")
        for name in (*(f"{kind}_passes" for kind in passes), "min_words", "seed"):
            check_range(name, getattr(self, name), 0)
        check_range("tagger_epochs", self.tagger_epochs, 1)
        for kind in self.taggers:
            if kind not in NETWORKS:
                choices = ", ".join(NETWORKS)
                raise PunctError(Errors.P080.format(kind=kind, choices=choices))

    def only(self, names: Sequence[str], lang: str | None = None) -> "Plan":
        """The same with some of the treebanks, or with others.

        names (Sequence[str]): The treebanks.
        lang (str | None): The language of those that are not in the plan.
        RETURNS (Plan): A new plan.
        """
        known = {treebank.name: treebank for treebank in self.treebanks}
        for name in names:
            if name not in known and lang is None:
                message = Errors.P112.format(name=name, names=", ".join(known))
                raise PunctError(message)
        chosen = (known.get(name) or TreebankPlan(name, lang, name) for name in names)
        return replace(self, treebanks=tuple(chosen))


def read_plan(path: Path) -> Plan:
    """Read the description of an experiment.

    path (Path): A YAML file with the fields of `Plan`; `treebanks` maps names to the
        other fields of `TreebankPlan`.
    RETURNS (Plan): The plan. Its paths are relative to the current folder.
    """
    try:
        values: dict[str, Any] = dict(srsly.read_yaml(path))
        treebanks = values.pop("treebanks")
        known = {field.name for field in fields(Plan)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(f"unknown settings: {', '.join(unknown)}")
        return Plan(
            treebanks=_treebanks(treebanks),
            **{name: _typed(name, value) for name, value in values.items()},
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, PunctError):
            raise
        raise PunctError(Errors.P113.format(path=path, reason=error)) from None


def _treebanks(values: Mapping[str, Mapping[str, Any]]) -> tuple[TreebankPlan, ...]:
    return tuple(TreebankPlan(name, **rest) for name, rest in values.items())


def _typed(name: str, value: Any) -> Any:
    if name in ("source", "folder", "metrics"):
        return Path(value)
    return tuple(value) if isinstance(value, list) else value
