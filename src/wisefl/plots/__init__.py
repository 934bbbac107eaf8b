"""Every picture: one palette, one dressing of axes, one way to save.

`palette` holds the looks that pictures and pages share; `axes` makes a sheet, dresses it and saves it; `lines` draws
a method. On these stand the pictures: panels of methods, pairs of them, a comparison of runs, a front, a partition of
data. What is drawn comes as plain numbers or as what `results` and `decision` hand out; who asked for it is not known
here.
"""

from wisefl.plots.comparison import draw_comparison, plot_comparison
from wisefl.plots.decision import draw_decision
from wisefl.plots.paired import PairedPanel, draw_paired
from wisefl.plots.panels import Panel, draw_panels
from wisefl.plots.pareto import plot_front
from wisefl.plots.partition import draw_partition

__all__ = [
    "PairedPanel",
    "Panel",
    "draw_comparison",
    "draw_decision",
    "draw_paired",
    "draw_panels",
    "draw_partition",
    "plot_comparison",
    "plot_front",
]
