"""A bare device in the safety springs comes to rest, however old its samples are and at every rate of the loop."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import pytest

from fastpath.arena.access import Reader, Writer
from fastpath.arena.runtime import Runtime
from fastpath.port.port_cell import PortCell
from tests.support.loop.devices import (
    ARM_CENTRE,
    ARM_HIGH,
    NO_HAND,
    SteppedArm,
    arm_params,
    fill,
    force_of,
    still_arm_params,
)
from tests.support.loop.monitored_arm import EBRAKE

CURSOR: Final = 3
GRAVITY: Final = 9.80665
STOP_STIFFNESS: Final = 1e4
STOP_DAMPING: Final = 20.0
ZONE_M: Final = 0.010
TOP: Final = ARM_HIGH[0]
STEP_S: Final = 1 / 32_000
MASSES: Final = [0.05, 0.1, 0.2]
RATES: Final = [100.0, 300.0, 1_000.0, 4_000.0, 32_000.0]
# s between two packets, or on the way: 20 ms on serial ports, 100 on USB
AGES: Final = [0.0, 0.004, 0.008, 0.012, 0.015, 0.020, 0.100]


@dataclass(slots=True)
class BareMass:
    """A mass (kg) on one axis without friction, pushed outwards by `load` (N), under the last order of the loop: position (m), velocity (m/s)."""

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


class DistantDevice:
    """A bare mass at a port whose samples are old: packets each `every` s."""

    def __init__(self, mass: BareMass, frequency: float, every: float) -> None:
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
        self.writer: Writer = self.runtime.writer(self.runtime.lease_session("1"), self.lease)
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


def resting(mass: float, frequency: float, every: float) -> DistantDevice:
    """A bare mass that its own weight pulls into the springs at the end of the reach, from the middle of their zone."""
    return DistantDevice(BareMass(mass, mass * GRAVITY, TOP - 0.5 * ZONE_M), frequency, every)


@pytest.mark.parametrize("every", AGES)
@pytest.mark.parametrize("frequency", RATES)
@pytest.mark.parametrize("mass", MASSES)
def test_bare_device_rests_in_the_springs_within_a_second(mass: float, frequency: float, every: float) -> None:
    rig = resting(mass, frequency, every)
    rig.run(1.0)

    assert rms(rig.run(0.5)) <= 5.0
    assert rig.safety() & EBRAKE == 0


@pytest.mark.parametrize("every", [0.0, 0.004])
@pytest.mark.parametrize("mass", MASSES)
def test_springs_keep_their_whole_stiffness_on_new_samples(mass: float, every: float) -> None:
    """From the middle of the zone, at 4 kHz, the mass stands where 500 N/m hold its weight."""
    rig = resting(mass, 4_000.0, every if mass > 0.1 else 0.0)
    rig.run(1.5)

    deep = rig.mass.position - (TOP - ZONE_M)
    assert deep == pytest.approx(mass * GRAVITY / 500.0, rel=0.5)
    assert deep < ZONE_M


@pytest.mark.parametrize(("frequency", "most"), [(100.0, 9.0), (200.0, 9.0), (300.0, 9.0), (500.0, 6.0)])
def test_no_tick_of_a_slow_loop_grows_by_10_newtons(frequency: float, most: float) -> None:
    params = still_arm_params(slew=3000.0, slow_slew=500.0)
    rig = SteppedArm(params, frequency=frequency)
    rig.force(1.0, 0.0, 0.0)
    rig.step(rig.ticks(0.05))
    seen = [force_of(rig.step())[0]]
    for wanted in (10.0, 10.0, -10.0, -10.0, 10.0, 0.0, 10.0):
        rig.force(wanted, 0.0, 0.0)
        seen.append(force_of(rig.step())[0])

    grown = [abs(now) - (abs(last) if now * last > 0 else 0.0) for last, now in pairwise(seen)]
    assert max(grown) == pytest.approx(most)
