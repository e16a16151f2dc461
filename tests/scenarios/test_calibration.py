"""Calibration of simulated devices over real sockets: locked, unlocked, running, and every failure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.living_actors import kill
from tests.support.service.pairing_desk import PairingDesk
from tests.support.service.polling import eventually

COMPACT, PEN = "C001", "D001"
FAILED = "device-calibration-failed"
ATTACHMENT = "grip-attachment-changed"
ZERO = (0.0, 0.0, 0.0)


def path(device_id: str) -> str:
    return f"/*/{device_id}/calibration"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[PairingDesk]:
    with PairingDesk(tmp_path, "C001=compact", "D001=pen") as running:
        yield running


def push(desk: PairingDesk) -> tuple[object, tuple[float, ...]]:
    """What a frame says of a force that is commanded, and the force that the loop applies."""
    commands = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 0.5}}}
    message = {"compact": [{"device_id": COMPACT, "commands": commands}]}
    frame = desk.frame(message)
    for _ in range(20):
        desk.service.step(20)
        frame = desk.frame(message)
    desk.service.step()
    return frame.get("errors"), tuple(float(part) for part in desk.service.state(COMPACT)["force"])


def becomes(desk: PairingDesk, state: str, device_id: str = COMPACT) -> None:
    """Virtual time passes until the calibration is that far."""

    def reached() -> bool:
        desk.passes(0.04)
        return bool(desk.calibration(device_id)["state"] == state)

    eventually(reached, f"the calibration is {state}", tries=200, pause_s=0)


def detach(desk: PairingDesk) -> None:
    desk.make(PEN, attached=False)
    desk.passes(0.16)
    assert desk.hears(ATTACHMENT, attached=False)["data"]["device_id"] == PEN


def test_simulated_devices_start_calibrated(desk: PairingDesk) -> None:
    assert desk.calibration(COMPACT) == desk.calibration(PEN) == {"state": "calibrated"}
    assert desk.status(COMPACT)["calibrated"] is True


@pytest.mark.parametrize("named", [COMPACT, PEN])
def test_device_and_pen_calibrate_together_for_a_second_without_force(desk: PairingDesk, named: str) -> None:
    assert push(desk)[0] is None
    assert push(desk)[1] != ZERO

    assert desk.done("POST", path(named)) == {"state": "running"}

    errors, force = push(desk)
    assert force == ZERO
    assert isinstance(errors, list)
    assert "calibrating" in errors[0]["reason"]
    assert desk.calibration(COMPACT) == desk.calibration(PEN) == {"state": "running"}
    assert desk.done("POST", path(COMPACT)) == {"state": "running"}
    becomes(desk, "calibrated")
    assert desk.calibration(PEN) == {"state": "calibrated"}
    desk.listened()
    eventually(lambda: push(desk)[1] != ZERO, "commands are taken again")
    assert desk.heard(FAILED) == []


def test_it_is_locked_until_the_pen_is_attached_and_a_bounce_is_not_felt(desk: PairingDesk) -> None:
    desk.make(PEN, attached=False)
    desk.service.wait(0.06)
    desk.listened()
    desk.make(PEN, attached=True)
    desk.passes(0.3)
    assert desk.heard(ATTACHMENT) == []

    detach(desk)
    assert desk.status(PEN)["attached"] is False
    reply = desk.ask("POST", path(COMPACT))
    assert (reply.status, desk.calibration(COMPACT)) == (409, {"state": "locked"})
    assert "hold its paired grip or pen first" in reply.json["error"]

    desk.make(PEN, attached=True)
    desk.passes(0.1)
    desk.make(PEN, attached=False)
    desk.passes(0.08)
    desk.make(PEN, attached=True)
    desk.passes(0.12)
    assert desk.ask("POST", path(COMPACT)).status == 409
    desk.passes(0.2)
    desk.hears(ATTACHMENT, attached=True)
    assert desk.status(PEN)["attached"] is True
    assert desk.done("POST", path(COMPACT)) == {"state": "running"}
    assert desk.heard(FAILED) == []


def test_the_debounce_is_a_setting(desk: PairingDesk) -> None:
    desk.done("POST", "/settings/devices/grip/detach_debounce", 0.4)
    desk.make(PEN, attached=False)
    desk.passes(0.3)
    assert desk.heard(ATTACHMENT) == []
    desk.passes(0.2)
    desk.hears(ATTACHMENT, attached=False)


@pytest.mark.promise(
    209,
    "`device-calibration-failed` is raised each time that the firmware blocks a calibration, also for an oscillating hall",
)
@pytest.mark.parametrize(
    ("fault", "reason"), [("calibration_blocked", "blocked"), ("oscillating_hall", "oscillating_hall")]
)
def test_a_firmware_that_blocks_it_says_so_every_time(desk: PairingDesk, fault: str, reason: str) -> None:
    desk.make(COMPACT, fault=fault)

    for _ in range(3):
        desk.done("POST", path(COMPACT))
        becomes(desk, "failed")

    events = desk.heard(FAILED)
    assert [event["data"] for event in events] == [
        {"device_id": COMPACT, "device_family": "compact", "reason": reason}
    ] * 3
    assert {(event["category"], event["level"]) for event in events} == {("device", "warning")}
    assert desk.calibration(PEN) == {"state": "failed", "reason": reason}
    assert desk.status(COMPACT)["calibrated"] is False
    desk.make(COMPACT, fault="none")
    desk.done("POST", path(COMPACT))
    becomes(desk, "calibrated")
    assert desk.status(COMPACT)["calibrated"] is True


def test_a_pen_that_is_not_connected(desk: PairingDesk) -> None:
    desk.unplug(PEN)

    assert desk.ask("POST", path(COMPACT)).status == 409

    desk.hears(FAILED, reason="pen_not_connected", device_id=COMPACT)


def test_a_pen_that_sleeps(desk: PairingDesk) -> None:
    desk.make(PEN, awake=False)
    desk.listened()

    reply = desk.ask("POST", path(COMPACT))

    assert (reply.status, "wake" in reply.json["error"]) == (409, True)
    desk.hears(FAILED, reason="pen_asleep", device_id=COMPACT)
    assert desk.status(COMPACT)["calibrated"] is True


@pytest.mark.parametrize("how", ["unplugged", "detached"])
def test_a_pen_that_is_lost_meanwhile(desk: PairingDesk, how: str) -> None:
    desk.done("POST", path(COMPACT))
    desk.passes(0.1)

    if how == "unplugged":
        desk.unplug(PEN)
    else:
        detach(desk)

    desk.hears(FAILED, reason="pen_lost", device_id=COMPACT)
    assert desk.calibration(COMPACT) == {"state": "failed", "reason": "pen_lost"}
    desk.passes(1.2)
    assert len(desk.heard(FAILED)) == 1
    assert desk.status(COMPACT)["calibrated"] is False


def test_without_a_partner_it_is_locked(tmp_path: Path) -> None:
    with PairingDesk(tmp_path, "A001=arm") as desk:
        assert desk.ask("POST", path("A001")).status == 409
        assert desk.calibration("A001") == {"state": "locked"}
        assert desk.ask("POST", path("NONE")).status == 404
        assert desk.heard(FAILED) == []


@pytest.mark.parametrize("name", ["pairing", "devices", "device/C001"])
def test_a_run_outlives_whoever_dies_meanwhile(desk: PairingDesk, name: str) -> None:
    desk.done("POST", path(COMPACT))

    kill(desk.service.system.context.directory, name)

    assert desk.calibration(COMPACT) == {"state": "running"}
    assert push(desk)[1] == ZERO
    becomes(desk, "calibrated")
    assert desk.heard(FAILED) == []


def test_a_pattern_calibrates_every_match(desk: PairingDesk) -> None:
    results = desk.done("POST", "/*/*/calibration")["results"]

    assert [(one["device_id"], one["state"]) for one in results] == [(COMPACT, "running"), (PEN, "running")]
    shown = desk.done("GET", "/*/*/calibration")["results"]
    assert [(one["device_id"], one["state"]) for one in shown] == [(COMPACT, "running"), (PEN, "running")]
