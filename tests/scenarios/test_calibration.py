"""Calibration of simulated devices over real sockets: locked, unlocked, running, and every failure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.service.actor_faults import crash_and_restart
from tests.support.service.pairing_service import PairingService
from tests.support.service.polling import eventually

COMPACT, PEN = "C001", "D001"
FAILED = "device-calibration-failed"
ATTACHMENT = "grip-attachment-changed"
ZERO = (0.0, 0.0, 0.0)


def path(device_id: str) -> str:
    return f"/*/{device_id}/calibration"


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[PairingService]:
    with PairingService(tmp_path, "C001=compact", "D001=pen") as running:
        yield running


def push(setup: PairingService) -> tuple[object, tuple[float, ...]]:
    """What a frame says of a force that is commanded, and the force that the loop applies."""
    commands = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 0.5}}}
    message = {"compact": [{"device_id": COMPACT, "commands": commands}]}
    frame = setup.frame(message)
    for _ in range(20):
        setup.service.step(20)
        frame = setup.frame(message)
    setup.service.step()
    return frame.get("errors"), tuple(float(part) for part in setup.service.state(COMPACT)["force"])


def becomes(setup: PairingService, state: str, device_id: str = COMPACT) -> None:
    """Virtual time passes until the calibration is that far."""

    def reached() -> bool:
        setup.advance(0.04)
        return bool(setup.calibration(device_id)["state"] == state)

    eventually(reached, f"the calibration is {state}", tries=200, pause_s=0)


def detach(setup: PairingService) -> None:
    setup.simulate(PEN, attached=False)
    setup.advance(0.16)
    assert setup.wait_for_event(ATTACHMENT, attached=False)["data"]["device_id"] == PEN


def test_simulated_devices_start_calibrated(setup: PairingService) -> None:
    assert setup.calibration(COMPACT) == setup.calibration(PEN) == {"state": "calibrated"}
    assert setup.status(COMPACT)["calibrated"] is True


@pytest.mark.parametrize("named", [COMPACT, PEN])
def test_device_and_pen_calibrate_together_for_a_second_without_force(setup: PairingService, named: str) -> None:
    assert push(setup)[0] is None
    assert push(setup)[1] != ZERO

    assert setup.ask_ok("POST", path(named)) == {"state": "running"}

    errors, force = push(setup)
    assert force == ZERO
    assert isinstance(errors, list)
    assert "calibrating" in errors[0]["reason"]
    assert setup.calibration(COMPACT) == setup.calibration(PEN) == {"state": "running"}
    assert setup.ask_ok("POST", path(COMPACT)) == {"state": "running"}
    becomes(setup, "calibrated")
    assert setup.calibration(PEN) == {"state": "calibrated"}
    setup.drain()
    eventually(lambda: push(setup)[1] != ZERO, "commands are taken again")
    assert setup.received_events(FAILED) == []


def test_calibration_is_locked_until_the_pen_is_attached_and_ignores_a_bounce(setup: PairingService) -> None:
    setup.simulate(PEN, attached=False)
    setup.service.wait(0.06)
    setup.drain()
    setup.simulate(PEN, attached=True)
    setup.advance(0.3)
    assert setup.received_events(ATTACHMENT) == []

    detach(setup)
    assert setup.status(PEN)["attached"] is False
    reply = setup.ask("POST", path(COMPACT))
    assert (reply.status, setup.calibration(COMPACT)) == (409, {"state": "locked"})
    assert "hold its paired grip or pen first" in reply.json["error"]

    setup.simulate(PEN, attached=True)
    setup.advance(0.1)
    setup.simulate(PEN, attached=False)
    setup.advance(0.08)
    setup.simulate(PEN, attached=True)
    setup.advance(0.12)
    assert setup.ask("POST", path(COMPACT)).status == 409
    setup.advance(0.2)
    setup.wait_for_event(ATTACHMENT, attached=True)
    assert setup.status(PEN)["attached"] is True
    assert setup.ask_ok("POST", path(COMPACT)) == {"state": "running"}
    assert setup.received_events(FAILED) == []


def test_the_debounce_is_a_setting(setup: PairingService) -> None:
    setup.ask_ok("POST", "/settings/devices/grip/detach_debounce", 0.4)
    setup.simulate(PEN, attached=False)
    setup.advance(0.3)
    assert setup.received_events(ATTACHMENT) == []
    setup.advance(0.2)
    setup.wait_for_event(ATTACHMENT, attached=False)


@pytest.mark.promise(
    209,
    "`device-calibration-failed` is raised each time that the firmware blocks a calibration, also for an oscillating hall",
)
@pytest.mark.parametrize(
    ("fault", "reason"), [("calibration_blocked", "blocked"), ("oscillating_hall", "oscillating_hall")]
)
def test_failing_calibration_raises_an_event_each_time(setup: PairingService, fault: str, reason: str) -> None:
    setup.simulate(COMPACT, fault=fault)

    for _ in range(3):
        setup.ask_ok("POST", path(COMPACT))
        becomes(setup, "failed")

    events = setup.received_events(FAILED)
    assert [event["data"] for event in events] == [
        {"device_id": COMPACT, "device_family": "compact", "reason": reason}
    ] * 3
    assert {(event["category"], event["level"]) for event in events} == {("device", "warning")}
    assert setup.calibration(PEN) == {"state": "failed", "reason": reason}
    assert setup.status(COMPACT)["calibrated"] is False
    setup.simulate(COMPACT, fault="none")
    setup.ask_ok("POST", path(COMPACT))
    becomes(setup, "calibrated")
    assert setup.status(COMPACT)["calibrated"] is True


def test_calibration_fails_without_a_connected_pen(setup: PairingService) -> None:
    setup.unplug(PEN)

    assert setup.ask("POST", path(COMPACT)).status == 409

    setup.wait_for_event(FAILED, reason="pen_not_connected", device_id=COMPACT)


def test_calibration_fails_with_a_sleeping_pen(setup: PairingService) -> None:
    setup.simulate(PEN, awake=False)
    setup.drain()

    reply = setup.ask("POST", path(COMPACT))

    assert (reply.status, "wake" in reply.json["error"]) == (409, True)
    setup.wait_for_event(FAILED, reason="pen_asleep", device_id=COMPACT)
    assert setup.status(COMPACT)["calibrated"] is True


@pytest.mark.parametrize("how", ["unplugged", "detached"])
def test_calibration_fails_when_the_pen_disconnects(setup: PairingService, how: str) -> None:
    setup.ask_ok("POST", path(COMPACT))
    setup.advance(0.1)

    if how == "unplugged":
        setup.unplug(PEN)
    else:
        detach(setup)

    setup.wait_for_event(FAILED, reason="pen_lost", device_id=COMPACT)
    assert setup.calibration(COMPACT) == {"state": "failed", "reason": "pen_lost"}
    setup.advance(1.2)
    assert len(setup.received_events(FAILED)) == 1
    assert setup.status(COMPACT)["calibrated"] is False


def test_calibration_is_locked_without_a_partner(tmp_path: Path) -> None:
    with PairingService(tmp_path, "A001=arm") as setup:
        assert setup.ask("POST", path("A001")).status == 409
        assert setup.calibration("A001") == {"state": "locked"}
        assert setup.ask("POST", path("NONE")).status == 404
        assert setup.received_events(FAILED) == []


@pytest.mark.parametrize("name", ["pairing", "devices", "device/C001"])
def test_calibration_continues_after_actor_crashes(setup: PairingService, name: str) -> None:
    setup.ask_ok("POST", path(COMPACT))

    crash_and_restart(setup.service.system.context.directory, name)

    assert setup.calibration(COMPACT) == {"state": "running"}
    assert push(setup)[1] == ZERO
    becomes(setup, "calibrated")
    assert setup.received_events(FAILED) == []


def test_calibration_of_a_pattern_starts_on_every_match(setup: PairingService) -> None:
    results = setup.ask_ok("POST", "/*/*/calibration")["results"]

    assert [(one["device_id"], one["state"]) for one in results] == [(COMPACT, "running"), (PEN, "running")]
    shown = setup.ask_ok("GET", "/*/*/calibration")["results"]
    assert [(one["device_id"], one["state"]) for one in shown] == [(COMPACT, "running"), (PEN, "running")]
