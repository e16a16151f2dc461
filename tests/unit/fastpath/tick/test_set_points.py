"""Held positions and angles: interpolation between messages, speed limit, which session is followed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.arena.access import Writer
from tests.support.loop.devices import ARM_CENTRE, NO_HAND, REST, SteppedArm, arm_params, still_arm_params

STIFFNESS = 500.0


def pulled_to(state: NDArray[np.void]) -> float:
    """Metres along x of the set-point that a still arm is pulled to: its spring's force says it."""
    return float(state["position"][0] + state["force"][0] / STIFFNESS)


def hold(rig: SteppedArm, x: float, writer: Writer | None = None) -> None:
    """Command a place x (m) beside the centre."""
    target = writer or rig.writer
    target.begin()
    target.position(ARM_CENTRE[0] + x, *ARM_CENTRE[1:])
    assert target.publish()


def held(rig: SteppedArm, x: float, seconds: float = 0.03) -> None:
    """Hold a place until its ramp-in is over."""
    for _ in range(round(seconds / 0.010)):
        hold(rig, x)
        rig.step(rig.ticks(0.010))


def track(rig: SteppedArm, seconds: float) -> NDArray[np.float64]:
    """What the arm is pulled to, tick by tick."""
    return np.array([pulled_to(rig.step()) for _ in range(rig.ticks(seconds))])


# ---------------------------------------------------------------- interpolation


def test_first_set_point_applies_at_once() -> None:
    rig = SteppedArm()
    hold(rig, 0.002)

    # Its force is ramped in at 500 N/s: 1 N after 2 ms.
    assert track(rig, 0.004)[-1] == pytest.approx(0.002, abs=1e-4)


@pytest.mark.parametrize("interval", [0.005, 0.020, 0.040])
def test_set_point_moves_linearly_in_the_message_interval(interval: float) -> None:
    rig = SteppedArm()
    held(rig, 0.0)
    hold(rig, 0.0)
    rig.step(rig.ticks(interval))
    hold(rig, 0.004)

    seen = track(rig, interval + 0.005)

    ticks = rig.ticks(interval)
    line = 0.004 * np.minimum(1, np.arange(1, len(seen) + 1) / ticks)
    assert seen == pytest.approx(line, abs=0.004 * 2 / ticks + 2e-5)
    assert pulled_to(rig.step()) == pytest.approx(0.004, abs=2e-5)


def test_interpolation_after_a_pause_takes_at_most_50_ms() -> None:
    rig = SteppedArm(timeout=0.3)
    held(rig, 0.0)
    rig.step(rig.ticks(0.2))
    hold(rig, 0.004)

    seen = track(rig, 0.060)

    assert seen[rig.ticks(0.045)] < 0.0038
    assert seen[rig.ticks(0.051)] == pytest.approx(0.004, abs=2e-5)


def test_set_point_of_a_50_hz_client_has_no_steps() -> None:
    rig = SteppedArm()
    held(rig, 0.0)
    seen: list[float] = []
    for turn in range(25):
        hold(rig, 0.004 * math.sin(math.tau * turn / 25))
        seen.extend(track(rig, 0.020))

    steps = np.abs(np.diff(seen))
    # At most the mean speed of the fastest stretch, not a whole message's way in one tick.
    assert max(steps) < 1.3 * 0.004 * math.tau / 25 / rig.ticks(0.020) + 2e-5
    assert max(seen) > 0.0038


def test_redirected_set_point_continues_from_its_present_value() -> None:
    rig = SteppedArm()
    held(rig, 0.0)
    hold(rig, 0.004)
    first = track(rig, 0.005)
    hold(rig, -0.004)
    then = track(rig, 0.010)

    path = np.concatenate([first, then])
    # 6 mm at most in the 5 ms between the two messages.
    assert np.max(np.abs(np.diff(path))) < 0.006 / rig.ticks(0.005) + 2e-5
    assert then[-1] < first[-1]


def test_state_shows_the_commanded_not_the_interpolated_value() -> None:
    rig = SteppedArm()
    held(rig, 0.0)
    hold(rig, 0.004)

    assert rig.step()["target"] == pytest.approx([ARM_CENTRE[0] + 0.004, *ARM_CENTRE[1:]], abs=1e-12)


