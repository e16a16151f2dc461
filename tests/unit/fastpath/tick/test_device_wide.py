"""Device-wide features: home return, handedness, force scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fastpath.arena.access import Writer
from tests.support.loop.devices import (
    ARM_CENTRE,
    SteppedArm,
    arm_params,
    fill,
    force_of,
    keep,
    still_arm_params,
)

PULL_N_PER_M = 30.0
HOME = (0.02, -0.13, 0.14)

COMMANDS: dict[str, Callable[[Writer], None]] = {
    "force": lambda writer: writer.force(0.0, 0.0, 0.0),
    "torque": lambda writer: writer.torque(0.0, 0.0, 0.0),
    "position": lambda writer: writer.position(*ARM_CENTRE),
    "angle": lambda writer: writer.angle(0.0, 0.0, 0.0),
}


def homing(home: tuple[float, ...] = HOME) -> SteppedArm:
    """An arm that nothing moves, whose ease-in is over."""
    rig = SteppedArm(still_arm_params(home_return=1, home=home))
    rig.step(rig.ticks(1.1))
    return rig


def pull(rig: SteppedArm) -> float:
    """The size of the force of the next tick, N."""
    return float(np.linalg.norm(rig.step()["force"]))


# ---------------------------------------------------------------- home return


def test_idle_device_is_pulled_home_with_30_n_per_m() -> None:
    rig = homing()

    state = rig.step()

    assert force_of(state) == pytest.approx(PULL_N_PER_M * (np.array(HOME) - state["position"]), abs=1e-9)
    assert state["mode"] == 0


def test_pull_is_at_most_one_newton_towards_home() -> None:
    far = tuple(part + 0.3 for part in ARM_CENTRE)

    state = homing(far).step()

    assert np.linalg.norm(state["force"]) == pytest.approx(1.0)
    way = np.array(far) - state["position"]
    assert force_of(state) == pytest.approx(way / np.linalg.norm(way), abs=1e-9)


def test_pull_ramps_in_over_a_second() -> None:
    rig = SteppedArm(still_arm_params(home=HOME))
    whole = PULL_N_PER_M * float(np.linalg.norm(np.array(HOME) - rig.step()["position"]))
    assert pull(rig) == 0.0
    rig.runtime.publish_device(rig.device, still_arm_params(home=HOME, home_return=1))

    for tenth in range(1, 11):
        rig.step(rig.ticks(0.1) - 1)
        assert pull(rig) == pytest.approx(whole * tenth / 10, rel=1e-3)
    rig.step(rig.ticks(0.5))
    assert pull(rig) == pytest.approx(whole, rel=1e-3)


@pytest.mark.parametrize("name", COMMANDS)
def test_command_ends_the_pull_and_it_ramps_in_again_afterwards(name: str) -> None:
    rig = homing()
    whole = pull(rig)
    rig.writer.begin()
    COMMANDS[name](rig.writer)
    rig.writer.publish()

    assert rig.step()["mode"] != 0
    rig.writer.begin()
    rig.writer.force(0.0, 0.0, 0.0)
    rig.writer.publish()
    assert force_of(rig.step()) == (0.0, 0.0, 0.0)

    rig.writer.begin()
    rig.writer.publish()
    assert 0 < pull(rig) < 0.001 * whole
    rig.step(rig.ticks(0.5))
    assert pull(rig) == pytest.approx(whole / 2, rel=1e-2)


def test_held_force_excludes_the_pull() -> None:
    rig = homing()
    rig.force(0.0, 0.5, 0.0)

    assert force_of(keep(rig.writer, rig, 0.2)) == (0.0, 0.5, 0.0)


def test_view_without_command_does_not_end_the_pull() -> None:
    rig = homing()
    whole = pull(rig)

    rig.writer.set_damping(0, 0, 0)
    rig.writer.publish(refresh=False)

    assert pull(rig) == pytest.approx(whole)


def test_silent_timekeeper_fades_the_pull_until_its_next_beat() -> None:
    rig = homing()
    whole = pull(rig)
    rig.step(rig.ticks(0.499), beat=False)
    assert float(np.linalg.norm(rig.step(beat=False)["force"])) == pytest.approx(whole)

    rig.step(rig.ticks(0.025), beat=False)
    half = float(np.linalg.norm(rig.step(beat=False)["force"]))
    assert 0.4 * whole < half < 0.6 * whole
    rig.step(rig.ticks(0.030), beat=False)
    assert force_of(rig.step(beat=False)) == (0.0, 0.0, 0.0)

    rig.step(rig.ticks(0.3))
    assert pull(rig) == pytest.approx(whole)


@pytest.mark.parametrize("way", ["stop", "settling", "off"])
def test_disabled_device_has_no_pull_and_ramps_in_again(way: str) -> None:
    rig = homing()
    whole = pull(rig)
    changes = {"stop": {}, "settling": {"accepts_commands": 0}, "off": {"home_return": 0}}[way]

    rig.runtime.stop_device(rig.device, stopped=way == "stop")
    rig.runtime.publish_device(rig.device, still_arm_params(**{"home_return": 1, "home": HOME, **changes}))
    assert force_of(rig.step()) == (0.0, 0.0, 0.0)

    rig.runtime.stop_device(rig.device, stopped=False)
    rig.runtime.publish_device(rig.device, still_arm_params(home_return=1, home=HOME))
    assert 0 < pull(rig) < 0.001 * whole


def test_free_device_returns_home() -> None:
    rig = SteppedArm(arm_params(home_return=1, home=HOME, hand={"path": 0}, plant={"coulomb": 0.0}))
    before = float(np.linalg.norm(np.array(HOME) - rig.step()["position"]))

    after = float(np.linalg.norm(np.array(HOME) - rig.step(rig.ticks(4))["position"]))

    assert after < 0.1 * before


# ---------------------------------------------------------------- handedness


def turned() -> tuple[SteppedArm, SteppedArm]:
    """The same arm, right-handed and left-handed, off its middle plane and moving."""
    rigs: list[SteppedArm] = []
    for left in (0, 1):
        params = arm_params(left_handed=left)
        fill(params["hand"], {"centre": (0.08, -0.12, 0.135)})
        rig = SteppedArm(params)
        rig.step(rig.ticks(0.3))
        rigs.append(rig)
    right, left_rig = rigs
    return right, left_rig


def mirrored(joints: np.ndarray) -> list[float]:
    return [-float(joints[0]), float(joints[1]), float(joints[2])]


def test_left_handed_device_shows_the_first_joint_inverted() -> None:
    right, left = turned()
    one, other = right.step(), left.step()

    assert abs(one["joint"][0]) > 1
    assert abs(one["joint_velocity"][0]) > 1
    assert other["joint"].tolist() == mirrored(one["joint"])
    assert other["joint_velocity"].tolist() == mirrored(one["joint_velocity"])
    assert other["position"].tolist() == one["position"].tolist()
    assert other["velocity"].tolist() == one["velocity"].tolist()


def test_left_handed_torque_of_the_first_joint_is_inverted() -> None:
    right, left = turned()
    for rig, a0 in ((right, 80.0), (left, -80.0)):
        rig.writer.torque(a0, 30.0, -20.0)
        rig.writer.publish()
    one, other = right.step(), left.step()

    assert one["torque"].tolist() == pytest.approx([80, 30, -20])
    assert other["torque"].tolist() == mirrored(one["torque"])
    for _ in range(20):
        one, other = right.step(), left.step()
        assert other["position"].tolist() == one["position"].tolist()


def test_left_handed_force_is_unchanged_and_its_shown_torque_inverted() -> None:
    right, left = turned()
    for rig in (right, left):
        rig.force(1.0, 0.5, -0.5)
    one, other = right.step(), left.step()

    assert force_of(other) == force_of(one) == (1.0, 0.5, -0.5)
    assert abs(one["torque"][0]) > 1
    assert other["torque"].tolist() == mirrored(one["torque"])


def test_left_handed_angle_of_the_first_joint_is_inverted() -> None:
    right, left = turned()
    at = right.step()["joint"]
    left.step()
    for rig, sign in ((right, 1), (left, -1)):
        rig.writer.angle(sign * (at[0] + 2), at[1], at[2])
        rig.writer.publish()
    one, other = right.step(3), left.step(3)

    for _ in range(20):
        one, other = right.step(3), left.step(3)
        assert other["position"].tolist() == one["position"].tolist()
        assert other["torque"].tolist() == mirrored(one["torque"])
    assert one["torque"][0] > 1
    assert other["target_joint"][0] == -one["target_joint"][0]


def test_negative_zero_is_never_shown() -> None:
    rig = SteppedArm(still_arm_params(left_handed=1))

    state = rig.step()

    for name in ("joint", "joint_velocity", "torque"):
        assert not np.any(np.signbit(state[name]) & (state[name] == 0))
    rig.runtime.stop_device(rig.device, stopped=True)
    assert not np.any(np.signbit(rig.step()["torque"]))


# ---------------------------------------------------------------- force scale


@pytest.mark.parametrize("scale", [0.0, 0.25, 1.0, 2.0])
def test_every_force_is_scaled(scale: float) -> None:
    rig = SteppedArm(still_arm_params(force_scale=scale))

    rig.force(1.0, -2.0, 0.5)

    assert force_of(rig.step()) == (1.0 * scale, -2.0 * scale, 0.5 * scale)


def test_damping_and_home_return_are_scaled_too() -> None:
    rig = SteppedArm(arm_params(force_scale=0.5, home_return=1, home=ARM_CENTRE))
    rig.writer.set_damping(4, 4, 4)
    rig.writer.publish(refresh=False)

    state = rig.step(rig.ticks(1.2))

    expected = 0.5 * (PULL_N_PER_M * (np.array(ARM_CENTRE) - state["position"]) - 4 * state["velocity"])
    assert force_of(state) == pytest.approx(expected, abs=1e-9)


def test_peak_force_limits_the_scaled_force() -> None:
    rig = SteppedArm(still_arm_params(force_scale=2.0))
    rig.force(0.0, 8.0, 0.0)

    assert force_of(rig.step()) == pytest.approx((0.0, 10.0, 0.0))


def test_force_scale_does_not_apply_to_torques() -> None:
    rig = SteppedArm(still_arm_params(force_scale=0.5))
    rig.writer.torque(10.0, 20.0, 30.0)
    rig.writer.publish()

    assert rig.step()["torque"].tolist() == [10, 20, 30]
