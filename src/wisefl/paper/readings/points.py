"""How the paper was read: every slip and open point, what we do, and what was run beside it.

A point is numbered by its kind: U units and constants, D divergence, O optimisation, B baselines, L learning.
"""

from wisefl.data import split_clients
from wisefl.decision import Limits, RoundProblem
from wisefl.fleet import Fleet
from wisefl.paper.readings.reading import ROUNDS, Count, Measure, Reading, Setting
from wisefl.run import record

LATENCY = Measure(record.LATENCY, "latency of a round", "s")
ENERGY = Measure(record.ENERGY, "energy of a round", "J")
OBJECTIVE = Measure(record.OBJECTIVE, "objective of a round")
BAND = Measure(record.BAND, "sum of the shares")
MISSING = Measure(record.MISSING, "samples missing", "%")
ACCURACY = Measure(record.TEST_ACCURACY, f"accuracy after {ROUNDS['training']} rounds of Fashion-MNIST")
ELIGIBLE = Measure("eligible", "eligible clients of 80")
FEASIBLE = Measure("feasible", "fleets that can give 2000 samples within 0.2", "%")


def _eligible(smoothing: float) -> Count:
    def count(seed: int) -> float:
        fleet = Fleet.random(80, seed)
        return float(RoundProblem.build(fleet, fleet.channel_gain, Limits(smoothing=smoothing)).eligible.sum())

    return count


def _feasible(fraction: float) -> Count:
    def percent(seed: int) -> float:
        fleet = Fleet.random(80, seed)
        chosen, _ = split_clients(80, fraction, seed)
        problem = RoundProblem.build(fleet, fleet.channel_gain, Limits())
        held = problem.samples[chosen][problem.eligible[chosen]].sum()
        return 100.0 * float(held >= Limits().min_samples)

    return percent


_COSTS = (LATENCY, ENERGY)
_DC = Setting("dc")
_MANY = {"limits.max_divergence": 2.0}
"""About half of the clients are eligible, rather than 8 of 80: with more to choose, a bad choice costs more."""
_GA = Setting("ga-greedy")

