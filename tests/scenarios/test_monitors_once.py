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
from tests.support.service.safety_desk import ARM, ATTACHED, FREE, GRIP, SafetyDesk, push

TICK_S: Final = 0.001
SHAKE_N: Final = 4.0
SHAKE_HZ: Final = 15.0
RETURN_CEILING: Final = 6
# Less than what counts as a foreign object when the hand that bears it is no longer felt in the grip.
HELD_N: Final = 0.5
EBRAKE, DROPPED = 1, 16


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[SafetyDesk]:
    with SafetyDesk(tmp_path) as opened:
        opened.make("arm", ARM, hand={"path": "rest"})
        opened.service.wait(0.5)
        yield opened


def force(desk: SafetyDesk) -> np.ndarray:
    """N at the arm, at the last tick."""
    return np.array(desk.service.state(ARM)["force"], dtype=np.float64)


def shown(desk: SafetyDesk) -> np.ndarray:
    """N that a frame shows, its last value on the wire."""
    vector = desk.frame()["state"]["current_cursor_force"]
    return np.array([vector["x"], vector["y"], vector["z"]])


def shake(desk: SafetyDesk, times: int) -> None:
    """A client shakes the arm on top of a push of 1 N until the filter has found so many oscillations."""
    for tick in range(500):
        if int(desk.service.state(ARM)["oscillations"]) >= times:
            return
        desk.frame(push(x=1 + SHAKE_N * math.sin(math.tau * SHAKE_HZ * tick * 2 * TICK_S)))
        desk.service.step(2)
    raise AssertionError("the filter finds no oscillation")


def place(desk: SafetyDesk, commands: dict[str, object] | None = None) -> np.ndarray:
    """Where the frame that answers these commands shows the arm, m."""
    vector = desk.frame(commands)["state"]["cursor_position"]
    return np.array([vector["x"], vector["y"], vector["z"]])


def trip(desk: SafetyDesk, bit: int, commands: dict[str, object] | None = None) -> None:
    """Ticks go by, each after a command, until a monitor has acted in the last one."""

    def acts() -> bool:
        desk.frame(commands)
        desk.service.step()
        return bool(int(desk.service.state(ARM)["safety"]) & bit)

    eventually(acts, f"bit {bit} is set", pause_s=0.001)


def pushed_on(desk: SafetyDesk, ticks: int) -> list[float]:
    """N along y that frames show after each of so many ticks, while a client wants HELD_N."""
    seen = []
    for _ in range(ticks):
        desk.frame(push(y=HELD_N))
        desk.service.step()
        seen.append(float(shown(desk)[1]))
    return seen


def tells(desk: SafetyDesk, *wanted: str) -> None:
    """Exactly these safety events so far."""
    eventually(lambda: len(desk.heard()) >= len(wanted), f"events {wanted}", pause_s=0.005, tries=4_000)
    assert desk.heard() == list(wanted)


# ---------------------------------------------------------------- watchdogs


def test_commands_that_time_out_fade_and_are_warned_of_once(desk: SafetyDesk) -> None:
    for _ in range(5):
        desk.streams(0.04, push(y=1))
        desk.frame(push(y=1))
        desk.service.wait(0.05)
        assert shown(desk)[1] == pytest.approx(1)
        desk.service.wait(0.021)
        assert abs(shown(desk)[1]) < 0.05
        desk.service.wait(0.05)

    desk.events.hears("session-warning", reason="command_timeout")
    desk.streams(0.04, push(y=1))
    assert shown(desk)[1] == pytest.approx(1)
    assert len(desk.events.heard("session-warning")) == 1
    assert desk.heard() == []


def test_a_device_that_hangs_is_stale_once_for_each_time_and_comes_back(desk: SafetyDesk) -> None:
    for times in (1, 2):
        desk.streams(0.1, push(y=1))
        desk.make("arm", ARM, fault="hang")
        assert shown(desk) == pytest.approx([0, 0, 0])
        desk.service.wait(0.03)
        tells(desk, *["device_stale"] * times)
        desk.service.wait(0.2)

        desk.make("arm", ARM, fault="none")
        desk.streams(0.3, push(y=1))
        assert shown(desk)[1] == pytest.approx(1)
    tells(desk, "device_stale", "device_stale")
    assert desk.events.heard("device-disconnected") == []


# ---------------------------------------------------------------- what is commanded


@pytest.mark.parametrize("x", [1e400, -1e400, math.nan, "1", None])
def test_a_force_that_is_no_number_is_told_once_and_loses_nothing(desk: SafetyDesk, x: object) -> None:
    desk.streams(0.04, push(y=1))
    for _ in range(5):
        vector = {"x": x, "y": 2, "z": 0}
        reply = desk.said({"arm": [{"device_id": ARM, "commands": {"set_cursor_force": {"vector": vector}}}]})
        assert reply["errors"]
        desk.service.step()
        assert force(desk) == pytest.approx([0, 0, 0])

    event = desk.events.hears("invalid-io-channel")
    desk.streams(0.04, push(y=1))
    assert force(desk)[1] == pytest.approx(1)
    assert desk.events.heard("invalid-io-channel") == [event]
    assert desk.heard() == []


