"""Calibration of emulated boards in the whole service: locked, unlocked by heartbeats, running, and every failure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.board_desk import BoardDesk
from tests.support.service.polling import eventually
from tests.support.service.way_out import Pusher

COMPACT, PEN = 0, 1
FAILED = "device-calibration-failed"
ATTACHMENT = "grip-attachment-changed"
ROUTE = "/*/C1/calibration"
DETACH = "/settings/devices/grip/detach_debounce"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[BoardDesk]:
    with BoardDesk(tmp_path, "compact:C1", "pen:P1") as running:
        yield running


@pytest.fixture
def unlocked(desk: BoardDesk) -> BoardDesk:
    """The pen sits in its place; a machine that stalls for a moment does not let go of it."""
    desk.done("POST", DETACH, 5.0)
    desk.paired(C1="P1", P1="C1")
    desk.hears(ATTACHMENT, device_id="P1", attached=True)
    eventually(lambda: desk.calibration("C1")["state"] != "locked", "it is unlocked", pause_s=0.01)
    return desk


def heard_for(desk: BoardDesk, seconds: float) -> None:
    """Let the pen's heartbeats come for so long."""
    links, runtime = desk.service.system.links, desk.service.runtime
    until_ns = runtime.now_ns() + round(seconds * 1e9)
    eventually(lambda: (links.heartbeat("board1", "P1") or 0) > until_ns, "it beats", pause_s=0.01)


def fails(desk: BoardDesk, reason: str) -> None:
    """The run ends so, for both halves, and is said once."""
    event = desk.hears(FAILED)
    assert event["data"] == {"device_id": "C1", "device_family": "compact", "reason": reason}
    assert len(desk.events.heard(FAILED)) == 1


def test_it_is_locked_while_the_pen_bounces_and_unlocked_when_it_sits_still(tmp_path: Path) -> None:
    with BoardDesk(tmp_path, "compact:C1", "pen:P1", away=(PEN,)) as desk:
        desk.boards.set("bounce_ms", 180, PEN)
        desk.boards.set("bounce_off_ms", 80, PEN)
        desk.plug(PEN, "P1")
        desk.paired(C1="P1", P1="C1")

        heard_for(desk, 0.6)
        assert desk.events.heard(ATTACHMENT) == []
        reply = desk.ask("POST", ROUTE)
        assert (reply.status, desk.calibration("C1")) == (409, {"state": "locked"})
        assert "hold its paired grip or pen first" in reply.json["error"]

        desk.boards.set("bounce_ms", 0, PEN)
        desk.hears(ATTACHMENT, device_id="P1", attached=True)
        eventually(lambda: desk.calibration("C1")["state"] != "locked", "it is unlocked", pause_s=0.01)
        assert desk.done("POST", ROUTE) == {"state": "running"}
        desk.becomes("C1", state="calibrated")
        assert desk.events.heard(FAILED) == []


def test_a_pen_that_bounces_for_less_than_the_debounce_stays_attached(unlocked: BoardDesk) -> None:
    unlocked.boards.set("bounce_off_ms", 150, PEN)
    unlocked.boards.set("bounce_ms", 300, PEN)

    heard_for(unlocked, 0.6)

    assert unlocked.events.heard(ATTACHMENT, attached=False) == []
    assert unlocked.done("POST", ROUTE) == {"state": "running"}
    unlocked.becomes("C1", state="calibrated")


@pytest.mark.parametrize("named", ["C1", "P1"])
def test_board_and_pen_calibrate_together(unlocked: BoardDesk, named: str) -> None:
    unlocked.boards.set("calibration_ms", 300, COMPACT)

    assert unlocked.done("POST", f"/*/{named}/calibration") == {"state": "running"}

    assert unlocked.calibration("C1") == unlocked.calibration("P1") == {"state": "running"}
    unlocked.becomes("C1", state="calibrated")
    unlocked.becomes("P1", state="calibrated")
    assert unlocked.events.heard(FAILED) == []


