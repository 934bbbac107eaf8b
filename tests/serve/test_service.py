"""The JSON service: the same answers as the library, mistakes in one sentence, and nothing that brings it down."""

import json
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any

import pytest

import wisefl
from support.serving import Service, served
from wisefl import Fleet, Limits, RoundProblem
from wisefl.cli import main
from wisefl.decision.questions import why
from wisefl.errors import InvalidInput
from wisefl.policies import names
from wisefl.serve.settings import Settings

PLAN = "/api/v1/plan"


def test_a_plan_is_what_the_library_decides(service: Service, fleet_text: str) -> None:
    limits = {"bandwidth_hz": 4e6, "deadline_s": 1.5, "required": ["5"], "max_divergence": "inf"}
    told = service.ask(PLAN, {"fleet": fleet_text, "limits": limits}).told
    problem = RoundProblem.build(
        Fleet.from_text(fleet_text), limits=Limits(**{**limits, "max_divergence": float("inf")})
    )
    decision = wisefl.solve(problem)
    assert told["objective"] == decision.objective
    assert told["lower_bound"] == decision.lower_bound
    assert [client["client"] for client in told["clients"]] == problem.fleet.client[decision.selected].tolist()
    assert told["status"] == "certified"
    assert told["violations"] == {}


def test_columns_are_a_fleet_too(service: Service, fleet_text: str) -> None:
    looked = service.ask("/api/v1/fleet", {"fleet": fleet_text}).told
    again = service.ask(PLAN, {"fleet": looked["columns"]}).told
    assert again["objective"] == service.ask(PLAN, {"fleet": fleet_text}).told["objective"]
    assert looked["clients"] == len(looked["divergence"]) == 80
    drawn = service.ask("/api/v1/fleet/random", {"clients": 80, "seed": 0}).told
    assert drawn == looked


def test_what_is_asked_of_single_clients_is_told_back(service: Service) -> None:
    fleet = f"{HEADER},battery_j,recharge_j,group\na,200,23,3e9,5,10,30,1,roof\nb,200,23,3e9,5,10,,,\n"
    columns = service.ask("/api/v1/fleet", {"fleet": fleet}).told["columns"]
    assert (columns["battery_j"], columns["recharge_j"], columns["group"]) == ([30, None], [1, 0], ["roof", ""])
    assert service.ask("/api/v1/fleet", {"fleet": columns}).told["columns"] == columns


def test_another_method_and_its_options(service: Service, fleet_text: str) -> None:
    told = service.ask(PLAN, {"fleet": fleet_text, "solver": "best-channel+equal"}).told
    assert told["solver"] == "best-channel+equal"
    assert told["lower_bound"] is None
    wrong = service.ask(PLAN, {"fleet": fleet_text, "solver": "best-channel+equal", "options": {"max_gap": 0.1}})
    assert wrong.status == 422
    assert "has no option 'max_gap'" in wrong.error["message"]


def test_questions_are_answered_with_their_proof(service: Service, fleet_text: str) -> None:
    found = why(RoundProblem.build(Fleet.from_text(fleet_text)), "3")
    told = service.ask("/api/v1/why", {"fleet": fleet_text, "client": "3"}).told
    assert told["selected"] is True
    assert told["outside"]["objective"] == found.outside.objective  # type: ignore[union-attr]
    assert told["extra"] == list(found.extra(found.outside))  # type: ignore[arg-type]

    varied = service.ask("/api/v1/vary", {"fleet": fleet_text, "vary": {"min_samples": [1000, 2000, 10**6]}}).told
    assert [one["values"]["min_samples"] for one in varied] == [1000, 2000, 10**6]
    assert varied[0]["objective"] < varied[1]["objective"]
    assert "lower min_samples" in varied[2]["error"]

    least = service.ask("/api/v1/least", {"fleet": fleet_text, "limit": "deadline_s"}).told
    assert least["bound"] < least["value"] == pytest.approx(least["decision"]["latency_s"])

    front = service.ask("/api/v1/pareto", {"fleet": fleet_text, "points": 5}).told
    assert len(front) == 5
    assert front[0]["energy_j"] < front[-1]["energy_j"]
    assert front[0]["latency_s"] > front[-1]["latency_s"]


