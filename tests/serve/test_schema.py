"""Whatever fits the published schema, and much that does not, is answered without a failure of the service."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.parts import need
from support.serving import Service

need("schemathesis", "fastapi")

import schemathesis  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance  # noqa: E402

HEADER = "client,distance_m,transmit_power_dbm,max_frequency_hz,cycles_per_bit,count_0\n"
FLEET = HEADER + "".join(f"{at},{200 + 9 * at},23,2e9,5,{900 + 50 * at}\n" for at in range(6))
QUESTIONS = ("plan", "why", "least", "vary", "pareto", "campaign", "fleet", "fleet/random")
CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def api(service: Service) -> Any:
    return schemathesis.openapi.from_dict(service.ask("/openapi.json").told)


@pytest.mark.parametrize("question", QUESTIONS)
@settings(max_examples=12, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_no_question_brings_it_to_fail(api: Any, service: Service, question: str, data: st.DataObject) -> None:
    operation = api[f"/api/v1/{question}"]["POST"]
    mode = data.draw(st.sampled_from(GenerationMode))
    case = data.draw(operation.as_strategy(mode))
    if isinstance(case.body, dict):
        if question == "campaign":
            case.body.setdefault("horizon", {"rounds": 2, "steps": 1})
        _get_beyond_the_fleet(case.body, data.draw(st.booleans()))
    response = case.call(base_url=service.address, timeout=200)
    case.validate_response(response, checks=CHECKS)
    if response.status_code != 200:
        assert "\n" not in response.json()["error"]["message"]


def _get_beyond_the_fleet(body: dict[str, Any], with_a_fleet: bool) -> None:
    """Made-up text is no fleet: half of the requests get one, and no campaign is long."""
    if with_a_fleet and "fleet" in body:
        body["fleet"] = FLEET
    horizon = body.get("horizon")
    if isinstance(horizon, dict) and isinstance(horizon.get("rounds"), int):
        horizon["rounds"] %= 4


@pytest.mark.parametrize("path", ["/api/v1/limits", "/api/v1/methods", "/health", "/metrics"])
def test_what_there_is_to_read_fits_its_schema(api: Any, service: Service, path: str) -> None:
    operation = api[path]["GET"]
    case = operation.Case()
    case.validate_response(case.call(base_url=service.address, timeout=200), checks=CHECKS)
