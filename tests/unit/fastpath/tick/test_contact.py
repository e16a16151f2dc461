"""A contact that the loop renders: its law, its life as a command, and that only the hand's own motion loads it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastpath.arena.access import Writer
from fastpath.layout.constants import ControlMode
from fastpath.navigation.values import Bubble
from fastpath.space.spatial_py import transform_point
from tests.support.loop.devices import ARM_CENTRE
from tests.support.loop.placed_arm import PlacedArm, Vector

X, Y, Z = ARM_CENTRE
FLOOR = (0.0, 0.0, Z)
UP = (0.0, 0.0, 1.0)
OUTSIDE = (X, Y, Z + 0.005)
NOTHING = (0.0, 0.0, 0.0)
TURN = (math.cos(0.4), 0.0, math.sin(0.4), 0.0)
IDENTITY = (1.0, 0.0, 0.0, 0.0)
ONES = (1.0, 1.0, 1.0)


def below(depth: float) -> Vector:
    """The place so deep (m) below the floor."""
    return (X, Y, Z - depth)


def floor(
    writer: Writer,
    stiffness: float = 500.0,
    damping: float = 2.0,
    *,
    point: Vector = FLOOR,
    normal: Vector = UP,
) -> Writer:
    """Command a floor at the height of the arm's centre."""
    writer.begin()
    writer.contact_plane(point, normal, stiffness, damping)
    assert writer.publish()
    return writer


def pressed(rig: PlacedArm, depth: float, *held: Writer) -> Vector:
    """The force some time after the cursor went from outside to a depth."""
    held = held or (rig.writer,)
    rig.go(OUTSIDE, 0.05, held=held)
    rig.go(below(depth), 0.2, held=held)
    return rig.stay(0.1, held=held)


@pytest.mark.parametrize("normal", [UP, (0.0, 0.0, 1e-9), (0.0, 0.0, 1e300)])
def test_plane_pushes_along_its_normal_by_depth(normal: Vector) -> None:
    rig = PlacedArm()
    floor(rig.writer, normal=normal)

    assert pressed(rig, -0.002) == pytest.approx(NOTHING, abs=1e-9)
    assert pressed(rig, 0.004) == pytest.approx((0, 0, 2.0), rel=1e-3)


def test_sphere_pushes_outwards_by_depth_and_is_free_outside() -> None:
    rig = PlacedArm()
    rig.writer.contact_sphere((X, Y, Z - 0.03), 0.03, 500.0, 2.0)

    assert pressed(rig, -0.002) == pytest.approx(NOTHING, abs=1e-9)
    assert pressed(rig, 0.004) == pytest.approx((0, 0, 2.0), rel=1e-3)
    rig.go((X + 0.026, Y, Z - 0.03), 0.3, held=[rig.writer])
    assert rig.stay(0.1, held=[rig.writer]) == pytest.approx((2.0, 0, 0), rel=0.02, abs=0.02)


