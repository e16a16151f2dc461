"""Held positions and angles: interpolation between messages, speed limit, which session is followed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.arena.access import Writer
from tests.support.loop.devices import ARM_CENTRE, NO_HAND, REST, ArmRig, arm_params, still_arm_params

STIFFNESS = 500.0


def pulled_to(state: NDArray[np.void]) -> float:
    """Metres along x of the set-point that a still arm is pulled to: its spring's force says it."""
    return float(state["position"][0] + state["force"][0] / STIFFNESS)


def hold(rig: ArmRig, x: float, writer: Writer | None = None) -> None:
    """Command a place x (m) beside the centre."""
    target = writer or rig.writer
    target.begin()
    target.position(ARM_CENTRE[0] + x, *ARM_CENTRE[1:])
    assert target.publish()


def held(rig: ArmRig, x: float, seconds: float = 0.03) -> None:
    """Hold a place until its ramp-in is over."""
    for _ in range(round(seconds / 0.010)):
        hold(rig, x)
        rig.step(rig.ticks(0.010))


def track(rig: ArmRig, seconds: float) -> NDArray[np.float64]:
    """What the arm is pulled to, tick by tick."""
    return np.array([pulled_to(rig.step()) for _ in range(rig.ticks(seconds))])


# ---------------------------------------------------------------- interpolation


def test_the_first_set_point_is_there_at_once() -> None:
    rig = ArmRig()
    hold(rig, 0.002)

    # Its force is ramped in at 500 N/s: 1 N after 2 ms.
    assert track(rig, 0.004)[-1] == pytest.approx(0.002, abs=1e-4)


@pytest.mark.parametrize("interval", [0.005, 0.020, 0.040])
def test_from_one_set_point_to_the_next_it_goes_straight_in_the_time_between_the_messages(interval: float) -> None:
    rig = ArmRig()
    held(rig, 0.0)
    hold(rig, 0.0)
    rig.step(rig.ticks(interval))
    hold(rig, 0.004)

    seen = track(rig, interval + 0.005)

    ticks = rig.ticks(interval)
    line = 0.004 * np.minimum(1, np.arange(1, len(seen) + 1) / ticks)
    assert seen == pytest.approx(line, abs=0.004 * 2 / ticks + 2e-5)
    assert pulled_to(rig.step()) == pytest.approx(0.004, abs=2e-5)


def test_after_a_pause_the_line_takes_50_ms_at_most() -> None:
    rig = ArmRig(timeout=0.3)
    held(rig, 0.0)
    rig.step(rig.ticks(0.2))
    hold(rig, 0.004)

    seen = track(rig, 0.060)

    assert seen[rig.ticks(0.045)] < 0.0038
    assert seen[rig.ticks(0.051)] == pytest.approx(0.004, abs=2e-5)


def test_a_client_of_50_messages_a_second_makes_no_steps() -> None:
    rig = ArmRig()
    held(rig, 0.0)
    seen: list[float] = []
    for turn in range(25):
        hold(rig, 0.004 * math.sin(math.tau * turn / 25))
        seen.extend(track(rig, 0.020))

    steps = np.abs(np.diff(seen))
    # At most the mean speed of the fastest stretch, not a whole message's way in one tick.
    assert max(steps) < 1.3 * 0.004 * math.tau / 25 / rig.ticks(0.020) + 2e-5
    assert max(seen) > 0.0038


def test_a_set_point_that_turns_on_its_way_goes_on_from_where_it_is() -> None:
    rig = ArmRig()
    held(rig, 0.0)
    hold(rig, 0.004)
    first = track(rig, 0.005)
    hold(rig, -0.004)
    then = track(rig, 0.010)

    path = np.concatenate([first, then])
    # 6 mm at most in the 5 ms between the two messages.
    assert np.max(np.abs(np.diff(path))) < 0.006 / rig.ticks(0.005) + 2e-5
    assert then[-1] < first[-1]


