"""State of the simulated arm and grip, as the loop computes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.arena.runtime import Runtime
from tests.support.loop.devices import (
    ARM_CENTRE,
    ARM_MECHANISM,
    SteppedArm,
    arm_params,
    force_of,
    grip_params,
)

Array = NDArray[Any]
IDLE, FORCE, POSITION = 0, 1, 2


def test_grip_orientation_is_a_unit_quaternion_and_takes_no_force() -> None:
    runtime = Runtime(stepping=True)
    grip, session = runtime.lease_device("grip"), runtime.lease_session("1")
    runtime.publish_device(grip, grip_params(buttons=5))
    writer, reader = runtime.writer(session, grip), runtime.reader(grip)
    seen: list[Array] = []
    for _ in range(200):
        writer.force(1.0, 0.0, 0.0)
        writer.publish()
        runtime.step(80)
        state = reader.snapshot()
        seen.append(state["orientation"].copy())
        assert np.linalg.norm(state["orientation"]) == pytest.approx(1.0, abs=1e-12)
        assert force_of(state) == (0.0, 0.0, 0.0)
        assert state["mode"] == IDLE
        assert state["buttons"] == 5

    assert len({part.tobytes() for part in seen}) == pytest.approx(200, abs=2)


def test_a_battery_drains_linearly_and_stays_at_zero() -> None:
    runtime = Runtime(stepping=True)
    grip = runtime.lease_device("grip")
    runtime.publish_loop(frequency=1000, command_timeout=0.05)
    runtime.publish_device(grip, grip_params(battery_start=0.5, battery_life=10.0))
    reader = runtime.reader(grip)

    levels: list[float] = []
    for _ in range(8):
        runtime.step(1000)
        levels.append(float(reader.snapshot()["battery_level"]))

    assert levels == pytest.approx([0.4, 0.3, 0.2, 0.1, 0.0, 0.0, 0.0, 0.0], abs=1e-9)
    assert reader.snapshot()["battery_voltage"] == pytest.approx(3.3)


def test_uncompensated_gravity_pulls_the_arm_down() -> None:
    full, none = (SteppedArm(arm_params(hand={"path": 2}, gravity_scale=scale)) for scale in (1.0, 0.0))

    sagged = none.step(none.ticks(3.0))["position"][2] - full.step(full.ticks(3.0))["position"][2]

    weight = 0.2 * 9.80665
    assert -(weight + 0.15) * (1 / 800 + 1 / 150) < sagged < -(weight - 0.3) * (1 / 800 + 1 / 150)


def test_plant_revision_lets_the_hand_hold_at_the_present_position() -> None:
    rig = SteppedArm(arm_params())
    state = rig.step(rig.ticks(1.3))
    here = state["position"].copy()

    rig.runtime.publish_device(rig.device, arm_params(hand={"path": 3}, plant_revision=2))
    state = rig.step(rig.ticks(2.0))

    assert np.linalg.norm(state["position"] - here) < 2e-3
    assert np.linalg.norm(state["velocity"]) < 1e-6


def test_joints_and_cursor_of_a_state_agree() -> None:
    rig = SteppedArm(arm_params())
    for _ in range(50):
        state = rig.step(100)
        assert ARM_MECHANISM.forward(np.radians(state["joint"]).tolist()) == pytest.approx(state["position"], abs=1e-12)


def test_wall_in_the_circle_pushes_back_with_little_penetration() -> None:
    rig = SteppedArm(arm_params(), frequency=1000)
    rig.step(rig.ticks(1.0))
    deepest, hardest = 0.0, 0.0
    for _ in range(rig.ticks(8.0)):
        depth = ARM_CENTRE[2] - float(rig.reader.snapshot()["position"][2])
        rig.force(0.0, 0.0, max(0.0, 1000.0 * depth))
        state = rig.step()
        deepest = max(deepest, depth)
        hardest = max(hardest, -float(state["hand_force"][2]))

    assert deepest > 1e-3
    assert deepest < hardest / 1000.0 + 2e-3
