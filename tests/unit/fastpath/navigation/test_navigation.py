"""Navigation of sessions: which session's counts, what starts and stops it, positions converted back through it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fastpath.navigation.values import Bubble, BubbleShape
from tests.support.loop.devices import force_of
from tests.support.loop.driven_arm import CENTRE, SETTLED_S, DrivenArm, X, navigating_arm, point_outside


def travelled(rig: DrivenArm) -> float:
    """M along x that N has come."""
    return rig.navigation_after(rig.ticks(SETTLED_S)).offset[0]


def test_disabled_navigation_shows_nothing_and_has_no_force() -> None:
    rig = DrivenArm(list(point_outside(0.03)))
    assert force_of(rig.step(100)) == (0, 0, 0)
    assert rig.reader.navigated(rig.writer) is None


def test_disabling_navigation_ends_it_at_once() -> None:
    rig = navigating_arm(0.03)
    travelled(rig)
    rig.navigate(None)
    assert rig.reader.navigated(rig.writer) is None
    assert force_of(rig.step(1)) == (0, 0, 0)


def test_enabled_navigation_is_hidden_until_the_loop_applies_it() -> None:
    rig = navigating_arm(0.03)
    assert rig.reader.navigated(rig.writer) is None
    assert rig.navigation_after(1).offset == pytest.approx((0, 0, 0), abs=1e-6)


def test_enabling_again_starts_at_zero() -> None:
    rig = navigating_arm(0.03)
    assert travelled(rig) > 0.1
    rig.navigate(None)
    rig.navigate(Bubble())
    assert rig.navigation_after(1).offset == pytest.approx((0, 0, 0), abs=1e-6)


def test_changed_parameters_keep_the_offset() -> None:
    rig = navigating_arm(0.03)
    there = travelled(rig)
    rig.navigate(Bubble(max_speed=0.1))
    assert rig.navigation_after(1).offset[0] >= there


def test_sessions_navigate_independently() -> None:
    rig = navigating_arm(0.03)
    other = rig.other("2")
    rig.navigate(Bubble(max_speed=0.1, collides=False), other)
    first, second = rig.navigation_after(rig.ticks(SETTLED_S)), rig.reader.navigated(other)
    assert second is not None
    assert second.offset[0] == pytest.approx(first.offset[0] / 5, rel=1e-9)
    assert force_of(rig.reader.snapshot()) == pytest.approx(-2 * 2.4 * X, rel=1e-6, abs=1e-9)


def test_closed_session_ends_its_bubble() -> None:
    rig = navigating_arm(0.03)
    rig.step(rig.ticks(SETTLED_S))
    rig.writer.revoke()
    assert force_of(rig.step(1)) == (0, 0, 0)


def test_next_session_in_the_slot_starts_at_zero() -> None:
    rig = navigating_arm(0.03)
    travelled(rig)
    rig.writer.revoke()
    rig.runtime.release_session(rig.session)
    rig.step(1)
    session = rig.runtime.lease_session("next")
    assert session.slot == rig.session.slot
    rig.writer = rig.runtime.writer(session, rig.device)
    rig.navigate(Bubble())
    assert rig.navigation_after(1).offset == pytest.approx((0, 0, 0), abs=1e-6)


def test_stopped_device_neither_pushes_nor_navigates() -> None:
    rig = navigating_arm(0.03)
    travelled(rig)
    rig.runtime.stop_device(rig.device, True)
    assert force_of(rig.step(1)) == (0, 0, 0)
    there = rig.navigation_after(rig.ticks(1)).offset
    assert rig.navigation_after(rig.ticks(1)).offset == pytest.approx(there, abs=1e-9)

    rig.runtime.stop_device(rig.device, False)
    assert np.linalg.norm(force_of(rig.step(10))) < 0.1
    assert force_of(rig.step(rig.ticks(SETTLED_S))) == pytest.approx(-2.4 * X, rel=1e-6, abs=1e-9)


def test_missing_beat_stops_navigation() -> None:
    rig = navigating_arm(0.03)
    travelled(rig)
    rig.step(rig.ticks(1), beat=False)
    assert force_of(rig.reader.snapshot()) == (0, 0, 0)
    assert rig.navigation_after().rate == pytest.approx((0, 0, 0), abs=1e-4)


def test_session_scaled_to_zero_has_no_springs() -> None:
    rig = navigating_arm(0.03)
    rig.writer.set_duck(0)
    rig.writer.publish(refresh=False)
    assert force_of(rig.step(rig.ticks(SETTLED_S))) == pytest.approx((0, 0, 0), abs=1e-9)


def test_held_position_is_converted_back_through_navigation() -> None:
    rig = navigating_arm(0.03)
    there = np.array(rig.navigation_after(rig.ticks(SETTLED_S)).offset)
    wanted = there + CENTRE
    rig.writer.begin()
    rig.writer.position(*(float(part) for part in wanted))
    rig.writer.publish()
    assert rig.step(1)["target"] == pytest.approx(CENTRE, abs=1e-12)
    moved = np.array(rig.navigation_after().offset) - there
    assert rig.step(1)["target"] == pytest.approx(CENTRE - moved, abs=1e-12)
    assert moved[0] > 0


def test_default_bubble_is_centred_on_the_reach_for_any_mount() -> None:
    rig = DrivenArm()
    rig.navigate(Bubble())
    assert rig.navigation_after(1).centre == pytest.approx(CENTRE)
    rig.writer.set_basis((1, 2, 0), (1, 1, 1))
    rig.writer.set_mount((1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (2.0, 2.0, 2.0))
    rig.writer.publish(refresh=False)
    assert rig.navigation_after(1).centre == pytest.approx((1 + 2 * CENTRE[1], 2 * CENTRE[2], 2 * CENTRE[0]))
    assert rig.navigation_after().zone == 0


def test_bubble_forces_are_turned_and_not_scaled() -> None:
    rig = DrivenArm(list(point_outside(0.0)))
    rig.writer.set_basis((1, 2, 0), (1, 1, -1))
    rig.writer.set_mount((0.0, 0.0, 0.0), (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0), (1.2, 1.2, 1.2))
    rig.navigate(Bubble())
    assert force_of(rig.step(rig.ticks(SETTLED_S))) == pytest.approx(-80 * 0.01 * X, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    "bubble",
    [
        Bubble(zone_width=0.0),
        Bubble(full_stop=0.0),
        Bubble(stiffness=math.nan),
        Bubble(max_speed=-1.0),
        Bubble(position=(0.0, math.inf, 0.0)),
        Bubble(shape=BubbleShape("sphere", (("r", math.nan),))),
    ],
)
def test_invalid_bubble_is_refused_and_the_last_one_stays(bubble: Bubble) -> None:
    rig = navigating_arm(0.03)
    there = travelled(rig)
    with pytest.raises(ValueError, match=r"\w"):
        rig.writer.set_navigation(bubble)
    assert rig.writer.publish(refresh=False)
    assert rig.navigation_after(1).offset[0] >= there


def test_every_shape_runs_in_the_loop() -> None:
    rig = navigating_arm(0.03)
    for shape in (
        BubbleShape("ellipsoid", (("a", (0.02, 0.03, 0.04)),)),
        BubbleShape("torus", (("r1", 0.03), ("r2", 0.01))),
        BubbleShape("plane", (("n", (1.0, 0.0, 0.0)), ("h", -0.01))),
        BubbleShape("capped_cone", (("a", (0.0, 0.0, 0.0)), ("b", (0.0, 0.0, 0.05)), ("r1", 0.03), ("r2", 0.01))),
    ):
        rig.navigate(replace(Bubble(), shape=shape))
        rig.step(rig.ticks(SETTLED_S))
        assert rig.navigation_after().rate[0] > 0.4
        assert force_of(rig.reader.snapshot())[0] < -1