def test_angles_move_linearly_too() -> None:
    rig = SteppedArm(still_arm_params(torque_limit=20_000.0, peak_force=100.0))
    joint = float(rig.step()["joint"][0])
    others = tuple(float(part) for part in rig.step()["joint"][1:])

    def turn(degrees: float) -> None:
        rig.writer.begin()
        rig.writer.angle(joint + degrees, *others)
        assert rig.writer.publish()

    for _ in range(4):
        turn(0.0)
        rig.step(rig.ticks(0.020))
    turn(2.0)
    torques = [float(rig.step()["torque"][0]) for _ in range(rig.ticks(0.025))]

    assert torques[rig.ticks(0.010)] == pytest.approx(1000, abs=40)
    assert torques[-1] == pytest.approx(2000, abs=20)
    assert max(np.abs(np.diff(torques))) < 60


# ---------------------------------------------------------------- safe trajectory


@pytest.mark.parametrize("speed", [0.05, 0.2])
def test_speed_limit_bounds_the_set_point_speed(speed: float) -> None:
    rig = SteppedArm(still_arm_params(safe_speed=speed))
    held(rig, 0.0)
    hold(rig, 0.004)

    seen: list[float] = []
    for _ in range(10):
        hold(rig, 0.004)
        seen.extend(track(rig, 0.010))

    assert max(np.diff(seen)) <= speed / rig.frequency + 1e-9
    arrived = int(np.argmax(np.array(seen) > 0.0039)) / rig.frequency
    assert arrived == pytest.approx(0.0039 / speed, abs=0.012)


def test_speed_limited_approach_starts_at_the_device() -> None:
    rig = SteppedArm(arm_params(hand={"path": NO_HAND}, safe_speed=0.1, plant={"gravity_mass": 0.0}))
    speeds = []
    for _ in range(150):
        hold(rig, 0.1)
        speeds.append(float(rig.step(rig.ticks(0.010))["velocity"][0]))

    assert max(speeds) < 0.15
    assert float(rig.step()["position"][0]) == pytest.approx(0.1, abs=2e-3)


def test_unlimited_approach_is_fast() -> None:
    rig = SteppedArm(arm_params(hand={"path": NO_HAND}, plant={"gravity_mass": 0.0}))
    speeds = []
    for _ in range(30):
        hold(rig, 0.1)
        speeds.append(float(rig.step(rig.ticks(0.010))["velocity"][0]))

    assert max(speeds) > 0.5


def test_changed_limit_applies_during_the_motion() -> None:
    params = still_arm_params(safe_speed=0.02)
    rig = SteppedArm(params)
    held(rig, 0.0)
    hold(rig, 0.004)
    slow = track(rig, 0.020)
    params["safe_speed"] = 0.2
    assert rig.runtime.publish_device(rig.device, params)
    hold(rig, 0.004)
    fast = track(rig, 0.020)

    assert slow[-1] < 0.0006
    assert fast[-1] == pytest.approx(0.004, abs=2e-5)


# ---------------------------------------------------------------- holding and releasing


def test_released_position_has_no_force_at_the_next_tick() -> None:
    rig = SteppedArm()
    held(rig, 0.004)
    rig.writer.begin()
    assert rig.writer.publish()

    assert tuple(rig.step()["force"]) == (0.0, 0.0, 0.0)


def test_silent_client_s_position_stays_at_the_end_of_its_line_and_fades() -> None:
    rig = SteppedArm()
    held(rig, 0.0)
    hold(rig, 0.004)
    seen = track(rig, 0.090)

    assert seen[rig.ticks(0.045)] == pytest.approx(0.004, abs=2e-5)
    assert seen[rig.ticks(0.072) :] == pytest.approx(0, abs=1e-9)


def test_new_holder_s_position_is_approached_linearly() -> None:
    rig = SteppedArm()
    other = rig.other("2")
    for x, writer in itertools.chain([(0.0, rig.writer)] * 5, [(0.004, other)]):
        rig.step(rig.ticks(0.010))
        hold(rig, x, writer)
    rig.writer.revoke()

    seen = track(rig, 0.012)

    assert max(np.abs(np.diff(seen))) < 0.004 / rig.ticks(0.005)
    assert seen[-1] == pytest.approx(0.004, abs=1e-4)


def test_held_position_moves_a_held_device_without_a_jerk() -> None:
    rig = SteppedArm(arm_params(grip="light", hand={"path": REST}, slew=3000.0, slow_slew=500.0))
    forces: list[float] = []
    for turn in range(100):
        hold(rig, 0.0005 * min(turn, 20))
        forces.extend(float(rig.step()["force"][0]) for _ in range(rig.ticks(0.010)))

    assert max(np.abs(np.diff(forces))) < 0.75
    assert float(rig.step()["position"][0]) > 0.004
