"""Small rounds of every kind against enumeration: `python benchmarks/campaign_decisions.py --problems 100000`.

Of ten rounds six are of the adversarial families, two have figures up to a million times off either way, and two
limit the mixture; two to nine clients, gaps of 1e-3, 1e-6 and 1e-8. What brute force decides is costed in 80-bit
arithmetic, with more digits than the solver has: no bound may exceed that, and no decision may cost more than its gap
allows. Counts are kept by batch in results/campaign-decisions.csv, where a campaign that was stopped goes on; the
figures go to results/campaign-decisions.md.
"""

import argparse
import csv
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.families import FAMILIES
from support.wishes import mixed_round
from wisefl import Decision, Fleet, InfeasibleProblem, InvalidInput, Limits, RoundProblem, solve
from wisefl.files import write_csv, write_text

RESULTS = Path(__file__).parent / "results"
ENDS = ("proved", "infeasible", "refused", "stopped at its effort")
COLUMNS = ["first", "problems", *ENDS, "wrong", "cpu_s", "what"]
BATCH = 250
GAPS = (1e-3, 1e-6, 1e-8)
EFFORT = 3e7
FAR = 6
"""Decades by which a figure may be off."""
Wide = np.longdouble


def problem_of(number: int) -> RoundProblem:
    clients, seed = 2 + number // 10 % 8, number
    if number % 10 < 6:
        name = list(FAMILIES)[number // 10 % len(FAMILIES)]
        return FAMILIES[name](clients, seed)
    if number % 10 < 8:
        return far_off(clients, seed)
    return mixed_round(max(clients, 3), seed)


def far_off(clients: int, seed: int) -> RoundProblem:
    """A round whose limits, and weights, are each off by a factor."""
    draw = np.random.default_rng([seed, 3])
    fleet = Fleet.random(clients, seed)
    plain = Limits()
    names = ("bandwidth_hz", "capacitance", "model_bits", "bits_per_sample", "latency_weight", "energy_weight")
    off = {name: getattr(plain, name) * 10.0 ** (draw.uniform(-FAR, FAR) * (draw.random() < 0.5)) for name in names}
    need = max(1, int(draw.uniform(0.05, 0.95) * fleet.samples.sum()))
    return RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, min_samples=need, **off))


def wide_cost(decision: Decision) -> np.longdouble:
    """a1 T + a2 E of a decision whose shares are made to sum to 1 at most, with 64 bits of mantissa."""
    problem, limits, chosen = decision.problem, decision.problem.limits, decision.selected
    share, frequency = decision.share[chosen].astype(Wide), decision.frequency_hz[chosen].astype(Wide)
    share /= max(share.sum(), Wide(1.0))
    frequency = np.minimum(frequency, problem.max_frequency_hz[chosen].astype(Wide))
    cycles = problem.work_cycles[chosen].astype(Wide)
    upload = problem.full_band_upload_s[chosen].astype(Wide) / share
    joules = problem.transmit_power_w[chosen] * upload + Wide(limits.capacitance) * cycles * frequency**2
    latency = (upload + cycles / frequency).max()
    return Wide(Wide(limits.latency_weight) * latency + Wide(limits.energy_weight) * joules.sum())


def outcome(number: int) -> str:
    """What came of a round, one of `ENDS`; an assertion says what was wrong."""
    gap = GAPS[number // 10 % 3]
    try:
        problem = problem_of(number)
    except (InvalidInput, InfeasibleProblem):
        return "refused"
    try:
        optimum = solve(problem, "brute")
    except InfeasibleProblem:
        try:
            solve(problem, max_gap=gap, effort=EFFORT)
        except InfeasibleProblem:
            return "infeasible"
        raise AssertionError(f"{number}: a decision where there is none") from None
    try:
        decision = solve(problem, max_gap=gap, effort=EFFORT)
    except InvalidInput:
        return "refused"
    best = wide_cost(optimum)
    assert decision.lower_bound is not None
    assert decision.gap is not None
    assert decision.violations() == {}, (number, decision.violations())
    beyond = float(Wide(decision.lower_bound) / best - 1)
    assert beyond <= 0.0, f"{number}: the bound is above the optimum by {beyond:g}"
    allowed = max(gap, decision.gap)
    assert float(wide_cost(decision) * Wide(1.0 - allowed) / best - 1) <= 1e-9, f"{number}: dearer than its gap says"
    return "proved" if decision.status == "certified" else "stopped at its effort"


def batch(first: int) -> list[Any]:
    """A row of results."""
    begin, ends, wrong = time.process_time(), list[str](), list[str]()
    for number in range(first, first + BATCH):
        try:
            ends.append(outcome(number))
        except AssertionError as error:
            wrong.append(f"{number}: {error}")
    counts = [ends.count(end) for end in ENDS]
    return [first, BATCH, *counts, len(wrong), f"{time.process_time() - begin:.1f}", "; ".join(wrong)]


def summary(rows: list[list[Any]]) -> str:
    problems, *counts = (sum(int(row[at]) for row in rows) for at in range(1, 7))
    lines = [
        "# Small rounds against enumeration, costs in 80-bit arithmetic",
        "",
        f"{problems} rounds, **{counts.pop()} wrong**: "
        + ", ".join(f"{count} {end}" for end, count in zip(ENDS, counts, strict=True))
        + ".",
        *[f"- {row[-1]}" for row in rows if row[-1]],
    ]
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of the clock, at the longest")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    end, table, rows = time.monotonic() + chosen.seconds, chosen.out / "campaign-decisions.csv", list[list[Any]]()
    if table.exists():
        with open(table, encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))[1:]
    while (done := sum(int(row[1]) for row in rows)) < chosen.problems and time.monotonic() < end:
        rows.append(batch(done))
        write_csv(table, COLUMNS, rows)
        write_text(chosen.out / "campaign-decisions.md", summary(rows))
    print(summary(rows))


if __name__ == "__main__":
    main()