READINGS = (
    Reading(
        "U1",
        "`f_max` from 2 to 5 MHz",
        "GHz: in MHz computing takes tens of seconds and a millionth of a joule, so nothing can be traded",
        "MHz",
        _COSTS,
        changed=Setting(settings={"fleet.frequency_unit_hz": 1e6}),
    ),
    Reading(
        "U2",
        "`d_k` counts samples, but `s_k` is cycles per bit",
        "bits: samples times 784 x 8",
        "one bit per sample",
        _COSTS,
        changed=Setting(settings={"limits.bits_per_sample": 1.0}),
    ),
    Reading(
        "U3",
        "upload size `C_k` not given",
        "32 bits per parameter",
        "16 bits per parameter",
        _COSTS,
        changed=Setting(settings={"limits.model_bits": 16.0 * 44_426}),
    ),
    Reading(
        "U4",
        "small-scale fading is complex Gaussian",
        "its power is exponential, one draw per client and round",
        "the mean gain throughout",
        _COSTS,
        changed=Setting(settings={"fleet.fading": "fixed"}),
    ),
    Reading("U5", "noise power of the whole band, `B N_0`", "as printed", "the convexity rests on it"),
    Reading("U6", "`E` (energy) and `mu` stand in the table only", "unused", "no formula holds them"),
    Reading(
        "D1",
        "`KL(p_g || p_k)` is infinite for a client that lacks a class",
        "infinite means excluded, as printed",
        "one pseudo-sample per class",
        (ELIGIBLE,),
        counts={"ours": _eligible(0.0), "other": _eligible(1.0)},
    ),
    Reading(
        "D2",
        "the threshold is per client",
        "as printed, and the mixture's divergence is always reported",
        "the threshold on the mixture of the selected ([more](mixture.md))",
        _COSTS,
        changed=Setting(settings={"limits.divergence": "mixture"}),
    ),
    Reading(
        "D3",
        "`e_2^max`, a largest number of samples",
        "a smallest one, `min_samples`",
        "as a maximum it never binds: fewer samples are always cheaper",
    ),
    Reading(
        "O1",
        "P6 drops `a_k` from the compute energy, which makes it a constant",
        "kept",
        "dropped, all else repaired (threshold 2)",
        (OBJECTIVE,),
        base=Setting("dc", settings=_MANY),
        changed=Setting("dc", {"charge_everybody": True}, _MANY),
    ),
    Reading(
        "O2",
        "Algorithm 1 sets `b_k = 1 / u_k` where `a_k > 0.5`",
        "penalty raised until `a` is whole, rounded, coverage restored, nobody redundant, bandwidth solved again",
        "to the letter ([more](paper-algorithms.md))",
        (BAND, MISSING),
        base=_DC,
        changed=Setting("dc", {"reading": "printed"}),
    ),
    Reading(
        "O3",
        "`b_min` not given, and unselected clients take it too",
        "0.001 / K",
        "0.8 / K (threshold 2)",
        (OBJECTIVE,),
        base=Setting("dc", settings=_MANY),
        changed=Setting("dc", {"b_min": 0.8}, _MANY),
    ),
    Reading(
        "O4",
        "the closed form of `f*` writes sigma for eps; right for Delta <= 0, wrong for Delta > 0",
        "the one positive root of the cubic, in closed form",
        "in Hz the case Delta > 0 is always 'no solution' ([erratum](paper-algorithms.md)); every case is tested "
        "against a root finder",
    ),
    Reading(
        "O5",
        "the update of beta omits the upload time, and the deadline stays at P6's value",
        "the deadline is free; P7 solved as one convex function of it",
        "the sub-gradient, put right",
        (OBJECTIVE,),
        base=_DC,
        changed=Setting("dc", {"frequency": "subgradient"}),
    ),
    Reading(
        "O6",
        "bandwidth first, then frequencies",
        "kept in `csra-dc`; for a fixed set both together are one convex problem",
        "the same set, allocated exactly",
        (OBJECTIVE,),
        base=_DC,
        changed=Setting("dc+exact"),
    ),
    Reading(
        "O7",
        "complexity `O(K^4)`",
        "not used",
        "measured growth of both solvers: [benchmark](../benchmarks/results/decision.md)",
    ),
    Reading(
        "B1",
        "the fitness of GA sums over unselected clients and punishes having data",
        "corrected; it still holds no cost",
        "corrected plus the objective",
        (OBJECTIVE,),
        base=_GA,
        changed=Setting("ga-greedy", {"fitness": "cost"}),
    ),
    Reading(
        "B1, printed",
        "the same",
        "corrected",
        "as printed",
        (OBJECTIVE,),
        base=_GA,
        changed=Setting("ga-greedy", {"fitness": "printed"}),
    ),
    Reading(
        "B2",
        "greedy: a negative 'marginal gain'; sigma for eps, and d, s, E in the frequency's minimiser",
        "the unit of band goes where the cost falls most; `f = (a1 / (2 a2 eps))^(1/3)`",
        "the printed frequency with sigma read as eps",
        (OBJECTIVE,),
        base=Setting("cs-greedy"),
        changed=Setting("cs-greedy", {"frequency_step": "printed"}),
    ),
    Reading(
        "B3", "SAE selects 'by instantaneous channel conditions'", "best current rate first", "nothing more is said"
    ),
    Reading(
        "B4",
        "Pow: number of candidates not given, asking for losses not charged",
        "twice as many as train; the probe is charged",
        "four times as many",
        (ACCURACY, ENERGY),
        "training",
        Setting("pow"),
        Setting("pow", {"candidates_per_client": 4.0}),
    ),
    Reading(
        "B5",
        "CFL 'clusters clients according to gradient similarity', with 'frequent changes in cluster assignments'",
        "two clusters, made anew after every round",
        "groups split in two for good once they pull apart (Sattler et al.); a run that never splits is FedAvg",
        (ACCURACY,),
        "training",
        Setting("cfl"),
        Setting("cfl", {"method": "split"}),
    ),
    Reading(
        "B6",
        "FedAvg takes as many clients as CSRA in the round",
        "as the paper's CSRA, for every baseline",
        "as many as the certified optimum",
        (ACCURACY,),
        "training",
        Setting("fedavg", {"count_of": "dc"}),
        Setting("fedavg"),
    ),
    Reading(
        "L1",
        "a CNN with two convolutions and three dense layers, learning rate 0.005, E = 10",
        "5 x 5 kernels (6 and 16), 120, 84 and 10 units; pixels normalised",
        "pixels from 0 to 1",
        (ACCURACY,),
        "training",
        changed=Setting(settings={"data.normalise": False}),
    ),
    Reading(
        "L2",
        "'E epochs', each of which 'samples a mini-batch', and a cost that charges all data in every epoch",
        "a pass over the client's data per epoch: what is charged",
        "one gradient step per epoch",
        (ACCURACY,),
        "training",
        changed=Setting(settings={"training.local_work": "batch"}),
    ),
    Reading(
        "L2, batch",
        "batch size not given",
        "64 samples",
        "16 samples",
        (ACCURACY,),
        "training",
        changed=Setting(settings={"training.batch_size": 16}),
    ),
    Reading(
        "L3",
        "10% of the clients balanced, the rest by Dirichlet(0.5)",
        "as printed",
        "everybody by Dirichlet(0.5) leaves hardly anybody within 0.2",
    ),
    Reading(
        "L4",
        "25% of the clients train, the rest tests",
        "everybody may train; accuracy on the test set and on clients that were not selected",
        "a random quarter may train",
        (FEASIBLE,),
        counts={"ours": _feasible(1.0), "other": _feasible(0.25)},
    ),
    Reading("L5", "the figures' images are missing", "the paper's sentences are the claims", "nothing can be run"),
)
