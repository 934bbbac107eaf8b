"""Kinds of fleets on which a certified search could fail, each a function of (clients, seed)."""

from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np

from wisefl import Fleet, Limits, RoundProblem
from wisefl.arrays import Floats, Ints

Family = Callable[[int, int], RoundProblem]


def with_samples(fleet: Fleet, samples: Ints | Floats) -> Fleet:
    """The fleet with these sample counts, all of one class: divergence plays no part here."""
    return replace(fleet, label_counts=np.maximum(np.asarray(samples), 1).astype(np.int64)[:, None])


def alike(fleet: Fleet, **columns: Floats | float) -> Fleet:
    """The fleet with equal radios and CPUs, except for the columns given."""
    middle = {
        "distance_m": 225.0,
        "transmit_power_dbm": 26.0,
        "max_frequency_hz": 3.5e9,
        "cycles_per_bit": 5.5,
        "channel_gain": 0.7,
    }
    ones = np.ones(len(fleet))
    return replace(fleet, **{name: ones * value for name, value in (middle | columns).items()})


def covering(fleet: Fleet, coverage: float, **limits: float) -> RoundProblem:
    """The round that needs this part of all samples, everybody being eligible."""
    need = max(1, round(coverage * float(fleet.samples.sum())))
    return RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, min_samples=need, **limits))  # type: ignore[arg-type]


def paper(clients: int, seed: int) -> RoundProblem:
    return covering(Fleet.random(clients, seed), 2000 / 60_000)


def paper_many(clients: int, seed: int) -> RoundProblem:
    return covering(Fleet.random(clients, seed), 0.2)


def nearly_all(clients: int, seed: int) -> RoundProblem:
    return covering(Fleet.random(clients, seed), 0.97)


def near_equal_clients(clients: int, seed: int) -> RoundProblem:
    """Everything differs by a little, samples by one: thousands of sets cost the same to four digits."""
    draw = np.random.default_rng(seed)
    fleet = alike(
        Fleet.random(clients, seed),
        cycles_per_bit=5.5 * (1.0 + 1e-4 * draw.standard_normal(clients)),
        channel_gain=0.7 * (1.0 + 1e-3 * draw.standard_normal(clients)),
    )
    fleet = with_samples(fleet, 750 + draw.integers(0, 2, clients))
    need = 750 * (clients // 2) + clients // 4 + 1
    return RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, min_samples=need))


def near_equal_sizes(clients: int, seed: int) -> RoundProblem:
    """The paper's radios and CPUs, sample counts within 0.7%: fractions of clients look cheaper than they are."""
    draw = np.random.default_rng(seed)
    return covering(with_samples(Fleet.random(clients, seed), 750.0 * draw.uniform(0.993, 1.007, clients)), 0.3)


def near_ties(clients: int, seed: int) -> RoundProblem:
    """Sizes as in the paper, everything else within a tenth of a percent."""
    draw = np.random.default_rng(seed)
    fleet = alike(
        Fleet.random(clients, seed),
        cycles_per_bit=5.5 * draw.uniform(0.999, 1.001, clients),
        channel_gain=0.7 * draw.uniform(0.999, 1.001, clients),
    )
    return covering(fleet, 0.25)