def test_damper_resists_both_ways_and_never_pulls() -> None:
    rig = PlacedArm()
    floor(rig.writer, 500.0, 20.0)
    held = [rig.writer]
    rig.go(OUTSIDE, 0.1, held=held)
    into = rig.go(below(0.010), 0.1, held=held)
    out = rig.go(OUTSIDE, 0.05, held=held)

    # 0.15 m/s into the floor and 0.3 out of it.
    assert into[-1][2] == pytest.approx(5.0 + 20 * 0.15, rel=0.02)
    assert min(force[2] for force in out) == 0
    assert out[len(out) // 4][2] == 0


def test_force_is_at_most_the_peak() -> None:
    rig = PlacedArm()
    floor(rig.writer, 2000.0, 20.0)

    assert pressed(rig, 0.05) == pytest.approx((0, 0, 10.0))


def test_contact_that_appears_around_the_cursor_pushes_only_once_it_is_pressed_further() -> None:
    rig = PlacedArm()
    rig.go(below(0.010), 0.1)
    floor(rig.writer)

    assert rig.stay(0.2, held=[rig.writer]) == NOTHING
    rig.go(below(0.012), 0.1, held=[rig.writer])
    assert rig.stay(0.1, held=[rig.writer])[2] == pytest.approx(1.0, rel=0.01)
    rig.go(below(0.006), 0.1, held=[rig.writer])
    assert rig.stay(0.1, held=[rig.writer])[2] == 0
    # Once the cursor was outside, the surface is where it was sent.
    assert pressed(rig, 0.004)[2] == pytest.approx(2.0, rel=1e-3)


def test_moving_the_contact_into_the_cursor_does_not_push() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    before = pressed(rig, 0.004)

    seen = []
    for step in range(100):
        floor(rig.writer, point=(0.0, 0.0, Z + 0.001 * step))
        seen.append(rig.stay(0.010)[2])

    assert max(seen) <= before[2] + 1e-9
    assert seen[-1] == pytest.approx(before[2], rel=1e-3)


def test_moving_the_contact_away_releases_at_once() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)

    floor(rig.writer, point=(0.0, 0.0, Z - 0.002))
    assert rig.stay(0.01)[2] == pytest.approx(1.0, rel=1e-3)


def test_growing_stiffness_does_not_push_and_lower_stiffness_acts_at_once() -> None:
    rig = PlacedArm()
    floor(rig.writer, 500.0)
    pressed(rig, 0.004)

    floor(rig.writer, 1500.0)
    assert rig.stay(0.01)[2] == pytest.approx(2.0, rel=1e-3)
    floor(rig.writer, 300.0)
    assert rig.stay(0.01)[2] == pytest.approx(2.0 * 300 / 1500, rel=1e-3)


def test_turning_the_normal_round_takes_the_force_away() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)

    floor(rig.writer, normal=(0.0, 0.0, -1.0), point=(0.0, 0.0, Z - 0.05))
    assert rig.stay(0.03) == NOTHING


@pytest.mark.parametrize("frequency", [1_000.0, 4_000.0, 32_000.0])
def test_contact_fades_in_20_ms_once_its_session_is_silent(frequency: float) -> None:
    rig = PlacedArm(frequency=frequency)
    floor(rig.writer)
    pressed(rig, 0.004)
    rig.writer.publish()

    assert rig.stay(0.049)[2] == pytest.approx(2.0, rel=1e-3)
    assert rig.stay(0.011)[2] == pytest.approx(1.0, rel=0.06)
    assert rig.stay(0.012) == NOTHING
    assert int(rig.reader.snapshot()["mode"]) == ControlMode.MODE_IDLE


def test_contact_that_is_sent_again_after_its_fade_does_not_push() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)
    rig.stay(0.1)

    assert rig.stay(0.1, held=[rig.writer]) == NOTHING


def test_contact_that_is_sent_again_during_its_fade_keeps_the_force_that_is_left() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)
    rig.writer.publish()
    left = rig.stay(0.060)[2]

    assert 0.5 < left < 1.5
    assert rig.stay(0.1, held=[rig.writer])[2] == pytest.approx(left, rel=0.05)


def test_contact_shows_as_a_force_command() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    rig.stay(0.01)

    assert int(rig.reader.snapshot()["mode"]) == ControlMode.MODE_FORCE


def test_omitted_contact_is_released_at_once() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)

    rig.writer.begin()
    rig.writer.publish()
    assert rig.at(rig.place) == NOTHING


def test_closed_session_takes_its_contact_along() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)

    rig.writer.revoke()
    assert rig.at(rig.place) == NOTHING


def test_stop_takes_the_force_away_and_its_end_does_not_push() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)

    assert rig.runtime.stop_device(rig.lease, True)
    assert rig.stay(0.05, held=[rig.writer]) == NOTHING
    assert rig.runtime.stop_device(rig.lease, False)
    assert rig.stay(0.1, held=[rig.writer]) == NOTHING


