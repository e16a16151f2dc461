"""A bare mass at a port on a stepped loop, with samples of any age."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from fastpath.arena.access import Reader, Writer
from fastpath.arena.runtime import Runtime
from fastpath.port.port_cell import PortCell
from tests.support.loop.devices import ARM_CENTRE, ARM_HIGH, NO_HAND, arm_params, fill

CURSOR: Final = 3
STOP_STIFFNESS: Final = 1e4
STOP_DAMPING: Final = 20.0
ZONE_M: Final = 0.010
TOP: Final = ARM_HIGH[0]
STEP_S: Final = 1 / 32_000


@dataclass(slots=True)
class BareMass:
    """A mass (kg) on one axis without friction, pushed along x by `load` (N), under the last order of the loop: position (m), velocity (m/s)."""

    mass: float
    load: float
    position: float
    velocity: float = 0.0

    def advance(self, force: float, seconds: float) -> None:
        steps = max(round(seconds / STEP_S), 1)
        step = seconds / steps
        for _ in range(steps):
            push = force + self.load
            if self.position > TOP:
                push += STOP_STIFFNESS * (TOP - self.position) - STOP_DAMPING * self.velocity
            self.velocity += step * push / self.mass
            self.position += step * self.velocity


class Moved(Protocol):
    """What stands at the port: kg, and m and m/s along x."""

    velocity: float

    @property
    def mass(self) -> float:
        """Of what the motors move."""
        ...

    @property
    def position(self) -> float:
        """As its encoder reads it."""
        ...

    def advance(self, force: float, seconds: float) -> None:
        """Move under a force (N)."""


class DistantDevice:
    """A bare mass, or one that a hand holds, at a port whose samples are old: packets each `every` s."""

    def __init__(self, mass: Moved, frequency: float, every: float) -> None:
        self.mass = mass
        self.frequency = frequency
        self.packet_ticks = max(round(every * frequency), 1)
        self.runtime = Runtime(stepping=True)
        self.runtime.publish_loop(frequency=frequency, command_timeout=0.5)
        params = arm_params(
            plant={"mass": mass.mass}, hand={"path": NO_HAND}, source=1, silence=1.0, slew=3000.0, slow_slew=500.0
        )
        params["mechanism"]["kind"] = CURSOR
        fill(params, {"zone_low": (ZONE_M,) * 3, "zone_high": (ZONE_M,) * 3})
        self.lease = self.runtime.lease_device("arm")
        assert self.runtime.publish_device(self.lease, params)
        self.cell = PortCell(self.runtime, self.lease)
        self.reader: Reader = self.runtime.reader(self.lease)
        self.session = self.runtime.lease_session("1")
        self.writer: Writer = self.runtime.writer(self.session, self.lease)
        self.ticks = 0

    def run(self, seconds: float) -> list[float]:
        """Velocity (m/s) of the mass at each tick; the order acts from one tick to the next."""
        seen: list[float] = []
        for _ in range(round(seconds * self.frequency)):
            if self.ticks % self.packet_ticks == 0:
                assert self.cell.put(position=(self.mass.position, ARM_CENTRE[1], ARM_CENTRE[2]))
            self.runtime.step(1)
            self.mass.advance(self.force(), 1 / self.frequency)
            seen.append(self.mass.velocity)
            self.ticks += 1
        return seen

    def force(self) -> float:
        """The order along x, N."""
        return float(self.reader.snapshot()["force"][0])

    def safety(self) -> int:
        return int(self.reader.snapshot()["safety"])


def rms(values: list[float]) -> float:
    """mm/s of velocities in m/s."""
    return 1e3 * float(np.sqrt(np.mean(np.square(values))))
