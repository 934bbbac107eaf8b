"""The explorer in a real browser, against the real service."""

import json
import shlex
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support.browsing import Opened, chromium, open_at
from support.runs import make_run
from support.serving import Service, served
from wisefl import Fleet, Limits, RoundProblem, solve
from wisefl.cli import main

pytestmark = pytest.mark.timeout(600)
AXE = Path(__file__).parent / "vendored" / "axe.min.js"
DECIDED = "document.body.dataset.decided"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


class Explorer(Opened):
    """The page as a person uses it."""

    def settled(self) -> None:
        """Nothing is being decided any more."""
        self.until(f"{DECIDED} && !document.querySelector('.certificate.pending')")

    def until(self, true: str) -> None:
        """Asked from outside: the page's own policy allows no script but its files."""
        end = time.monotonic() + 120
        while not self.page.evaluate(true):
            assert time.monotonic() < end, true
            self.page.wait_for_timeout(50)

    def tile(self, name: str) -> str:
        found = self.page.locator("#certificate .tile", has=self.page.get_by_text(name, exact=True))
        return str(found.locator("dd").inner_text())

    def trains(self) -> set[str]:
        return set(self.page.locator("#timeline tbody th").all_inner_texts())

    def type_limit(self, name: str, value: str) -> None:
        before = self.page.evaluate(DECIDED)
        self.page.fill(f"#limit-{name}", value)
        self.page.press(f"#limit-{name}", "Enter")
        self.until(f"{DECIDED} && {DECIDED} !== '{before}'")
        self.settled()


def open_page(browser: Any, address: str, width: int = 1400, height: int = 900, **options: Any) -> Explorer:
    return open_at(Explorer, browser, address, width, height, **options)


@pytest.fixture
def opened(browser: Any, service: Service) -> Iterator[Explorer]:
    with_page = open_page(browser, service.address)
    with_page.settled()
    yield with_page
    with_page.page.context.close()
    refusals = "Failed to load resource: the server responded with a status of"  # the browser's note of a refusal
    assert [text for text in with_page.complaints if not text.startswith(refusals)] == []
    assert not [url for url in with_page.requests if not url.startswith((service.address, "blob:", "data:"))]


def certified(**limits: Any) -> Any:
    return solve(RoundProblem.build(Fleet.random(80, 0), limits=Limits(**limits)))


def names(decision: Any) -> set[str]:
    return set(decision.problem.fleet.client[decision.selected].tolist())


def test_it_opens_with_a_round_that_is_decided_and_proved(opened: Explorer) -> None:
    decision = certified()
    assert opened.trains() == names(decision)
    assert opened.tile("Objective") == f"{decision.objective:.4g}"
    assert opened.tile("Proved bound") == f"{decision.lower_bound:.4g}"
    assert "proved" in opened.page.locator("#status").inner_text()
    assert opened.page.locator(".fleet-grid tbody tr.trains").count() == len(names(decision))
    assert opened.complaints == []


def test_dragging_decides_while_the_slider_moves(opened: Explorer) -> None:
    page = opened.page
    before = opened.tile("Objective")
    slider = page.locator("#slide-bandwidth_hz")
    box = slider.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.56, box["y"] + box["height"] / 2)
    page.mouse.down()
    asked = len(opened.requests)
    for part in range(57, 90):
        page.mouse.move(box["x"] + box["width"] * part / 100, box["y"] + box["height"] / 2)
        page.wait_for_timeout(30)
    during = [url for url in opened.requests[asked:] if url.endswith("/plan")]
    page.mouse.up()
    opened.settled()
    assert len(during) >= 2  # not only when the slider is let go
    assert opened.tile("Objective") != before
    assert float(page.input_value("#limit-bandwidth_hz")) > 2e6
    page.keyboard.press("Control+z")  # one drag is one step back
    opened.settled()
    assert opened.tile("Objective") == before
    assert page.input_value("#limit-bandwidth_hz") == "2e6"
    assert page.locator("#undo").is_disabled()
    page.click("#redo")
    opened.settled()
    assert opened.tile("Objective") != before


def test_a_client_is_pinned_and_banned(opened: Explorer) -> None:
    page = opened.page
    page.get_by_role("button", name="Pin 5", exact=True).click()
    opened.settled()
    opened.until("[...document.querySelectorAll('#timeline tbody th')].some(one => one.innerText === '5')")
    assert opened.trains() == names(certified(required=("5",)))
    page.locator("#table").get_by_role("button", name="Ban 3", exact=True).click()
    opened.until("![...document.querySelectorAll('#timeline tbody th')].some(one => one.innerText === '3')")
    opened.settled()
    assert opened.trains() == names(certified(required=("5",), forbidden=("3",)))


