"""Simulated devices for loop tests: their parameter records, and an arm on a stepped loop."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fastpath.arena.access import Reader, Writer
from fastpath.arena.runtime import Lease, Runtime
from fastpath.layout.constants import Capability, HandMotion, StateShape
from fastpath.layout.dtypes import DEVICE_PARAMS
from fastpath.testing.formulas import Mechanism

ARM: Final = Capability.HAS_MOTORS | Capability.HAS_CURSOR
GRIP: Final = Capability.IS_HANDLE
CURSOR_STATE: Final = StateShape.SHAPE_CURSOR
NO_HAND: Final = HandMotion.HAND_NONE
CIRCLE: Final = HandMotion.HAND_CIRCLE
REST: Final = HandMotion.HAND_REST
HOLD: Final = HandMotion.HAND_HOLD

ARM_LOW: Final = (-0.230, -0.285, -0.120)
ARM_HIGH: Final = (0.230, -0.005, 0.390)
ARM_CENTRE: Final = (0.0, -0.120, 0.135)
ARM_SHOULDER: Final = (0.0, 0.08, 0.135)
ARM_LINKS: Final = (0.26, 0.26)
ARM_COUNTS: Final = 2.0**18
ARM_MECHANISM: Final = Mechanism(shoulder=ARM_SHOULDER, links=ARM_LINKS)

# kg, N/m, N.s/m, N/m, N.s/m
HANDS: Final[Mapping[str, tuple[float, float, float, float, float]]] = {
    "light": (0.15, 300.0, 1.0, 60.0, 3.0),
    "medium": (0.4, 800.0, 3.0, 150.0, 8.0),
    "firm": (0.8, 2000.0, 8.0, 400.0, 15.0),
}


def arm_params(
    *,
    plant: Mapping[str, object] | None = None,
    hand: Mapping[str, object] | None = None,
    grip: str = "medium",
    **changes: object,
) -> NDArray[np.void]:
    """A ready arm held by a hand that draws a circle; `plant`, `hand` and the rest replace single fields."""
    params = np.zeros((), dtype=DEVICE_PARAMS)
    fill(
        params,
        {
            "capabilities": ARM,
            "flags": 15,
            "accepts_commands": 1,
            "torque_scaling": 1,
            "plant_revision": 1,
            "seed": 5,
            "peak_force": 10.0,
            "torque_limit": 6000.0,
            "gravity_scale": 1.0,
            "force_scale": 1.0,
            "grip_slot": -1,
            "home": ARM_CENTRE,
        },
    )
    fill(
        params["mechanism"],
        {"shoulder": ARM_SHOULDER, "link": ARM_LINKS, "counts_per_turn": ARM_COUNTS},
    )
    fill(
        params["plant"],
        {
            "mass": 0.2,
            "viscous": 0.3,
            "coulomb": 0.15,
            "gravity_mass": 0.2,
            "stop_stiffness": 1e4,
            "stop_damping": 20.0,
            "low": ARM_LOW,
            "high": ARM_HIGH,
        },
    )
    names = ("mass", "grip_stiffness", "grip_damping", "arm_stiffness", "arm_damping")
    fill(params["hand"], dict(zip(names, HANDS[grip], strict=True)))
    fill(params["hand"], {"centre": ARM_CENTRE, "radius": 0.030, "period": 4.0, "path": CIRCLE})
    fill(params["plant"], plant or {})
    fill(params["hand"], hand or {})
    fill(params, changes)
    return params


def still_arm_params(**changes: object) -> NDArray[np.void]:
    """An arm that no force of this world moves: what the loop commands can be read off to the last bit."""
    params = arm_params(plant={"mass": 1e9}, hand={"path": NO_HAND})
    fill(params, changes)
    return params


def grip_params(**changes: object) -> NDArray[np.void]:
    """A wireless grip that sways with a hand; it takes no commands."""
    params = np.zeros((), dtype=DEVICE_PARAMS)
    fill(
        params,
        {
            "capabilities": GRIP,
            "flags": 61,
            "plant_revision": 1,
            "seed": 7,
            "grip_slot": -1,
            "battery_start": 0.9,
            "battery_life": 6 * 3600.0,
        },
    )
    fill(params["hand"], {"path": CIRCLE})
    fill(params, changes)
    return params


def fill(params: NDArray[np.void], fields: Mapping[str, object]) -> None:
    """Set fields by name."""
    for name, value in fields.items():
        params[name] = value


class SteppedArm:
    """One arm on a stepping loop, past its start-up ramp, with one session that commands nothing yet."""

    def __init__(
        self, params: NDArray[np.void] | None = None, *, frequency: float = 4000.0, timeout: float = 0.05
    ) -> None:
        self.runtime: Runtime = Runtime(stepping=True)
        self.frequency = frequency
        self.timeout = timeout
        self.device: Lease = self.runtime.lease_device("arm")
        self.session: Lease = self.runtime.lease_session("1")
        self.runtime.publish_loop(frequency=frequency, command_timeout=timeout)
        assert self.runtime.publish_device(self.device, still_arm_params() if params is None else params)
        self.reader: Reader = self.runtime.reader(self.device)
        self.writer: Writer = self.runtime.writer(self.session, self.device)
        self.step(self.ticks(0.060))

    def ticks(self, seconds: float) -> int:
        """Whole ticks in some seconds."""
        return round(seconds * self.frequency)

    def step(self, ticks: int = 1, *, beat: bool = True, missed: int = 0) -> NDArray[np.void]:
        """The state after some more ticks, with so many missed periods before the first of them."""
        self.runtime.step(ticks, beat=beat, missed=missed)
        return self.reader.snapshot()

    def other(self, name: str) -> Writer:
        """A writer of one more session on the same arm."""
        return self.runtime.writer(self.runtime.lease_session(name), self.device)

    def force(self, *force: float, writer: Writer | None = None) -> None:
        """Command this force (N) and nothing else, now."""
        target = writer or self.writer
        target.begin()
        target.force(*force)
        assert target.publish()


def force_of(state: NDArray[np.void]) -> tuple[float, ...]:
    """Force of a state, N."""
    return tuple(float(part) for part in state["force"])


def forces(rig: SteppedArm, seconds: float, *, beat: bool = True) -> Iterator[tuple[int, NDArray[Any]]]:
    """Clock (ns) and force (N) of each tick for some seconds."""
    for _ in range(rig.ticks(seconds)):
        state = rig.step(beat=beat)
        yield int(state["time_ns"]), state["force"].copy()


def shaken_until_found(rig: SteppedArm) -> NDArray[np.void]:
    """The state in which the filter first finds what a client shakes with 6 N at 15 Hz."""
    for tick in range(rig.ticks(0.6)):
        rig.force(6 * math.sin(math.tau * 15 * tick / rig.frequency), 0.0, 0.0)
        state = rig.step()
        if int(state["oscillations"]) > 0:
            return state
    raise AssertionError("the filter finds no oscillation in 0.6 s")


def keep(writer: Writer, rig: SteppedArm, seconds: float, *, beat: bool = True) -> NDArray[np.void]:
    """Publish what a writer holds every 10 ms for some seconds; the last state."""
    state = rig.reader.snapshot()
    for _ in range(round(seconds / 0.010)):
        assert writer.publish()
        state = rig.step(rig.ticks(0.010), beat=beat)
    return state
