"""Calibration of emulated boards in the whole service: locked, unlocked by heartbeats, running, and every failure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.board_service import BoardService
from tests.support.service.polling import eventually
from tests.support.service.shutdown_timing import CommandStream

COMPACT, PEN = 0, 1
FAILED = "device-calibration-failed"
ATTACHMENT = "grip-attachment-changed"
ROUTE = "/*/C1/calibration"
DETACH = "/settings/devices/grip/detach_debounce"


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[BoardService]:
    with BoardService(tmp_path, "compact:C1", "pen:P1") as running:
        yield running


@pytest.fixture
def unlocked(setup: BoardService) -> BoardService:
    """The pen sits in its place; a machine that stalls for a moment does not let go of it."""
    setup.ask_ok("POST", DETACH, 5.0)
    setup.wait_for_pairs(C1="P1", P1="C1")
    setup.wait_for_event(ATTACHMENT, device_id="P1", attached=True)
    eventually(lambda: setup.calibration("C1")["state"] != "locked", "it is unlocked", pause_s=0.01)
    return setup


def heard_for(setup: BoardService, seconds: float) -> None:
    """Let the pen's heartbeats come for so long."""
    links, runtime = setup.service.system.links, setup.service.runtime
    until_ns = runtime.now_ns() + round(seconds * 1e9)
    eventually(lambda: (links.heartbeat("board1", "P1") or 0) > until_ns, "it beats", pause_s=0.01)


def fails(setup: BoardService, reason: str) -> None:
    """The run ends so, for both halves, and is said once."""
    event = setup.wait_for_event(FAILED)
    assert event["data"] == {"device_id": "C1", "device_family": "compact", "reason": reason}
    assert len(setup.events.received_events(FAILED)) == 1


def test_calibration_is_locked_while_the_pen_bounces_and_unlocked_at_rest(tmp_path: Path) -> None:
    with BoardService(tmp_path, "compact:C1", "pen:P1", away=(PEN,)) as setup:
        setup.boards.set("bounce_ms", 180, PEN)
        setup.boards.set("bounce_off_ms", 80, PEN)
        setup.plug(PEN, "P1")
        setup.wait_for_pairs(C1="P1", P1="C1")

        heard_for(setup, 0.6)
        assert setup.events.received_events(ATTACHMENT) == []
        reply = setup.ask("POST", ROUTE)
        assert (reply.status, setup.calibration("C1")) == (409, {"state": "locked"})
        assert "hold its paired grip or pen first" in reply.json["error"]

        setup.boards.set("bounce_ms", 0, PEN)
        setup.wait_for_event(ATTACHMENT, device_id="P1", attached=True)
        eventually(lambda: setup.calibration("C1")["state"] != "locked", "it is unlocked", pause_s=0.01)
        assert setup.ask_ok("POST", ROUTE) == {"state": "running"}
        setup.wait_for_calibration("C1", state="calibrated")
        assert setup.events.received_events(FAILED) == []


def test_bounce_shorter_than_the_debounce_keeps_the_pen_attached(unlocked: BoardService) -> None:
    unlocked.boards.set("bounce_off_ms", 150, PEN)
    unlocked.boards.set("bounce_ms", 300, PEN)

    heard_for(unlocked, 0.6)

    assert unlocked.events.received_events(ATTACHMENT, attached=False) == []
    assert unlocked.ask_ok("POST", ROUTE) == {"state": "running"}
    unlocked.wait_for_calibration("C1", state="calibrated")


@pytest.mark.parametrize("named", ["C1", "P1"])
def test_board_and_pen_calibrate_together(unlocked: BoardService, named: str) -> None:
    unlocked.boards.set("calibration_ms", 300, COMPACT)

    assert unlocked.ask_ok("POST", f"/*/{named}/calibration") == {"state": "running"}

    assert unlocked.calibration("C1") == unlocked.calibration("P1") == {"state": "running"}
    unlocked.wait_for_calibration("C1", state="calibrated")
    unlocked.wait_for_calibration("P1", state="calibrated")
    assert unlocked.events.received_events(FAILED) == []


