"""Claims 1 to 6: what is said of test accuracy."""

from wisefl.paper.claims.claim import CSRA, MARGIN, Claim
from wisefl.paper.claims.measures import Results, mean_of, minus, over, paired
from wisefl.paper.claims.statistics import Part, difference, outside, ratio
from wisefl.paper.figures.parts import DATASETS
from wisefl.paper.table import PerSeed

BASELINES = {"sae": "SAE", "fedavg": "FedAvg", "pow": "Pow", "cfl": "CFL"}


def _best(results: Results) -> list[Part]:
    among = len(DATASETS) * len(BASELINES)
    return [
        difference(
            f"CSRA minus {label} on {dataset}",
            minus(_final(results, panel, CSRA), _final(results, panel, name)),
            among=among,
        )
        for panel, dataset in DATASETS.items()
        for name, label in BASELINES.items()
    ]


def _pow_a_little_better(results: Results) -> list[Part]:
    return [
        difference(
            f"Pow minus FedAvg on {dataset}",
            minus(_final(results, panel, "pow"), _final(results, panel, "fedavg")),
            0.0,
            MARGIN,
            among=len(DATASETS),
        )
        for panel, dataset in DATASETS.items()
    ]


def _sae_inconsistent(results: Results) -> list[Part]:
    lead = {
        panel: paired(_final(results, panel, "sae"), _final(results, panel, "fedavg"), lambda sae, avg: sae - avg)
        for panel in DATASETS
    }
    return [
        difference(
            "SAE minus FedAvg on Fashion-MNIST", list(lead["fashion-mnist"].values()), -MARGIN, MARGIN, among=2
        ),
        outside("change of that lead to CIFAR-10", minus(lead["cifar10"], lead["fashion-mnist"]), MARGIN),
    ]


def _cfl_unstable(results: Results) -> list[Part]:
    others = [CSRA, "sae", "fedavg", "pow"]
    return [
        ratio(
            f"jumps of CFL over those of the other methods on {dataset}",
            over(
                results.jumpiness("accuracy", panel, "cfl"),
                mean_of([results.jumpiness("accuracy", panel, name) for name in others]),
            ),
            among=len(DATASETS),
        )
        for panel, dataset in DATASETS.items()
    ]


def _falls_with_divergence(results: Results) -> list[Part]:
    parts = []
    for panel, dataset in DATASETS.items():
        strict, loose = results.ends("kl_threshold", panel, CSRA)
        fedavg, _ = results.ends("kl_threshold", panel, "fedavg")
        nearer = minus(_distance(loose, fedavg), _distance(strict, fedavg))
        parts += [
            difference(
                f"loosest minus strictest threshold on {dataset}",
                minus(loose, strict),
                float("-inf"),
                0.0,
                among=4,
            ),
            difference(
                f"change of the distance to FedAvg on {dataset}, loosest minus strictest",
                nearer,
                float("-inf"),
                0.0,
                among=4,
            ),
        ]
    return parts


def _grows_with_data(results: Results) -> list[Part]:
    parts = []
    for panel, dataset in DATASETS.items():
        least, most = results.ends("data_budget_accuracy", panel, CSRA)
        first, last = results.slopes("data_budget_accuracy", panel, CSRA)
        thousand = [1000.0 * value for value in minus(first, last)]
        parts += [
            difference(f"largest minus smallest budget on {dataset}", minus(most, least), among=4),
            difference(f"gain per 1000 samples on {dataset}, first step minus last", thousand, among=4),
        ]
    return parts


def _final(results: Results, panel: str, method: str) -> PerSeed:
    return results.final_accuracy("accuracy", panel, method)


def _distance(first: PerSeed, second: PerSeed) -> PerSeed:
    return paired(first, second, lambda a, b: abs(a - b))


ACCURACY_CLAIMS = (
    Claim(
        1,
        "CSRA has the best test accuracy on Fashion-MNIST and CIFAR-10, against SAE, FedAvg, Pow and CFL",
        "final accuracy of CSRA minus that of each baseline, above 0 on both datasets",
        ("accuracy",),
        _best,
    ),
    Claim(
        2,
        "Pow is only a little better than FedAvg",
        f"final accuracy of Pow minus FedAvg, between 0 and {MARGIN:g}",
        ("accuracy",),
        _pow_a_little_better,
    ),
    Claim(
        3,
        "SAE is about FedAvg on Fashion-MNIST, and inconsistent across datasets",
        f"SAE minus FedAvg within {MARGIN:g} on Fashion-MNIST, and a lead that differs by more on CIFAR-10",
        ("accuracy",),
        _sae_inconsistent,
    ),
    Claim(
        4,
        "CFL is unstable",
        "mean distance of an evaluation from its neighbours' mean in the second half, CFL over the others, above 1",
        ("accuracy",),
        _cfl_unstable,
    ),
    Claim(
        5,
        "Accuracy falls as the divergence threshold grows, towards FedAvg",
        "accuracy at the loosest minus the strictest threshold, and the change of its distance to FedAvg, below 0",
        ("kl_threshold",),
        _falls_with_divergence,
    ),
    Claim(
        6,
        "Accuracy grows with the data budget, with diminishing returns",
        "accuracy at the largest minus the smallest budget, and the first step's gain per sample minus the last's, "
        "above 0",
        ("data_budget_accuracy",),
        _grows_with_data,
    ),
)
