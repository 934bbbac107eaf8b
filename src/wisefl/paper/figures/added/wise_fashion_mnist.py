"""Policy `wise` for equal joules, for equal seconds and in the end, on Fashion-MNIST."""

from wisefl.paper.figures.parts import over_whole_trainings

FIGURE = over_whole_trainings("fashion-mnist", joules=(60, 120), seconds=(80, 150))
