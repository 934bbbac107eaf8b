"""Policy `wise` for equal joules, for equal seconds and in the end, on CIFAR-10."""

from wisefl.paper.figures.parts import over_whole_trainings

FIGURE = over_whole_trainings("cifar10", joules=(60, 130, 300), seconds=(150, 400))
