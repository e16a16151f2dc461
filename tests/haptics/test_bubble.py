"""Bubble navigation on the real loop: speeds, forces, zones, contact and drift; the scene cursor never jumps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fastpath.navigation.values import ZONES, Bubble, BubbleShape, Navigated
from tests.support.loop.devices import force_of
from tests.support.loop.driven_arm import (
    CENTRE,
    RADIUS_M,
    SETTLED_S,
    Array,
    DrivenArm,
    X,
    navigating_arm,
    point_outside,
)

QUARTER_Z = (0.7071067811865476, 0.0, 0.0, 0.7071067811865476)


def speed_of(rig: DrivenArm, seconds: float = 0.25) -> Array:
    """m/s at which N goes on, once it has settled."""
    before = np.array(rig.navigation_after(rig.ticks(SETTLED_S)).offset)
    way: Array = np.array(rig.navigation_after(rig.ticks(seconds)).offset) - before
    return way / seconds


@pytest.mark.parametrize(("metres", "speed"), [(0.01, 0.0185), (0.02, 0.148), (0.03, 0.5), (0.06, 0.5)])
def test_scene_speed_grows_with_the_distance_outside(metres: float, speed: float) -> None:
    rig = navigating_arm(metres)
    assert speed_of(rig) == pytest.approx(speed * X, rel=0.01, abs=1e-12)
    assert rig.navigation_after().rate == pytest.approx(speed * X, rel=0.01, abs=1e-12)


@pytest.mark.parametrize(("exponent", "speed"), [(1, 0.25), (2, 0.125), (3, 0.0625)])
def test_scene_speed_half_way_out_follows_the_exponent(exponent: float, speed: float) -> None:
    assert speed_of(navigating_arm(0.015, Bubble(exponent=exponent))) == pytest.approx(speed * X, rel=0.01, abs=1e-12)


def test_scene_speed_is_reached_within_the_smoothing_time() -> None:
    rig = navigating_arm(0.03)
    rate = np.array(rig.navigation_after(rig.ticks(0.05)).rate)
    assert rate == pytest.approx(0.5 * (1 - np.exp(-1)) * X, rel=0.01, abs=1e-12)


def test_a_workspace_turns_and_scales_how_the_scene_moves() -> None:
    rig = navigating_arm(0.02)
    rig.writer.set_workspace((1.0, 2.0, 3.0), QUARTER_Z, (2.0, 1.0, 1.0))
    rig.writer.publish(refresh=False)
    assert speed_of(rig) == pytest.approx((0, 2 * 0.148148, 0), rel=0.01, abs=1e-9)


def test_inside_the_bubble_the_scene_rests_and_damping_is_light() -> None:
    rig = DrivenArm()
    rig.navigate(Bubble())
    rig.navigation_after(rig.ticks(SETTLED_S))
    place = CENTRE.copy()
    for _ in range(rig.ticks(0.1)):
        place = place + 0.1 / rig.frequency * X
        rig.move_to(place)

    assert rig.navigation_after() == rig.navigation_after()._replace(
        offset=(0, 0, 0), rate=(0, 0, 0), zone=ZONES.index("dead")
    )
    assert force_of(rig.reader.snapshot()) == pytest.approx(-0.5 * 0.1 * X, abs=1e-4)


# ---------------------------------------------------------------- forces


@pytest.mark.parametrize(("metres", "newtons"), [(0.01, 0.8), (0.03, 2.4), (0.04, 2.4 + 6.0)])
def test_shell_has_a_spring_and_its_outer_edge_a_wall(metres: float, newtons: float) -> None:
    rig = navigating_arm(metres)
    assert force_of(rig.step(rig.ticks(SETTLED_S))) == pytest.approx(-newtons * X, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_bubble_forces_ramp_in_over_half_a_second(share: float) -> None:
    rig = navigating_arm(0.02)
    assert force_of(rig.step(rig.ticks(0.5 * share))) == pytest.approx(-1.6 * share * X, rel=1e-3, abs=1e-9)


def test_moved_bubble_ramps_its_forces_again_and_keeps_the_offset() -> None:
    rig = navigating_arm(0.02)
    travelled = rig.navigation_after(rig.ticks(SETTLED_S)).offset
    x, y, z = point_outside(-0.02) - RADIUS_M * X
    rig.navigate(Bubble(position=(float(x), float(y), float(z))))

    state = rig.step(1)

    assert np.linalg.norm(force_of(state)) < 0.01
    assert rig.navigation_after().centre == pytest.approx((x, y, z))
    assert rig.navigation_after().offset[0] >= travelled[0] > 0.01


def test_damping_acts_outwards_only() -> None:
    def force_at(speed: float) -> float:
        rig = navigating_arm(0.015)
        rig.step(rig.ticks(SETTLED_S))
        place = point_outside(0.015)
        for _ in range(rig.ticks(0.05)):
            place = place + speed / rig.frequency * X
            rig.move_to(place)
        spring = 80 * float((place - point_outside(0)) @ X)
        return -float(force_of(rig.reader.snapshot())[0]) - spring

    assert force_at(0.1) == pytest.approx(0.2, abs=1e-3)
    assert force_at(-0.1) == pytest.approx(0, abs=1e-6)


# ---------------------------------------------------------------- zones


def tremor(rig: DrivenArm, seconds: float) -> int:
    """How often the zone changes while a hand trembles at the surface: 0.3 mm at 10 Hz and 0.1 mm of noise."""
    random = np.random.default_rng(3)
    zones = []
    for tick in range(rig.ticks(seconds)):
        away = 0.0003 * np.sin(2 * np.pi * 10 * tick / rig.frequency) + random.normal(0, 0.0001)
        shown = rig.move_to(point_outside(away))
        assert shown is not None
        zones.append(shown.zone)
    return int(np.count_nonzero(np.diff(zones)))


@pytest.mark.promise(16, "A hand that trembles at the surface changes no zone")
def test_tremor_at_the_surface_never_changes_the_zone() -> None:
    assert tremor(navigating_arm(-0.005, frequency=1000), 10) == 0


def test_tremor_without_hysteresis_changes_the_zone() -> None:
    assert tremor(navigating_arm(-0.005, Bubble(hysteresis=0.0), frequency=1000), 1) > 50


@pytest.mark.promise(16, "zones change one hysteresis past their border")
def test_zones_are_entered_and_left_one_hysteresis_past_their_borders() -> None:
    rig = navigating_arm(-0.01)
    changes: list[tuple[str, float]] = []
    before = 0
    way = np.concatenate([np.linspace(-0.01, 0.04, 501), np.linspace(0.04, -0.01, 501)])
    for metres in way:
        shown = rig.move_to(point_outside(metres))
        assert shown is not None
        if shown.zone != before:
            changes.append((ZONES[shown.zone], round(float(metres), 4)))
        before = shown.zone

    assert [zone for zone, _ in changes] == ["velocity", "wall", "velocity", "dead"]
    assert [metres for _, metres in changes] == pytest.approx([0.001, 0.031, 0.029, -0.001], abs=2.1e-4)


# ---------------------------------------------------------------- the scene cursor


def jumps(rig: DrivenArm, way: Array) -> tuple[float, float, set[int]]:
    """Largest part of a scene cursor's step that neither hand nor N's rate explains; N's step out of the bubble; zones."""
    last, unexplained, changing = rig.navigation_after(1), 0.0, 0.0
    zones = {last.zone}
    for place in way:
        shown = rig.move_to(place)
        assert shown is not None
        hand = np.array(shown.position) - last.position
        scene = np.array(shown.offset) + shown.position - np.array(last.offset) - last.position
        unexplained = max(unexplained, float(np.linalg.norm(scene - hand - np.array(shown.rate) / rig.frequency)))
        if shown.zone > last.zone and not any(last.offset):
            changing = float(np.linalg.norm(shown.offset))
        zones.add(shown.zone)
        last = shown
    return unexplained, changing, zones