@pytest.mark.parametrize(("slow", "quick"), [(COMPACT, PEN), (PEN, COMPACT)], ids=["the pen first", "the device first"])
def test_calibration_is_sent_to_both_and_ends_when_both_are_done(unlocked: BoardService, slow: int, quick: int) -> None:
    boards, begun_ns = unlocked.boards, unlocked.service.runtime.now_ns()
    boards.set("calibration_ms", 60_000, slow)
    boards.set("calibration_ms", 1, quick)
    unlocked.ask_ok("POST", ROUTE)

    eventually(lambda: boards.see(quick).calibrated_ns > begun_ns, "one has calibrated", pause_s=0.005)
    eventually(lambda: boards.see(slow).calibrating, "the other has begun", pause_s=0.005)
    # It has said so: its states behind the end of its calibration have come.
    said = boards.see(quick).states + 3
    eventually(lambda: boards.see(quick).states > said, "it goes on", pause_s=0.005)
    assert unlocked.calibration("C1") == unlocked.calibration("P1") == {"state": "running"}
    assert boards.see(slow).calibrated_ns < begun_ns

    boards.set("calibration_ms", 1, slow)
    unlocked.wait_for_calibration("C1", state="calibrated")

    assert unlocked.calibration("P1") == {"state": "calibrated"}
    for port in (COMPACT, PEN):
        seen = boards.see(port)
        assert seen.calibrates >= 1
        assert seen.calibrated_ns > begun_ns
        assert not seen.calibrating
    assert unlocked.events.received_events(FAILED) == []


def test_lost_done_message_is_requested_again_and_calibrates_once(unlocked: BoardService) -> None:
    boards = unlocked.boards
    before = [boards.see(port).calibrates for port in (COMPACT, PEN)]
    for port in (COMPACT, PEN):
        boards.set("ends_lost", 1, port)
        boards.set("calibration_ms", 50, port)

    assert unlocked.ask_ok("POST", ROUTE) == {"state": "running"}
    unlocked.wait_for_calibration("C1", state="calibrated")

    assert [boards.see(port).calibrates for port in (COMPACT, PEN)] == [times + 1 for times in before]
    assert unlocked.events.received_events(FAILED) == []


def test_motors_of_a_calibrating_board_get_zero_orders(unlocked: BoardService) -> None:
    boards = unlocked.boards
    with CommandStream(unlocked.service.ws, "compact", "C1"):
        eventually(lambda: boards.see(COMPACT).driven, "the motors are on", pause_s=0.005)
        boards.set("calibration_ms", 60_000, COMPACT)
        assert unlocked.ask_ok("POST", ROUTE) == {"state": "running"}

        def calm() -> bool:
            seen = boards.see(COMPACT)
            assert not (seen.calibrating and seen.driven)
            return seen.calm > 300

        eventually(calm, "it has had zero orders all along", pause_s=0.005)
        assert boards.see(COMPACT).pushed == 0
        assert unlocked.calibration("C1") == {"state": "running"}
        boards.set("calibration_ms", 1, COMPACT)
        unlocked.wait_for_calibration("C1", state="calibrated")
        eventually(lambda: boards.see(COMPACT).driven, "the motors are on again", pause_s=0.005)


def body_of(setup: BoardService) -> list[float]:
    """The body orientation that a client sees: w, x, y, z."""
    (compact,) = setup.ask_ok("GET", "/devices")["compact"]
    return [compact["state"]["body_orientation"][axis] for axis in "wxyz"]


def stands(setup: BoardService, degrees: float) -> None:
    """Wait until the body is seen turned so far about z."""
    half = math.radians(degrees) / 2
    body = [math.cos(half), 0, 0, math.sin(half)]
    eventually(lambda: body_of(setup) == pytest.approx(body, abs=1e-5), f"turned by {degrees}", pause_s=0.01)


@pytest.mark.promise(234, "The body orientation is refreshed by a recalibration")
def test_successful_calibration_refreshes_the_body_orientation(unlocked: BoardService) -> None:
    unlocked.boards.set("turned", 60, COMPACT)
    unlocked.boards.set("calibration", 1, COMPACT)
    unlocked.ask_ok("POST", ROUTE)
    fails(unlocked, "blocked")
    states = unlocked.boards.see(COMPACT).states
    eventually(lambda: unlocked.boards.see(COMPACT).states > states + 50, "it says how it is", pause_s=0.01)
    assert body_of(unlocked) == [1, 0, 0, 0]

    unlocked.boards.set("calibration", 0, COMPACT)
    for turned in (60, -90):
        unlocked.boards.set("turned", turned, COMPACT)
        assert unlocked.ask_ok("POST", ROUTE) == {"state": "running"}
        unlocked.wait_for_calibration("C1", state="calibrated")
        stands(unlocked, turned)


