"""The report page, in a real browser."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.browsing import Opened, chromium, open_at
from wisefl.paper import Reproduced
from wisefl.paper.claims import Claim, Judgement, Part, Verdict
from wisefl.paper.made import MadeFigure
from wisefl.paper.report import write_report
from wisefl.paper.table import Row, Table
from wisefl.paper.texts import FigureText, MethodText, PanelText
from wisefl.plots.axes import Scale
from wisefl.plots.palette import COLOURS, KNOWN, look

NASTY = "</script><b id='x'>\"CSRA\" & co"
LEARNING = {"csra": NASTY, "certified": "Certified", "fedavg": "FedAvg", "pow": "Pow", "sae": "SAE", "cfl": "CFL"}
COSTS = {
    "csra": NASTY,
    "certified": "Certified",
    "cs-random": "CS-Random",
    "ga-random": "GA-Random",
    "cs-greedy": "CS-Greedy",
    "ga-greedy": "GA-Greedy",
}


@dataclass(frozen=True)
class Kind:
    """A figure as the reproduction leaves it: its panels, its methods, where its x lie and how many seeds it has."""

    title: str
    panels: dict[str, str]
    methods: dict[str, str]
    x_label: str
    x: list[float]
    seeds: int
    y_scale: Scale = "linear"


ACCURACY = {"fashion-mnist": "test accuracy", "cifar-10": "test accuracy"}
COST = {"energy": "energy per round (J)", "latency": "latency per round (s)"}
FIGURES = {
    "accuracy": Kind("Test accuracy over rounds", ACCURACY, LEARNING, "round", [*range(1, 101)], 5),
    "kl-threshold": Kind(
        "Effect of the KL threshold",
        {"accuracy": "test accuracy"},
        {"csra": NASTY, "fedavg": "FedAvg"},
        "KL threshold (nat)",
        [0.05, 0.1, 0.2, 0.4, 0.8],
        5,
    ),
    "data-budget": Kind(
        "Effect of the data budget", ACCURACY, {"csra": NASTY}, "data budget (samples)", [500, 1000, 2000, 4000], 3
    ),
    "cumulative": Kind("Energy and latency over rounds", COST, COSTS, "round", [*range(1, 51)], 5),
    "bandwidth": Kind("Effect of bandwidth", COST, COSTS, "bandwidth (Hz)", [1e6, 2e6, 5e6, 1e7, 2e7], 4, "log"),
    "channel-gain": Kind("Effect of the channel gain", COST, COSTS, "mean gain", [0.1, 0.4, 0.7, 1.0, 1.3], 2),
    "budget-cost": Kind(
        "Effect of the data budget on cost", COST, COSTS, "data budget (samples)", [1000, 2000, 4000, 8000], 1
    ),
    "trade-off": Kind(
        "Trade-off of alpha1 and alpha2",
        {
            "energy-a1": "energy (J)",
            "latency-a1": "latency (s)",
            "energy-a2": "energy (J)",
            "latency-a2": "latency (s)",
        },
        {"csra": NASTY, "certified": "Certified"},
        "weight",
        [1.0, 1.2, 1.4, 1.6, 1.8, 2.0],
        5,
    ),
}
PANELS = sum(len(figure.panels) for figure in FIGURES.values())
VERDICTS = [Verdict.HOLDS, Verdict.HOLDS, Verdict.FAILS, Verdict.OPEN]


def invented() -> Reproduced:
    """What `wisefl reproduce all` would tell, with invented numbers."""
    return Reproduced(
        figures=tuple(made(name, kind) for name, kind in FIGURES.items()),
        judgements=tuple(judged(number) for number in range(13)),
        about={
            "scale": "quick",
            "seeds": "5",
            "command": "wisefl reproduce all --scale quick --seeds 5 --out reproduction",
            "version": "0.1.0",
            "started": "2026-01-02T03:04:00+00:00",
            "computing_s": 581.2,
        },
        environment={
            "python": "3.11.7",
            "cores": 2,
            "packages": {"numpy": "2.4.6", "a-package-with-a-long-name": "1.0"},
        },
    )


def judged(number: int) -> Judgement:
    claim = Claim(
        number + 1,
        f"CSRA has the best test accuracy on both data sets, sentence {number + 1} <of> the paper.",
        "difference of the final accuracy",
        (list(FIGURES)[number % len(FIGURES)],),
        lambda results: [],
    )
    effect, verdict = 0.0123 * (number - 3), VERDICTS[number % 4]
    p_value = 0.0001 * 2**number
    part = Part(
        "CSRA - best", effect, (effect - 0.02, effect + 0.02), "above 0", 5, p_value, p_value, verdict, "FedAvg", 12
    )
    detail = "Against the best of the others, paired over five seeds & two data sets."
    return Judgement(claim, verdict, detail, None if number == 5 else part)


def made(name: str, kind: Kind) -> MadeFigure:
    draw = np.random.default_rng(len(name))
    x = np.asarray(kind.x, dtype=float)
    rows: list[Row] = []
    for panel, label in kind.panels.items():
        for rank, method in enumerate(kind.methods):
            rise = np.log1p(9 * (x - x[0]) / (x[-1] - x[0])) / np.log(10)
            curve = 0.1 + (0.75 - 0.04 * rank) * rise if "accuracy" in label else (3 + 4 * rank**1.6) * (1.6 - rise)
            for seed in range(kind.seeds):
                noise = draw.normal(0, 0.02, len(x)) * curve + draw.normal(0, 0.01)
                values = (curve + noise).tolist()
                rows += [Row(panel, method, at, seed, value) for at, value in zip(x.tolist(), values, strict=True)]
    text = FigureText(
        name=name,
        title=kind.title,
        caption=f"{kind.title} in the paper's setting, a < b.",
        panels=tuple(
            PanelText(panel, panel.replace("-", " "), kind.x_label, label, y_scale=kind.y_scale)
            for panel, label in kind.panels.items()
        ),
        methods=tuple(MethodText(method, label, level=method == "fedavg") for method, label in kind.methods.items()),
        scale="quick",
        seeds=kind.seeds,
        rounds=100,
    )
    return MadeFigure(text, Table(tuple(rows)))


def write_all(told: Reproduced, out: Path) -> Path:
    for figure in told.figures:
        figure.write(out)
    return write_report(told, out)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(invented(), tmp_path_factory.mktemp("reproduction"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Opened]:
    with_page = open_report(browser, report, width=1280, height=900)
    yield with_page
    with_page.page.context.close()


def open_report(browser: Any, report: Path, width: int, height: int, **options: Any) -> Opened:
    return open_at(Opened, browser, report.as_uri(), width, height, **options)


def figure(page: Any, name: str) -> Any:
    return page.locator(f"#figure-{name}")


def test_every_chart_is_drawn_and_nothing_is_asked_of_the_network(opened: Opened, report: Path) -> None:
    page = opened.page
    charts = page.locator(".plot > svg")
    assert charts.count() == PANELS
    for name, kind in FIGURES.items():
        part = figure(page, name)
        assert part.locator(".line[d^=M]").count() == len(kind.methods) * (len(kind.panels) + 1)  # and the swatches
        assert part.locator(".band").count() == (len(kind.methods) * len(kind.panels) if kind.seeds > 2 else 0)
        each_seed = kind.seeds if kind.seeds in (2, 3) else 0
        assert part.locator(".seed").count() == each_seed * len(kind.methods) * len(kind.panels)
    drawn = page.eval_on_selector_all(".plot path", "paths => paths.map(path => path.getAttribute('d'))")
    assert drawn
    assert not [path for path in drawn if "NaN" in path or "Infinity" in path or "undefined" in path]
    boxes = page.eval_on_selector_all(
        ".plot .line",
        "lines => lines.map(line => { const b = line.getBBox(); return [b.x, b.y, b.width, b.height] })",
    )
    assert all(math.isfinite(side) for box in boxes for side in box)
    assert all(box[2] > 200 for box in boxes)
    page.wait_for_load_state("networkidle")
    assert opened.requests == [report.as_uri()]
    assert opened.complaints == []


def test_a_click_hides_a_method_and_another_brings_it_back(opened: Opened) -> None:
    part = figure(opened.page, "cumulative")
    button = part.get_by_role("button", name=NASTY)
    curve = part.locator(".curve[data-method='0']")
    assert button.get_attribute("aria-pressed") == "true"
    assert curve.count() == 2
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert curve.count() == 0
    assert part.locator(".curve").count() == 10
    assert figure(opened.page, "bandwidth").locator(".curve[data-method='0']").count() == 2
    part.get_by_role("button", name="Show all").click()
    assert button.get_attribute("aria-pressed") == "true"
    assert curve.count() == 2
    assert opened.complaints == []


def test_methods_are_toggled_from_the_keyboard(opened: Opened) -> None:
    part = figure(opened.page, "kl-threshold")
    button = part.get_by_role("button", name="FedAvg")
    button.focus()
    assert part.locator(".curve.dim").count() == 1  # the other method steps back
    opened.page.keyboard.press("Space")
    assert button.get_attribute("aria-pressed") == "false"
    assert part.locator(".curve").count() == 1
    opened.page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert part.locator(".curve").count() == 2
    assert opened.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_without_any_method_the_chart_says_so(opened: Opened) -> None:
    part = figure(opened.page, "data-budget")
    part.get_by_role("button", name=NASTY).click()
    assert part.get_by_text("No method is shown.").count() == 2
    part.get_by_role("slider").first.focus()
    assert not part.locator(".tip").first.is_visible()
    assert opened.complaints == []


def test_values_are_read_by_pointing(opened: Opened, report: Path) -> None:
    part = figure(opened.page, "kl-threshold")
    reader = part.get_by_role("slider")
    reader.hover(position={"x": 12, "y": 60})
    tip = part.locator(".tip")
    assert "KL threshold (nat): 0.05" in tip.inner_text()
    told = MadeFigure.read(report.parent / "figures" / "kl-threshold.json").table
    for method in ("csra", "fedavg"):
        assert f"{np.mean(list(told.at('accuracy', method, 0.05).values())):.4g} ±" in tip.inner_text()
    assert NASTY in tip.inner_text()
    opened.page.mouse.move(0, 0)
    assert not tip.is_visible()


def test_values_are_read_from_the_keyboard(opened: Opened) -> None:
    reader = figure(opened.page, "kl-threshold").get_by_role("slider")
    reader.focus()
    tip = figure(opened.page, "kl-threshold").locator(".tip")
    assert "0.8" in tip.inner_text()
    opened.page.keyboard.press("Home")
    opened.page.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith("KL threshold (nat): 0.1\n")
    assert "KL threshold (nat) 0.1: " in reader.get_attribute("aria-valuetext")
    assert "FedAvg" in reader.get_attribute("aria-valuetext")
    opened.page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_costs_far_apart_can_be_seen_on_a_logarithmic_axis(opened: Opened) -> None:
    part = figure(opened.page, "cumulative")
    before = part.locator(".curve[data-method='0'] .line").first.get_attribute("d")
    part.get_by_role("button", name="Logarithmic y-axis").click()
    after = part.locator(".curve[data-method='0'] .line").first.get_attribute("d")
    assert before != after
    assert "NaN" not in after
    pressed = figure(opened.page, "bandwidth").get_by_role("button", name="Logarithmic y-axis", pressed=True)
    assert pressed.count() == 1  # as its text asks for
    assert figure(opened.page, "kl-threshold").get_by_role("button", name="Logarithmic y-axis").count() == 0


def test_values_over_many_orders_of_magnitude_and_below_zero_are_all_seen(browser: Any, tmp_path: Path) -> None:
    rows = tuple(
        Row("loss", method, x, 0, value)
        for method, values in (("bound", (9e4, 3e4, 1e5)), ("gap", (-0.004, 0.0, 2.0)))
        for x, value in enumerate(values, start=1)
    )
    text = FigureText(
        name="theorem",
        title="Orders of magnitude",
        caption="From below 0 to 100,000.",
        panels=(PanelText("loss", "Loss", "x", "loss", y_scale="symlog"),),
        methods=(MethodText("bound", "Bound"), MethodText("gap", "Gap")),
        scale="quick",
        seeds=1,
        rounds=1,
    )
    report = write_all(Reproduced((MadeFigure(text, Table(rows)),), ()), tmp_path)
    opened = open_report(browser, report, width=1000, height=800)
    boxes = opened.page.eval_on_selector_all(
        ".plot .line", "lines => lines.map(line => { const box = line.getBBox(); return [box.y, box.height] })"
    )
    (bound_top, bound_height), (gap_top, gap_height) = boxes
    assert bound_top + bound_height < gap_top
    assert min(bound_height, gap_height) > 5.0  # on a linear axis the gap would be flat
    assert opened.page.get_by_role("button", name="Logarithmic y-axis", pressed=True).count() == 1
    assert opened.complaints == []
    opened.page.context.close()


def test_a_method_looks_as_in_the_pictures_and_a_level_has_no_points(opened: Opened) -> None:
    part = figure(opened.page, "kl-threshold")
    shown = look(KNOWN["fedavg"])
    line = part.locator(".curve[data-method='1'] .line")
    dash = [float(length) for length in line.get_attribute("stroke-dasharray").split()]
    assert dash == pytest.approx([2.0 * length for length in shown.dash])
    assert line.evaluate("line => getComputedStyle(line).stroke") == rgb(shown.colour.light)
    assert part.locator(".curve[data-method='1'] .mark").count() == 0
    corners = part.locator(".curve[data-method='0'] .mark").first.get_attribute("d").count("L") + 1
    assert corners == len(look(KNOWN["csra"]).marker)


@pytest.mark.parametrize("width", [320, 375, 800])
def test_a_phone_needs_no_sideways_scrolling(browser: Any, report: Path, width: int) -> None:
    opened = open_report(browser, report, width=width, height=812, has_touch=True, is_mobile=True)
    page = opened.page
    page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
    page.locator(".reader").first.tap()
    assert page.locator(".tip").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = "tips => tips.map(tip => [tip.getBoundingClientRect().left, tip.getBoundingClientRect().right])"
    left, right = page.eval_on_selector_all(".tip:not([hidden])", outside)[0]
    assert left >= 0
    assert right <= width
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_lines_stand_out_in_light_and_dark(browser: Any, report: Path, scheme: str) -> None:
    opened = open_report(browser, report, width=1000, height=800, color_scheme=scheme)
    paint = "(selector, what) => getComputedStyle(document.querySelector(selector))[what]"
    page = opened.page

    def colour(selector: str, what: str = "color") -> str:
        return page.evaluate(f"([selector, what]) => ({paint})(selector, what)", [selector, what])

    ground = colour("body", "backgroundColor")
    assert (luminance(ground) < 0.1) == (scheme == "dark")
    for selector in ("body", ".note", "a", ".detail", "thead th"):
        assert contrast(colour(selector), ground) >= 4.5, selector
    for verdict in ("holds", "does-not-hold", "not-decided"):
        badge = f".badge.{verdict}"
        assert contrast(colour(badge), colour(badge, "backgroundColor")) >= 4.5, verdict
    inks = page.eval_on_selector_all(".plot .line", "lines => lines.map(line => getComputedStyle(line).stroke)")
    assert set(inks) <= {rgb(colour.light if scheme == "light" else colour.dark) for colour in COLOURS}
    assert len(set(inks)) > 5
    assert min(contrast(ink, ground) for ink in set(inks)) >= 3.0
    page.context.close()


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[place : place + 2], 16)) for place in (1, 3, 5))})"


def luminance(colour: str) -> float:
    """WCAG's relative luminance of `rgb(r, g, b)`."""
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_headings_and_names_lead_through_the_page(opened: Opened) -> None:
    page = opened.page
    levels = page.eval_on_selector_all("h1,h2,h3,h4,h5,h6", "all => all.map(one => Number(one.tagName[1]))")
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.get_by_role("img").count() == PANELS
    unnamed = """all => all.filter(one => !(one.getAttribute('aria-label') || one.getAttribute('alt')
        || one.getAttribute('aria-labelledby') || one.textContent.trim()))"""
    named = "[role=img], [role=slider], [role=region], [role=group], img, button, a, nav, section, summary"
    assert page.eval_on_selector_all(named, f"all => ({unnamed})(all).length") == 0
    assert page.eval_on_selector_all("[id]", "all => all.length - new Set(all.map(one => one.id)).size") == 0
    assert page.locator("svg:not([role=img]):not([aria-hidden=true])").count() == 0
    broken = "all => all.filter(one => !document.getElementById(decodeURIComponent(one.hash.slice(1)))).length"
    assert page.eval_on_selector_all("a[href^='#']", broken) == 0


