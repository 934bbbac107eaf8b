"""Claims 7 to 12: what is said of energy and latency."""

from dataclasses import replace

import numpy as np

from wisefl.paper.claims.claim import CSRA, SLIGHTLY, Claim
from wisefl.paper.claims.measures import Results, mean_of, minus, over, paired
from wisefl.paper.claims.statistics import Part, difference, ratio, together
from wisefl.paper.table import PerSeed

BASELINES = {
    "cs-random": "CS-Random",
    "ga-random": "GA-Random",
    "cs-greedy": "CS-Greedy",
    "ga-greedy": "GA-Greedy",
}
METHODS = {CSRA: "CSRA", **BASELINES}
COSTS = ("energy", "latency")


def _lowest_over_rounds(results: Results) -> list[Part]:
    among = len(COSTS) * len(BASELINES)
    return [
        ratio(
            f"cumulative {cost} of {label} over CSRA",
            over(_total(results, cost, name), _total(results, cost, CSRA)),
            among=among,
        )
        for cost in COSTS
        for name, label in BASELINES.items()
    ]


def _random_against_greedy(results: Results) -> list[Part]:
    parts = []
    for short, long in (("cs", "CS"), ("ga", "GA")):
        random, greedy = f"{short}-random", f"{short}-greedy"
        parts += [
            ratio(
                f"latency of {long}-Random over {long}-Greedy",
                over(_total(results, "latency", random), _total(results, "latency", greedy)),
                among=4,
            ),
            ratio(
                f"energy of {long}-Greedy over {long}-Random",
                over(_total(results, "energy", greedy), _total(results, "energy", random)),
                1.0,
                SLIGHTLY,
                among=4,
            ),
        ]
    return parts


def _falls_with_bandwidth(results: Results) -> list[Part]:
    among = len(COSTS) * (len(METHODS) + 2)
    parts = _last_over_first(results, "bandwidth", 0.0, 1.0, among)
    for cost in COSTS:
        first, last = results.slopes("bandwidth", cost, CSRA)
        scarce, ample = _lead(results, cost)
        parts += [
            difference(f"{cost} saved per MHz by CSRA, first step minus last", minus(last, first), among=among),
            difference(f"lead of CSRA in {cost}, least minus most bandwidth", minus(scarce, ample), among=among),
        ]
    return parts


def _lead(results: Results, cost: str) -> tuple[PerSeed, PerSeed]:
    """How much less CSRA spends than the mean baseline, at the least and at the most bandwidth."""
    leads = []
    for end in (0, 1):
        mean = mean_of([results.ends("bandwidth", cost, name)[end] for name in BASELINES])
        leads.append(paired(mean, results.ends("bandwidth", cost, CSRA)[end], lambda other, own: other - own))
    return leads[0], leads[1]


def _lowest_for_every_gain(results: Results) -> list[Part]:
    return _lowest_everywhere(results, "channel_gain", len(COSTS) * 2 * len(BASELINES))


def _grows_with_budget(results: Results) -> list[Part]:
    among = len(COSTS) * (len(METHODS) + 2 * len(BASELINES))
    return [
        *_last_over_first(results, "data_budget_cost", 1.0, float("inf"), among),
        *_lowest_everywhere(results, "data_budget_cost", among),
    ]


def _weights_trade(results: Results) -> list[Part]:
    parts = []
    for cost in COSTS:
        for weight, own in (("alpha1", "latency"), ("alpha2", "energy")):
            first, last = results.ends("trade_off", f"{cost} by {weight}", CSRA)
            region = (0.0, 1.0) if cost == own else (1.0, float("inf"))
            parts.append(ratio(f"{cost} at {weight} = 2 over {weight} = 1", over(last, first), *region, among=4))
    return parts


def _last_over_first(results: Results, figure: str, low: float, high: float, among: int) -> list[Part]:
    """What every method's cost does from the first to the last point of the axis."""
    parts = []
    for cost in COSTS:
        for name, label in METHODS.items():
            first, last = results.ends(figure, cost, name)
            parts.append(
                ratio(f"{cost} of {label}, last point over first", over(last, first), low, high, among=among)
            )
    return parts


def _lowest_everywhere(results: Results, figure: str, among: int) -> list[Part]:
    """Each baseline over CSRA, on average over the axis and at every single point of it: two parts each."""
    parts = []
    for cost in COSTS:
        for name, label in BASELINES.items():
            ratios = results.ratios(figure, cost, name, CSRA)
            what = f"{cost} of {label} over CSRA"
            mean = [float(np.exp(np.mean(np.log(values)))) for values in np.array(list(ratios.values())).T]
            points = [ratio(f"{what} at {x:g}", values, among=among * len(ratios)) for x, values in ratios.items()]
            verdict, worst = together(points)
            parts.append(ratio(f"{what}, mean over the axis", mean, among=among))
            if worst is not None:
                parts.append(replace(worst, verdict=verdict))
    return parts


def _total(results: Results, cost: str, method: str) -> PerSeed:
    return results.final("cost_over_rounds", cost, method)


COST_CLAIMS = (
    Claim(
        7,
        "CSRA has the lowest cumulative energy and latency, against CS-Random, GA-Random, CS-Greedy and GA-Greedy",
        "cumulative cost of each baseline over CSRA's, above 1 for energy and for latency",
        ("cost_over_rounds",),
        _lowest_over_rounds,
    ),
    Claim(
        8,
        "Random allocation has higher latency than greedy, greedy slightly higher energy than random",
        f"latency of random over greedy above 1, energy of greedy over random between 1 and {SLIGHTLY:g}",
        ("cost_over_rounds",),
        _random_against_greedy,
    ),
    Claim(
        9,
        "Energy and latency fall as bandwidth grows, with diminishing returns; CSRA's lead is largest when it is "
        "scarce",
        "cost at the most over the least bandwidth below 1 for every method; for CSRA the first step's saving and "
        "the lead at the least bandwidth are larger than the last's",
        ("bandwidth",),
        _falls_with_bandwidth,
    ),
    Claim(
        10,
        "CSRA is lowest in energy and latency for every channel gain from 0.1 to 1.3",
        "cost of each baseline over CSRA's above 1, on average over the gains and at each of them",
        ("channel_gain",),
        _lowest_for_every_gain,
    ),
    Claim(
        11,
        "Energy and latency grow with the data budget for every method, and CSRA is lowest",
        "cost at the largest over the smallest budget above 1, and each baseline over CSRA at every budget above 1",
        ("data_budget_cost",),
        _grows_with_budget,
    ),
    Claim(
        12,
        "A larger alpha1 raises energy and lowers latency; a larger alpha2 does the opposite",
        "cost at weight 2 over weight 1: above 1 for the one, below 1 for the other",
        ("trade_off",),
        _weights_trade,
    ),
)
