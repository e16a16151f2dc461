"""Safety monitors not covered by test_safety.py: each trip raises exactly one event; virtual time.

Those of the loop's rate are in test_starved_loop.py, for a starved loop needs real time. Safety springs and the clamp tell nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final
from unittest.mock import patch

import numpy as np
import pytest

from actors.values.identity import SPECS, Kind
from actors.values.kinds.base import Dynamics
from tests.support.service.polling import eventually
from tests.support.service.safety_service import ARM, ATTACHED, FREE, GRIP, SafetyService, force_command

TICK_S: Final = 0.001
SHAKE_N: Final = 6.0
SHAKE_HZ: Final = 15.0
RETURN_CEILING: Final = 6
# Less than what counts as a foreign object when the hand that bears it is no longer felt in the grip.
HELD_N: Final = 0.5
# N.s/m of a contact that has oscillated
MOST_DAMPING: Final = 30.0
EBRAKE, DROPPED = 1, 16


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[SafetyService]:
    with SafetyService(tmp_path) as opened:
        opened.simulate("arm", ARM, hand={"path": "rest"})
        opened.service.wait(0.5)
        yield opened


def force(setup: SafetyService) -> np.ndarray:
    """N at the arm, at the last tick."""
    return np.array(setup.service.state(ARM)["force"], dtype=np.float64)


def shown(setup: SafetyService) -> np.ndarray:
    """N that a frame shows, its last value on the wire."""
    vector = setup.frame()["state"]["current_cursor_force"]
    return np.array([vector["x"], vector["y"], vector["z"]])


def shake(setup: SafetyService, times: int) -> None:
    """A client shakes the arm on top of a push of 1 N until the filter has found so many oscillations."""
    for tick in range(500):
        if int(setup.service.state(ARM)["oscillations"]) >= times:
            return
        setup.frame(force_command(x=1 + SHAKE_N * math.sin(math.tau * SHAKE_HZ * tick * 2 * TICK_S)))
        setup.service.step(2)
    raise AssertionError("the filter finds no oscillation")


def place(setup: SafetyService, commands: dict[str, object] | None = None) -> np.ndarray:
    """Where the frame that answers these commands shows the arm, m."""
    vector = setup.frame(commands)["state"]["cursor_position"]
    return np.array([vector["x"], vector["y"], vector["z"]])


def trip(setup: SafetyService, bit: int, commands: dict[str, object] | None = None) -> None:
    """Ticks go by, each after a command, until a monitor has acted in the last one."""

    def acts() -> bool:
        setup.frame(commands)
        setup.service.step()
        return bool(int(setup.service.state(ARM)["safety"]) & bit)

    eventually(acts, f"bit {bit} is set", pause_s=0.001)


def pushed_on(setup: SafetyService, ticks: int) -> list[float]:
    """N along y that frames show after each of so many ticks, while a client wants HELD_N."""
    seen = []
    for _ in range(ticks):
        setup.frame(force_command(y=HELD_N))
        setup.service.step()
        seen.append(float(shown(setup)[1]))
    return seen


def tells(setup: SafetyService, *wanted: str) -> None:
    """Exactly these safety events so far."""
    eventually(lambda: len(setup.received_events()) >= len(wanted), f"events {wanted}", pause_s=0.005, tries=4_000)
    assert setup.received_events() == list(wanted)


# ---------------------------------------------------------------- watchdogs


def test_timed_out_command_fades_with_one_warning(setup: SafetyService) -> None:
    for _ in range(5):
        setup.stream(0.04, force_command(y=1))
        setup.frame(force_command(y=1))
        setup.service.wait(0.05)
        assert shown(setup)[1] == pytest.approx(1)
        setup.service.wait(0.021)
        assert abs(shown(setup)[1]) < 0.05
        setup.service.wait(0.05)

    setup.events.wait_for_event("session-warning", reason="command_timeout")
    setup.stream(0.04, force_command(y=1))
    assert shown(setup)[1] == pytest.approx(1)
    assert len(setup.events.received_events("session-warning")) == 1
    assert setup.received_events() == []


def test_hanging_device_is_stale_once_per_hang_and_recovers(setup: SafetyService) -> None:
    for times in (1, 2):
        setup.stream(0.1, force_command(y=1))
        setup.simulate("arm", ARM, fault="hang")
        assert shown(setup) == pytest.approx([0, 0, 0])
        setup.service.wait(0.03)
        tells(setup, *["device_stale"] * times)
        setup.service.wait(0.2)

        setup.simulate("arm", ARM, fault="none")
        setup.stream(0.3, force_command(y=1))
        assert shown(setup)[1] == pytest.approx(1)
    tells(setup, "device_stale", "device_stale")
    assert setup.events.received_events("device-disconnected") == []


# ---------------------------------------------------------------- what is commanded


@pytest.mark.parametrize("x", [1e400, -1e400, math.nan, "1", None])
def test_invalid_force_raises_one_event_and_later_forces_apply(setup: SafetyService, x: object) -> None:
    setup.stream(0.04, force_command(y=1))
    for _ in range(5):
        vector = {"x": x, "y": 2, "z": 0}
        reply = setup.frame_for({"arm": [{"device_id": ARM, "commands": {"set_cursor_force": {"vector": vector}}}]})
        assert reply["errors"]
        setup.service.step()
        assert force(setup) == pytest.approx([0, 0, 0])

    event = setup.events.wait_for_event("invalid-io-channel")
    setup.stream(0.04, force_command(y=1))
    assert force(setup)[1] == pytest.approx(1)
    assert setup.events.received_events("invalid-io-channel") == [event]
    assert setup.received_events() == []


def test_force_above_the_peak_is_shortened_without_an_event(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, hand={"path": "rest", "stiffness": 1000})
    for _ in range(20):
        setup.frame(force_command(60, 80, 0))
        setup.service.step(2)

    assert shown(setup) == pytest.approx([6, 8, 0], abs=1e-3)
    assert setup.received_events() == []


def test_workspace_end_springs_push_back_without_an_event(setup: SafetyService) -> None:
    high = Kind.ARM.spec.reach
    assert high is not None
    inside = {"x": high.high[0] - high.zone_high[0] - 0.03, "y": -0.12, "z": 0.135}
    zone = {**inside, "x": high.high[0]}
    setup.simulate("arm", ARM, hand={"position": inside, "stiffness": 300})
    setup.service.wait(3)
    assert force(setup) == pytest.approx([0, 0, 0])

    setup.simulate("arm", ARM, hand={"position": zone, "stiffness": 1000})
    setup.service.wait(3)
    assert -5 <= shown(setup)[0] < -0.5

    setup.simulate("arm", ARM, hand={"position": inside, "stiffness": 300})
    setup.service.wait(3)
    assert shown(setup) == pytest.approx([0, 0, 0])
    assert setup.safety == FREE
    assert setup.received_events() == []


# ---------------------------------------------------------------- oscillation


def test_oscillation_and_its_return_raise_one_event_each(setup: SafetyService) -> None:
    shake(setup, 1)
    assert setup.safety == FREE, "it is damped, and keeps its force"
    tells(setup, "oscillation_detected")

    shake(setup, 2)
    assert setup.safety == {**FREE, "oscillation_stage": 0}
    setup.stream(2.4, force_command(x=1))
    assert setup.safety == FREE
    tells(setup, *["oscillation_detected"] * 2)

    shake(setup, 3)
    setup.stream(2.4, force_command(x=1))
    assert setup.safety == {**FREE, "oscillation_stage": RETURN_CEILING}
    tells(setup, *["oscillation_detected"] * 3, "stability_ceiling")
    assert setup.metric("hapticd_stability_ceilings_total") == 1

    # Its last command fades first, and the contact ends 0.3 s later.
    setup.service.wait(0.07 + 0.29 - 0.02)
    assert setup.safety["oscillation_stage"] == RETURN_CEILING
    setup.service.wait(0.7)
    assert setup.safety == FREE
    tells(setup, *["oscillation_detected"] * 3, "stability_ceiling")


def test_each_reduction_of_the_ceiling_raises_one_event(setup: SafetyService) -> None:
    def told() -> int:
        return setup.received_events().count("stability_ceiling")

    falls = 0
    for tick in range(0, 5000, 4):
        shakes = SHAKE_N if tick % 2200 < 600 else 0.0
        setup.frame(force_command(x=1 + shakes * math.sin(math.tau * SHAKE_HZ * tick * TICK_S)))
        setup.service.step(4)
        if int(setup.service.state(ARM)["ceilings"]) > falls:
            falls += 1
            # The timekeeper looks in real time: each fall waits for it.
            eventually(lambda: told() >= falls, "it is told", pause_s=0.001)  # noqa: B023 - called at once
            assert int(setup.service.state(ARM)["ceilings"]) == falls == told()
    setup.service.wait(3)

    assert setup.safety == FREE
    assert falls >= 2
    assert told() == falls == setup.metric("hapticd_stability_ceilings_total")


@pytest.mark.parametrize("gate", [0, 0.5, 1])
def test_force_gate_scales_the_output_of_the_filter(setup: SafetyService, gate: float) -> None:
    configured = setup.frame_for({"arm": [{"device_id": ARM, "configure": {"force_gate": {"gain": gate}}}]})
    assert "errors" not in configured
    shake(setup, 2)
    setup.stream(0.08, force_command(x=1), every=2 * TICK_S)

    severity = setup.metric("hapticd_oscillation_severity_ratio")
    assert severity == pytest.approx(1 - 0.12, abs=1e-6)
    # of a value that is rounded on the wire
    damped = MOST_DAMPING * abs(float(setup.service.state(ARM)["velocity"][0]))
    assert shown(setup)[0] == pytest.approx((1 - severity) * (1 - gate * severity), abs=damped + 1e-4)


# ---------------------------------------------------------------- final values of the chain


def test_force_step_of_ten_newtons_is_complete_after_four_milliseconds(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, hand={"path": "rest", "stiffness": 1000})
    setup.stream(0.2, force_command(y=1))
    setup.frame(force_command(y=0))
    setup.service.step(2)
    setup.frame(force_command(y=10))
    setup.service.step(3)
    assert shown(setup)[1] == pytest.approx(9)
    setup.service.step()

    assert shown(setup)[1] == pytest.approx(10)


def test_brake_releases_a_second_after_the_device_became_slow(setup: SafetyService) -> None:
    setup.simulate("arm", ARM, fault="throw")
    slow = ticks = 0
    while slow < 500 or not int(setup.service.state(ARM)["safety"]):
        setup.service.step()
        slow = slow + 1 if np.linalg.norm(setup.service.state(ARM)["velocity"]) < 0.3 else 0
    while setup.safety["ebrake"]:
        if ticks % 20 == 0:
            setup.frame(force_command(y=4))
            assert abs(shown(setup)[1]) < 0.25
        setup.service.step()
        ticks += 1
        assert ticks < 3000

    assert 0.5 - TICK_S <= ticks * TICK_S <= 0.5 + TICK_S
    tells(setup, "ebrake_triggered", "ebrake_released")


def test_unheld_arm_at_one_metre_per_second_stops_within_40_mm(tmp_path: Path) -> None:
    arm = Kind.ARM.spec
    bare = replace(arm, dynamics=Dynamics(mass=0.2, viscous=0, coulomb=0, gravity_mass=0))
    with patch("actors.values.identity.SPECS", {**SPECS, "arm": bare}), SafetyService(tmp_path) as setup:
        setup.simulate("arm", ARM, hand={"path": "rest"})
        setup.service.wait(0.5)
        begun = place(setup)
        setup.simulate("arm", ARM, fault="throw")
        trip(setup, EBRAKE)
        places = []
        for _ in range(400):
            places.append(place(setup, force_command(y=4)))
            setup.service.step()
    way = np.array(places)
    speeds = np.diff(way[:, 0]) / TICK_S

    assert speeds[0] > 1
    assert way[-1, 0] - way[int(np.argmax(speeds < 1)), 0] == pytest.approx(0.040, abs=0.004)
    assert abs(speeds[-1]) < 0.01
    assert way[-1, 1:] == pytest.approx(begun[1:], abs=0.001), "commands are ignored"


def test_released_grip_removes_force_in_51_ms_and_restores_it_after_200(tmp_path: Path) -> None:
    with SafetyService(tmp_path, features__grip_hook__enabled="true") as setup:
        setup.simulate("arm", ARM, hand={"path": "rest", "stiffness": 1000})
        setup.set_attached(attached=True)
        setup.stream(0.3, force_command(y=HELD_N))
        assert shown(setup)[1] == pytest.approx(HELD_N)

        setup.simulate("grip", GRIP, attached=False)
        trip(setup, DROPPED, force_command(y=HELD_N))
        seen = pushed_on(setup, 51)
        assert seen[25] == pytest.approx(HELD_N / 2, abs=0.05 * HELD_N)
        assert seen[-1] == 0
        tells(setup, "grip_dropped")

        setup.simulate("grip", GRIP, attached=True)
        held = 0
        while int(setup.service.state(ARM)["safety"]) & DROPPED:
            setup.frame(force_command(y=HELD_N))
            setup.service.step()
            held = held + 1 if int(setup.service.state(GRIP)["flags"]) & ATTACHED else 0
            assert held <= 202
        assert held >= 199
        assert pushed_on(setup, 51)[-1] == pytest.approx(HELD_N)
        tells(setup, "grip_dropped")


def test_pushed_unheld_arm_raises_one_event_per_stage(setup: SafetyService) -> None:
    setup.set_attached(attached=False)
    setup.service.wait(0.7)
    setup.simulate("arm", ARM, fault="foreign_object")
    for _ in range(600):
        setup.service.step()
        # The timekeeper looks in real time: each stage waits for it.
        stages = int(setup.service.state(ARM)["safety"]) & 12
        if stages:
            wanted = "hard" if stages & 8 else "guard"
            setup.events.wait_for_event("device-safety-triggered", safety_type="fod_stage_changed", to=wanted)
        if stages & 8:
            break
    setup.simulate("arm", ARM, fault="none")
    setup.set_attached(attached=True)
    setup.service.wait(4)
    assert setup.safety == FREE
    setup.wait_for_event("ebrake_released")

    changes = [
        (event["data"]["from"], event["data"]["to"])
        for event in setup.events.received_events("device-safety-triggered", safety_type="fod_stage_changed")
    ]
    assert changes == [("idle", "guard"), ("guard", "hard"), ("hard", "idle")]
    assert sorted(setup.received_events()) == sorted(
        ["fod_stage_changed"] * 3 + ["ebrake_triggered", "ebrake_released"]
    )


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -2, 2), (-2, 1, 2)])
def test_torque_limit_keeps_the_direction_of_the_force(tmp_path: Path, direction: tuple[float, float, float]) -> None:
    arm = Kind.ARM.spec
    assert arm.mechanism is not None
    weak = replace(arm, mechanism=replace(arm.mechanism, torque_limit=1000.0))
    wanted = np.array(direction) / np.linalg.norm(direction) * 10
    with patch("actors.values.identity.SPECS", {**SPECS, "arm": weak}), SafetyService(tmp_path) as setup:
        setup.simulate("arm", ARM, hand={"path": "rest", "stiffness": 1000})
        setup.service.wait(0.5)
        for _ in range(100):
            setup.frame(force_command(*map(float, wanted)))
            setup.service.step()
        put_out, state = shown(setup), setup.service.state(ARM)

    size = float(np.linalg.norm(put_out))
    assert 0.5 < size < 9
    assert np.max(np.abs(state["torque"])) == pytest.approx(1000)
    assert math.degrees(math.acos(min(1.0, float(put_out @ wanted) / (10 * size)))) < 1