@pytest.mark.parametrize(("slow", "quick"), [(COMPACT, PEN), (PEN, COMPACT)], ids=["the pen first", "the device first"])
def test_both_are_told_and_it_is_over_when_both_have_calibrated(unlocked: BoardDesk, slow: int, quick: int) -> None:
    boards, begun_ns = unlocked.boards, unlocked.service.runtime.now_ns()
    boards.set("calibration_ms", 60_000, slow)
    boards.set("calibration_ms", 1, quick)
    unlocked.done("POST", ROUTE)

    eventually(lambda: boards.see(quick).calibrated_ns > begun_ns, "one has calibrated", pause_s=0.005)
    eventually(lambda: boards.see(slow).calibrating, "the other has begun", pause_s=0.005)
    # It has said so: its states behind the end of its calibration have come.
    said = boards.see(quick).states + 3
    eventually(lambda: boards.see(quick).states > said, "it goes on", pause_s=0.005)
    assert unlocked.calibration("C1") == unlocked.calibration("P1") == {"state": "running"}
    assert boards.see(slow).calibrated_ns < begun_ns

    boards.set("calibration_ms", 1, slow)
    unlocked.becomes("C1", state="calibrated")

    assert unlocked.calibration("P1") == {"state": "calibrated"}
    for port in (COMPACT, PEN):
        seen = boards.see(port)
        assert seen.calibrates >= 1
        assert seen.calibrated_ns > begun_ns
        assert not seen.calibrating
    assert unlocked.events.heard(FAILED) == []


def test_a_run_whose_one_word_that_it_is_done_is_lost_is_asked_for_again_and_runs_once(unlocked: BoardDesk) -> None:
    boards = unlocked.boards
    before = [boards.see(port).calibrates for port in (COMPACT, PEN)]
    for port in (COMPACT, PEN):
        boards.set("ends_lost", 1, port)
        boards.set("calibration_ms", 50, port)

    assert unlocked.done("POST", ROUTE) == {"state": "running"}
    unlocked.becomes("C1", state="calibrated")

    assert [boards.see(port).calibrates for port in (COMPACT, PEN)] == [times + 1 for times in before]
    assert unlocked.events.heard(FAILED) == []


def test_the_motors_of_a_board_that_calibrates_are_ordered_to_zero(unlocked: BoardDesk) -> None:
    boards = unlocked.boards
    with Pusher(unlocked.service.ws, "compact", "C1"):
        eventually(lambda: boards.see(COMPACT).driven, "the motors are on", pause_s=0.005)
        boards.set("calibration_ms", 60_000, COMPACT)
        assert unlocked.done("POST", ROUTE) == {"state": "running"}

        def calm() -> bool:
            seen = boards.see(COMPACT)
            assert not (seen.calibrating and seen.driven)
            return seen.calm > 300

        eventually(calm, "it has had zero orders all along", pause_s=0.005)
        assert boards.see(COMPACT).pushed == 0
        assert unlocked.calibration("C1") == {"state": "running"}
        boards.set("calibration_ms", 1, COMPACT)
        unlocked.becomes("C1", state="calibrated")
        eventually(lambda: boards.see(COMPACT).driven, "the motors are on again", pause_s=0.005)


def body_of(desk: BoardDesk) -> list[float]:
    """The body orientation that a client sees: w, x, y, z."""
    (compact,) = desk.done("GET", "/devices")["compact"]
    return [compact["state"]["body_orientation"][axis] for axis in "wxyz"]


def stands(desk: BoardDesk, degrees: float) -> None:
    """Wait until the body is seen turned so far about z."""
    half = math.radians(degrees) / 2
    body = [math.cos(half), 0, 0, math.sin(half)]
    eventually(lambda: body_of(desk) == pytest.approx(body, abs=1e-5), f"turned by {degrees}", pause_s=0.01)


@pytest.mark.promise(234, "The body orientation is refreshed by a recalibration")
def test_a_calibration_refreshes_the_body_orientation_and_one_that_fails_does_not(unlocked: BoardDesk) -> None:
    unlocked.boards.set("turned", 60, COMPACT)
    unlocked.boards.set("calibration", 1, COMPACT)
    unlocked.done("POST", ROUTE)
    fails(unlocked, "blocked")
    states = unlocked.boards.see(COMPACT).states
    eventually(lambda: unlocked.boards.see(COMPACT).states > states + 50, "it says how it is", pause_s=0.01)
    assert body_of(unlocked) == [1, 0, 0, 0]

    unlocked.boards.set("calibration", 0, COMPACT)
    for turned in (60, -90):
        unlocked.boards.set("turned", turned, COMPACT)
        assert unlocked.done("POST", ROUTE) == {"state": "running"}
        unlocked.becomes("C1", state="calibrated")
        stands(unlocked, turned)


