"""Claims 1 to 6: what is said of test accuracy."""

from wisefl.paper import margins
from wisefl.paper.claims.claim import CSRA, Claim
from wisefl.paper.claims.measures import Results, mean_of, minus, over, paired
from wisefl.paper.claims.statistics import Question, above, ask, below, differences, outside, ratios, within
from wisefl.paper.figures.parts import DATASETS
from wisefl.paper.table import PerSeed

BASELINES = {"sae": "SAE", "fedavg": "FedAvg", "pow": "Pow", "cfl": "CFL"}


def _best(results: Results) -> list[Question]:
    return [
        ask(
            f"CSRA minus {label} on {dataset}",
            differences(minus(_final(results, panel, CSRA), _final(results, panel, name))),
            above(margins.LEAD),
            rival=label,
        )
        for panel, dataset in DATASETS.items()
        for name, label in BASELINES.items()
    ]


def _pow_a_little_better(results: Results) -> list[Question]:
    return [
        ask(
            f"Pow minus FedAvg on {dataset}",
            differences(minus(_final(results, panel, "pow"), _final(results, panel, "fedavg"))),
            within(margins.ABOUT),
        )
        for panel, dataset in DATASETS.items()
    ]


def _sae_inconsistent(results: Results) -> list[Question]:
    lead = {
        panel: paired(_final(results, panel, "sae"), _final(results, panel, "fedavg"), lambda sae, avg: sae - avg)
        for panel in DATASETS
    }
    return [
        ask("SAE minus FedAvg on Fashion-MNIST", differences(lead["fashion-mnist"].values()), within(margins.ABOUT)),
        ask(
            "change of that lead to CIFAR-10",
            differences(minus(lead["cifar10"], lead["fashion-mnist"])),
            outside(margins.ABOUT),
        ),
    ]


def _cfl_unstable(results: Results) -> list[Question]:
    others = [CSRA, "sae", "fedavg", "pow"]
    return [
        ask(
            f"jumps of CFL over those of the other methods on {dataset}",
            ratios(
                over(
                    results.jumpiness("accuracy", panel, "cfl"),
                    mean_of([results.jumpiness("accuracy", panel, name) for name in others]),
                )
            ),
            above(margins.STEADIER, 1.0),
        )
        for panel, dataset in DATASETS.items()
    ]


def _falls_with_divergence(results: Results) -> list[Question]:
    questions = []
    for panel, dataset in DATASETS.items():
        strict, loose = results.ends("kl_threshold", panel, CSRA)
        fedavg, _ = results.ends("kl_threshold", panel, "fedavg")
        questions += [
            ask(
                f"loosest minus strictest threshold on {dataset}",
                differences(minus(loose, strict)),
                below(-margins.LEAD),
            ),
            ask(
                f"CSRA minus FedAvg on {dataset} at the loosest threshold",
                differences(minus(loose, fedavg)),
                within(margins.ABOUT),
            ),
        ]
    return questions


def _grows_with_data(results: Results) -> list[Question]:
    questions = []
    for panel, dataset in DATASETS.items():
        least, most = results.ends("data_budget_accuracy", panel, CSRA)
        first, last = results.slopes("data_budget_accuracy", panel, CSRA)
        questions += [
            ask(f"largest minus smallest budget on {dataset}", differences(minus(most, least)), above(margins.LEAD)),
            ask(
                f"gain per 1000 samples on {dataset}, first step minus last",
                differences(1000.0 * value for value in minus(first, last)),
                above(margins.LEAD),
            ),
        ]
    return questions


def _final(results: Results, panel: str, method: str) -> PerSeed:
    return results.final_accuracy("accuracy", panel, method)


ACCURACY_CLAIMS = (
    Claim(
        1,
        "CSRA has the best test accuracy on Fashion-MNIST and CIFAR-10, against SAE, FedAvg, Pow and CFL",
        "final accuracy of CSRA minus that of each baseline, above 0 on both datasets; refuted when surely below "
        f"{margins.LEAD:g}",
        ("accuracy",),
        _best,
        "The lead depends on what an epoch is and on how long is trained: CSRA trains few clients, again and again.",
    ),
    Claim(
        2,
        "Pow is only a little better than FedAvg (its improvement is limited)",
        f"final accuracy of Pow minus FedAvg within {margins.ABOUT:g} of 0 (equivalence)",
        ("accuracy",),
        _pow_a_little_better,
    ),
    Claim(
        3,
        "SAE is about FedAvg on Fashion-MNIST, and inconsistent across datasets",
        f"SAE minus FedAvg within {margins.ABOUT:g} of 0 on Fashion-MNIST (equivalence), and a lead that differs by "
        "more on CIFAR-10",
        ("accuracy",),
        _sae_inconsistent,
    ),
    Claim(
        4,
        "CFL is unstable",
        "mean distance of an evaluation from its neighbours' mean in the second half, CFL over the others, above 1; "
        f"refuted when surely below {margins.STEADIER:g}",
        ("accuracy",),
        _cfl_unstable,
    ),
    Claim(
        5,
        "Accuracy falls as the divergence threshold grows, towards FedAvg",
        "accuracy at the loosest minus the strictest threshold below 0, refuted when surely above "
        f"{-margins.LEAD:g}; at the loosest within {margins.ABOUT:g} of FedAvg (equivalence)",
        ("kl_threshold",),
        _falls_with_divergence,
    ),
    Claim(
        6,
        "Accuracy grows with the data budget, with diminishing returns",
        "accuracy at the largest minus the smallest budget, and the gain per 1000 samples of the first step minus "
        f"the last's, above 0; refuted when surely below {margins.LEAD:g}",
        ("data_budget_accuracy",),
        _grows_with_data,
    ),
)
