"""Fuzzed fleet files and configurations: `pip install atheris`, then `python benchmarks/campaign_files.py`.

Atheris changes tables, JSON and TOML by what they make the reading code do. A fleet goes to `wisefl plan`, which must
end with 0, 2 or 3 and, but for 0, one sentence; a configuration is read, which may only refuse it. Anything else is
counted and kept. Writes results/campaign-files.md.
"""

import argparse
import contextlib
import io
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["wisefl.fleet", "wisefl.sheets", "wisefl.run.config"]):
    from wisefl import Fleet
    from wisefl.cli import main as wisefl
    from wisefl.errors import WiseFLError
    from wisefl.files import write_text
    from wisefl.run.config import load_config, to_toml

RESULTS = Path(__file__).parent / "results"
ODD = (
    "",
    "-1",
    "0",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e-308",
    "1e999",
    "9" * 400,
    "0x10",
    "1_0",
    "\u0661",
    "a",
    "\x00",
    "'",
)
ODD += ('"', ",", "\n", "[", "{", "true", "null", "1.5", "2e6", " 3 ", "é", "\ud7ff", "=", "#", "[[a]]", "1" * 30)
MOST_SHOWN = 20


class Campaign:
    """Base files, a folder to write changed ones to, and what came of them."""

    def __init__(self, folder: Path) -> None:
        Fleet.random(6, 0).to_csv(folder / "fleet.csv")
        with contextlib.redirect_stdout(io.StringIO()):
            wisefl(["fleet", "--clients", "6", "-o", str(folder / "fleet.json")])
        (folder / "run.toml").write_text(to_toml(load_config("demo")))
        self.folder, self.counts, self.wrong = folder, Counter[str](), list[str]()
        self.bases = {kind: (folder / kind).read_text() for kind in ("fleet.csv", "fleet.json", "run.toml")}

    def one(self, data: bytes) -> None:
        """A changed file, and what reads it."""
        provider = atheris.FuzzedDataProvider(data)
        kind = provider.PickValueInList(list(self.bases))
        path = self.folder / f"changed-{kind}"
        if provider.ConsumeProbability() < 0.2:
            path.write_bytes(provider.ConsumeBytes(provider.remaining_bytes()))
        else:
            text = changed(self.bases[kind], provider)
            path.write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        try:
            self.counts[f"{kind}: {configured(path) if kind == 'run.toml' else planned(path)}"] += 1
        except BaseException as error:
            self.counts[f"{kind}: {type(error).__name__}"] += 1
            self.wrong.append(f"{kind}: {type(error).__name__}: {str(error)[:200]!r} of {path.read_bytes()[:300]!r}")


def changed(text: str, provider: Any) -> str:
    """A few tokens of a text replaced, taken out, doubled or moved."""
    for _ in range(provider.ConsumeIntInRange(1, 4)):
        cut = sorted(provider.ConsumeIntInRange(0, len(text)) for _ in range(2))
        first = max(text.rfind(sign, 0, cut[0]) for sign in ",\n:= ") + 1
        last = min([end for sign in ",\n:= " if (end := text.find(sign, first)) >= 0], default=len(text))
        if provider.ConsumeProbability() < 0.3:
            first, last = cut[0], min(cut[1], cut[0] + 40)
        odd = provider.PickValueInList(list(ODD))
        new = odd if provider.ConsumeBool() else provider.ConsumeUnicodeNoSurrogates(8)
        text = text[:first] + (new if provider.ConsumeProbability() < 0.8 else 2 * text[first:last]) + text[last:]
    return text


def planned(path: Path) -> str:
    """How `wisefl plan` ends."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = wisefl(["plan", str(path), "--max-gap", "0.05", "--max-divergence", "inf"])
    said = [line for line in err.getvalue().splitlines() if not line.startswith("wisefl: warning: ")]
    if code not in (0, 2, 3) or (code and (len(said) != 1 or out.getvalue())):
        raise AssertionError(f"exit {code}, {len(said)} lines: {said[:3]}")
    return f"exit {code}"


def configured(path: Path) -> str:
    try:
        load_config(None, path)
    except WiseFLError as error:
        if "\n" in str(error):
            raise AssertionError(f"more than a sentence: {error}") from None
        return "refused"
    return "read"


def summary(campaign: Campaign, seconds: float) -> str:
    lines = [
        "# Fuzzed fleet files and configurations",
        "",
        f"{sum(campaign.counts.values())} files by atheris ({seconds:.0f} CPU s), of which {len(campaign.wrong)}",
        "ended otherwise than with a decision or one sentence.",
        "",
        "| file, and how it ended | times |",
        "|---|---|",
        *[f"| {how} | {times} |" for how, times in sorted(campaign.counts.items())],
        "",
        *[f"- `{what}`" for what in list(dict.fromkeys(campaign.wrong))[:MOST_SHOWN]],
    ]
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description="Fuzzed files.")
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of the clock, at the longest")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    end, begin = time.monotonic() + chosen.seconds, time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(Path(folder))

        def one(data: bytes) -> None:
            campaign.one(data)
            if sum(campaign.counts.values()) >= chosen.runs or time.monotonic() > end:
                text = summary(campaign, time.process_time() - begin)
                write_text(chosen.out / "campaign-files.md", text)
                print(text, flush=True)
                os._exit(0)  # libFuzzer would go on

        options = [f"-seed={chosen.seed}", "-max_len=400", "-len_control=0", "-timeout=600", "-rss_limit_mb=0"]
        atheris.Setup([sys.argv[0], *options], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