def test_a_campaign_is_played_and_bounded(service: Service) -> None:
    fleet = service.ask("/api/v1/fleet/random", {"clients": 12, "seed": 1}).told["columns"]
    asked = {
        "fleet": fleet,
        "limits": {"max_divergence": "inf"},
        "horizon": {"rounds": 6, "participation": 0.3, "steps": 1, "battery_j": 50},
    }
    told = service.ask("/api/v1/campaign", asked).told
    assert told["violations"] == {}
    assert len(told["selected"]) == len(told["round_latency_s"]) == 6
    assert all(client["rounds"] >= 2 for client in told["clients"])
    assert told["lower_bound"] <= told["objective"]
    assert len(told["battery_j"]) == 3


def test_it_knows_every_limit_and_method_as_the_command_line_does(service: Service) -> None:
    told = service.ask("/api/v1/limits").told
    assert [item["name"] for item in told["limits"]] == [item.name for item in fields(Limits)]
    assert {item["name"]: item["help"] for item in told["limits"]} == {
        item.name: item.metadata["help"] for item in fields(Limits)
    }
    methods = {method["name"]: method for method in service.ask("/api/v1/methods").told["methods"]}
    assert list(methods) == names()
    assert {option["name"]: option["default"] for option in methods["certified"]["options"]}["max_gap"] == 1e-3
    schema = service.ask("/openapi.json").told["components"]["schemas"]["Limits"]
    assert list(schema["properties"]) == [item.name for item in fields(Limits)]
    assert schema["properties"]["min_samples"]["default"] == Limits().min_samples