def parity(clients: int, seed: int) -> RoundProblem:
    """Even sizes, an odd need, and odd clients that are dear: covers overshoot in ways fractions do not see."""
    draw = np.random.default_rng(seed)
    samples = 2 * draw.integers(250, 500, clients)
    odd = draw.permutation(clients)[: max(1, clients // 20)]
    samples[odd] += 1
    gain = 0.7 * (1.0 + 1e-3 * draw.standard_normal(clients))
    gain[odd] *= 0.2
    fleet = with_samples(alike(Fleet.random(clients, seed), channel_gain=gain), samples)
    need = 2 * int(0.15 * samples.sum()) + 1
    return RoundProblem.build(fleet, None, Limits(max_divergence=np.inf, min_samples=need))


def subset_sum(clients: int, seed: int) -> RoundProblem:
    """Only samples differ: what a set costs is nearly a function of what it holds."""
    return covering(alike(Fleet.random(clients, seed)), 0.3)


def powers_of_two(clients: int, seed: int) -> RoundProblem:
    draw = np.random.default_rng(seed)
    return covering(with_samples(Fleet.random(clients, seed), 2 ** draw.integers(3, 14, clients)), 0.31)


def one_slow_client(clients: int, seed: int) -> RoundProblem:
    """One client holds a third of the data and computes a hundred times slower than the rest."""
    fleet = Fleet.random(clients, seed)
    samples, speed = fleet.samples.copy(), fleet.max_frequency_hz.copy()
    slow = int(np.random.default_rng(seed).integers(clients))
    samples[slow] = samples.sum() // 2
    speed[slow] *= 0.01
    return covering(with_samples(replace(fleet, max_frequency_hz=speed), samples), 0.5)


def heavy_tails(clients: int, seed: int) -> RoundProblem:
    """Pareto-distributed samples and gains over four decades."""
    draw = np.random.default_rng(seed)
    fleet = replace(Fleet.random(clients, seed), channel_gain=10.0 ** draw.uniform(-3.0, 1.0, clients))
    return covering(with_samples(fleet, 50.0 * (1.0 + draw.pareto(1.1, clients))), 0.3)


def correlated_costs(clients: int, seed: int) -> RoundProblem:
    """Work is samples plus a constant: the strongly correlated knapsack, classically the hardest."""
    draw = np.random.default_rng(seed)
    samples = draw.integers(400, 1200, clients)
    return covering(
        with_samples(alike(Fleet.random(clients, seed), cycles_per_bit=3.0 * (samples + 400) / samples), samples),
        0.25,
    )


def inversely_correlated_costs(clients: int, seed: int) -> RoundProblem:
    """The larger a client, the cheaper its sample."""
    draw = np.random.default_rng(seed)
    samples = draw.integers(400, 1200, clients)
    return covering(
        with_samples(alike(Fleet.random(clients, seed), cycles_per_bit=5.5 * (800.0 / samples) ** 1.5), samples), 0.25
    )


def twins(clients: int, seed: int) -> RoundProblem:
    """Every client exists eight times."""
    fleet = Fleet.random(-(-clients // 8), seed)
    which = np.repeat(np.arange(len(fleet)), 8)[:clients]
    names = [item.name for item in fields(fleet) if item.name != "client"]
    copies = {name: getattr(fleet, name)[which] for name in names}
    return covering(replace(fleet, client=np.arange(clients).astype(str), **copies), 0.2)


def large_and_small(clients: int, seed: int) -> RoundProblem:
    """A tenth of the clients holds nearly everything; the others can fill any remainder, one sample at a time."""
    draw = np.random.default_rng(seed)
    samples = np.where(draw.random(clients) < 0.1, draw.integers(4000, 6000, clients), draw.integers(1, 30, clients))
    samples[0] = 5000
    return covering(with_samples(Fleet.random(clients, seed), samples), 0.4)


def without_energy(clients: int, seed: int) -> RoundProblem:
    return covering(Fleet.random(clients, seed), 0.2, energy_weight=0.0)


def energy_only(clients: int, seed: int) -> RoundProblem:
    return covering(Fleet.random(clients, seed), 0.2, latency_weight=1e-3)


def narrow_band(clients: int, seed: int) -> RoundProblem:
    return covering(Fleet.random(clients, seed), 0.1, bandwidth_hz=2e4)


def wide_band(clients: int, seed: int) -> RoundProblem:
    return covering(Fleet.random(clients, seed), 0.1, bandwidth_hz=2e9)


def megahertz(clients: int, seed: int) -> RoundProblem:
    """The paper's clocks as printed, in MHz: computing takes long and costs nothing."""
    return covering(Fleet.random(clients, seed, frequency_unit_hz=1e6), 0.15)


FAMILIES: dict[str, Family] = {
    family.__name__.replace("_", " "): family
    for family in (
        paper,
        paper_many,
        nearly_all,
        near_equal_clients,
        near_equal_sizes,
        near_ties,
        parity,
        subset_sum,
        powers_of_two,
        one_slow_client,
        heavy_tails,
        correlated_costs,
        inversely_correlated_costs,
        twins,
        large_and_small,
        without_energy,
        energy_only,
        narrow_band,
        wide_band,
        megahertz,
    )
}
