"""The paper's corrector (section 5.2), a 1-best pipeline.

A writer's marks are first explained: a model trained on erroneous text finds the
underlying tree most likely to be behind them. A second model, which sees each node's
pair of that tree (appendix C), then draws the underlying pairs of the corrected text,
and its channel, kept close to that of a model of correct text, writes them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from scripts.log_linear import TrainingConfig, train
from spacy_punct.data.depunctuation import PunctuatedTree
from spacy_punct.data.tree import Puncteme, Slots, Tree
from spacy_punct.errors import Errors, PunctError
from spacy_punct.model.inventory import Inventory, with_own_marks
from spacy_punct.model.punctuation import PunctuationModel, batched
from spacy_punct.model.storage import from_bytes, to_bytes

_BEAM = 32
"""Bounds the search for the underlying tree; ordinary sentences do not reach it."""
_BATCH = 64

CHANNEL_L2 = 0.01
"""How strongly the corrector's channel is pulled to that of correct text."""


def explain(model_of_errors: PunctuationModel, trees: Iterable[Tree]) -> Iterator[Tree]:
    """Find the underlying pairs behind the marks that a writer put into trees.

    model_of_errors (PunctuationModel): A model trained on erroneous text. Marks that
        it does not know are UNK to it.
    trees (Iterable[Tree]): Trees with `observed` marks.
    YIELDS (Tree): The same with `observed_pairs`, projective.
    """
    for batch in batched(trees, _BATCH):
        for tree in batch:
            _observed(tree)
        for distribution in model_of_errors.distributions(batch):
            tree = distribution.tree
            surface = model_of_errors.inventory.known(_observed(tree))
            pairs = distribution.viterbi(surface, beam=_BEAM)
            yield replace(tree, observed_pairs=pairs)


@dataclass(frozen=True)
class PaperCorrector:
    """The paper's corrector: three models, trained by `train_corrector`.

    errors (PunctuationModel): Of erroneous text, which explains what was written.
    restorer (PunctuationModel): Of correct text, which does not see what was written:
        where the corrector's channel comes from, and a baseline.
    correction (PunctuationModel): Of correct text given the explanation.
    """

    errors: PunctuationModel
    restorer: PunctuationModel
    correction: PunctuationModel

    def correct(
        self, trees: Iterable[Tree], *, n_samples: int = 1000, seed: int = 0
    ) -> Iterator[Slots]:
        """The corrected punctuation of minimum Bayes risk for each tree.

        trees (Iterable[Tree]): Trees with `observed` marks.
        n_samples (int): Samples per tree; 0 for marginals without sampling.
        seed (int): Seed of the samples of each tree.
        YIELDS (Slots): The marks in each tree's slots. A mark that the model does not
            know stays as it was written if it is not taken out.
        """
        inventory = self.correction.inventory
        for batch in batched(explain(self.errors, trees), _BATCH):
            corrected = self.correction.restore(batch, n_samples=n_samples, seed=seed)
            for tree, slots in zip(batch, corrected, strict=True):
                pairs = zip(_observed(tree), slots, strict=True)
                yield tuple(_with_own_marks(inventory, *pair) for pair in pairs)

    def to_disk(self, path: str | Path) -> None:
        """Write the corrector to a folder with a file for each model."""
        Path(path).mkdir(parents=True, exist_ok=True)
        for name in _names():
            (Path(path) / name).write_bytes(to_bytes(getattr(self, name)))

    @classmethod
    def from_disk(cls, path: str | Path) -> "PaperCorrector":
        """Read a corrector from a folder that `to_disk` wrote."""
        files = {name: Path(path) / name for name in _names()}
        return cls(**{n: from_bytes(f.read_bytes()) for n, f in files.items()})


def _names() -> list[str]:
    return [field.name for field in fields(PaperCorrector)]


def _with_own_marks(
    inventory: Inventory, observed: Puncteme, corrected: Puncteme
) -> Puncteme:
    """A corrected slot, each UNK in it the next unknown mark that was written there."""
    return with_own_marks(corrected, iter(inventory.unknown(observed)))


def train_corrector(
    examples: Sequence[PunctuatedTree],
    dev: Sequence[PunctuatedTree],
    config: TrainingConfig | None = None,
    *,
    channel_l2: float = CHANNEL_L2,
    show_progress: bool = True,
) -> PaperCorrector:
    """Train the paper's corrector: three trainings with the same settings.

    examples, dev (Sequence[PunctuatedTree]): Projective trees with `observed` marks,
        and the right ones in their slots.
    config (TrainingConfig | None): The settings. If they leave the channel's direction
        open, dev chooses those of the first two models, and the corrector has that of
        correct text.
    channel_l2 (float): How strongly the corrector's channel is pulled to that of
        correct text, from which it starts: the weight of the squared distance in the
        loss of a sentence.
    show_progress (bool): Whether to show progress bars and dev scores.
    RETURNS (PaperCorrector): The corrector.
    """
    config = config or TrainingConfig()
    shown = show_progress
    examples = [_without_pairs(example) for example in examples]
    dev = [_without_pairs(example) for example in dev]
    written = [list(map(_as_written, part)) for part in (examples, dev)]
    errors = train(written[0], written[1], config, show_progress=shown).model
    restorer = train(examples, dev, config, show_progress=shown).model
    correction = train(
        _explained(errors, examples),
        _explained(errors, dev),
        replace(config, direction=restorer.direction),
        channel_start=restorer.channel_weights,
        channel_l2=channel_l2,
        show_progress=shown,
    ).model
    return PaperCorrector(errors, restorer, correction)


def _without_pairs(example: PunctuatedTree) -> PunctuatedTree:
    _observed(example.tree)
    return replace(example, tree=replace(example.tree, observed_pairs=None))


def _as_written(example: PunctuatedTree) -> PunctuatedTree:
    return PunctuatedTree(example.tree, _observed(example.tree))


def _observed(tree: Tree) -> Slots:
    """What a writer put into the slots of a tree."""
    if tree.observed is None:
        raise PunctError(Errors.P130)
    return tree.observed


def _explained(
    model_of_errors: PunctuationModel, examples: Sequence[PunctuatedTree]
) -> tuple[PunctuatedTree, ...]:
    trees = explain(model_of_errors, [example.tree for example in examples])
    pairs = zip(examples, trees, strict=True)
    return tuple(replace(example, tree=tree) for example, tree in pairs)
