"""How often a round is decided and drawn while a slider is dragged, in a real browser on this machine.

`PYTHONPATH=tests python benchmarks/serve_drag.py` starts `wisefl serve`, opens the page in Chromium, drags the
bandwidth's slider to and fro, and writes `benchmarks/results/serve-drag.csv` with a summary beside it. A decision
counts as drawn when the certificate shows another text at an animation frame than at the one before. Browser,
service and the hand that drags share the cores.

Two hands drag. `mouse` moves the browser's pointer from outside; every move waits until the browser has taken it, so
it is itself a limit. `page` is a script in the page that moves the slider at every animation frame, and waits for
nothing.
"""

import argparse
import math
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from support.browsing import chromium
from support.serving import Service, served
from wisefl.files import write_csv, write_text

RESULTS = Path(__file__).parent / "results"
WATCH = """() => {
  performance.setResourceTimingBufferSize(20000);
  const seen = (window.seen = { drawn: 0, frames: 0, began: performance.now() });
  const place = document.getElementById("certificate");
  let before = place.textContent;
  const look = () => {
    seen.frames += 1;
    if (place.textContent !== before) { seen.drawn += 1; before = place.textContent; }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
TOLD = """() => {
  const plans = performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/plan"));
  const during = plans.filter((one) => one.startTime >= window.seen.began);
  return { ...window.seen, now: performance.now(), took: during.map((one) => one.duration) };
}"""
DRAG = """(seconds) => new Promise((done) => {
  const slider = document.getElementById("slide-bandwidth_hz"), began = performance.now();
  const move = (now) => {
    const at = (now - began) / 1e3;
    slider.value = Math.round(slider.max * (0.6 + 0.25 * Math.sin(1.3 * at)));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    if (at < seconds) return requestAnimationFrame(move);
    slider.dispatchEvent(new Event("change", { bubbles: true }));
    done();
  };
  requestAnimationFrame(move);
})"""
PRESETS = {80: None, 10_000: "10,000 clients"}


def cpu_s() -> dict[str, float]:
    """What browser and service have used so far, all their processes together: they descend from this one."""
    parents, spent, kinds = {}, {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            parts, process = rest.split(), int(folder.name)
            parents[process] = int(parts[1])
            spent[process] = (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
            kinds[process] = (
                "browser" if "chrom" in name else "service" if "python" in name or "wisefl" in name else "hand"
            )
    used: dict[str, float] = {}
    for process, kind in kinds.items():
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid() != process:
            used[kind] = used.get(kind, 0.0) + spent[process]
    return used


def by_mouse(page: Any, seconds: float) -> None:
    """To and fro over the middle of the slider, as fast as the browser takes the moves."""
    box = page.locator("#slide-bandwidth_hz").bounding_box()
    height, began = box["y"] + box["height"] / 2, time.perf_counter()
    page.mouse.move(box["x"] + box["width"] / 2, height)
    page.mouse.down()
    while (at := time.perf_counter() - began) < seconds:
        page.mouse.move(box["x"] + box["width"] * (0.6 + 0.25 * math.sin(1.3 * at)), height)
        time.sleep(0.004)
    page.mouse.up()


def by_page(page: Any, seconds: float) -> None:
    """The same way, moved at every animation frame by a script in the page."""
    page.evaluate(DRAG, seconds)


HANDS = {"mouse": by_mouse, "page": by_page}


def measured(browser: Any, service: Service, clients: int, hand: str, seconds: float) -> dict[str, Any]:
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    page.goto(service.address)
    page.wait_for_selector(".spot")
    if PRESETS[clients]:
        page.select_option("#preset", PRESETS[clients])
        page.get_by_text(f"{clients:,} of {clients:,} clients").wait_for()
    drag = HANDS[hand]
    drag(page, 1.5)
    page.evaluate(WATCH)
    before = cpu_s()
    drag(page, seconds)
    told = page.evaluate(TOLD)
    used = {name: spent - before.get(name, 0.0) for name, spent in cpu_s().items()}
    page.context.close()
    spent, took = (told["now"] - told["began"]) / 1e3, told["took"]
    return {
        "clients": clients,
        "hand": hand,
        "decided_per_s": len(took) / spent,
        "drawn_per_s": told["drawn"] / spent,
        "frames_per_s": told["frames"] / spent,
        **{f"p{part}_ms": float(np.percentile(took, part)) for part in (50, 90, 99)},
        "browser_cpu_ms": 1e3 * used.get("browser", 0.0) / len(took),
        "service_cpu_ms": 1e3 * used.get("service", 0.0) / len(took),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0, help="of every drag")
    given = parser.parse_args()
    with served("--workers", "2") as service, chromium() as browser:
        rows = [measured(browser, service, clients, hand, given.seconds) for clients in PRESETS for hand in HANDS]
    write_csv(RESULTS / "serve-drag.csv", list(rows[0]), ([*row.values()] for row in rows))
    lines = [
        "# A slider, dragged in Chromium",
        "",
        f"`PYTHONPATH=tests python benchmarks/serve_drag.py`: {os.cpu_count()} cores for browser, service and the "
        f"hand that drags, load average {os.getloadavg()[0]:.1f} at the end. Milliseconds: from asking to the answer "
        "as the browser sees it, and CPU of everything that the browser and the service did per decision. "
        "The `mouse` is moved from outside and waits for the browser at every move; the hand in the `page` moves the "
        "slider at every animation frame.",
        "",
        "| clients | hand | decided/s | drawn/s | frames/s | p50 | p90 | p99 | CPU per decision: browser | service |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *(
            f"| {row['clients']:,} | {row['hand']} | "
            + " | ".join(f"{value:.1f}" for value in list(row.values())[2:])
            + " |"
            for row in rows
        ),
    ]
    write_text(RESULTS / "serve-drag.md", "\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
