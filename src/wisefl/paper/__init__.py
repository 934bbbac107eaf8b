"""The paper, reproduced: its figures as data, its claims as tests, how it was read, and what all that comes to.

`figures` say what to run and `plan` turns them into runs of the paper's setting at a `scale`; a `Reproduction`
carries them out in a folder, and `Reproduced` is what such a folder tells: to the `claims`, to the `report`, and to
the `pages` of the documentation.
"""

from wisefl.paper.claims import judge_all
from wisefl.paper.figures import Figure, figures
from wisefl.paper.reproduced import Reproduced
from wisefl.paper.reproduction import Reproduction
from wisefl.paper.scale import SCALES, Scale

__all__ = ["SCALES", "Figure", "Reproduced", "Reproduction", "Scale", "figures", "judge_all"]