def test_the_scene_cursor_does_not_jump_where_the_bubble_is_left_and_entered() -> None:
    rig = navigating_arm(-0.02)
    way = np.array([point_outside(0.02 * np.sin(angle)) for angle in np.linspace(-1.5, 20, 4000)])
    unexplained, changing, zones = jumps(rig, way)
    assert zones == {0, 1}
    assert unexplained <= 1e-9
    assert 0 < changing <= 1e-9


def test_scene_speed_is_continuous() -> None:
    rig = navigating_arm(-0.02)
    rates = []
    for angle in np.linspace(-1.5, 20, 4000):
        shown = rig.move_to(point_outside(0.05 * np.sin(angle)))
        assert shown is not None
        rates.append(shown.rate)
    assert np.max(np.abs(np.diff(rates, axis=0))) <= 0.5 * (1 - np.exp(-1 / (0.05 * rig.frequency))) + 1e-9


def test_direction_turns_slowly_at_an_edge_of_the_shape() -> None:
    half = 0.04
    rig = DrivenArm(list(CENTRE + np.array((half + 0.02, half - 0.001, 0))))
    shape = BubbleShape("box", (("b", (half, half, half)),))
    rig.navigate(Bubble(shape=shape, smoothing=0.0, exponent=1.0))
    before = np.array(rig.navigation_after(rig.ticks(SETTLED_S)).rate)
    most = 0.0
    for aside in np.linspace(0, 0.08, 40):
        shown = rig.move_to(CENTRE + np.array((half + 0.02 - aside, half - 0.001 + 2 * aside, 0)))
        assert shown is not None
        now = np.array(shown.rate)
        cosine = now @ before / np.linalg.norm(now) / np.linalg.norm(before)
        most = max(most, float(np.arccos(min(1.0, cosine))))
        before = now
    assert 0.01 < most <= 87 / rig.frequency + 1e-9


# ---------------------------------------------------------------- contact