def test_contacts_of_two_sessions_add() -> None:
    rig = PlacedArm()
    other = rig.other("2")
    floor(rig.writer)
    floor(other, 250.0)

    assert pressed(rig, 0.004, rig.writer, other)[2] == pytest.approx(3.0, rel=1e-3)


def test_contact_and_force_of_one_session_add() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    rig.writer.force(1.0, 0.0, 0.0)

    assert pressed(rig, 0.004) == pytest.approx((1.0, 0, 2.0), rel=1e-3)


def test_duck_gain_scales_the_contact_and_its_end_does_not_push() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)

    rig.writer.set_duck(0.25)
    assert rig.stay(0.1, held=[rig.writer])[2] == pytest.approx(0.5, rel=1e-3)
    rig.writer.set_duck(1)
    assert rig.stay(0.1, held=[rig.writer])[2] == pytest.approx(0.5, rel=1e-3)
    assert pressed(rig, 0.004)[2] == pytest.approx(2.0, rel=1e-3)


def test_dead_man_s_switch_fades_the_contact() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)

    for _ in range(600):
        rig.writer.publish()
        assert rig.cell.put(position=rig.place)
        rig.runtime.step(4, beat=False)
    assert rig.reader.snapshot()["force"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(("mass", "count"), [(0.02, 1), (0.2, 1), (0.2, 4)])
def test_stiffness_is_at_most_what_the_bare_device_bears_together(mass: float, count: int) -> None:
    rig = PlacedArm(mass=mass, frequency=300.0)
    writers = [rig.writer, *(rig.other(str(number)) for number in range(2, count + 1))]
    for writer in writers:
        floor(writer, 2000.0, 20.0)

    felt = pressed(rig, 0.002, *writers)[2] / 0.002

    lag, velocity_lag = 1.5 / 300, 1.5 / 300 + max(1 / (2 * math.pi * 100), 0.5 / 300)
    most = 0.4 * 0.5 * math.pi * mass / velocity_lag
    assert 0.02 * most / lag < felt <= 0.4 * most / 4 / lag * (1 + 1e-6)


def test_force_scale_takes_stiffness_away_that_it_would_add_beyond_what_the_device_bears() -> None:
    one, three = PlacedArm(frequency=300.0), PlacedArm(frequency=300.0, force_scale=3.0)
    floor(one.writer, 2000.0, 20.0)
    floor(three.writer, 2000.0, 20.0)

    assert pressed(three, 0.002)[2] == pytest.approx(pressed(one, 0.002)[2], rel=1e-3)


# ---------------------------------------------------------------- views


def test_plane_is_given_in_the_session_s_space() -> None:
    rig = PlacedArm()
    rig.writer.set_basis((2, 0, 1), (-1, 1, 1))
    rig.writer.set_mount((0.1, 0.2, 0.3), TURN, (2.0, 2.0, 2.0))
    rig.writer.set_workspace((-0.3, 0.1, 0.0), TURN, (1.0, 3.0, 0.5))

    def shown(place: Vector) -> Vector:
        x, y, z = place
        mounted = transform_point(((0.1, 0.2, 0.3), TURN, (2.0, 2.0, 2.0)), (-z, x, y))
        a, b, c = transform_point(((-0.3, 0.1, 0.0), TURN, (1.0, 3.0, 0.5)), mounted)
        return a, b, c

    origin = np.array(shown((X, Y, Z)))
    along = [np.array(shown((X + 0.01, Y, Z))) - origin, np.array(shown((X, Y + 0.01, Z))) - origin]
    normal = np.cross(along[0], along[1])
    if normal @ (np.array(shown((X, Y, Z + 0.01))) - origin) < 0:
        normal = -normal
    x, y, z = origin.tolist()
    rig.writer.contact_plane((x, y, z), tuple(normal.tolist()), 500.0, 2.0)

    assert pressed(rig, -0.001) == pytest.approx(NOTHING, abs=1e-9)
    # N/m at the device, whatever the scales.
    assert pressed(rig, 0.004) == pytest.approx((0, 0, 2.0), rel=1e-3, abs=1e-9)


def test_sphere_is_scaled_with_the_session_s_space() -> None:
    rig = PlacedArm()
    rig.writer.set_workspace(NOTHING, IDENTITY, (10.0, 10.0, 10.0))
    rig.writer.contact_sphere((10 * X, 10 * Y, 10 * (Z - 0.03)), 0.3, 500.0, 2.0)

    assert pressed(rig, 0.004) == pytest.approx((0, 0, 2.0), rel=1e-3)


def test_sphere_is_refused_where_axes_are_scaled_differently() -> None:
    rig = PlacedArm()
    rig.writer.set_workspace(NOTHING, IDENTITY, (1.0, 1.0, 2.0))

    with pytest.raises(ValueError, match="same scale along x, y and z"):
        rig.writer.contact_sphere(NOTHING, 0.1, 500.0, 2.0)
    assert rig.writer.commands == 0


def test_contact_is_refused_while_the_clutch_is_frozen() -> None:
    rig = PlacedArm()
    rig.writer.set_clutch(0.0, rig.reader)

    with pytest.raises(ValueError, match="the clutch is frozen"):
        rig.writer.contact_plane(FLOOR, UP, 500.0, 2.0)


def test_contact_follows_the_workspace_and_does_not_push() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)

    rig.writer.set_workspace((0.0, 0.0, 0.003), IDENTITY, ONES)
    assert rig.stay(0.05, held=[rig.writer])[2] == pytest.approx(0.5, rel=1e-3)
    rig.writer.set_workspace((0.0, 0.0, -0.003), IDENTITY, ONES)
    assert rig.stay(0.05, held=[rig.writer])[2] == pytest.approx(0.5, rel=1e-3)
    assert pressed(rig, 0.004)[2] == pytest.approx(0.5 + 3.0, rel=0.2)


