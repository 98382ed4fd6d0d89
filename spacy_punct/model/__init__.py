"""The generative model of punctuation: scores -> exact inference -> answers."""

from spacy_punct.model.channel import Channel
from spacy_punct.model.correction import (
    PaperCorrector,
    evaluate_corrector,
    explain,
    train_corrector,
)
from spacy_punct.model.correction_scores import EditScores, count_changes, score_edits
from spacy_punct.model.distribution import Distribution, restore_from_trees
from spacy_punct.model.inventory import Inventory
from spacy_punct.model.model import PunctuationModel
from spacy_punct.model.storage import from_bytes, from_disk, to_bytes, to_disk
from spacy_punct.model.training import TrainingConfig, TrainingResult, train

__all__ = [
    "Channel",
    "Distribution",
    "EditScores",
    "Inventory",
    "PaperCorrector",
    "PunctuationModel",
    "TrainingConfig",
    "TrainingResult",
    "count_changes",
    "evaluate_corrector",
    "explain",
    "from_bytes",
    "from_disk",
    "restore_from_trees",
    "score_edits",
    "to_bytes",
    "to_disk",
    "train",
    "train_corrector",
]