def test_why_a_client_is_not_chosen(opened: Explorer) -> None:
    page = opened.page
    page.fill("#why-client", "5")
    page.press("#why-client", "Enter")
    page.wait_for_selector("#why .lead")
    said = page.inner_text("#why")
    assert "5 does not take part." in said
    assert "Too dear by" in said
    page.fill("#why-client", "9")
    page.press("#why-client", "Enter")
    page.get_by_text("no price would change that").wait_for()


def test_the_front_sets_the_weights(opened: Explorer) -> None:
    page = opened.page
    page.wait_for_selector(".spot")
    assert page.locator(".spot").count() == 15
    page.locator(".spot").first.focus()
    page.keyboard.press("Enter")
    opened.settled()
    assert float(page.input_value("#limit-latency_weight")) == 0.01
    assert opened.trains() == names(certified(latency_weight=0.01))


def test_methods_stand_side_by_side(opened: Explorer) -> None:
    page = opened.page
    page.click("#compare")
    opened.until("!document.getElementById('compare').disabled")
    rows = page.locator("#methods tbody tr").all_inner_texts()
    assert len(rows) == 7
    assert rows[0].startswith("certified")
    assert "\u00d7 1\t" in rows[0]
    opened.type_limit("min_samples", "3000")
    assert "Of earlier limits" in page.inner_text("#methods")


def test_a_link_restores_the_state(opened: Explorer, browser: Any) -> None:
    page = opened.page
    opened.type_limit("deadline_s", "0.5")
    page.locator("#table").get_by_role("button", name="Ban 3", exact=True).click()
    opened.settled()
    page.click("#share")
    link = page.inner_text("#share-link")
    again = open_page(browser, link)
    again.settled()
    assert again.page.input_value("#limit-deadline_s") == "0.5"
    assert again.trains() == names(certified(deadline_s=0.5, forbidden=("3",)))
    again.page.context.close()

    damaged = open_page(browser, link[:-40])
    damaged.page.get_by_text("This link is damaged").wait_for()
    damaged.page.context.close()