MISTAKES = {
    "no number": ({"limits": {"bandwidth_hz": "wide"}}, "limits.bandwidth_hz", "wide"),
    "no such limit": ({"limits": {"bandwith_hz": 1e6}}, "limits.bandwith_hz", 1e6),
    "out of range": ({"limits": {"bandwidth_hz": -1}}, "bandwidth_hz", "-1"),
    "not whole": ({"limits": {"min_samples": 1.5}}, "limits.min_samples", 1.5),
    "nobody of that name": ({"limits": {"required": ["nobody"]}}, "required", ["nobody"]),
    "no such method": ({"solver": "best"}, None, None),
    "nothing of it": ({"colour": "red"}, "colour", "red"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_sentence_with_its_field_and_value(service: Service, fleet_text: str, name: str) -> None:
    asked, field, value = MISTAKES[name]
    answered = service.ask(PLAN, {"fleet": fleet_text, **asked})
    assert answered.status == 422
    assert answered.error["kind"] == "invalid"
    assert "\n" not in answered.error["message"]
    assert (answered.error["field"], answered.error["value"]) == (field, value)


def test_what_cannot_be_kept_says_what_would_do(service: Service, fleet_text: str) -> None:
    asked = {"fleet": fleet_text, "limits": {"deadline_s": 0.001}}
    answered = service.ask(PLAN, asked)
    assert answered.status == 409
    assert answered.error["kind"] == "infeasible"
    assert answered.error["field"] == "deadline_s"
    assert answered.error["value"] == 0.001
    (remedy,) = answered.error["remedies"]
    assert service.ask(PLAN, {"fleet": fleet_text, "limits": {remedy["field"]: remedy["value"]}}).status == 200


HEADER = "client,distance_m,transmit_power_dbm,max_frequency_hz,cycles_per_bit,count_0"
BAD_FLEETS = {
    "nothing": "",
    "a header alone": HEADER,
    "a column missing": "client,distance_m\na,200",
    "a column twice": f"{HEADER},count_0\na,200,23,3e9,5,10,10",
    "a cell missing": f"{HEADER}\na,200,23,3e9,5",
    "no number": f"{HEADER}\na,far,23,3e9,5,10",
    "not a number": f"{HEADER}\na,nan,23,3e9,5,10",
    "below 0": f"{HEADER}\na,-200,23,3e9,5,10",
    "half a sample": f"{HEADER}\na,200,23,3e9,5,10.5",
    "a name twice": f"{HEADER}\na,200,23,3e9,5,10\na,200,23,3e9,5,10",
    "no sample": f"{HEADER}\na,200,23,3e9,5,0",
    "not text": "\x00\x01\x02",
}


@pytest.mark.parametrize("name", BAD_FLEETS)
def test_a_bad_fleet_is_refused_in_one_sentence(service: Service, name: str) -> None:
    answered = service.ask(PLAN, {"fleet": BAD_FLEETS[name], "limits": {"min_samples": 1}})
    assert answered.status == 422
    assert answered.error["field"].startswith("fleet")
    assert "\n" not in answered.error["message"]
    assert answered.error["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b'{"fleet": 3}'])
def test_what_is_no_request_is_refused(service: Service, body: bytes) -> None:
    answered = service.ask(PLAN, body)
    assert answered.status in (400, 422)
    assert answered.error["kind"] == "invalid"


def test_too_much_is_refused_and_the_service_goes_on(service: Service, fleet_text: str) -> None:
    answered = service.ask(PLAN, b" " * 3_000_000)
    assert answered.status == 413
    assert "larger than the 2 MB" in answered.error["message"]
    assert service.ask(PLAN, {"fleet": fleet_text}).status == 200


def test_a_head_without_end_is_refused(service: Service) -> None:
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 100_000)
        told = one.recv(4096)
    assert told.startswith(b"HTTP/1.1 431")
    assert b"larger than the 65536 bytes" in told


HOSTILE = {
    "more than a double holds": b'{"bandwidth_hz": 1e999}',
    "not a number": b'{"bandwidth_hz": NaN}',
    "minus infinity": b'{"deadline_s": -Infinity}',
    "a whole number of 4,000 digits": b'{"min_samples": ' + b"9" * 4000 + b"}",
    "a whole number of 5,000 digits": b'{"min_samples": ' + b"9" * 5000 + b"}",
    "nearly nothing": b'{"bandwidth_hz": 1e-320, "max_divergence": "inf"}',
    "100,000 brackets": b"[" * 100_000 + b"]" * 100_000,
    "half a letter": b'{"required": ["\\ud800"]}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_numbers_are_refused_in_one_sentence(service: Service, fleet_text: str, name: str) -> None:
    body = b'{"fleet": ' + json.dumps(fleet_text).encode() + b', "limits": ' + HOSTILE[name] + b"}"
    answered = service.ask(PLAN, body)
    assert answered.status == 422
    assert answered.error["kind"] == "invalid"
    assert "\n" not in answered.error["message"]


def test_a_killed_worker_is_not_noticed(service: Service, fleet_text: str) -> None:
    before = service.metric("wisefl_workers_replaced_total")
    for worker in service.workers():
        os.kill(worker, signal.SIGKILL)
    assert service.ask(PLAN, {"fleet": fleet_text}).status == 200
    until = time.monotonic() + 200
    while service.metric("wisefl_workers") < 2 and time.monotonic() < until:
        time.sleep(0.2)
    assert service.metric("wisefl_workers_replaced_total") >= before + 1
    assert service.ask("/health").told["status"] == "ready"


def test_what_does_not_say_that_it_is_json_is_refused(service: Service, fleet_text: str) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answered = service.ask(PLAN, {"fleet": fleet_text}, {"Content-Type": kind})
        assert answered.status == 415
        assert "Content-Type: application/json" in answered.error["message"]
    assert service.ask(PLAN, {"fleet": fleet_text}, {"Content-Type": "application/json; charset=utf-8"}).status == 200


def test_pages_of_other_places_may_not_ask(service: Service, fleet_text: str) -> None:
    asked = {"fleet": fleet_text}
    assert service.ask(PLAN, asked, {"Origin": "http://evil.example"}).status == 403
    assert service.ask(PLAN, asked, {"Host": "evil.example"}).status == 421
    assert service.ask(PLAN, asked, {"Origin": service.address}).status == 200


def test_it_counts_what_it_is_asked(service: Service, fleet_text: str) -> None:
    service.ask(PLAN, {"fleet": fleet_text})
    text = service.ask("/metrics").body.decode()
    assert 'wisefl_requests_total{path="/api/v1/plan",status="200"}' in text
    assert 'wisefl_request_seconds_bucket{path="/api/v1/plan",le="+Inf"}' in text
    assert service.metric("wisefl_worker_seconds_total") > 0.0


def test_nobody_decides_what_nobody_waits_for_any_more(fleet_text: str, long: dict[str, Any]) -> None:
    """Whoever leaves while others are served is forgotten: their question never reaches a worker."""
    with served("--workers", "1", "--time-limit", "8", "--max-waiting", "3") as alone:
        with ThreadPoolExecutor(1) as asking:
            working = asking.submit(alone.ask, "/api/v1/campaign", long)
            _until(alone, "wisefl_workers_busy", 1)
            for round in range(2):  # more than may wait, one after the other
                leaving = [_sent(alone, json.dumps({"fleet": fleet_text}).encode()) for _ in range(3)]
                _until(alone, "wisefl_requests_waiting", 3)
                for one in leaving:
                    one.close()
                _until(alone, "wisefl_requests_waiting", 0)
                counted = f'wisefl_requests_total{{path="{PLAN}",status="499"}} {3 * (round + 1)}\n'
                assert counted in alone.ask("/metrics").body.decode()
            assert working.result().status == 422
        assert f'wisefl_worker_seconds_total{{path="{PLAN}"}}' not in alone.ask("/metrics").body.decode()
        _until(alone, "wisefl_workers", 1)
        assert alone.ask(PLAN, {"fleet": fleet_text}).status in (200, 503)


def _sent(service: Service, body: bytes) -> socket.socket:
    one = socket.create_connection(("127.0.0.1", service.port), timeout=60)
    head = f"POST {PLAN} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    one.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return one


def _until(service: Service, name: str, value: float) -> None:
    until = time.monotonic() + 200
    while service.metric(name) != value:
        assert time.monotonic() < until, name
        time.sleep(0.02)


def test_a_tight_service_keeps_its_limits(fleet_text: str, long: dict[str, Any]) -> None:
    """Little time, little room and a token, so that every limit is met soon."""
    token = "a-token-for-this-test"
    shown = {"Authorization": f"Bearer {token}"}
    limits = ("--workers", "1", "--time-limit", "3", "--max-waiting", "1")
    with served(*limits, environment={"WISEFL_TOKEN": token}) as tight:
        _only_who_shows_it_is_answered(tight, fleet_text, shown)
        dribbling = [socket.create_connection(("127.0.0.1", tight.port), timeout=60) for _ in range(20)]
        for one in dribbling:
            head = f"POST {PLAN} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
            one.sendall(f"{head}Content-Length: 1000\r\n\r\n{{".encode())
        hesitating = [socket.create_connection(("127.0.0.1", tight.port), timeout=60) for _ in range(20)]
        for one in hesitating[1:]:  # the first one says nothing at all
            one.sendall(f"POST {PLAN} HTTP/1.1\r\nHost: 127".encode())
        assert tight.ask(PLAN, {"fleet": fleet_text}, shown).status == 200

        # A campaign is not anytime: what takes too long is stopped, and who comes meanwhile is told to come back.
        with ThreadPoolExecutor(6) as asking:
            asked = [asking.submit(tight.ask, "/api/v1/campaign", long, shown) for _ in range(6)]
            answers = {answer.status: answer for answer in (one.result() for one in asked)}
        assert set(answers) == {422, 503}
        assert answers[422].error["kind"] == "too_slow"
        assert answers[503].error["kind"] == "busy"
        assert answers[503].headers["Retry-After"]

        assert dribbling[0].recv(4096).startswith(b"HTTP/1.1 408")
        for one in hesitating:
            told = one.recv(4096)
            assert told.startswith(b"HTTP/1.1 408")
            assert b"was not sent within 3 s" in told
            assert one.recv(4096) == b""
        for one in (*dribbling, *hesitating):
            one.close()
        until = time.monotonic() + 200
        while tight.ask(PLAN, {"fleet": fleet_text}, shown).status != 200:  # the worker that was stopped is replaced
            assert time.monotonic() < until


def _only_who_shows_it_is_answered(closed: Service, fleet_text: str, shown: dict[str, str]) -> None:
    assert closed.ask("/health").status == 200
    assert closed.ask("/").status == 200  # the page holds nothing
    for path in ("/api/v1/limits", "/metrics", "/openapi.json"):
        assert closed.ask(path).status == 401
        assert closed.ask(path, headers=shown).status == 200
    wrong = closed.ask(PLAN, {"fleet": fleet_text}, {"Authorization": "Bearer something-else"})
    assert wrong.status == 401
    assert "Authorization: Bearer" in wrong.error["message"]


def test_beyond_this_machine_a_token_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", "0.0.0.0"]) == 2
    assert "give --token" in capsys.readouterr().err
    with pytest.raises(InvalidInput, match="at least 16 characters"):
        Settings(host="0.0.0.0", token="short")


def test_a_port_that_is_taken_is_one_sentence(service: Service, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", str(service.port)]) == 2
    assert "choose another --port" in capsys.readouterr().err


def test_a_run_folder_that_is_not_there_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--runs", "/nowhere"]) == 2
    assert "no such folder" in capsys.readouterr().err
