"""What a device bears is what the loop then renders: no more of it, and no less."""

from __future__ import annotations

import math

import pytest

from tests.support.loop.devices import ARM_CENTRE
from tests.support.loop.placed_arm import PlacedArm, Vector

X, Y, Z = ARM_CENTRE
NO_BOUND = 2000.0  # N/m, all that a contact may ask for


def felt(rig: PlacedArm, stiffness: float, depth: float = 0.002) -> float:
    """The stiffness (N/m) that a resting hand feels of a floor."""
    rig.go((X, Y, Z + 0.005), 0.05)
    rig.writer.begin()
    rig.writer.contact_plane((0.0, 0.0, Z), (0.0, 0.0, 1.0), stiffness, 0.0)
    assert rig.writer.publish()
    rig.go((X, Y, Z - depth), 0.2, held=[rig.writer])
    force: Vector = rig.stay(0.1, held=[rig.writer])
    return force[2] / depth


@pytest.mark.parametrize(("frequency", "mass"), [(300.0, 0.02), (300.0, 0.2), (1000.0, 0.02)])
def test_floor_is_rendered_as_stiff_as_the_device_is_said_to_bear_and_no_stiffer(frequency: float, mass: float) -> None:
    rig = PlacedArm(frequency=frequency, mass=mass)
    bounds = rig.reader.rendering_bounds(mass)
    assert bounds.stiffness < NO_BOUND

    assert felt(rig, 0.9 * bounds.stiffness) == pytest.approx(0.9 * bounds.stiffness, rel=1e-6)
    assert felt(rig, NO_BOUND) == pytest.approx(bounds.stiffness, rel=1e-6)


def test_bounds_are_those_of_rate_and_mass() -> None:
    rig = PlacedArm(frequency=1000.0)
    bounds = rig.reader.rendering_bounds(0.2)

    # A tick answers to the sample that came one period before.
    assert bounds.position_lag == pytest.approx(2.5e-3)
    assert bounds.velocity_lag == pytest.approx(2.5e-3 + 1 / (2 * math.pi * 100))
    assert bounds.damping == pytest.approx(0.4 * 0.5 * math.pi * 0.2 / bounds.velocity_lag)
    assert bounds.stiffness_damping == pytest.approx(bounds.damping / 2)
    assert bounds.stiffness == pytest.approx(0.4 * bounds.damping / 4 / bounds.position_lag)


def test_old_samples_lower_the_bounds_at_once() -> None:
    rig = PlacedArm(frequency=1000.0)
    before = rig.reader.rendering_bounds(0.2)

    rig.runtime.step(6)

    after = rig.reader.rendering_bounds(0.2)
    assert after.position_lag == pytest.approx(before.position_lag + 6e-3)
    assert after.stiffness < before.stiffness / 4


def test_device_that_has_not_ticked_bears_nothing() -> None:
    rig = PlacedArm()
    fresh = rig.runtime.reader(rig.runtime.lease_device("other"))

    assert fresh.rendering_bounds(0.2) == (0, 0, 0, 0, 0)
    assert rig.reader.rendering_bounds(0.0)[:3] == (0, 0, 0)