def test_what_one_takes_along_decides_the_same(
    opened: Explorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = opened.page
    opened.type_limit("deadline_s", "0.5")
    opened.type_limit("bandwidth_hz", "3e6")
    page.get_by_role("button", name="Pin 2", exact=True).click()
    opened.settled()
    page.click("#share")
    files = {}
    for label in ("Decision (CSV)", "Decision (JSON)", "Fleet (CSV)", "Picture (PNG)", "Picture (SVG)"):
        with page.expect_download() as taken:
            page.get_by_role("button", name=label).click()
        path = tmp_path / taken.value.suggested_filename
        taken.value.save_as(path)
        files[label] = path
    told = json.loads(files["Decision (JSON)"].read_text())
    assert files["Picture (PNG)"].read_bytes().startswith(b"\x89PNG")
    assert files["Picture (SVG)"].read_text().startswith("<svg")
    assert len(files["Decision (CSV)"].read_text().splitlines()) == 1 + len(told["clients"])

    monkeypatch.chdir(tmp_path)
    commands = page.inner_text("#share-shell").splitlines()
    assert len(commands) == 2
    (tmp_path / "fleet.csv").unlink()
    for line in commands:
        capsys.readouterr()
        assert main(shlex.split(line)[1:]) == 0
    assert json.loads(capsys.readouterr().out)["objective"] == told["objective"]
    session: dict[str, Any] = {}
    exec(page.inner_text("#share-python").replace("print(decision.summary())", ""), session)
    assert session["decision"].objective == told["objective"]


def test_what_cannot_be_kept_is_said_and_mended_by_a_click(opened: Explorer) -> None:
    page = opened.page
    opened.type_limit("deadline_s", "0.01")
    problem = page.locator("#problem")
    assert "raise deadline_s to at least" in problem.inner_text()
    assert page.inner_text("#status") == "of earlier limits"
    problem.get_by_role("button").first.click()
    opened.until("document.getElementById('problem').hidden")
    opened.settled()
    assert "proved" in page.inner_text("#status")
    page.fill("#limit-deadline_s", "soon")
    page.press("#limit-deadline_s", "Enter")
    assert page.get_attribute("#limit-deadline_s", "aria-invalid") == "true"


def test_fleets_are_pasted_opened_edited_and_refused(opened: Explorer, tmp_path: Path) -> None:
    page = opened.page
    fleet = "client\tdistance_m\ttransmit_power_dbm\tmax_frequency_hz\tcycles_per_bit\tcount_0\n"
    fleet += "".join(f"phone-{at}\t{100 + 10 * at}\t23\t2e9\t5\t1500\n" for at in range(4))
    page.click("#paste")
    page.fill("dialog textarea", fleet)  # as a spreadsheet's cells come
    page.click("#dialog-ok")
    page.get_by_text("4 of 4 clients").wait_for()
    opened.settled()
    assert opened.trains() == {"phone-0", "phone-1"}

    cell = page.locator("#table tr", has_text="phone-0").locator("td.edit").first
    cell.dblclick()
    page.keyboard.type("900")
    page.keyboard.press("Enter")
    opened.until("![...document.querySelectorAll('#timeline th')].some(one => one.innerText === 'phone-0')")
    opened.settled()
    assert opened.trains() == {"phone-1", "phone-2"}
    page.click("#undo")
    opened.settled()
    opened.until("[...document.querySelectorAll('#timeline th')].some(one => one.innerText === 'phone-0')")

    bad = tmp_path / "bad.csv"
    bad.write_text("client,distance_m,transmit_power_dbm,max_frequency_hz,cycles_per_bit,count_0\na,-3,23,2e9,5,10\n")
    page.set_input_files("#open", bad)
    page.get_by_text("row 1, column 'distance_m': -3 must be greater than 0").wait_for()
    assert "4 of 4 clients" in page.inner_text("#fleet-count")


@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_moves_under_the_pointer_when_the_front_comes(browser: Any, service: Service, width: int) -> None:
    opened = open_page(browser, "about:blank", width)
    place = "document.getElementById('paste').getBoundingClientRect().top"
    held: list[Any] = []
    opened.page.route("**/pareto", lambda route: held.append(route))  # goes on when the page is drawn without it
    opened.page.goto(service.address)
    opened.settled()
    while not held:
        opened.page.wait_for_timeout(50)
    before = opened.page.evaluate(place)
    held[0].continue_()
    opened.page.locator("#front .spot").first.wait_for()
    assert opened.page.evaluate(place) == before
    opened.page.context.close()


DROP = """([name, text]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name, { type: "text/csv" }));
  const happen = (kind) => document.body.dispatchEvent(
    new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: carried }));
  happen("dragenter");
  const shown = !document.getElementById("drop").hidden;
  const taken = !happen("dragover");
  happen("drop");
  return shown && taken && document.getElementById("drop").hidden;
}"""


def test_a_file_is_dropped_on_the_page(opened: Explorer) -> None:
    header = "client,distance_m,transmit_power_dbm,max_frequency_hz,cycles_per_bit,count_0\n"
    rows = "".join(f"drone-{at},{100 + 10 * at},23,2e9,5,1500\n" for at in range(3))
    assert opened.page.evaluate(
        DROP, ["drones.csv", header + rows]
    )  # says where to let go, takes it, is out of the way
    opened.page.get_by_text("3 of 3 clients").wait_for()
    opened.settled()
    assert opened.trains() == {"drone-0", "drone-1"}
    opened.page.evaluate(DROP, ["holiday.png", "\x89PNG"])
    opened.page.get_by_text("the fleet").first.wait_for()
    opened.until("!document.getElementById('problem').hidden")
    assert "3 of 3 clients" in opened.page.inner_text("#fleet-count")


def test_the_table_is_used_from_the_keyboard(opened: Explorer) -> None:
    page = opened.page
    page.locator("#table [tabindex='0'][data-place]").focus()
    page.keyboard.press("End")
    opened.until("document.activeElement.dataset.place === '79'")
    page.keyboard.press("Home")
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("p")
    opened.until("[...document.querySelectorAll('#timeline th')].some(one => one.innerText === '5')")
    assert (
        page.locator("#table").get_by_role("button", name="Pin 5", exact=True).get_attribute("aria-pressed") == "true"
    )


def test_ten_thousand_clients_stay_usable(opened: Explorer) -> None:
    page = opened.page
    page.select_option("#preset", "10,000 clients")
    page.get_by_text("10,000 of 10,000 clients").wait_for()
    opened.settled()
    assert page.locator("#table tbody tr").count() < 60
    assert len(opened.trains()) == min(int(opened.tile("Clients").split()[0]), 40)  # the rest is told in words
    began = time.perf_counter()
    page.evaluate("document.getElementById('table').scrollTop = 150000")
    opened.until("[...document.querySelectorAll('#table tbody th')].some(one => one.innerText === '5000')")
    assert time.perf_counter() - began < 10.0
    opened.type_limit("min_samples", "40000")
    assert "proved" in page.inner_text("#status")


def test_a_campaign_is_played(opened: Explorer) -> None:
    page = opened.page
    opened.type_limit("max_divergence", "inf")
    page.get_by_role("link", name="Campaign").click()
    for name, value in (("rounds", "6"), ("participation", "0.05"), ("steps", "1"), ("battery_j", "20")):
        page.fill(f"#horizon-{name}", value)
    page.click("#play")
    page.wait_for_selector("#campaign-result canvas.map")
    said = page.inner_text("#campaign-result")
    assert "80 of 80" in said
    assert page.locator("#campaign-result .plot .line").count() >= 7
    assert "NaN" not in page.inner_html("#campaign-result")
    assert page.locator("#certificate").is_hidden()  # the round's proof is not the campaign's
    assert "proved within" in page.inner_text("#campaign-result .badge")
    box = page.locator("canvas.map").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 2)
    assert page.inner_text(".schedule .tip").startswith("0, round 6")

    page.click("#share")
    told = page.inner_text("#share-shell").splitlines()[-1]
    assert told.startswith("wisefl campaign fleet.csv --max-divergence inf")
    assert {"--rounds 6", "--participation 0.05", "--steps 1", "--battery-j 20"} <= set(_pairs(told))
    page.keyboard.press("Escape")
    page.fill("#horizon-rounds", "7")
    page.press("#horizon-rounds", "Tab")
    assert page.get_by_text("Of earlier limits: play again").is_visible()


