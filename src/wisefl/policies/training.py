"""Training policies by name: the paper's methods, rivals from elsewhere, and every policy that can decide a round."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_args, get_type_hints

from wisefl.decision import RoundProblem
from wisefl.errors import InvalidInput
from wisefl.policies import check, decide, known_names, names
from wisefl.policies.base import Choice, RoundView, TrainingPolicy
from wisefl.policies.cfl import Cfl
from wisefl.policies.choosing import Allocation
from wisefl.policies.csra import Csra
from wisefl.policies.csra_dc import CsraDc
from wisefl.policies.divfl import DivFl
from wisefl.policies.fedavg import FedAvg
from wisefl.policies.fedcs import FedCs
from wisefl.policies.fedzero import FedZero
from wisefl.policies.full import Full
from wisefl.policies.ocean import Ocean
from wisefl.policies.oort import Oort
from wisefl.policies.options import check_options
from wisefl.policies.oracle_iid import OracleIid
from wisefl.policies.plugin import is_own, own_policy
from wisefl.policies.pow import PowerOfChoice
from wisefl.policies.rbcs_f import RbcsF
from wisefl.policies.sae import Sae
from wisefl.policies.wise import Wise

TRAINING_POLICIES: dict[str, Callable[..., TrainingPolicy]] = {
    "csra": Csra,
    "csra-dc": CsraDc,
    "wise": Wise,
    "fedavg": FedAvg,
    "sae": Sae,
    "pow": PowerOfChoice,
    "cfl": Cfl,
    "full": Full,
    "oracle-iid": OracleIid,
    "oort": Oort,
    "fedcs": FedCs,
    "ocean": Ocean,
    "rbcs-f": RbcsF,
    "divfl": DivFl,
    "fedzero": FedZero,
}
"""Name -> dataclass; its fields are the policy's options, but `allocation`, which all that only select have."""


@dataclass(frozen=True)
class Decided:
    """A policy that decides every round for itself, such as `cs-greedy` or `random-k+exact`."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def choose(self, problem: RoundProblem, view: RoundView) -> Choice:
        return Choice(decide(self.name, problem, seed=view.seed, round=view.round, **self.options))


def training_policy(
    name: str, *, allocation: Allocation = "exact", options: Mapping[str, Any] | None = None
) -> TrainingPolicy:
    """The policy of that name with these options.

    `allocation` is how a policy that only selects shares band and frequency; one that allocates goes its own way.
    """
    options = dict(options or {})
    if allocation not in get_args(Allocation):
        raise InvalidInput(f"allocation must be one of {', '.join(get_args(Allocation))}, not {allocation!r}")
    if name not in TRAINING_POLICIES:
        if is_own(name):
            return own_policy(name, options, allocation)
        if name not in names():
            raise InvalidInput(
                f"unknown policy {name!r}; there are {', '.join(TRAINING_POLICIES)}, {known_names()}; or give your "
                "own as file.py:Class or module:Class"
            )
        check(name, options)
        return Decided(name, options)
    policy: Any = TRAINING_POLICIES[name]
    types = get_type_hints(policy)
    settable = {item.name: types[item.name] for item in fields(policy) if item.init}
    given = {"allocation": allocation} if settable.pop("allocation", None) else {}
    check_options(name, options, settable)
    made: TrainingPolicy = policy(**options, **given)
    return made
