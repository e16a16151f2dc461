"""From command to motor: forces, torques, held positions and angles, and their limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.loop.devices import (
    ARM_CENTRE,
    ARM_MECHANISM,
    SteppedArm,
    arm_params,
    force_of,
    forces,
    keep,
    still_arm_params,
)

RATES = [1_000.0, 4_000.0, 8_000.0, 32_000.0]
IDENTITY = (1.0, 0.0, 0.0, 0.0)


@given(st.tuples(*[st.floats(-3.4e38, 3.4e38)] * 3))
def test_a_force_beyond_the_peak_is_clamped_in_its_direction(force: tuple[float, float, float]) -> None:
    rig = SteppedArm()
    size = math.hypot(*force)
    rig.force(*force)

    applied = rig.step()["force"]

    if size <= 10.0:
        assert tuple(applied) == force
    else:
        assert np.linalg.norm(applied) == pytest.approx(10.0, rel=1e-12)
        assert applied == pytest.approx(np.array(force) / size * 10.0, rel=1e-12, abs=1e-12)


def test_a_clamped_force_is_counted() -> None:
    rig = SteppedArm()
    before = int(rig.reader.snapshot()["clamped"])

    rig.force(0.0, 10.0, 0.0)
    assert rig.step(5)["clamped"] == before
    rig.force(0.0, 10.1, 0.0)
    assert rig.step(5)["clamped"] == before + 5


@pytest.mark.parametrize("force", [(1e200, 0.0, 0.0), (1.7e308, 1.7e308, -1.7e308)])
def test_huge_forces_never_give_non_finite_output(force: tuple[float, float, float]) -> None:
    rig = SteppedArm(arm_params())
    other = rig.other("2")
    rig.force(*force)
    rig.force(*force, writer=other)

    state = rig.step(2)

    assert np.all(np.isfinite(state["force"]))
    assert np.all(np.isfinite(state["torque"]))
    assert np.all(np.isfinite(state["position"]))
    other.revoke()
    rig.force(1.0, 0.0, 0.0)
    assert force_of(rig.step()) == (1.0, 0.0, 0.0)


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("sessions", [1, 2])
def test_huge_torques_never_give_non_finite_output(sessions: int, scaled: bool) -> None:
    rig = SteppedArm(arm_params(torque_scaling=int(scaled)))
    for writer in [rig.writer, rig.other("2")][:sessions]:
        writer.torque(1.7e308, -1.7e308, 1.7e308)
        writer.publish()

    state = rig.step(2)

    assert np.all(np.isfinite(state["force"]))
    assert np.max(np.abs(state["torque"])) <= 6000.0
    assert np.linalg.norm(state["force"]) <= 10.0 + 1e-9


def test_overflowing_position_gives_no_force() -> None:
    rig = SteppedArm(arm_params())
    rig.writer.set_workspace((0.0, 0.0, 0.0), IDENTITY, (1e-300, 1e-300, 1e-300))
    rig.writer.begin()
    rig.writer.position(1e200, 0.0, 0.0)
    rig.writer.publish()

    state = rig.step(rig.ticks(0.02))

    assert np.all(np.isfinite(state["force"]))
    assert np.all(np.isfinite(state["position"]))


def test_torques_act_at_the_joints_and_show_their_force() -> None:
    rig = SteppedArm()
    rig.writer.torque(100.0, -200.0, 300.0)
    rig.writer.publish()

    state = rig.step()
    angles = np.radians(state["joint"]).tolist()

    assert state["torque"] == pytest.approx((100.0, -200.0, 300.0))
    assert state["force"] == pytest.approx(ARM_MECHANISM.force(angles, (0.1, -0.2, 0.3)), rel=1e-9)


def test_forces_and_torques_add_at_the_joints() -> None:
    rig = SteppedArm()
    rig.writer.force(1.0, 2.0, 3.0)
    rig.writer.torque(100.0, -200.0, 300.0)
    rig.writer.publish()

    state = rig.step()
    of_force = np.array(ARM_MECHANISM.torque(np.radians(state["joint"]).tolist(), (1.0, 2.0, 3.0))) * 1000

    assert state["torque"] == pytest.approx(np.add(of_force, (100.0, -200.0, 300.0)), rel=1e-9)
    assert state["force"] == pytest.approx(
        ARM_MECHANISM.force(np.radians(state["joint"]).tolist(), (state["torque"] / 1000).tolist()), rel=1e-9
    )


@pytest.mark.parametrize("scaled", [True, False])
def test_saturated_torques_shrink_together_or_one_by_one(scaled: bool) -> None:
    free = SteppedArm()
    free.force(3.0, -1.0, 9.0)
    wanted = free.step()["torque"]
    limit = float(np.max(np.abs(wanted))) / 2
    rig = SteppedArm(still_arm_params(torque_limit=limit, torque_scaling=int(scaled)))

    rig.force(3.0, -1.0, 9.0)
    state = rig.step()

    assert np.max(np.abs(state["torque"])) == pytest.approx(limit)
    assert state["saturated"] == 1
    if scaled:
        assert state["torque"] == pytest.approx(wanted / 2)
        assert state["force"] == pytest.approx((1.5, -0.5, 4.5))
    else:
        assert state["torque"] == pytest.approx(np.clip(wanted, -limit, limit))
        angles = np.radians(state["joint"]).tolist()
        assert state["force"] == pytest.approx(ARM_MECHANISM.force(angles, (state["torque"] / 1000).tolist()))


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1))
def test_a_saturated_torque_keeps_the_direction_of_the_force(x: float, y: float, z: float) -> None:
    size = math.hypot(x, y, z)
    if size < 1e-3:
        return
    rig = SteppedArm(still_arm_params(torque_limit=200.0))
    rig.force(9 * x / size, 9 * y / size, 9 * z / size)

    force = rig.step()["force"]

    assert np.dot(force, (x, y, z)) / (np.linalg.norm(force) * size) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_held_position_spring_ramps_in_at_500_n_per_s(rate: float) -> None:
    rig = SteppedArm(frequency=rate)
    rig.writer.position(ARM_CENTRE[0] + 0.006, ARM_CENTRE[1], ARM_CENTRE[2])
    rig.writer.publish()

    pulls = [force for _, force in forces(rig, 0.02)]

    spring = 500 * (0.006 + ARM_CENTRE[0] - float(rig.reader.snapshot()["position"][0]))
    for index, pull in enumerate(pulls, start=1):
        assert np.linalg.norm(pull) == pytest.approx(min(500 * index / rate, spring), rel=1e-2)
    assert pulls[-1][0] == pytest.approx(spring, rel=1e-9)


def test_a_held_position_pulls_with_half_the_peak_at_most() -> None:
    rig = SteppedArm()
    rig.writer.position(ARM_CENTRE[0] + 0.03, ARM_CENTRE[1] + 0.04, ARM_CENTRE[2])
    rig.writer.publish()

    force = rig.step(rig.ticks(0.04))["force"]

    assert force == pytest.approx((3.0, 4.0, 0.0), abs=2e-3)
    assert np.linalg.norm(force) == pytest.approx(5.0, rel=1e-9)


def test_replaced_position_ramps_in_again() -> None:
    rig = SteppedArm()
    rig.writer.position(0.1, 0.0, 0.1)
    rig.writer.publish()
    assert np.linalg.norm(rig.step(rig.ticks(0.04))["force"]) == pytest.approx(5.0)
    rig.writer.begin()
    rig.writer.publish()
    assert force_of(rig.step()) == (0.0, 0.0, 0.0)

    rig.writer.position(0.1, 0.0, 0.1)
    rig.writer.publish()

    assert np.linalg.norm(rig.step()["force"]) == pytest.approx(500 / rig.frequency)


def test_held_position_moves_the_device_there() -> None:
    rig = SteppedArm(arm_params(hand={"path": 0}, plant={"coulomb": 0.0}))
    target = (ARM_CENTRE[0] + 0.02, ARM_CENTRE[1] - 0.01, ARM_CENTRE[2] + 0.01)
    rig.writer.position(*target)

    state = keep(rig.writer, rig, 2.0)

    assert state["position"] == pytest.approx(target, abs=1e-4)
    assert state["target"] == pytest.approx(target)


def test_a_held_position_adds_to_the_forces_of_others() -> None:
    rig = SteppedArm()
    rig.writer.position(ARM_CENTRE[0] + 0.1, ARM_CENTRE[1], ARM_CENTRE[2])
    rig.writer.publish()
    rig.force(0.0, 2.0, 0.0, writer=rig.other("2"))

    force = rig.step(rig.ticks(0.03))["force"]

    assert force == pytest.approx((5.0, 2.0, 0.0), abs=2e-3)


def test_held_angles_pull_at_each_joint_with_half_the_torque_limit_at_most() -> None:
    rig = SteppedArm(still_arm_params(peak_force=1000.0))
    joint = rig.reader.snapshot()["joint"]
    rig.writer.angle(joint[0] + 1.0, joint[1] - 2.0, joint[2] + 5.0)
    rig.writer.publish()

    torques = [rig.step()["torque"].copy() for _ in range(rig.ticks(0.02))]

    for index, torque in enumerate(torques, start=1):
        ramp = min(3000.0, 3000.0 * index / rig.frequency / 0.010)
        assert torque == pytest.approx(np.clip((1000.0, -2000.0, 5000.0), -ramp, ramp), rel=1e-9)


def test_held_angles_move_the_joints_there() -> None:
    rig = SteppedArm(arm_params(hand={"path": 0}, plant={"coulomb": 0.0}))
    joint = rig.reader.snapshot()["joint"]
    rig.writer.angle(joint[0] + 3.0, joint[1] + 2.0, joint[2] - 2.0)

    state = keep(rig.writer, rig, 3.0)

    assert state["joint"] == pytest.approx(np.add(joint, (3.0, 2.0, -2.0)), abs=0.01)
    assert state["target_joint"] == pytest.approx(np.add(joint, (3.0, 2.0, -2.0)))


@pytest.mark.parametrize("command", ["torque", "position", "angle"])
def test_every_command_fades_like_a_force(command: str) -> None:
    rig = SteppedArm()
    joint = rig.reader.snapshot()["joint"]
    values = {"torque": (300.0, 0.0, 0.0), "position": (0.1, 0.0, 0.1), "angle": (joint[0] + 1.0, joint[1], joint[2])}
    getattr(rig.writer, command)(*values[command])
    rig.writer.publish()

    whole = float(rig.step(rig.ticks(0.045))["torque"][0])
    half = float(rig.step(rig.ticks(0.015))["torque"][0])
    after = rig.step(rig.ticks(0.010) + 1)

    assert whole != 0
    assert half == pytest.approx(whole / 2, rel=1e-6)
    assert not np.any(after["torque"])
    assert not np.any(after["force"])