def test_the_state_shows_what_was_commanded_and_not_the_line_to_it() -> None:
    rig = ArmRig()
    held(rig, 0.0)
    hold(rig, 0.004)

    assert rig.step()["target"] == pytest.approx([ARM_CENTRE[0] + 0.004, *ARM_CENTRE[1:]], abs=1e-12)


def test_angles_go_straight_too() -> None:
    rig = ArmRig(still_arm_params(torque_limit=20_000.0))
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
def test_with_a_speed_limit_the_set_point_moves_no_faster(speed: float) -> None:
    rig = ArmRig(still_arm_params(safe_speed=speed))
    held(rig, 0.0)
    hold(rig, 0.004)

    seen: list[float] = []
    for _ in range(10):
        hold(rig, 0.004)
        seen.extend(track(rig, 0.010))

    assert max(np.diff(seen)) <= speed / rig.frequency + 1e-9
    arrived = int(np.argmax(np.array(seen) > 0.0039)) / rig.frequency
    assert arrived == pytest.approx(0.0039 / speed, abs=0.012)


def test_with_a_speed_limit_a_far_place_is_approached_from_where_the_device_is() -> None:
    rig = ArmRig(arm_params(hand={"path": NO_HAND}, safe_speed=0.1, plant={"gravity_mass": 0.0}))
    speeds = []
    for _ in range(150):
        hold(rig, 0.1)
        speeds.append(float(rig.step(rig.ticks(0.010))["velocity"][0]))

    assert max(speeds) < 0.15
    assert float(rig.step()["position"][0]) == pytest.approx(0.1, abs=2e-3)


def test_without_a_limit_a_far_place_is_approached_fast() -> None:
    rig = ArmRig(arm_params(hand={"path": NO_HAND}, plant={"gravity_mass": 0.0}))
    speeds = []
    for _ in range(30):
        hold(rig, 0.1)
        speeds.append(float(rig.step(rig.ticks(0.010))["velocity"][0]))

    assert max(speeds) > 0.5


def test_a_new_limit_acts_on_the_way() -> None:
    params = still_arm_params(safe_speed=0.02)
    rig = ArmRig(params)
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


def test_a_released_position_pulls_no_more_at_the_next_tick() -> None:
    rig = ArmRig()
    held(rig, 0.004)
    rig.writer.begin()
    assert rig.writer.publish()

    assert tuple(rig.step()["force"]) == (0.0, 0.0, 0.0)


def test_a_silent_clients_position_is_held_where_its_line_ends_and_fades() -> None:
    rig = ArmRig()
    held(rig, 0.0)
    hold(rig, 0.004)
    seen = track(rig, 0.090)

    assert seen[rig.ticks(0.045)] == pytest.approx(0.004, abs=2e-5)
    assert seen[rig.ticks(0.072) :] == pytest.approx(0, abs=1e-9)


def test_who_holds_it_after_another_session_is_reached_in_a_line_and_not_in_a_step() -> None:
    rig = ArmRig()
    other = rig.other("2")
    for x, writer in itertools.chain([(0.0, rig.writer)] * 5, [(0.004, other)]):
        rig.step(rig.ticks(0.010))
        hold(rig, x, writer)
    rig.writer.revoke()

    seen = track(rig, 0.012)

    assert max(np.abs(np.diff(seen))) < 0.004 / rig.ticks(0.005)
    assert seen[-1] == pytest.approx(0.004, abs=1e-4)


def test_a_held_position_brings_a_device_that_a_hand_holds_there_without_a_jerk() -> None:
    rig = ArmRig(arm_params(grip="light", hand={"path": REST}, slew=3000.0, slow_slew=500.0))
    forces: list[float] = []
    for turn in range(100):
        hold(rig, 0.0005 * min(turn, 20))
        forces.extend(float(rig.step()["force"][0]) for _ in range(rig.ticks(0.010)))

    assert max(np.abs(np.diff(forces))) < 0.75
    assert float(rig.step()["position"][0]) > 0.004
