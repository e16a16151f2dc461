"""Test rig of the safety monitors: an arm on a stepped loop that a test pushes, locks, heats and releases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fastpath.arena.access import Writer
from tests.support.loop.devices import NO_HAND, SteppedArm, arm_params, fill, grip_params

EBRAKE, STALLED, GUARD, HARD, DROPPED, DERATED = 1, 2, 4, 8, 16, 32
ATTACHED: Final = 64
BARE: Final = {"mass": 0.2, "viscous": 0.0, "coulomb": 0.0, "gravity_mass": 0.0}

Params = NDArray[np.void]


def bare_arm(**changes: object) -> Params:
    """Return parameters of an unheld arm of 0.2 kg without friction."""
    params = arm_params(plant=BARE, hand={"path": NO_HAND}, slew=3000.0, slow_slew=500.0)
    fill(params, changes)
    return params


def simulated(params: Params, **orders: object) -> Params:
    """The same with orders to the simulation."""
    changed = params.copy()
    fill(changed["simulation"], orders)
    return changed


class MonitoredArm(SteppedArm):
    """An arm whose parameters the test changes, with a paired grip where it is wanted."""

    def __init__(self, params: Params, *, frequency: float = 4000.0, grip: bool = False) -> None:
        super().__init__(params, frequency=frequency)
        self.params = params
        if grip:
            self.grip = self.runtime.lease_device("grip")
            self.hold(held=True)
            self.change(grip_slot=self.grip.slot)
            self.step(2)

    def change(self, **changes: object) -> None:
        fill(self.params, changes)
        assert self.runtime.publish_device(self.device, self.params)

    def order(self, **orders: object) -> None:
        self.params = simulated(self.params, **orders)
        assert self.runtime.publish_device(self.device, self.params)

    def push(self, *speed: float) -> None:
        """Add to its speed (m/s)."""
        revision = int(self.params["simulation"]["push_revision"]) + 1
        self.order(push=speed, push_revision=revision)

    def hold(self, *, held: bool) -> None:
        """Hold or release the paired grip."""
        assert self.runtime.publish_device(self.grip, grip_params(flags=61 | (ATTACHED if held else 0)))

    def seconds_until(self, reached: Callable[[Any], bool], most: float, writer: Writer | None = None) -> float:
        """How long until a state is reached, while what the writer holds is published again; AssertionError after `most`."""
        for tick in range(self.ticks(most)):
            if writer is not None and tick % 40 == 0:
                assert writer.publish()
            if reached(self.step()):
                return (tick + 1) / self.frequency
        raise AssertionError(f"not within {most} s")


def latched(bit: int) -> Callable[[Any], bool]:
    return lambda state: bool(int(state["safety"]) & bit)


def free(bit: int) -> Callable[[Any], bool]:
    return lambda state: not int(state["safety"]) & bit


def size(state: Any, name: str = "force") -> float:
    return float(np.linalg.norm(state[name]))


def pressing(rig: SteppedArm, *force: float) -> Writer:
    rig.writer.begin()
    rig.writer.force(*force)
    assert rig.writer.publish()
    return rig.writer