@pytest.mark.parametrize("change", ["basis", "mount", "clutch", "skewed workspace"])
def test_contact_is_released_by_a_change_that_it_does_not_follow(change: str) -> None:
    rig = PlacedArm()
    rig.writer.contact_sphere(FLOOR, 0.03, 500.0, 2.0)
    assert rig.writer.commands != 0

    match change:
        case "basis":
            rig.writer.set_basis((0, 1, 2), (1, 1, 1))
        case "mount":
            rig.writer.set_mount(NOTHING, IDENTITY, ONES)
        case "clutch":
            rig.writer.set_clutch(0.5, rig.reader)
        case _:
            rig.writer.set_workspace(NOTHING, IDENTITY, (1.0, 2.0, 1.0))

    assert rig.writer.commands == 0


def test_contact_travels_with_a_bubble_s_scene_and_does_not_push() -> None:
    rig = PlacedArm()
    floor(rig.writer)
    pressed(rig, 0.004)
    rig.writer.set_navigation(Bubble(stiffness=0.0, wall_stiffness=0.0, damping=0.0, dead_zone_damping=0.0))
    held = [rig.writer]

    rig.go((X + 0.08, Y, Z - 0.004), 1.0, held=held)
    before = rig.stay(0.1, held=held)
    after = rig.stay(1.0, held=held)

    assert after[2] <= before[2] + 1e-6


# ---------------------------------------------------------------- bad values


