"""A figure as it was made: its words, its table and its picture, side by side in a folder.

Whatever writes a table with such words beside it is drawn, judged and shown on the pages, run by `wisefl` or not.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from wisefl.errors import InvalidInput
from wisefl.files import write_json
from wisefl.paper.checked import read_json
from wisefl.paper.contrasts import KINDS, Contrast, contrast
from wisefl.paper.figures.figure import COSTS, Figure, Panel
from wisefl.paper.figures.parts import PAPERS_ALGORITHMS
from wisefl.paper.plan import rounds_of
from wisefl.paper.scale import Scale
from wisefl.paper.table import Table, read_table, write_table
from wisefl.paper.texts import FigureText, MethodText, PanelText
from wisefl.plots import panels as picture
from wisefl.plots.paired import PairedPanel, draw_paired
from wisefl.plots.palette import looks

FIGURES = "figures"
"""The folder of a reproduction that holds them."""
_LOG_FROM = 4.0
"""A cost axis is logarithmic when one method spends so many times what another does, else the thrifty ones merge."""


@dataclass(frozen=True)
class MadeFigure:
    text: FigureText
    table: Table

    def __post_init__(self) -> None:
        """Data that the words do not name would silently be left out."""
        panels, methods = ({one.name for one in named} for named in (self.text.panels, self.text.methods))
        for panel, method in self.table.curves:
            for kind, name, known in (("panel", panel, panels), ("method", method, methods)):
                if name not in known:
                    raise InvalidInput(
                        f"figure {self.text.name!r}: its table has a {kind} {name!r}, its text has not"
                    )

    @property
    def name(self) -> str:
        return self.text.name

    @property
    def methods(self) -> dict[int, MethodText]:
        """Look -> method, of those with at least one value."""
        drawn = {method for _, method in self.table.curves}
        numbers = looks([method.name for method in self.text.methods])
        return {
            number: method for number, method in zip(numbers, self.text.methods, strict=True) if method.name in drawn
        }

    def write(self, out: Path, *, pictured: bool = True) -> None:
        """The CSV, the words and the picture, in the folder of a reproduction."""
        place = out / FIGURES / self.name
        place.parent.mkdir(parents=True, exist_ok=True)
        write_table(place.with_suffix(".csv"), self.table)
        write_json(place.with_suffix(".json"), asdict(self.text))
        if pictured:
            self.draw(place.with_suffix(".png"))

    def beside(self, earlier: "MadeFigure") -> "MadeFigure":
        """With the other seeds of an earlier one of the same kind, where its own are further ones; one that begins
        with the first seed stands in the earlier one's place."""
        own = {row.seed for row in self.table.rows}
        if 0 in own or replace(earlier.text, seeds=self.text.seeds) != self.text:
            return self
        rows = [row for row in earlier.table.rows if row.seed not in own]
        seeds = own | {row.seed for row in rows}
        return MadeFigure(replace(self.text, seeds=len(seeds)), Table((*rows, *self.table.rows)))

    @classmethod
    def read(cls, path: Path) -> "MadeFigure":
        """From the JSON file of its words, beside which the table lies."""
        text: FigureText = read_json(path, TypeAdapter(FigureText))
        return cls(text, read_table(path.with_suffix(".csv")))

    def draw(self, path: Path) -> None:
        """Draw it as PNG and, where methods are set against one of them, the pairs as another beside it."""
        picture.draw_panels(self.text.title, [self._panel(panel) for panel in self.text.panels], path)
        if self.contrasts:
            draw_paired(self.text.title, [self._paired(one) for one in self.contrasts], paired_name(path))

    @property
    def contrasts(self) -> list[Contrast]:
        """Every panel as differences from the reference, or as ratios to it."""
        if not self.text.reference:
            return []
        return [
            contrast(self.table, panel, self.text.reference, [method.name for method in self.text.methods])
            for panel in self.text.panels
            if panel.metric in KINDS
        ]

    def _paired(self, one: Contrast) -> PairedPanel:
        lines = [
            picture.Line(method.label, look, *one.table.grid(one.panel.name, method.name), marked=not method.level)
            for look, method in self.methods.items()
            if method.name != self.text.reference
        ]
        panel = one.panel
        return PairedPanel(panel.title, panel.x_label, panel.y_label, lines, one.ratio, panel.y_scale, one.zone)

    def _panel(self, panel: PanelText) -> picture.Panel:
        lines = [
            picture.Line(method.label, look, *self.table.grid(panel.name, method.name), marked=not method.level)
            for look, method in self.methods.items()
        ]
        return picture.Panel(panel.title, panel.x_label, panel.y_label, lines, panel.y_scale)


def paired_name(path: Path) -> Path:
    """Of the picture of pairs, beside that of the curves."""
    return path.with_name(f"{path.stem}-paired.png")


def figure_text(figure: Figure, scale: Scale, table: Table) -> FigureText:
    """The words of a figure that was run at this scale and gave this table."""
    own = [method.settings["rounds"] for method in figure.methods if "rounds" in method.settings]
    rounds = {panel.name: max(own, default=rounds_of(figure, panel, scale)) for panel in figure.panels}
    return FigureText(
        name=figure.name,
        title=figure.title,
        caption=figure.caption,
        panels=tuple(
            PanelText(
                name=panel.name,
                title=panel.title,
                x_label=panel.x_label,
                y_label=panel.y_label,
                metric=panel.metric.name,
                course=panel.course,
                y_scale="log" if _logarithmic(figure, panel, table) else "linear",
                rounds=rounds[panel.name],
            )
            for panel in figure.panels
        ),
        methods=tuple(MethodText(method.name, method.label, not method.swept) for method in figure.methods),
        scale=scale.name,
        seeds=scale.seeds[figure.runs],
        rounds=max(rounds.values()),
        reference=_reference(figure),
    )


def _reference(figure: Figure) -> str:
    """As the figure says, or the paper's own method where there is another beside it."""
    if figure.reference:
        return figure.reference
    names = [method.name for method in figure.methods]
    return PAPERS_ALGORITHMS.name if PAPERS_ALGORITHMS.name in names and len(names) > 1 else ""


def _logarithmic(figure: Figure, panel: Panel, table: Table) -> bool:
    """Whether a linear axis would press the thrifty methods into one line; costs alone differ by so much."""
    if panel.metric not in COSTS:
        return False
    grids = [table.grid(panel.name, method.name)[1] for method in figure.methods]
    largest = [float(values.mean(axis=0).max()) for values in grids if values.size]
    return bool(largest) and max(largest) > _LOG_FROM * min(largest) > 0.0