def test_the_page_tells_verdicts_numbers_files_and_the_command(opened: Opened, report: Path) -> None:
    page = opened.page
    assert "7 of 13 claims tested hold, 3 do not, 3 are not decided" in page.locator(".lead").inner_text()
    table = page.get_by_role("table", name="Claims")
    assert table.get_by_role("row").count() == 14
    badges = Counter(badge[2:] for badge in table.locator(".badge").all_inner_texts())
    assert badges == {"holds": 7, "does not hold": 3, "not decided": 3}
    assert "sentence 1 <of> the paper." in table.inner_text()
    assert "< 0.001" in table.inner_text()
    assert "wisefl reproduce all --scale quick --seeds 5" in page.locator("#rerun").inner_text()
    assert "packages.numpy" in page.locator("#settings").inner_text()
    assert "9 min 41 s" in page.locator(".facts").inner_text()
    files = page.eval_on_selector_all(".links a", "all => all.map(one => one.getAttribute('href'))")
    assert len(files) == 2 * len(FIGURES)
    assert all((report.parent / file).exists() for file in files)
    assert page.locator("#x").count() == 0  # the markup in a method's name stayed a name
    table = figure(page, "accuracy").locator("details").first
    table.locator("summary").press("Enter")
    assert table.locator("tbody tr").count() == 40
    assert "40 of 100 rows" in table.inner_text()


def test_without_scripts_the_pictures_stand_in(browser: Any, report: Path) -> None:
    opened = open_report(browser, report, width=1000, height=800, java_script_enabled=False)
    images = opened.page.get_by_role("img")
    assert images.count() == len(FIGURES)
    assert opened.page.get_by_role("img", name="Effect of bandwidth").count() == 1
    opened.page.context.close()


def test_figures_alone_make_a_report_too(tmp_path: Path) -> None:
    told = Reproduced(figures=invented().figures[:1], judgements=())
    page = write_all(told, tmp_path).read_text(encoding="utf-8")
    assert "No claim was judged" in page
    assert "does not say by which command" in page