@pytest.mark.parametrize("who", [COMPACT, PEN], ids=["the device", "the pen"])
@pytest.mark.parametrize(("outcome", "reason"), [(1, "blocked"), (2, "oscillating_hall")])
def test_failed_calibration_shows_the_board_s_reason(
    unlocked: BoardService, outcome: int, reason: str, who: int
) -> None:
    other = PEN if who == COMPACT else COMPACT
    unlocked.boards.set("calibration", outcome, who)
    unlocked.boards.set("calibration_ms", 3_600_000, other)
    unlocked.boards.set("calibration_ms", 60_000, who)
    begun = unlocked.boards.see(other).calibrates

    unlocked.ask_ok("POST", ROUTE)
    eventually(lambda: unlocked.boards.see(other).calibrates > begun, "the other half has begun", pause_s=0.01)
    unlocked.boards.set("calibration_ms", 1, who)

    fails(unlocked, reason)
    assert unlocked.calibration("C1") == unlocked.calibration("P1") == {"state": "failed", "reason": reason}
    eventually(lambda: not unlocked.boards.see(other).calibrating, "the other half ends it too", pause_s=0.01)
    unlocked.boards.set("calibration_ms", 1, other)
    unlocked.boards.set("calibration", 0, who)
    unlocked.ask_ok("POST", ROUTE)
    unlocked.wait_for_calibration("C1", state="calibrated")


def test_sleeping_pen_is_refused_with_wake_up_advice(unlocked: BoardService) -> None:
    unlocked.boards.set("asleep", 1, PEN)
    unlocked.wait_for_event("device-sleep", device_id="P1", awake=False)

    reply = unlocked.ask("POST", ROUTE)

    assert (reply.status, "wake" in reply.json["error"]) == (409, True)
    fails(unlocked, "pen_asleep")


def test_sleeping_pen_without_heartbeats_is_asleep_not_detached(unlocked: BoardService) -> None:
    unlocked.ask_ok("POST", DETACH, 0.1)
    unlocked.boards.set("asleep", 1, PEN)
    unlocked.wait_for_event("device-sleep", device_id="P1", awake=False)
    unlocked.wait_for_event(ATTACHMENT, device_id="P1", attached=False)

    reply = unlocked.ask("POST", ROUTE)

    assert (reply.status, "wake" in reply.json["error"]) == (409, True)
    fails(unlocked, "pen_asleep")


@pytest.mark.parametrize("how", ["unplugged", "detached"])
def test_pen_lost_during_a_calibration_ends_it(unlocked: BoardService, how: str) -> None:
    unlocked.boards.set("calibration_ms", 60_000, COMPACT)
    unlocked.ask_ok("POST", ROUTE)

    if how == "unplugged":
        unlocked.unplug(PEN, "P1")
    else:
        unlocked.ask_ok("DELETE", DETACH)
        unlocked.boards.set("attached", 0, PEN)

    fails(unlocked, "pen_lost")
    assert unlocked.calibration("C1") == {"state": "failed", "reason": "pen_lost"}


def test_missing_pen_is_refused_with_connect_advice(unlocked: BoardService) -> None:
    unlocked.unplug(PEN, "P1")

    assert unlocked.ask("POST", ROUTE).status == 409

    fails(unlocked, "pen_not_connected")


def test_old_firmware_calibrates_and_refuses_unsupported_areas_by_version(tmp_path: Path) -> None:
    with BoardService(tmp_path, "compact:C1", "pen:P1", away=(COMPACT,)) as setup:
        setup.boards.set("firmware", 703, COMPACT)
        setup.plug(COMPACT, "C1")
        setup.wait_for_event(ATTACHMENT, device_id="P1", attached=True)
        eventually(lambda: setup.calibration("C1")["state"] != "locked", "it is unlocked", pause_s=0.01)

        assert setup.ask_ok("POST", ROUTE) == {"state": "running"}
        setup.wait_for_calibration("C1", state="calibrated")
        refused = setup.ask("POST", "/*/C1/home_return")
        event = setup.wait_for_event("device-protocol-unsupported", device_id="C1")

    assert refused.status == 422
    assert (event["data"]["firmware"], event["data"]["required"]) == ("7.3", "7.4")
