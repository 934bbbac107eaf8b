"""Random rounds of wishes against enumeration and SCIP: `python benchmarks/wishes.py [--brute N] [--scip N]`.

Deadlines, joules, budgets, weights, values, who must and who must not, how many: random subsets of them, some so
tight that nothing is feasible. A disagreement stops it with the seed; what was counted goes to
benchmarks/results/wishes.csv.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.wishes import agrees
from wisefl.files import write_csv

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brute", type=int, default=800, help="problems of 3 to 12 clients, gap 1e-6")
    parser.add_argument("--scip", type=int, default=80, help="problems of 30 clients, gap 1e-3, 60 s each")
    options = parser.parse_args()
    rows = []
    for seed in range(1000, 1000 + options.brute):
        rows.append(("brute", seed, 3 + seed % 10, agrees(seed, 3 + seed % 10, "brute", 1e-6)))
        if seed % 50 == 49:
            print(f"brute: {len(rows)} agree, {sum(row[3] for row in rows)} of them feasible", flush=True)
    for seed in range(options.scip):
        rows.append(("scip", seed, 30, agrees(seed, 30, "scip", 1e-3, max_gap=1e-3, time_limit=60.0)))
    RESULTS.mkdir(exist_ok=True)
    table = ((*row[:3], "decided alike" if row[3] else "infeasible alike") for row in rows)
    write_csv(RESULTS / "wishes.csv", ["oracle", "seed", "clients", "outcome"], (list(row) for row in table))
    print(f"{len(rows)} problems, no disagreement, {sum(row[3] for row in rows)} of them feasible")


if __name__ == "__main__":
    main()
