"""A bare device on a contact that the loop renders: it comes to rest and gains no energy, however old its samples and at every rate."""

from __future__ import annotations

from typing import Final

import pytest

from tests.support.loop.devices import ARM_CENTRE
from tests.support.loop.distant_device import BareMass, DistantDevice, rms
from tests.support.loop.monitored_arm import EBRAKE

GRAVITY: Final = 9.80665
MASSES: Final = [0.05, 0.1, 0.2, 0.6]
RATES: Final = [100.0, 300.0, 1_000.0, 4_000.0, 32_000.0]
AGES: Final = [0.0, 0.004, 0.012, 0.020, 0.100]
# N/m, N.s/m: the stiffest with most damping, one with little, and one that leaves it to the loop.
LAWS: Final = [(2000.0, 20.0), (500.0, 5.0), (2000.0, 0.0)]
# m along x: where the wall stands, free on the near side.
WALL: Final = 0.01
# The filter may catch the bounce of the heaviest, and gives the wall back in stages.
SECONDS: Final = {0.05: 2.0, 0.1: 2.0, 0.2: 2.0, 0.6: 4.5}

# Without a damper of its own, and with hardly one of the loop's at 32 kHz, the heaviest bounces on: half as fast each 2 s.
UNDAMPED_SECONDS: Final = 13.0


def against_a_wall(
    mass: BareMass, frequency: float, every: float, law: tuple[float, float], wall: float = WALL
) -> DistantDevice:
    rig = DistantDevice(mass, frequency, every)
    rig.writer.contact_plane((wall, 0.0, 0.0), (-1.0, 0.0, 0.0), *law)
    return rig


def run(rig: DistantDevice, seconds: float) -> list[float]:
    """Velocities while the contact is sent each quarter of a second."""
    seen: list[float] = []
    for _ in range(round(seconds / 0.25)):
        assert rig.writer.publish()
        seen += rig.run(0.25)
    return seen


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("every", AGES)
@pytest.mark.parametrize("frequency", RATES)
def test_bare_device_pressed_into_a_contact_comes_to_rest(
    frequency: float, every: float, law: tuple[float, float]
) -> None:
    for kilograms in MASSES if frequency < 32_000 else [MASSES[0], MASSES[-1]]:
        rig = against_a_wall(BareMass(kilograms, kilograms * GRAVITY, ARM_CENTRE[0] + WALL), frequency, every, law)
        undamped = kilograms == MASSES[-1] and frequency >= 32_000 and law[1] == 0
        run(rig, UNDAMPED_SECONDS if undamped else SECONDS[kilograms])

        assert rms(run(rig, 0.5)) <= 5.0, kilograms
        assert rig.safety() & EBRAKE == 0


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("every", AGES[:-1])
@pytest.mark.parametrize("frequency", RATES)
def test_bare_device_leaves_a_contact_no_faster_than_it_came(
    frequency: float, every: float, law: tuple[float, float]
) -> None:
    for kilograms in (MASSES[0], MASSES[2]):
        mass = BareMass(kilograms, 0.0, ARM_CENTRE[0] - 0.01, velocity=0.15)
        seen = run(against_a_wall(mass, frequency, every, law), 1.0)

        assert min(seen) < 0 or mass.position < 0.22
        assert max(map(abs, seen)) <= 0.15 * 1.01


@pytest.mark.parametrize("every", AGES[:-1])
@pytest.mark.parametrize("frequency", RATES)
def test_contact_that_appears_around_a_resting_device_leaves_it_at_rest(frequency: float, every: float) -> None:
    mass = BareMass(0.2, 0.0, ARM_CENTRE[0])
    seen = run(against_a_wall(mass, frequency, every, LAWS[0], wall=-0.02), 0.5)

    assert max(map(abs, seen)) == 0


def test_contact_keeps_its_stiffness_on_new_samples() -> None:
    rig = against_a_wall(BareMass(0.2, 0.2 * GRAVITY, ARM_CENTRE[0] + WALL), 4_000.0, 0.0, LAWS[0])
    run(rig, 2.0)

    assert rig.mass.position - WALL == pytest.approx(0.2 * GRAVITY / 2000, rel=0.05)


def test_contact_does_not_give_way_on_samples_of_changing_age() -> None:
    rig = against_a_wall(BareMass(0.2, 0.2 * GRAVITY, ARM_CENTRE[0] + WALL), 4_000.0, 0.012, LAWS[0])
    run(rig, 2.0)
    before = rig.mass.position
    run(rig, 2.0)

    assert rig.mass.position - before <= 1e-3
