"""A bare device in the safety springs comes to rest, however old its samples are and at every rate of the loop."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest

from tests.support.loop.devices import SteppedArm, force_of, still_arm_params
from tests.support.loop.distant_device import TOP, ZONE_M, BareMass, DistantDevice, rms
from tests.support.loop.monitored_arm import EBRAKE

GRAVITY: Final = 9.80665
MASSES: Final = [0.05, 0.1, 0.2]
RATES: Final = [100.0, 300.0, 1_000.0, 4_000.0, 32_000.0]
# s between two packets, or on the way: 20 ms on serial ports, 100 on USB
AGES: Final = [0.0, 0.004, 0.008, 0.012, 0.015, 0.020, 0.100]


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
