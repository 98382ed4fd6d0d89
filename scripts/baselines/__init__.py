"""What the model is measured against: taggers that read words and no trees.

A tagger is a table of surface strings, a table of words and a network between them. It
restores punctuation, or corrects it if it also reads what a writer put there.
Another kind of tagger is another `SlotNetwork`, entered in `NETWORKS`.
"""

from scripts.baselines.evaluation import compare_tagger
from scripts.baselines.model import Tagger
from scripts.baselines.networks import (
    DEFAULTS,
    NETWORKS,
    NetworkConfig,
    SlotNetwork,
    default_config,
)
from scripts.baselines.storage import from_disk, to_disk
from scripts.baselines.training import TaggerResult, TaggerTraining, train_tagger

__all__ = [
    "DEFAULTS",
    "NETWORKS",
    "NetworkConfig",
    "SlotNetwork",
    "Tagger",
    "TaggerResult",
    "TaggerTraining",
    "compare_tagger",
    "default_config",
    "from_disk",
    "to_disk",
    "train_tagger",
]