@pytest.mark.parametrize("who", [COMPACT, PEN], ids=["the device", "the pen"])
@pytest.mark.parametrize(("outcome", "reason"), [(1, "blocked"), (2, "oscillating_hall")])
def test_a_board_that_cannot_calibrate_says_why(unlocked: BoardDesk, outcome: int, reason: str, who: int) -> None:
    other = PEN if who == COMPACT else COMPACT
    unlocked.boards.set("calibration", outcome, who)
    unlocked.boards.set("calibration_ms", 3_600_000, other)
    unlocked.boards.set("calibration_ms", 60_000, who)
    begun = unlocked.boards.see(other).calibrates

    unlocked.done("POST", ROUTE)
    eventually(lambda: unlocked.boards.see(other).calibrates > begun, "the other half has begun", pause_s=0.01)
    unlocked.boards.set("calibration_ms", 1, who)

    fails(unlocked, reason)
    assert unlocked.calibration("C1") == unlocked.calibration("P1") == {"state": "failed", "reason": reason}
    eventually(lambda: not unlocked.boards.see(other).calibrating, "the other half ends it too", pause_s=0.01)
    unlocked.boards.set("calibration_ms", 1, other)
    unlocked.boards.set("calibration", 0, who)
    unlocked.done("POST", ROUTE)
    unlocked.becomes("C1", state="calibrated")


def test_a_pen_that_sleeps_is_to_be_woken_first(unlocked: BoardDesk) -> None:
    unlocked.boards.set("asleep", 1, PEN)
    unlocked.hears("device-sleep", device_id="P1", awake=False)

    reply = unlocked.ask("POST", ROUTE)

    assert (reply.status, "wake" in reply.json["error"]) == (409, True)
    fails(unlocked, "pen_asleep")


def test_a_pen_that_sleeps_and_beats_no_more_is_asleep_and_not_only_away(unlocked: BoardDesk) -> None:
    unlocked.done("POST", DETACH, 0.1)
    unlocked.boards.set("asleep", 1, PEN)
    unlocked.hears("device-sleep", device_id="P1", awake=False)
    unlocked.hears(ATTACHMENT, device_id="P1", attached=False)

    reply = unlocked.ask("POST", ROUTE)

    assert (reply.status, "wake" in reply.json["error"]) == (409, True)
    fails(unlocked, "pen_asleep")


@pytest.mark.parametrize("how", ["unplugged", "detached"])
def test_a_pen_that_is_lost_meanwhile_ends_the_run(unlocked: BoardDesk, how: str) -> None:
    unlocked.boards.set("calibration_ms", 60_000, COMPACT)
    unlocked.done("POST", ROUTE)

    if how == "unplugged":
        unlocked.unplug(PEN, "P1")
    else:
        unlocked.done("DELETE", DETACH)
        unlocked.boards.set("attached", 0, PEN)

    fails(unlocked, "pen_lost")
    assert unlocked.calibration("C1") == {"state": "failed", "reason": "pen_lost"}


def test_a_pen_that_is_not_connected_is_to_be_connected_first(unlocked: BoardDesk) -> None:
    unlocked.unplug(PEN, "P1")

    assert unlocked.ask("POST", ROUTE).status == 409

    fails(unlocked, "pen_not_connected")


def test_an_old_firmware_calibrates_and_refuses_what_it_lacks_by_its_number(tmp_path: Path) -> None:
    with BoardDesk(tmp_path, "compact:C1", "pen:P1", away=(COMPACT,)) as desk:
        desk.boards.set("firmware", 703, COMPACT)
        desk.plug(COMPACT, "C1")
        desk.hears(ATTACHMENT, device_id="P1", attached=True)
        eventually(lambda: desk.calibration("C1")["state"] != "locked", "it is unlocked", pause_s=0.01)

        assert desk.done("POST", ROUTE) == {"state": "running"}
        desk.becomes("C1", state="calibrated")
        refused = desk.ask("POST", "/*/C1/home_return")
        event = desk.hears("device-protocol-unsupported", device_id="C1")

    assert refused.status == 422
    assert (event["data"]["firmware"], event["data"]["required"]) == ("7.3", "7.4")
