"""Fields without a surface: constant, spring and damper; how they come in, change and leave."""

from __future__ import annotations

import numpy as np
import pytest

from fastpath.scene.values import Field
from tests.support.loop.scenes import Scened, X, Y, Z, field

CENTRE = (X, Y, Z)
HEAVY = 5.0


def spring(stiffness: float = 100.0, **more: object) -> Field:
    return field("spring", **{"centre": CENTRE, "stiffness": stiffness, **more})  # type: ignore[arg-type]


def settled(scene: dict[str, Field], place: tuple[float, float, float]) -> tuple[float, float, float]:
    """The force of a scene some time after the cursor came to a place."""
    rig = Scened(scene, mass=HEAVY)
    rig.go(place, 0.2)
    return rig.stay(0.2)


def test_constant_is_its_force() -> None:
    assert settled({"up": field("constant", force=(0.5, -1.0, 2.0))}, CENTRE) == pytest.approx((0.5, -1.0, 2.0))


def test_spring_pulls_to_its_centre_on_its_axes() -> None:
    place = (X + 0.01, Y - 0.02, Z + 0.03)
    assert settled({"s": spring()}, place) == pytest.approx((-1.0, 2.0, -3.0))
    # A channel: free along z.
    assert settled({"s": spring(axes=("x", "y"))}, place) == pytest.approx((-1.0, 2.0, 0.0))
    assert settled({"s": spring(axes=("y",))}, place) == pytest.approx((0.0, 2.0, 0.0))


def test_spring_has_a_dead_zone_and_a_largest_force() -> None:
    assert settled({"s": spring(dead_zone=0.01)}, (X + 0.009, Y, Z)) == (0, 0, 0)
    assert settled({"s": spring(dead_zone=0.01)}, (X + 0.03, Y, Z)) == pytest.approx((-2.0, 0, 0))
    assert settled({"s": spring(largest=1.5)}, (X + 0.03, Y, Z)) == pytest.approx((-1.5, 0, 0))


def test_attraction_ends_at_its_range() -> None:
    pull = field("attract", centre=CENTRE, range=0.05, stiffness=100.0, largest=3.0)

    for way, force in ((0.01, -1.0), (0.03, -3.0), (0.039, -3.0), (0.045, -1.5), (0.051, 0.0)):
        assert settled({"pull": pull}, (X + way, Y, Z)) == pytest.approx((force, 0, 0), rel=1e-3, abs=1e-9)
    # One axis: towards a plane.
    plane = field("attract", centre=CENTRE, range=0.05, stiffness=100.0, axes=("z",))
    assert settled({"pull": plane}, (X + 0.06, Y, Z + 0.01)) == pytest.approx((0, 0, -1.0), abs=1e-9)


@pytest.mark.parametrize(
    ("damping", "force"),
    [(2.0, (-0.2, -0.4, 0.6)), ((2.0, 0.0, 4.0), (-0.2, 0.0, 1.2))],
)
def test_damper_resists_motion(damping: float | tuple[float, float, float], force: tuple[float, float, float]) -> None:
    rig = Scened({"d": field("damper", damping=damping)}, mass=HEAVY)
    rig.stay(0.2)
    forces = rig.go((X + 0.02, Y + 0.04, Z - 0.06), 0.2)
    assert forces[-1] == pytest.approx(force, rel=0.01, abs=1e-6)
    assert rig.stay(0.1) == pytest.approx((0, 0, 0), abs=1e-3)


def test_curl_field_turns_the_hand_and_does_no_work() -> None:
    curl = field("damper", matrix=(0.0, 5.0, 0.0, -5.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    rig = Scened({"curl": curl}, mass=HEAVY)
    rig.stay(0.2)
    forces = rig.go((X + 0.02, Y, Z), 0.2)
    # Beside it goes the plain damping that its lag takes away: 0.03 N.s/m here.
    assert forces[-1] == pytest.approx((0, 0.5, 0), rel=0.01, abs=0.005)


def test_new_fields_come_in_within_a_tenth_of_a_second() -> None:
    rig = Scened(mass=HEAVY)
    rig.go((X + 0.05, Y, Z), 0.1)
    rig.describe({"s": spring()})
    forces = [rig.at(rig.place)[0] for _ in range(round(0.12 * rig.frequency))]

    assert forces[0] == pytest.approx(-5.0 / 400, rel=0.02)
    assert forces[199] == pytest.approx(-2.5, rel=0.02)
    assert forces[-1] == pytest.approx(-5.0)


def test_changes_at_a_low_rate_draw_a_smooth_force() -> None:
    rig = Scened({"s": spring()}, mass=HEAVY)
    rig.stay(0.2)
    forces = []
    # 20 Hz: the centre moves at 0.1 m/s.
    for number in range(1, 21):
        rig.describe({"s": spring(centre=(X + 0.005 * number, Y, Z))})
        forces += [rig.at(rig.place)[0] for _ in range(round(0.05 * rig.frequency))]
    steps = np.diff(forces[round(0.1 * rig.frequency) :])
    # 10 N/s: no tick changes it by more than twice its part.
    assert steps.max() < 2 * 10 / rig.frequency
    assert forces[-1] == pytest.approx(100 * 0.1, rel=0.01)


def test_removed_field_leaves_at_the_slew_rate_at_most() -> None:
    rig = Scened({"up": field("constant", force=(0.0, 0.0, 6.0))}, mass=HEAVY)
    rig.stay(0.2)
    rig.describe({})
    forces = [rig.at(rig.place)[2] for _ in range(20)]

    assert np.abs(np.diff([6.0, *forces])).max() <= 3000 / rig.frequency + 1e-9
    assert forces[-1] == 0


def test_a_changed_field_keeps_its_place_and_the_others_do_not_notice() -> None:
    rig = Scened({"a": spring(), "b": field("constant", force=(0.0, 1.0, 0.0))}, mass=HEAVY)
    rig.go((X + 0.01, Y, Z), 0.2)
    rig.stay(0.2)
    rig.describe({"a": spring()})
    rig.describe({"b": field("constant", force=(0.0, 1.0, 0.0)), "a": spring()})
    # b is a new one: it comes in again, while a has stayed.
    force = rig.at(rig.place)
    assert force[0] == pytest.approx(-1.0)
    assert force[1] < 1.0