def test_a_force_beyond_the_peak_is_shortened_in_its_direction_and_tells_nothing(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, hand={"path": "rest", "stiffness": 1000})
    for _ in range(20):
        desk.frame(push(60, 80, 0))
        desk.service.step(2)

    assert shown(desk) == pytest.approx([6, 8, 0], abs=1e-3)
    assert desk.heard() == []


def test_the_springs_at_the_end_of_the_reach_push_back_and_tell_nothing(desk: SafetyDesk) -> None:
    high = Kind.ARM.spec.reach
    assert high is not None
    inside = {"x": high.high[0] - high.zone_high[0] - 0.03, "y": -0.12, "z": 0.135}
    zone = {**inside, "x": high.high[0]}
    desk.make("arm", ARM, hand={"position": inside, "stiffness": 300})
    desk.service.wait(3)
    assert force(desk) == pytest.approx([0, 0, 0])

    desk.make("arm", ARM, hand={"position": zone, "stiffness": 1000})
    desk.service.wait(3)
    assert -5 <= shown(desk)[0] < -0.5

    desk.make("arm", ARM, hand={"position": inside, "stiffness": 300})
    desk.service.wait(3)
    assert shown(desk) == pytest.approx([0, 0, 0])
    assert desk.safety == FREE
    assert desk.heard() == []


# ---------------------------------------------------------------- oscillation


def test_an_oscillation_is_told_once_and_its_return_with_its_ceiling_once(desk: SafetyDesk) -> None:
    shake(desk, 1)
    desk.streams(2.4, push(x=1))
    assert desk.safety == FREE
    tells(desk, "oscillation_detected")

    shake(desk, 2)
    desk.streams(2.4, push(x=1))
    assert desk.safety == {**FREE, "oscillation_stage": RETURN_CEILING}
    tells(desk, "oscillation_detected", "oscillation_detected", "stability_ceiling")
    assert desk.metric("hapticd_stability_ceilings_total") == 1

    # Its last command fades first, and the contact ends 0.3 s later.
    desk.service.wait(0.07 + 0.29 - 0.02)
    assert desk.safety["oscillation_stage"] == RETURN_CEILING
    desk.service.wait(0.7)
    assert desk.safety == FREE
    tells(desk, "oscillation_detected", "oscillation_detected", "stability_ceiling")


def test_each_fall_of_the_ceiling_is_told_once(desk: SafetyDesk) -> None:
    def told() -> int:
        return desk.heard().count("stability_ceiling")

    falls = 0
    for tick in range(0, 4400, 4):
        shakes = SHAKE_N if tick % 1100 < 600 else 0.0
        desk.frame(push(x=1 + shakes * math.sin(math.tau * SHAKE_HZ * tick * TICK_S)))
        desk.service.step(4)
        if int(desk.service.state(ARM)["ceilings"]) > falls:
            falls += 1
            # The timekeeper looks in real time: each fall waits for it.
            eventually(lambda: told() >= falls, "it is told", pause_s=0.001)  # noqa: B023 - called at once
            assert int(desk.service.state(ARM)["ceilings"]) == falls == told()
    desk.service.wait(3)

    assert desk.safety == FREE
    assert falls >= 2
    assert told() == falls == desk.metric("hapticd_stability_ceilings_total")


@pytest.mark.parametrize("gate", [0, 0.5, 1])
def test_a_gate_takes_its_share_of_what_the_filter_leaves(desk: SafetyDesk, gate: float) -> None:
    configured = desk.said({"arm": [{"device_id": ARM, "configure": {"force_gate": {"gain": gate}}}]})
    assert "errors" not in configured
    shake(desk, 1)
    desk.streams(0.08, push(x=1), every=2 * TICK_S)

    severity = desk.metric("hapticd_oscillation_severity")
    assert severity == pytest.approx(1 - 0.12, abs=1e-6)
    assert shown(desk)[0] == pytest.approx((1 - severity) * (1 - gate * severity), abs=1e-6)


# ---------------------------------------------------------------- final values of the chain


def test_a_step_of_ten_newtons_is_there_after_four_milliseconds_and_not_before(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, hand={"path": "rest", "stiffness": 1000})
    desk.streams(0.2, push(y=1))
    desk.frame(push(y=0))
    desk.service.step(2)
    desk.frame(push(y=10))
    desk.service.step(3)
    assert shown(desk)[1] == pytest.approx(9)
    desk.service.step()

    assert shown(desk)[1] == pytest.approx(10)


def test_a_brake_ignores_commands_and_lets_go_two_seconds_after_half_a_second_of_rest(desk: SafetyDesk) -> None:
    desk.make("arm", ARM, fault="throw")
    rest = ticks = 0
    while rest < 500 or not int(desk.service.state(ARM)["safety"]):
        desk.service.step()
        rest = rest + 1 if np.linalg.norm(desk.service.state(ARM)["velocity"]) < 0.05 else 0
    while desk.safety["ebrake"]:
        if ticks % 20 == 0:
            desk.frame(push(y=4))
            assert abs(shown(desk)[1]) < 0.25
        desk.service.step()
        ticks += 1
        assert ticks < 3000

    assert 2.0 <= ticks * TICK_S <= 2.2
    tells(desk, "ebrake_triggered", "ebrake_released")


