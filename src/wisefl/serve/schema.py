"""What can be asked of the service: its parts are the types that the command line's options come from."""

from dataclasses import fields
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetPydanticSchema, create_model

from wisefl.api.campaigning import Horizon
from wisefl.decision.limits import Limits

MOST_CLIENTS = 100_000
"""Of a random fleet."""
MOST_VALUES = 5_000_000
"""Clients times classes of a random fleet."""
MOST_ROUNDS = 2_000
MOST_POINTS = 101

_CONFIG = ConfigDict(extra="forbid")

T = TypeVar("T")


def _told(kind: type[T]) -> Any:
    """A dataclass whose fields say themselves what they mean, as a part of a request: their names, defaults and
    sentences are its own, and so are the checks."""
    hints = get_type_hints(kind)
    items: dict[str, Any] = {
        item.name: (hints[item.name], Field(default=item.default, description=item.metadata["help"]))
        for item in fields(kind)  # type: ignore[arg-type]
    }
    shape: type[BaseModel] = create_model(kind.__name__, __config__=_CONFIG, __doc__=kind.__doc__, **items)

    def made(values: BaseModel) -> T:
        return kind(**{name: getattr(values, name) for name in items})

    return GetPydanticSchema(lambda _, handler: handler.generate_schema(Annotated[shape, AfterValidator(made)]))


def described(kind: type[Any]) -> list[dict[str, Any]]:
    """The fields of such a dataclass as the command line shows them."""
    return [
        {
            "name": item.name,
            "option": item.metadata.get("option", f"--{item.name.replace('_', '-')}"),
            "help": item.metadata["help"],
            "default": list(item.default) if isinstance(item.default, tuple) else item.default,
            "type": named(item.type),
        }
        for item in fields(kind)
    ]


def named(kind: Any) -> str:
    """A type as a reader knows it."""
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


FleetText = Annotated[
    str, Field(min_length=1, description="What a fleet's CSV file holds, header and all.", title="CSV")
]
FleetColumns = Annotated[
    dict[str, list[str | int | float | None]],
    Field(description="Column -> one value per client, by the names of the CSV file.", title="Columns"),
]
OptionValue = bool | float | str | None


class Asked(BaseModel):
    """What every request has."""

    model_config = _CONFIG


class RoundAsked(Asked):
    """A round of a fleet."""

    fleet: FleetText | FleetColumns
    limits: Annotated[Limits, _told(Limits)] = Field(default_factory=Limits)


class ProvedAsked(RoundAsked):
    """A round whose answer is proved."""

    options: dict[str, OptionValue] = Field(default_factory=dict, description="Options of solver certified.")


class PlanAsked(RoundAsked):
    """Decide who trains this round, with what share of the band and at what CPU frequency."""

    solver: str = Field("certified", description="Any method of /api/v1/methods.")
    seed: int = Field(0, ge=0, lt=2**63, description="For methods that draw lots.")
    options: dict[str, OptionValue] = Field(default_factory=dict, description="Options of the method.")


class WhyAsked(ProvedAsked):
    """Why a client takes part or not, and what it costs to force it in or out."""

    client: str = Field(description="Its id.")


class LeastAsked(ProvedAsked):
    """The least bandwidth_hz, deadline_s or energy_budget_j that will do."""

    limit: Literal["bandwidth_hz", "deadline_s", "energy_budget_j"]


class VaryAsked(ProvedAsked):
    """Decide for every combination of some limits' values; each gets its part of the request's time."""

    vary: dict[str, Annotated[list[float], Field(min_length=1, max_length=400)]] = Field(
        min_length=1, description="Limit -> its values."
    )


class ParetoAsked(ProvedAsked):
    """The latency-energy front: decide for several weightings of seconds and joules."""

    points: int = Field(21, ge=2, le=MOST_POINTS, description="How many weightings to try.")


class CampaignAsked(RoundAsked):
    """Decide all rounds of a training; the bound takes as many of its steps as there is time for."""

    horizon: Annotated[Horizon, _told(Horizon)] = Field(default_factory=Horizon)
    max_gap: float = Field(1e-3, ge=0.0, lt=1.0, description="Relative gap to prove in every round.")


class FleetAsked(Asked):
    """Is a fleet sound? Its columns as they were understood, and every client's divergence."""

    fleet: FleetText | FleetColumns
    smoothing: float = Field(
        0.0, ge=0.0, lt=1e300, description=next(i.metadata["help"] for i in fields(Limits) if i.name == "smoothing")
    )


class RandomAsked(Asked):
    """Draw a fleet by the paper's table."""

    clients: int = Field(80, ge=1, le=MOST_CLIENTS)
    seed: int = Field(0, ge=0, lt=2**63)
    samples: int | None = Field(None, ge=1, le=10**9, description="Of all clients together; 750 per client.")
    classes: int = Field(10, ge=1, le=1000)
    mean_gain: float = Field(1.0, gt=0.0, le=1e9, description="Mean of the fading power |h|^2.")


class RunsAsked(Asked):
    """Runs of a folder; without names, what there is."""

    root: str
    names: list[str] = Field(default_factory=list)


class Remedy(BaseModel):
    """A value that would do, computed."""

    field: str
    value: float | Literal["inf"]


class Problem(BaseModel):
    """What was wrong, in one sentence."""

    kind: Literal[
        "invalid", "infeasible", "missing", "too_large", "too_slow", "busy", "abandoned", "refused", "unknown"
    ]
    message: str
    field: str | None = None
    value: Any = None
    remedies: list[Remedy] = Field(default_factory=list)


class Failure(BaseModel):
    """The body of every answer that is not one."""

    error: Problem


class Answer(BaseModel):
    """An object; what it holds is that of `--json` of the command of the same name."""

    model_config = ConfigDict(extra="allow")


class DecisionAnswer(Answer):
    """As `wisefl plan --json`."""

    solver: str
    status: str
    objective: float
    latency_s: float
    energy_j: float
    lower_bound: float | None
    gap: float | None
    seconds: float
    eligible: int
    clients: list[dict[str, Any]]


QUESTIONS: dict[str, tuple[type[Asked], Any]] = {
    "plan": (PlanAsked, DecisionAnswer),
    "why": (WhyAsked, Answer),
    "least": (LeastAsked, Answer),
    "vary": (VaryAsked, list[Answer]),
    "pareto": (ParetoAsked, list[Answer]),
    "campaign": (CampaignAsked, Answer),
    "fleet": (FleetAsked, Answer),
    "fleet/random": (RandomAsked, Answer),
}
"""Where it is asked -> what is asked, whose docstring says what for, and the shape of the answer."""
