"""Random rounds of wishes against enumeration and SCIP: `python benchmarks/wishes.py [--brute N] [--mixture N]
[--scip N]`.

Deadlines, joules, budgets, weights, values, who must and who must not, how many: random subsets of them, some so
tight that nothing is feasible; `--mixture` the same under a limit on the mixture. A disagreement stops it with the
seed; what was counted goes to benchmarks/results/wishes.csv.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.wishes import agrees
from wisefl.files import write_csv

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brute", type=int, default=800, help="problems of 3 to 12 clients, gap 1e-6")
    parser.add_argument("--scip", type=int, default=80, help="problems of 30 clients, gap 1e-3, 60 s each")
    parser.add_argument("--mixture", type=int, default=400, help="problems of 3 to 10 clients, mixture limited")
    parser.add_argument("--most", type=int, default=12, help="clients of a problem for brute; each doubles its time")
    parser.add_argument("--first", type=int, default=1000, help="seed of the first problem for brute")
    options = parser.parse_args()
    sizes, first = options.most - 2, options.first
    problems = [("brute", seed, 3 + seed % sizes, 1e-6, {}) for seed in range(first, first + options.brute)]
    problems += [
        ("brute", seed, 3 + seed % min(sizes, 8), 1e-6, {"mixture": True})
        for seed in range(first + 4000, first + 4000 + options.mixture)
    ]
    problems += [("scip", seed, 30, 1e-3, {"max_gap": 1e-3, "time_limit": 60.0}) for seed in range(options.scip)]
    rows = []
    for oracle, seed, clients, gap, told in problems:
        kind = f"{oracle}, mixture" if "mixture" in told else oracle
        rows.append([kind, seed, clients, agrees(seed, clients, oracle, gap, **told)])
        print(*rows[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    write_csv(RESULTS / "wishes.csv", ["oracle", "seed", "clients", "outcome"], rows)
    for kind in dict.fromkeys(row[0] for row in rows):
        came = Counter(row[3] for row in rows if row[0] == kind)
        print(f"{kind}: no contradiction; " + ", ".join(f"{count} {outcome}" for outcome, count in came.items()))


if __name__ == "__main__":
    main()