@pytest.mark.parametrize(
    ("point", "normal", "stiffness", "damping", "because"),
    [
        ((math.nan, 0.0, 0.0), UP, 1.0, 1.0, "finite"),
        ((math.inf, 0.0, 0.0), UP, 1.0, 1.0, "finite"),
        ((1e300, 0.0, 0.0), UP, 1.0, 1.0, "too far"),
        (FLOOR, (0.0, 0.0, math.nan), 1.0, 1.0, "finite"),
        (FLOOR, NOTHING, 1.0, 1.0, "zero"),
        (FLOOR, UP, -1.0, 1.0, "N/m"),
        (FLOOR, UP, 2000.1, 1.0, "N/m"),
        (FLOOR, UP, math.nan, 1.0, "N/m"),
        (FLOOR, UP, 1.0, -1.0, "N.s/m"),
        (FLOOR, UP, 1.0, math.inf, "N.s/m"),
    ],
)
def test_invalid_plane_is_refused_and_releases_the_last_one(
    point: Vector, normal: Vector, stiffness: float, damping: float, because: str
) -> None:
    writer = PlacedArm().writer
    writer.begin()

    with pytest.raises(ValueError, match=because):
        writer.contact_plane(point, normal, stiffness, damping)
    assert writer.commands == 0


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf, 1e300])
def test_invalid_radius_is_refused(radius: float) -> None:
    with pytest.raises(ValueError, match=r"radius|too far"):
        PlacedArm().writer.contact_sphere(FLOOR, radius, 1.0, 1.0)


# ---------------------------------------------------------------- for all of them

PLACES = st.tuples(*[st.floats(-0.02, 0.02)] * 3)
NORMALS = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda n: math.hypot(*n) > 1e-3)
LAWS = st.tuples(st.floats(0, 2000), st.floats(0, 20))
SHAPES = st.one_of(
    st.tuples(st.just("plane"), PLACES, NORMALS, LAWS),
    st.tuples(st.just("sphere"), PLACES, st.floats(1e-3, 0.05), LAWS),
)
STEPS = st.lists(st.tuples(SHAPES, PLACES, st.floats(0.06, 0.2)), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(STEPS, st.sampled_from([300.0, 1_000.0, 4_000.0]))
def test_contact_never_pulls_never_passes_the_peak_and_never_jumps(
    steps: list[tuple[tuple[str, Vector, object, tuple[float, float]], Vector, float]], frequency: float
) -> None:
    rig = PlacedArm(frequency=frequency)
    damping_before = 0.0
    for (shape, at, form, (stiffness, damping)), target, seconds in steps:
        point = (X + at[0], Y + at[1], Z + at[2])
        normal = np.zeros(3)
        rig.writer.begin()
        if shape == "plane":
            assert isinstance(form, tuple)
            normal = np.array(form) / math.hypot(*form)
            rig.writer.contact_plane(point, form, stiffness, damping)
        else:
            assert isinstance(form, float)
            rig.writer.contact_sphere(point, form, stiffness, damping)
        rig.writer.publish()
        last = rig.reader.snapshot()
        before = np.linalg.norm(last["force"])
        held_back = damping_before * np.linalg.norm(last["velocity"])
        # The tick that takes it up, while the hand stands still: the damper's ramp, and what the last damper held back of a spring
        # that the hand had loaded, on its way out of the last surface.
        assert np.linalg.norm(rig.at(rig.place)) <= before + held_back + 500 / frequency + 1e-6
        # The damping that `least_damping` gives a spring: at most twice K tx / 0.4, seen tx = 1.5 periods late.
        damping_before = max(damping, 2 * stiffness * 1.5 / (0.4 * frequency))
        for place, force in rig.way((X + target[0], Y + target[1], Z + target[2]), seconds, held=[rig.writer]):
            now = np.array(force)
            assert np.all(np.isfinite(now))
            assert np.linalg.norm(now) <= 10.0 + 1e-9
            away = normal if shape == "plane" else np.array(place) - np.array(point)
            assert now @ away >= -1e-9
            if shape == "plane":
                assert np.linalg.norm(np.cross(now, away)) <= 1e-9


def test_forces_of_a_slow_press_are_continuous() -> None:
    rig = PlacedArm()
    floor(rig.writer, 2000.0, 20.0)
    rig.go(OUTSIDE, 0.1, held=[rig.writer])

    seen = [force[2] for force in rig.go(below(0.005), 0.2, held=[rig.writer])]

    # 0.05 m/s: 100 N/s of the spring, and the damper's ramp of 500 N/s.
    assert max(now - last for last, now in pairwise(seen)) <= 610 / 4000
