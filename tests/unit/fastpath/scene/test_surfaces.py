"""Surfaces of a scene: depth and direction against the exact shapes, plates and edges, friction, and what of it is shown."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fastpath.scene.values import Field
from tests.support.loop.placed_arm import Vector
from tests.support.loop.scenes import UP, Scened, X, Y, Z, below, field, plane

ABOVE = below(-0.010)
CENTRE = (X, Y, Z)


def pressed(rig: Scened, place: Vector) -> Vector:
    """The force some time after the cursor went from above to a place."""
    rig.go(ABOVE, 0.05)
    rig.go(place, 0.2)
    return rig.stay(0.1)


# Shapes whose top is the floor, at the cursor's resting place.
TOPS = {
    "plane": plane(),
    "sphere": field("sphere", centre=below(0.03), radius=0.03, stiffness=500.0),
    "box": field("box", centre=below(0.02), size=(0.1, 0.1, 0.04), stiffness=500.0),
    "turned box": field(
        "box",
        centre=below(0.02),
        size=(0.04, 0.1, 0.1),
        rotation=(math.cos(math.pi / 4), 0.0, math.sin(math.pi / 4), 0.0),
        stiffness=500.0,
    ),
    "capsule": field("capsule", start=below(0.02, X - 0.05), end=below(0.02, X + 0.05), radius=0.02, stiffness=500.0),
    "cylinder": field("cylinder", start=below(0.04), end=CENTRE, radius=0.05, stiffness=500.0),
    "sphere from inside": field("sphere", centre=below(-0.05), radius=0.05, inside=True, stiffness=500.0),
    "box from inside": field("box", centre=below(-0.05), size=(0.1, 0.1, 0.1), inside=True, stiffness=500.0),
    "cylinder from inside": field("cylinder", start=CENTRE, end=below(-0.1), radius=0.05, inside=True, stiffness=500.0),
    "capsule from inside": field(
        "capsule", start=below(-0.03, X - 0.02), end=below(-0.03, X + 0.02), radius=0.03, inside=True, stiffness=500.0
    ),
}


@pytest.mark.parametrize("top", TOPS.values(), ids=TOPS)
def test_surface_pushes_out_by_depth_and_is_free_before(top: Field) -> None:
    rig = Scened({"top": top})

    assert pressed(rig, below(-0.001)) == (0, 0, 0)
    assert rig.touched().fields == ()
    assert pressed(rig, below(0.004)) == pytest.approx((0, 0, 2.0), abs=2e-3)
    shown = rig.touched()
    assert shown.fields == ("top",)
    assert shown.depth == pytest.approx(0.004, abs=1e-6)
    assert shown.force == pytest.approx((0, 0, 2.0), abs=2e-3)
    assert shown.proxy == pytest.approx(CENTRE, abs=1e-6)


def angle(first: Vector, second: Vector) -> float:
    """The angle between two directions, degrees."""
    cosine = np.dot(first, second) / np.linalg.norm(first) / np.linalg.norm(second)
    return math.degrees(math.acos(min(float(cosine), 1.0)))


@pytest.mark.parametrize("frequency", [1000.0, 4000.0, 32000.0])
def test_force_of_a_sphere_follows_a_hand_that_goes_around_it(frequency: float) -> None:
    rig = Scened({"ball": field("sphere", centre=CENTRE, radius=0.03, stiffness=500.0)}, frequency=frequency, mass=2.0)
    rig.go(below(-0.04), 0.05)
    rig.go(below(-0.027), 0.1)
    for step in range(1, 25):
        turn = math.tau * step / 24
        out = (math.sin(turn), 0.0, math.cos(turn))
        force = rig.go((X + 0.027 * out[0], Y, Z + 0.027 * out[2]), 0.02)[-1]
        assert angle(force, out) < 3
        assert rig.touched().depth == pytest.approx(0.003, abs=1e-4)


def test_corner_from_inside_pushes_along_the_diagonal() -> None:
    rig = Scened({"room": field("box", centre=CENTRE, size=(0.04,) * 3, inside=True, stiffness=500.0)})
    rig.go(CENTRE, 0.05)
    rig.go((X + 0.023, Y + 0.023, Z + 0.023), 0.2)
    assert rig.stay(0.1) == pytest.approx((-1.5, -1.5, -1.5), rel=1e-3)


def test_edge_of_a_box_is_gone_around_with_a_force_that_turns() -> None:
    rig = Scened({"box": field("box", centre=below(0.02), size=(0.04,) * 3, stiffness=500.0)}, mass=2.0)
    rig.go(ABOVE, 0.05)
    rig.go(below(0.002), 0.1)
    # Over the edge: the proxy stays at it while the cursor is still below the top.
    forces = rig.go(below(0.002, X + 0.019), 0.2)
    assert forces[-1] == pytest.approx((0, 0, 1.0), rel=0.05)
    forces = rig.go(below(0.002, X + 0.03), 0.2)
    assert forces[-1] == (0, 0, 0)


@pytest.mark.parametrize("frequency", [1000.0, 4000.0, 32000.0])
@pytest.mark.parametrize("speed", [0.1, 0.5, 2.0])
def test_plate_is_never_passed(frequency: float, speed: float) -> None:
    rig = Scened(
        {"plate": field("box", centre=below(0.001), size=(0.1, 0.1, 0.002), stiffness=500.0)}, frequency=frequency
    )
    rig.go(ABOVE, 0.05)
    forces = rig.go(below(0.03), 0.04 / speed)

    assert forces[-1] == pytest.approx((0, 0, 10.0))
    assert min(force[2] for force in forces) >= 0
    # Around its edge the hand comes out, and is met from the other side.
    rig.go(below(0.03, X + 0.08), 0.5)
    assert rig.stay(0.02) == (0, 0, 0)
    rig.go(below(0.03), 0.3)
    assert rig.stay(0.02) == (0, 0, 0)
    assert rig.go(below(-0.002), 0.3)[-1][2] < -1.0


def test_surface_that_appears_around_the_cursor_pushes_only_once_it_is_pressed_further() -> None:
    rig = Scened()
    rig.go(below(0.010), 0.1)
    rig.describe({"floor": plane()})

    assert rig.stay(0.2) == (0, 0, 0)
    rig.go(below(0.012), 0.1)
    assert rig.stay(0.1)[2] == pytest.approx(1.0, rel=0.01)
    rig.go(below(0.006), 0.1)
    assert rig.stay(0.1)[2] == 0
    assert pressed(rig, below(0.004))[2] == pytest.approx(2.0, rel=1e-3)


def test_moving_a_surface_into_the_cursor_does_not_push_and_away_releases() -> None:
    rig = Scened({"floor": plane()})
    before = pressed(rig, below(0.004))

    for step in range(100):
        rig.describe({"floor": plane(point=(0.0, 0.0, Z + 0.001 * step))})
        assert rig.stay(0.010)[2] <= before[2] + 1e-9
    assert rig.stay(0.010)[2] == pytest.approx(before[2], rel=1e-3)
    rig.describe({"floor": plane(point=(0.0, 0.0, Z - 0.02))})
    assert rig.stay(0.05) == (0, 0, 0)


def test_growing_stiffness_does_not_push_and_lower_stiffness_acts() -> None:
    rig = Scened({"floor": plane(500.0)})
    before = pressed(rig, below(0.004))

    rig.describe({"floor": plane(1500.0)})
    assert rig.stay(0.2)[2] == pytest.approx(before[2], rel=1e-3)
    rig.describe({"floor": plane(100.0)})
    assert rig.stay(0.2)[2] == pytest.approx(before[2] / 15, rel=0.7)


def test_surfaces_together_are_as_stiff_as_the_device_bears() -> None:
    alone = Scened({"a": plane(2000.0)}, frequency=1000.0, mass=0.05)
    both = Scened({"a": plane(2000.0), "b": plane(2000.0)}, frequency=1000.0, mass=0.05)
    depth = 0.002

    assert pressed(alone, below(depth))[2] < 2000 * depth
    assert pressed(both, below(depth))[2] == pytest.approx(pressed(alone, below(depth))[2], rel=0.05)


def rubbed(rig: Scened, way: float) -> Vector:
    """The force after pressing the floor by 4 mm (2 N) and a way along it."""
    pressed(rig, below(0.004))
    rig.go(below(0.004, X + way), 0.2)
    return rig.stay(0.05)


def test_friction_holds_within_its_cone_and_slides_beyond() -> None:
    scene = {"floor": plane(friction=(0.6, 0.4), damping=0.0)}
    held = rubbed(Scened(scene, mass=2.0), 0.002)
    slid = rubbed(Scened(scene, mass=2.0), 0.02)

    # Stuck: a spring of the floor's own stiffness. Slid: the dynamic cone.
    assert held == pytest.approx((-1.0, 0, 2.0), rel=0.05, abs=1e-9)
    assert slid == pytest.approx((-0.8, 0, 2.0), rel=0.05, abs=1e-9)


@pytest.mark.parametrize(("way", "slides"), [(0.95, False), (1.05, True)])
def test_friction_begins_to_slide_at_the_static_cone(way: float, slides: bool) -> None:
    # 2 N and 0.6: the tangential spring of 500 N/m leaves the cone at 2.4 mm.
    force = rubbed(Scened({"floor": plane(friction=(0.6, 0.3), damping=0.0)}, mass=2.0), 0.0024 * way)

    assert -force[0] == pytest.approx(0.6 if slides else 1.2 * way, rel=0.05)


def test_friction_ends_with_the_touch() -> None:
    rig = Scened({"floor": plane(friction=(0.6, 0.4))})
    rubbed(rig, 0.02)
    rig.go(ABOVE, 0.05)
    assert rig.stay(0.02) == (0, 0, 0)
    assert rubbed(rig, 0.0)[0] == pytest.approx(0, abs=0.9)


def test_force_is_at_most_the_peak() -> None:
    rig = Scened({"floor": plane(2000.0, 20.0)})
    assert pressed(rig, below(0.05)) == pytest.approx((0, 0, 10.0))


def test_far_surfaces_are_met_after_any_way() -> None:
    # What is far is looked at again only when the hand's way could have led there.
    rig = Scened(
        {"floor": plane(), "ball": field("sphere", centre=(X + 0.1, Y, Z + 0.05), radius=0.02, stiffness=500.0)}
    )
    for _ in range(3):
        rig.go((X, Y, Z + 0.05), 0.1)
        rig.go((X + 0.083, Y, Z + 0.05), 0.2)
        assert rig.stay(0.05)[0] == pytest.approx(-1.5, rel=0.01)
        rig.go((X, Y, Z + 0.05), 0.2)
        assert pressed(rig, below(0.004))[2] == pytest.approx(2.0, rel=1e-3)


SOLIDS = {
    "plane": plane(1000.0, 0.0),
    "sphere": field("sphere", centre=below(0.03), radius=0.03, stiffness=1000.0),
    "box": field("box", centre=below(0.02), size=(0.1, 0.1, 0.04), stiffness=1000.0),
    "capsule": field("capsule", start=below(0.02, X - 0.05), end=below(0.02, X + 0.05), radius=0.02, stiffness=1000.0),
    "cylinder": field("cylinder", start=below(0.04), end=CENTRE, radius=0.05, stiffness=1000.0),
}


@pytest.mark.parametrize("gap", [1e-6, 2e-5, 1e-3])
@pytest.mark.parametrize("frequency", [300.0, 1000.0, 4000.0])
@pytest.mark.parametrize("solid", SOLIDS.values(), ids=SOLIDS)
def test_way_that_grazes_a_surface_without_touching_it_is_free(solid: Field, frequency: float, gap: float) -> None:
    rig = Scened({"solid": solid}, frequency=frequency)
    rig.go(below(-gap, X - 0.09), 0.5)
    forces = [*rig.go(below(-gap, X + 0.09), 0.18), *rig.go(below(-gap, X - 0.09), 0.09)]

    assert max(np.linalg.norm(force) for force in forces) == 0


@pytest.mark.parametrize("slope", [0.5, 0.1, 0.02])
@pytest.mark.parametrize("frequency", [300.0, 1000.0, 4000.0])
@pytest.mark.parametrize("solid", ["plane", "box", "cylinder"])
def test_hand_that_slides_and_lifts_is_let_go(solid: str, frequency: float, slope: float) -> None:
    rig = Scened({"solid": SOLIDS[solid]}, frequency=frequency, mass=2.0)
    rig.go(below(-0.001, X - 0.04), 0.5)
    rig.go(below(0.001, X - 0.03), 0.1)
    for place, force in rig.way(below(-0.06 * slope, X + 0.03), 0.1):
        assert abs(force[0]) < 1e-6
        # The damper takes of it on the way out.
        assert 0 <= force[2] <= max(1000 * (Z - place[2]), 0) + (0.05 if place[2] < Z else 0)
    assert rig.stay(0.01) == (0, 0, 0)


def test_normal_of_any_length_is_taken() -> None:
    for length in (1e-9, 1e300):
        rig = Scened({"floor": plane(normal=(0.0, 0.0, length))})
        assert pressed(rig, below(0.004))[2] == pytest.approx(2.0, rel=1e-3)
    assert UP == (0.0, 0.0, 1.0)
