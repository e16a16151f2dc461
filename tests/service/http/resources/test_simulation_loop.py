"""`POST /simulation/loop` and `/simulation/steps`: what is accepted and refused, and that the loop's actor is asked."""

from __future__ import annotations

import pytest

from actors.control.messages import FASTPATH, SetTickShare, StepLoop, StepsTaken
from actors.kit.actor import Context, ServiceActor, handles
from actors.kit.errors import Conflict
from tests.service.edge_server import EdgeServer, replace_by_failing


class StandInLoop(ServiceActor):
    """Keeps the shares that it is asked for."""

    def __init__(self, context: Context, asked: list[float]) -> None:
        super().__init__(FASTPATH, context)
        self.asked = asked

    @handles(SetTickShare)
    def set_tick_share(self, message: SetTickShare) -> float:
        self.asked.append(message.share)
        return message.share

    @handles(StepLoop)
    def step(self, message: StepLoop) -> StepsTaken:
        self.asked.append(message.ticks)
        return StepsTaken(1000 + message.ticks, 0.25)


@pytest.fixture
def asked(rig: EdgeServer) -> list[float]:
    shares: list[float] = []
    rig.start_actor(StandInLoop.start(rig.context, shares))
    return shares


@pytest.mark.parametrize("ratio", [0, 0.3, 1])
def test_the_share_of_ticks_is_asked_for_and_echoed(rig: EdgeServer, asked: list[float], ratio: float) -> None:
    reply = rig.ask("POST", "/simulation/loop", {"ratio": ratio})

    assert (reply.status, reply.json) == (200, {"ratio": ratio})
    assert asked == [ratio]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"0.5",
        b"{}",
        b'{"ratio": null}',
        b'{"ratio": "half"}',
        b'{"ratio": true}',
        b'{"ratio": -0.01}',
        b'{"ratio": 1.01}',
        b'{"ratio": 1e308}',
        b'{"ratio": NaN}',
        b'{"ratio": [1]}',
        b"[" * 5000,
    ],
)
def test_invalid_share_is_400_and_changes_nothing(rig: EdgeServer, asked: list[float], body: bytes) -> None:
    reply = rig.ask("POST", "/simulation/loop", raw=body)

    assert reply.status == 400
    assert reply.error
    assert asked == []


def test_an_unknown_key_is_named(rig: EdgeServer, asked: list[float]) -> None:
    reply = rig.ask("POST", "/simulation/loop", {"ratio": 1, "rate": 2})

    assert reply.json["warnings"] == ['unknown key "rate" was ignored']
    assert asked == [1]


def test_a_loop_with_a_real_device_is_409(rig: EdgeServer) -> None:
    replace_by_failing(rig, FASTPATH, Conflict("The loop drives 049D, which is no simulation."))

    reply = rig.ask("POST", "/simulation/loop", {"ratio": 0.5})

    assert (reply.status, reply.error) == (409, "The loop drives 049D, which is no simulation.")


def test_share_route_accepts_post_only(rig: EdgeServer) -> None:
    reply = rig.get("/simulation/loop")

    assert (reply.status, reply.headers["allow"]) in {(404, ""), (405, "POST, OPTIONS"), (405, "POST")}


@pytest.mark.parametrize("ticks", [1, 40, 40.0, 32_000])
def test_ticks_are_asked_for_and_the_time_is_told(rig: EdgeServer, asked: list[float], ticks: int) -> None:
    reply = rig.ask("POST", "/simulation/steps", {"ticks": ticks})

    assert (reply.status, reply.json) == (200, {"ticks": 1000 + ticks, "time": 0.25})
    assert asked == [ticks]


@pytest.mark.parametrize("ticks", ["", '"1"', "null", "0", "-1", "0.5", "32001", "1e300", "true", "NaN", "[1]"])
def test_ticks_that_are_no_number_of_ticks_are_400(rig: EdgeServer, asked: list[float], ticks: str) -> None:
    body = f'{{"ticks": {ticks}}}' if ticks else "{}"
    reply = rig.ask("POST", "/simulation/steps", raw=body.encode())

    assert reply.status == 400
    assert reply.error
    assert asked == []


def test_loop_that_runs_by_itself_is_409(rig: EdgeServer) -> None:
    replace_by_failing(rig, FASTPATH, Conflict("The loop runs by itself."))

    reply = rig.ask("POST", "/simulation/steps", {"ticks": 1})

    assert (reply.status, reply.error) == (409, "The loop runs by itself.")
