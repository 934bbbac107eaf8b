"""Which engine trains a model: the fast one where it applies, else the general one."""

import logging
from typing import Literal

from torch import nn

from wisefl.errors import InvalidInput
from wisefl.learning.engine import Engine
from wisefl.learning.fast.lanes import vector_lanes
from wisefl.learning.general import GeneralEngine
from wisefl.learning.model import PaperCNN

logger = logging.getLogger("wisefl")

EngineName = Literal["auto", "fast", "general"]


def select_engine(model: nn.Module, engine: EngineName = "auto", workers: int | None = None) -> Engine:
    """The engine for `model`; `auto` falls back to the general one and logs why.

    `workers` defaults to the cores this process may use; results do not depend on it.
    """
    if engine not in ("auto", "fast", "general"):
        raise InvalidInput(f"engine is {engine!r}, but only 'auto', 'fast' and 'general' exist")
    if engine == "general":
        return GeneralEngine(model, workers)
    obstacle = why_not_fast(model)
    if obstacle is None:
        assert isinstance(model, PaperCNN)
        from wisefl.learning.fast.engine import FastEngine

        return FastEngine(model.shape, workers)
    if engine == "fast":
        raise InvalidInput(f"engine is 'fast', but {obstacle}: use 'auto' or 'general'")
    # A model of one's own is trained by the general engine as a matter of course.
    logger.log(
        logging.WARNING if type(model) is PaperCNN else logging.INFO,
        "Training with the general engine: %s.",
        obstacle,
    )
    return GeneralEngine(model, workers)


def why_not_fast(model: nn.Module) -> str | None:
    """What keeps the fast engine from training this model on this CPU, as half a sentence; None if nothing does."""
    if type(model) is not PaperCNN:
        return f"the fast one knows paper-cnn, not {type(model).__name__}"
    _, height, width = model.shape
    if model.classes != 10 or height % 4 or width % 4:
        return f"the fast one needs 10 classes and sides divisible by 4, not {model.classes} and {height} x {width}"
    if vector_lanes() is None:
        return "the fast one needs a CPU with AVX-512, or AVX2 and FMA"
    return None
