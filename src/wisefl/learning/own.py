"""Models of one's own: what a factory makes. PyTorch is imported when one is made."""

import inspect
from typing import TYPE_CHECKING, Any

from wisefl.errors import InvalidInput
from wisefl.plugins import call, refer

if TYPE_CHECKING:
    from torch import nn

MODEL_NAMES = ("paper-cnn", "char-lstm")
"""Models that go by a name of ours (see `wisefl.learning.model.MODELS`)."""


def made(reference: str, shape: tuple[int, ...], classes: int) -> "nn.Module":
    """What `module:factory` makes: called with the shape of a sample and the number of classes, or with nothing."""
    from torch import nn

    factory = refer(reference)
    if not callable(factory):
        raise InvalidInput(
            f"{reference} is {type(factory).__name__}, but a function or class that makes a model is needed"
        )
    model = call(reference, factory, *((shape, classes) if _takes_two(factory) else ()))
    if not isinstance(model, nn.Module):
        raise InvalidInput(f"{reference} makes {type(model).__name__}, but a torch.nn.Module is needed")
    return model


def _takes_two(factory: Any) -> bool:
    """Whether it wants shape and classes; a class or function without parameters knows them by itself."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return False
    needed = [one for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return bool(needed) or {"shape", "classes"} <= {one.name for one in places}
