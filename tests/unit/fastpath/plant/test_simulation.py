"""Simulation controls on the loop: pushes, locks, lasting forces, battery, handles at rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fastpath.arena.runtime import Runtime
from tests.support.loop.devices import HOLD, NO_HAND, REST, SteppedArm, arm_params, fill, force_of, grip_params

TILTED = (0.6, 0.8, 0.0, 0.0)


def ordered(params: NDArray[np.void], **orders: object) -> NDArray[np.void]:
    """Parameters with some orders for the simulation."""
    fill(params["simulation"], orders)
    return params


def arm(hand: Mapping[str, object] | None = None, **orders: object) -> NDArray[np.void]:
    return ordered(arm_params(hand=hand or {"path": REST}), **orders)


class Grip:
    """One grip on a stepping loop at 100 Hz."""

    def __init__(self) -> None:
        self.runtime = Runtime(stepping=True)
        self.runtime.publish_loop(frequency=100, command_timeout=0.05)
        self.lease = self.runtime.lease_device("grip")
        self.publish(grip_params(hand=_path(REST)))

    def publish(self, params: NDArray[np.void]) -> None:
        assert self.runtime.publish_device(self.lease, params)

    def after(self, seconds: float) -> Any:
        self.runtime.step(round(100 * seconds))
        return self.runtime.reader(self.lease).snapshot()


def _path(path: int) -> NDArray[np.void]:
    hand = grip_params()["hand"].copy()
    hand["path"] = path
    return hand


def test_a_push_adds_to_the_speed_once() -> None:
    rig = SteppedArm(arm())
    rig.runtime.publish_device(rig.device, arm({"path": NO_HAND}, push=(0, 0.5, 0), push_revision=1))

    speeds = [float(rig.step()["velocity"][1]) for _ in range(rig.ticks(0.02))]

    assert max(speeds) == pytest.approx(0.45, abs=0.05)
    assert float(rig.step(rig.ticks(2))["velocity"][1]) == pytest.approx(0, abs=1e-3)
    rig.runtime.publish_device(rig.device, arm({"path": NO_HAND}, push=(0, 0.5, 0), push_revision=1))
    assert float(rig.step(rig.ticks(0.01))["velocity"][1]) == pytest.approx(0, abs=1e-3)


def test_locked_plant_moves_less_than_a_millimetre() -> None:
    rig = SteppedArm(arm())
    before = rig.step(rig.ticks(0.5))["position"].copy()
    rig.runtime.publish_device(rig.device, arm(lock_stiffness=20_000))

    def pushed_for_a_second() -> NDArray[np.void]:
        for _ in range(200):
            rig.force(10, 0, 0)
            rig.step(20)
        return rig.reader.snapshot()

    state = pushed_for_a_second()
    assert force_of(state)[0] == pytest.approx(10)
    assert np.linalg.norm(state["position"] - before) < 1e-3

    rig.runtime.publish_device(rig.device, arm())
    assert pushed_for_a_second()["position"][0] - before[0] > 0.02


def test_external_force_moves_the_plant_without_motor_force() -> None:
    rig = SteppedArm(arm({"path": HOLD}))
    before = rig.step(rig.ticks(0.5))["position"].copy()
    rig.runtime.publish_device(rig.device, arm({"path": HOLD}, external=(5, 0, 0)))

    state = rig.step(rig.ticks(3))

    assert state["position"][0] - before[0] == pytest.approx(5 * (1 / 800 + 1 / 150), abs=2e-3)
    assert force_of(state) == (0, 0, 0)


def test_hand_holds_again_at_the_present_position() -> None:
    rig = SteppedArm(arm({"path": NO_HAND}, push=(0, 0, 1), push_revision=1))
    away = rig.step(rig.ticks(1))["position"].copy()
    assert away[2] > 0.2

    rig.runtime.publish_device(rig.device, arm())
    pulls = [float(np.linalg.norm(rig.step()["hand_force"])) for _ in range(rig.ticks(0.5))]

    assert max(pulls) < 40
    assert rig.step(rig.ticks(3))["position"][2] == pytest.approx(0.135, abs=5e-3)


@pytest.mark.parametrize("kind", ["arm", "grip"])
def test_an_orientation_that_was_asked_for_is_shown_exactly(kind: str) -> None:
    if kind == "arm":
        state = SteppedArm(arm(orientation=TILTED)).step(10)
    else:
        grip = Grip()
        grip.publish(ordered(grip_params(), orientation=TILTED))
        state = grip.after(0.5)

    assert tuple(state["orientation"]) == TILTED


def test_frozen_data_end_in_zero_force_and_an_old_tick() -> None:
    rig = SteppedArm(arm())
    rig.force(1, 0, 0)
    before = rig.step()
    assert force_of(before) == (1, 0, 0)
    rig.runtime.publish_device(rig.device, arm(frozen=1))

    rig.force(1, 0, 0)
    shown = rig.step(100)

    assert force_of(shown) == (0, 0, 0)
    assert (shown["tick"], shown["time_ns"]) == (before["tick"], before["time_ns"])
    assert tuple(shown["position"]) == tuple(before["position"])
    rig.runtime.publish_device(rig.device, arm())
    assert int(rig.step()["tick"]) == int(rig.runtime.loop_state()["ticks"])


def test_battery_drains_from_the_time_it_was_set() -> None:
    grip = Grip()
    grip.publish(grip_params(battery_life=100))
    assert float(grip.after(10)["battery_level"]) == pytest.approx(0.8)

    grip.publish(ordered(grip_params(battery_life=100, battery_start=0.5), battery_revision=1))

    assert float(grip.after(0.01)["battery_level"]) == pytest.approx(0.5, abs=2e-4)
    assert float(grip.after(10)["battery_level"]) == pytest.approx(0.4, abs=2e-4)


def test_resting_handle_ignores_noise_and_drift() -> None:
    assert float(Grip().after(400)["still"]) == pytest.approx(400, abs=0.5)


def test_swaying_handle_never_rests() -> None:
    grip = Grip()
    grip.publish(grip_params())

    assert max(float(grip.after(1)["still"]) for _ in range(60)) < 10


@pytest.mark.parametrize(
    "change", [{"buttons": 1}, {"flags": 29}, {"orientation": TILTED}], ids=["button", "woken", "turned"]
)
def test_handling_ends_the_rest(change: Mapping[str, Any]) -> None:
    grip = Grip()
    assert float(grip.after(20)["still"]) > 19
    params = grip_params(hand=_path(REST))
    fill(params["simulation"] if "orientation" in change else params, change)
    grip.publish(params)

    assert float(grip.after(0.5)["still"]) < 1


def test_sleeping_handle_does_not_turn() -> None:
    grip = Grip()
    grip.publish(grip_params(flags=29))

    assert tuple(grip.after(3)["orientation"]) == tuple(grip.after(3)["orientation"])


def test_unmoved_arm_rests() -> None:
    rig = SteppedArm(arm({"path": HOLD}))
    assert float(rig.step(rig.ticks(2))["still"]) > 1.9

    rig.runtime.publish_device(rig.device, arm_params())

    assert float(rig.step(rig.ticks(2))["still"]) < 1.5