def pressed(rig: DrivenArm, newtons: float, seconds: float) -> Navigated:
    """What navigation has come to after the scene has pushed back for so long."""
    for _ in range(rig.ticks(seconds) // 100):
        rig.writer.begin()
        rig.writer.force(-newtons, 0, 0)
        assert rig.writer.publish()
        rig.step(100)
    return rig.navigation_after()


def test_contact_slows_the_scene_and_stops_it() -> None:
    rig = navigating_arm(0.03)
    for newtons, share in [(0.4, 1.0), (1.0, 0.5), (1.5, 0.25), (2.5, 0.0), (0.4, 0.8), (0.2, 1.0), (0.4, 1.0)]:
        rate = pressed(rig, newtons, SETTLED_S).rate
        assert rate == pytest.approx(0.5 * share * X, abs=1e-4)


def test_contact_can_be_ignored() -> None:
    assert pressed(navigating_arm(0.03, Bubble(collides=False)), 2.5, SETTLED_S).rate == pytest.approx(
        0.5 * X, abs=1e-4
    )


def test_contact_inflates_the_bubble_smoothly() -> None:
    rig = navigating_arm(0.005, Bubble(extra_inflate=0.02))
    rig.step(rig.ticks(SETTLED_S))
    assert pressed(rig, 1.0, 0.025).inflated == pytest.approx(0.02 * (1 - np.exp(-0.5)), rel=0.02)
    shown = pressed(rig, 1.0, SETTLED_S)
    assert shown.inflated == pytest.approx(0.02, rel=1e-3)
    assert shown.zone == ZONES.index("dead")
    assert pressed(rig, 0.0, SETTLED_S).inflated == pytest.approx(0, abs=1e-6)


# ---------------------------------------------------------------- drift

DRIFTING = Bubble(drifts=True)


def circling(rig: DrivenArm, radius: float, speed: float, seconds: float) -> Array:
    """Where the centre goes while the hand circles about where it was, m."""
    before = np.array(rig.navigation_after(1).centre)
    start = np.arctan2(*(rig.place - before)[[1, 0]])
    for tick in range(1, rig.ticks(seconds) + 1):
        angle = start + speed / radius * tick / rig.frequency
        rig.move_to(before + radius * np.array((np.cos(angle), np.sin(angle), 0)))
    way: Array = np.array(rig.navigation_after().centre) - before
    return way


def test_bubble_centre_drifts_after_a_moving_hand() -> None:
    rig = DrivenArm(list(CENTRE + 0.04 * X))
    rig.navigate(DRIFTING)
    rig.navigation_after(1)
    place = CENTRE + 0.04 * X
    for _ in range(rig.ticks(0.05)):
        place = place + 0.1 / rig.frequency * np.array((0, 1.0, 0))
        rig.move_to(place)
    before = np.array(rig.navigation_after().centre)
    rig.move_to(place + 0.1 / rig.frequency * np.array((0, 1.0, 0)))
    towards = np.array(rig.navigation_after().position) - before
    speed = (np.array(rig.navigation_after().centre) - before) * rig.frequency

    assert speed == pytest.approx(1.5 * 0.1 * towards, rel=0.01, abs=1e-5)
    assert np.linalg.norm(speed) / 0.1 == pytest.approx(0.06, abs=0.005)


def test_drift_speed_is_at_most_a_share_of_the_hand_speed() -> None:
    rig = DrivenArm(list(CENTRE + 0.04 * X))
    rig.navigate(replace(DRIFTING, drift_gain=100.0))
    assert np.linalg.norm(circling(rig, 0.04, 0.1, 0.02)) <= 0.12 * 0.1 * 0.02 * 1.01


def test_centre_does_not_drift_at_rest() -> None:
    rig = DrivenArm(list(CENTRE + 0.04 * X))
    rig.navigate(DRIFTING)
    before = rig.navigation_after(1).centre
    assert rig.navigation_after(rig.ticks(1)).centre == before


def test_the_scene_cursor_does_not_jump_while_the_centre_drifts() -> None:
    rig = DrivenArm(list(CENTRE + 0.03 * X))
    rig.navigate(DRIFTING)
    way = np.array([CENTRE + 0.03 * np.array((np.cos(a), np.sin(a), 0)) for a in np.linspace(0, 5, 2000)])
    unexplained, _, zones = jumps(rig, way)
    assert zones == {0}
    assert unexplained <= 1e-9
    assert rig.navigation_after().offset == (0, 0, 0)
    assert rig.navigation_after().centre != pytest.approx(CENTRE, abs=1e-4)


# ---------------------------------------------------------------- mounts


@pytest.mark.parametrize("scale", [30.0, 1000.0])
def test_bubble_under_a_mount_that_enlarges_is_as_stiff_as_at_most_without_it(scale: float) -> None:
    """Without the bound its springs would be multiplied by the scale; 1,000 N/m and 2,000 N/m of the wall are the most at scale 1."""
    away = 0.02
    rig = DrivenArm(list(CENTRE + away * X))
    rig.writer.set_mount((0, 0, 0), (1, 0, 0, 0), (scale, scale, scale))
    rig.navigate(Bubble())
    rig.navigation_after(rig.ticks(2 * SETTLED_S))

    pull = -float(force_of(rig.reader.snapshot())[0])

    assert 0 < pull <= 3000 * away
