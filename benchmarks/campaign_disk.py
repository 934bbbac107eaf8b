"""A full disk and a read-only one at every write: `python benchmarks/campaign_disk.py`, as root on Linux.

In a mount namespace of its own a small file system in memory is made page by page larger, so that a run meets its end
at every file that it writes; the same run is then resumed where there is room, and must end as one that never failed.
And every command that writes is asked to where nothing can be written, for want of room or because the file system is
read-only. Whatever happens must be one sentence. Writes results/campaign-disk.md.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from wisefl.cli import main as wisefl
from wisefl.files import write_text
from wisefl.run.folder import CONFIG, SUMMARY, RunFolder

RESULTS = Path(__file__).parent / "results"
PAGE = os.sysconf("SC_PAGE_SIZE")
RUN = ("--set", "data.clients=20", "--set", "data.balanced_fraction=0.5", "--set", "limits.min_samples=200")
RUN += ("--set", "rounds=3")
OUTSIDE = "WISEFL_DISK_CAMPAIGN"
"""In the environment of the process that has its own mounts."""


def mounted(place: Path, options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(place)], check=True)


def remounted(place: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)


def unmounted(place: Path) -> None:
    subprocess.run(["umount", str(place)], check=True)


def told(arguments: list[str], said: Path) -> None:
    """In a forked process: a command, its output in files and its exit code as its own."""
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(said / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    code = wisefl(arguments)
    sys.stdout.flush()
    os._exit(code)


class Campaign:
    def __init__(self, root: Path) -> None:
        self.place, self.said = root / "small", root / "said"
        self.place.mkdir()
        self.said.mkdir()
        self.counts, self.wrong = Counter[str](), list[str]()
        wisefl(["run", *RUN, "--out", str(root / "straight")])
        wisefl(["fleet", "--clients", "20", "-o", str(root / "fleet.csv")])
        self.fleet, self.wanted = root / "fleet.csv", outcome(root / "straight")
        self.needed = 2 + sum(-(-file.stat().st_size // PAGE) for file in (root / "straight").iterdir())

    def command(self, *arguments: str) -> Any:
        process = multiprocessing.get_context("fork").Process(target=told, args=(list(arguments), self.said))
        process.start()
        return process

    def judged(self, what: str, code: int | None) -> bool:
        """Count how a command ended; whether it went well."""
        error = (self.said / "err").read_text(encoding="utf-8").splitlines()
        complaints = [line for line in error if line.startswith("wisefl: error: ")]
        sound = code == 0 or (code == 2 and len(complaints) == 1 and "Traceback" not in "".join(error))
        self.counts[f"{what}: {'done' if code == 0 else 'one sentence' if sound else 'otherwise'}"] += 1
        if not sound:
            self.wrong.append(f"{what}: exit {code}: {' / '.join(error)[-300:]!r}")
        return code == 0

    def run(self, what: str, options: str) -> None:
        """A run on such a disk, and again once there is room."""
        mounted(self.place, options)
        folder = self.place / "run"
        process = self.command("run", *RUN, "--out", str(folder))
        process.join()
        self.judged(what, process.exitcode)
        remounted(self.place, "rw,size=64m")
        if not (folder / SUMMARY).exists():
            again = ["--resume", str(folder)] if (folder / CONFIG).exists() else [*RUN, "--out", str(folder)]
            process = self.command("run", *again)
            process.join()
            if not self.judged(f"{what}, then room", process.exitcode):
                self.wrong.append(f"{what}: could not go on")
        if (folder / SUMMARY).exists() and outcome(folder) != self.wanted:
            self.wrong.append(f"{what}: other records than a run that never failed")
        unmounted(self.place)

    def commands(self) -> None:
        """Every command that writes, on a disk without room and on one that cannot be written."""
        fleet, out = str(self.fleet), self.place / "out"
        asked = [
            ["fleet", "--clients", "400", "-o", f"{out}.csv"],
            ["fleet", "--clients", "400", "-o", f"{out}.json"],
            ["fleet", "--clients", "400", "-o", f"{out}.xlsx"],
            ["plan", fleet, "--max-divergence", "inf", "--out", f"{out}.csv"],
            ["plan", fleet, "--max-divergence", "inf", "--out", f"{out}.json"],
            ["pareto", fleet, "--max-divergence", "inf", "--out", f"{out}.csv"],
            ["run", *RUN, "--out", str(out)],
            ["sweep", *RUN, "--over", "seed=0..1", "--out", str(out)],
            ["compare", str(self.said.parent / "straight"), "--out", f"{out}.png"],
        ]
        for options, what in (("size=4k", "no room"), ("size=64m,ro", "read-only")):
            for arguments in asked:
                mounted(self.place, options)
                if what == "no room":
                    (self.place / "filled").write_bytes(b"x" * PAGE)
                process = self.command(*arguments)
                process.join()
                done = self.judged(f"{arguments[0]}, {what}", process.exitcode)
                # A comparison is read on the screen: its picture may be missing, if it says so.
                if done and "cannot be written" not in (self.said / "out").read_text(encoding="utf-8"):
                    self.wrong.append(f"{' '.join(arguments)}: says that it wrote where nothing can be written")
                unmounted(self.place)


def outcome(folder: Path) -> list[Any]:
    return [record.repeatable() for record in RunFolder.open(folder).records()]


def summary(campaign: Campaign) -> str:
    lines = [
        "# A full disk and a read-only one",
        "",
        f"{sum(campaign.counts.values())} commands; {len(campaign.wrong)} ended otherwise than well or with one",
        "sentence, or could not go on to the same records once there was room.",
        "",
        "| what, and how it ended | times |",
        "|---|---|",
        *[f"| {what} | {times} |" for what, times in sorted(campaign.counts.items())],
        "",
        *[f"- `{what}`" for what in campaign.wrong[:20]],
    ]
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description="Disks that are full or read-only.")
    parser.add_argument("--step", type=int, default=1, help="pages between two sizes of the disk")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    if OUTSIDE not in os.environ:
        inside = {**os.environ, OUTSIDE: "1"}
        sys.exit(
            subprocess.run(["unshare", "--mount", sys.executable, *sys.argv], env=inside, check=False).returncode
        )
    with tempfile.TemporaryDirectory() as root:
        campaign = Campaign(Path(root))
        campaign.commands()
        for pages in range(1, campaign.needed + 1, chosen.step):
            campaign.run("run, full at some file", f"size={pages * PAGE}")
    write_text(chosen.out / "campaign-disk.md", summary(campaign))
    print(summary(campaign))


if __name__ == "__main__":
    main()
