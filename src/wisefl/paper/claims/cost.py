"""Claims 7 to 12: what is said of energy and latency."""

from wisefl.paper import margins
from wisefl.paper.claims.claim import CSRA, Claim
from wisefl.paper.claims.families import ask_everywhere
from wisefl.paper.claims.measures import Results, mean_of, over, paired
from wisefl.paper.claims.statistics import Question, Wanted, above, ask, below, between, differences, ratios
from wisefl.paper.table import PerSeed

BASELINES = {
    "cs-random": "CS-Random",
    "ga-random": "GA-Random",
    "cs-greedy": "CS-Greedy",
    "ga-greedy": "GA-Greedy",
}
METHODS = {CSRA: "CSRA", **BASELINES}
COSTS = ("energy", "latency")
MORE, LESS = above(margins.COST, 1.0), below(1.0 / margins.COST, 1.0)
_GREEDY = "It hangs on CS-Greedy, which chooses the same clients and shares band and frequency by another rule."


def _lowest_over_rounds(results: Results) -> list[Question]:
    return [
        ask(
            f"cumulative {cost} of {label} over CSRA",
            ratios(over(_total(results, cost, name), _total(results, cost, CSRA))),
            MORE,
            rival=label,
        )
        for cost in COSTS
        for name, label in BASELINES.items()
    ]


def _random_against_greedy(results: Results) -> list[Question]:
    questions = []
    for short, long in (("cs", "CS"), ("ga", "GA")):
        random, greedy = f"{short}-random", f"{short}-greedy"
        questions += [
            ask(
                f"latency of {long}-Random over {long}-Greedy",
                ratios(over(_total(results, "latency", random), _total(results, "latency", greedy))),
                MORE,
            ),
            ask(
                f"energy of {long}-Greedy over {long}-Random",
                ratios(over(_total(results, "energy", greedy), _total(results, "energy", random))),
                between(1.0, margins.SLIGHTLY),
            ),
        ]
    return questions


def _falls_with_bandwidth(results: Results) -> list[Question]:
    questions = _last_over_first(results, "bandwidth", LESS)
    for cost in COSTS:
        first, last = results.slopes("bandwidth", cost, CSRA)
        scarce, ample = _lead(results, cost)
        spent, _ = results.ends("bandwidth", cost, CSRA)
        questions += [
            ask(
                f"{cost} saved per MHz by CSRA, first step minus last, in what it spends at the least",
                differences(over(paired(last, first, lambda late, early: late - early), spent)),
                above(margins.SAVED),
            ),
            ask(
                f"lead of CSRA in {cost}, least minus most bandwidth, in what it spends at the least",
                differences(over(paired(scarce, ample, lambda little, much: little - much), spent)),
                above(margins.SAVED),
            ),
        ]
    return questions


def _lead(results: Results, cost: str) -> tuple[PerSeed, PerSeed]:
    """How much less CSRA spends than the mean baseline, at the least and at the most bandwidth."""
    leads = []
    for end in (0, 1):
        mean = mean_of([results.ends("bandwidth", cost, name)[end] for name in BASELINES])
        leads.append(paired(mean, results.ends("bandwidth", cost, CSRA)[end], lambda other, own: other - own))
    return leads[0], leads[1]


def _lowest_for_every_gain(results: Results) -> list[Question]:
    return _lowest_everywhere(results, "channel_gain")


def _grows_with_budget(results: Results) -> list[Question]:
    return [
        *_last_over_first(results, "data_budget_cost", MORE),
        *_lowest_everywhere(results, "data_budget_cost"),
    ]


def _weights_trade(results: Results) -> list[Question]:
    questions = []
    for cost in COSTS:
        for weight, own in (("alpha1", "latency"), ("alpha2", "energy")):
            first, last = results.ends("trade_off", f"{cost} by {weight}", CSRA)
            wanted = LESS if cost == own else MORE
            questions.append(ask(f"{cost} at {weight} = 2 over {weight} = 1", ratios(over(last, first)), wanted))
    return questions


def _last_over_first(results: Results, figure: str, wanted: Wanted) -> list[Question]:
    """What every method's cost does from the first to the last point of the axis."""
    questions = []
    for cost in COSTS:
        for name, label in METHODS.items():
            first, last = results.ends(figure, cost, name)
            questions.append(ask(f"{cost} of {label}, last point over first", ratios(over(last, first)), wanted))
    return questions


def _lowest_everywhere(results: Results, figure: str) -> list[Question]:
    """Each baseline over CSRA, at every point of the axis."""
    questions = []
    for cost in COSTS:
        for name, label in BASELINES.items():
            points = {x: ratios(values) for x, values in results.relative(figure, cost, name, CSRA).items()}
            if points:
                questions.append(ask_everywhere(f"{cost} of {label} over CSRA", points, MORE, rival=label))
    return questions


def _total(results: Results, cost: str, method: str) -> PerSeed:
    return results.final("cost_over_rounds", cost, method)


COST_CLAIMS = (
    Claim(
        7,
        "CSRA has the lowest cumulative energy and latency, against CS-Random, GA-Random, CS-Greedy and GA-Greedy",
        "cumulative cost of each baseline over CSRA's, above 1 for energy and for latency; refuted when surely below "
        f"{margins.COST:g}",
        ("cost_over_rounds",),
        _lowest_over_rounds,
        _GREEDY,
    ),
    Claim(
        8,
        "Random allocation has higher latency than greedy, greedy slightly higher energy than random",
        f"latency of random over greedy above 1, refuted when surely below {margins.COST:g}; energy of greedy over "
        f"random between 1 and {margins.SLIGHTLY:g}",
        ("cost_over_rounds",),
        _random_against_greedy,
    ),
    Claim(
        9,
        "Energy and latency fall as bandwidth grows, with diminishing returns; CSRA's lead is largest when it is "
        "scarce",
        f"cost at the most over the least bandwidth below 1 for every method, refuted when surely above 1 / "
        f"{margins.COST:g}; for CSRA the first step's saving per MHz and the lead (in J and s, over the mean "
        "baseline) at the least bandwidth are larger than the last's, refuted when surely less than "
        f"{margins.SAVED:.0%} of what it spends there",
        ("bandwidth",),
        _falls_with_bandwidth,
        "The lead is a difference, as in the paper's picture: everything costs more where the band is scarce. As a "
        "ratio to CS-Greedy it may go the other way (see the panel of ratios).",
    ),
    Claim(
        10,
        "CSRA is lowest in energy and latency for every channel gain from 0.1 to 1.3",
        "cost of each baseline over CSRA's above 1 at every gain; refuted when surely below "
        f"{margins.COST:g} at one of them (largest t over the axis)",
        ("channel_gain",),
        _lowest_for_every_gain,
        _GREEDY,
    ),
    Claim(
        11,
        "Energy and latency grow with the data budget for every method, and CSRA is lowest",
        "cost at the largest over the smallest budget above 1, and each baseline over CSRA above 1 at every budget; "
        f"refuted when surely below {margins.COST:g} (largest t over the axis)",
        ("data_budget_cost",),
        _grows_with_budget,
        _GREEDY,
    ),
    Claim(
        12,
        "A larger alpha1 raises energy and lowers latency; a larger alpha2 does the opposite",
        "cost at weight 2 over weight 1: above 1 for the one, below 1 for the other; refuted when surely less than a "
        f"factor of {margins.COST:g}",
        ("trade_off",),
        _weights_trade,
    ),
)
