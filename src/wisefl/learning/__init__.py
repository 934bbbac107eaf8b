"""Learning: a model, local training by an engine, averaging, evaluation. Knows nothing of selection or radio.

`wisefl.learning.model` and `wisefl.learning.selection` need PyTorch (the extra `learning`) and are imported by name.
"""

from wisefl.learning.averaging import Average, average
from wisefl.learning.engine import Engine, Job, LocalTraining, Samples, Scores, Updates
from wisefl.learning.evaluation import Evaluation, client_losses, evaluate

__all__ = [
    "Average",
    "Engine",
    "Evaluation",
    "Job",
    "LocalTraining",
    "Samples",
    "Scores",
    "Updates",
    "average",
    "client_losses",
    "evaluate",
]