def test_a_bare_arm_is_braked_to_rest_from_one_metre_per_second_within_40_mm(tmp_path: Path) -> None:
    arm = Kind.ARM.spec
    bare = replace(arm, dynamics=Dynamics(mass=0.2, viscous=0, coulomb=0, gravity_mass=0))
    with patch("actors.values.identity.SPECS", {**SPECS, "arm": bare}), SafetyDesk(tmp_path) as desk:
        desk.make("arm", ARM, hand={"path": "rest"})
        desk.service.wait(0.5)
        begun = place(desk)
        desk.make("arm", ARM, fault="throw")
        trip(desk, EBRAKE)
        places = []
        for _ in range(400):
            places.append(place(desk, push(y=4)))
            desk.service.step()
    way = np.array(places)
    speeds = np.diff(way[:, 0]) / TICK_S

    assert speeds[0] > 1
    assert way[-1, 0] - way[int(np.argmax(speeds < 1)), 0] == pytest.approx(0.040, abs=0.004)
    assert abs(speeds[-1]) < 0.01
    assert way[-1, 1:] == pytest.approx(begun[1:], abs=0.001), "commands are ignored"


def test_a_grip_that_is_let_go_takes_the_force_away_in_51_ms_and_gives_it_back_after_200(tmp_path: Path) -> None:
    with SafetyDesk(tmp_path, features__grip_hook__enabled="true") as desk:
        desk.make("arm", ARM, hand={"path": "rest", "stiffness": 1000})
        desk.take(attached=True)
        desk.streams(0.3, push(y=HELD_N))
        assert shown(desk)[1] == pytest.approx(HELD_N)

        desk.make("grip", GRIP, attached=False)
        trip(desk, DROPPED, push(y=HELD_N))
        seen = pushed_on(desk, 51)
        assert seen[25] == pytest.approx(HELD_N / 2, abs=0.05 * HELD_N)
        assert seen[-1] == 0
        tells(desk, "grip_dropped")

        desk.make("grip", GRIP, attached=True)
        held = 0
        while int(desk.service.state(ARM)["safety"]) & DROPPED:
            desk.frame(push(y=HELD_N))
            desk.service.step()
            held = held + 1 if int(desk.service.state(GRIP)["flags"]) & ATTACHED else 0
            assert held <= 202
        assert held >= 199
        assert pushed_on(desk, 51)[-1] == pytest.approx(HELD_N)
        tells(desk, "grip_dropped")


def test_what_pushes_an_arm_that_nobody_holds_is_told_once_for_each_stage(desk: SafetyDesk) -> None:
    desk.take(attached=False)
    desk.service.wait(0.7)
    desk.make("arm", ARM, fault="foreign_object")
    for _ in range(600):
        desk.service.step()
        # The timekeeper looks in real time: each stage waits for it.
        stages = int(desk.service.state(ARM)["safety"]) & 12
        if stages:
            wanted = "hard" if stages & 8 else "guard"
            desk.events.hears("device-safety-triggered", safety_type="fod_stage_changed", to=wanted)
        if stages & 8:
            break
    desk.make("arm", ARM, fault="none")
    desk.take(attached=True)
    desk.service.wait(4)
    assert desk.safety == FREE
    desk.hears("ebrake_released")

    changes = [
        (event["data"]["from"], event["data"]["to"])
        for event in desk.events.heard("device-safety-triggered", safety_type="fod_stage_changed")
    ]
    assert changes == [("idle", "guard"), ("guard", "hard"), ("hard", "idle")]
    assert sorted(desk.heard()) == sorted(["fod_stage_changed"] * 3 + ["ebrake_triggered", "ebrake_released"])


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, -2, 2), (-2, 1, 2)])
def test_weak_motors_keep_the_direction_of_the_force(tmp_path: Path, direction: tuple[float, float, float]) -> None:
    arm = Kind.ARM.spec
    assert arm.mechanism is not None
    weak = replace(arm, mechanism=replace(arm.mechanism, torque_limit=1000.0))
    wanted = np.array(direction) / np.linalg.norm(direction) * 10
    with patch("actors.values.identity.SPECS", {**SPECS, "arm": weak}), SafetyDesk(tmp_path) as desk:
        desk.make("arm", ARM, hand={"path": "rest", "stiffness": 1000})
        desk.service.wait(0.5)
        for _ in range(100):
            desk.frame(push(*map(float, wanted)))
            desk.service.step()
        put_out, state = shown(desk), desk.service.state(ARM)

    size = float(np.linalg.norm(put_out))
    assert 0.5 < size < 9
    assert np.max(np.abs(state["torque"])) == pytest.approx(1000)
    assert math.degrees(math.acos(min(1.0, float(put_out @ wanted) / (10 * size)))) < 1
