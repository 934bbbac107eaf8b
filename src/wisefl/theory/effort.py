"""How hard to look for the constants of Theorem 1."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """The constants are suprema; every estimate of them grows with the effort."""

    points: int = 5
    """Models along the way at which gradients and curvature are taken, evenly spaced, first and last among them."""
    gradients: int = 256
    """Samples whose gradients are taken at each of them, half of them from the test set."""
    curvatures: int = 16
    """Samples whose Hessians are: those with the steepest gradients."""
    replacements: int = 3
    """Trainings with one sample replaced."""


USUAL_EFFORT = Effort()