def _pairs(command: str) -> list[str]:
    words = command.split()
    return [f"{one} {other}" for one, other in pairwise(words)]


def test_runs_are_followed_while_they_grow_by_who_shows_the_token(browser: Any, tmp_path: Path) -> None:
    make_run(tmp_path / "first", [0.3, 0.5, 0.6])
    growing = make_run(tmp_path / "second", [0.2], "seed=1", finished=False)
    token = "a-token-for-this-test"
    with served("--workers", "1", "--runs", str(tmp_path), environment={"WISEFL_TOKEN": token}) as following:
        asked = open_page(browser, following.address)
        asked.page.get_by_label("Token").fill(token)
        asked.page.get_by_role("button", name="Show it").click()
        asked.settled()
        asked.page.context.close()

        opened = open_page(browser, f"{following.address}/#token={token}")
        page = opened.page
        opened.settled()
        assert token not in page.url
        page.get_by_role("link", name="Runs").click()
        page.wait_for_selector("#runs-charts .plot .line")
        assert page.locator(".runs-list li").count() == 2
        assert "1 of 2 finished" in page.inner_text(".runs-list")
        assert page.locator("#runs-charts .curve").count() >= 2
        record = (growing / "rounds.jsonl").read_text()
        with open(growing / "rounds.jsonl", "a") as file:
            file.write(record.replace('"round": 1', '"round": 2'))
        page.get_by_text("2 of 1").first.wait_for()
        assert opened.complaints == []
        page.context.close()


def test_it_fits_a_phone(browser: Any, service: Service) -> None:
    opened = open_page(browser, service.address, 390, 844, has_touch=True)
    opened.settled()
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.page.locator("#certificate").is_visible()
    opened.page.locator("#slide-min_samples").scroll_into_view_if_needed()
    box = opened.page.locator("#certificate").bounding_box()
    assert box["y"] == 0  # always in sight
    assert opened.complaints == []
    opened.page.context.close()


def blocked(page: Any) -> list[Any]:
    """What axe-core finds that would shut somebody out."""
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found["violations"]]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1400), ("dark", 1400), ("light", 390)])
def test_nobody_is_shut_out(browser: Any, followed: Service, scheme: str, width: int) -> None:
    opened = open_page(browser, followed.address, width, 900, color_scheme=scheme, bypass_csp=True)
    page = opened.page
    opened.settled()
    page.wait_for_selector(".spot")
    page.add_script_tag(path=str(AXE))
    assert blocked(page) == []
    page.click("#share")
    page.wait_for_selector("#share-link")
    assert blocked(page) == []
    page.keyboard.press("Escape")

    page.get_by_role("link", name="Campaign").click()
    page.click("#let-in")
    page.fill("#horizon-rounds", "3")
    page.fill("#horizon-battery_j", "20")
    page.fill("#horizon-steps", "0")
    page.click("#play")
    page.wait_for_selector("#campaign-result canvas.map")
    page.get_by_text("Every client", exact=True).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert blocked(page) == []

    page.get_by_role("link", name="Runs").click()
    page.wait_for_selector("#runs-charts .plot .line")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert blocked(page) == []
    page.context.close()


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """With runs to look at: one finished, one under way, one that cannot be read."""
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder / "first", [0.3, 0.5, 0.6])
    make_run(folder / "second", [0.2], "seed=1", "rounds=5", finished=False)
    records = make_run(folder / "third", [0.2], "seed=2") / "rounds.jsonl"
    records.write_text(records.read_text().replace('"latency_s"', '"latency"'))
    with served("--workers", "1", "--time-limit", "100", "--runs", str(folder)) as started:
        yield started
