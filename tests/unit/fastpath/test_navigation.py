"""Navigation of sessions: which session's counts, what starts and stops it, positions converted back through it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fastpath.navigation.values import Bubble, BubbleShape
from tests.support.loop.bubbles import CENTRE, SETTLED_S, DrivenRig, X, navigating, outside
from tests.support.loop.devices import force_of


def travelled(rig: DrivenRig) -> float:
    """M along x that N has come."""
    return rig.shown(rig.ticks(SETTLED_S)).offset[0]


def test_off_shows_nothing_and_makes_no_force() -> None:
    rig = DrivenRig(list(outside(0.03)))
    assert force_of(rig.step(100)) == (0, 0, 0)
    assert rig.reader.navigated(rig.writer) is None


def test_switched_off_it_is_over_at_once_and_the_force_at_the_next_tick() -> None:
    rig = navigating(0.03)
    travelled(rig)
    rig.navigate(None)
    assert rig.reader.navigated(rig.writer) is None
    assert force_of(rig.step(1)) == (0, 0, 0)


def test_until_the_loop_has_taken_it_up_nothing_is_shown() -> None:
    rig = navigating(0.03)
    assert rig.reader.navigated(rig.writer) is None
    assert rig.shown(1).offset == pytest.approx((0, 0, 0), abs=1e-6)


def test_switched_on_again_it_starts_at_nought() -> None:
    rig = navigating(0.03)
    assert travelled(rig) > 0.1
    rig.navigate(None)
    rig.navigate(Bubble())
    assert rig.shown(1).offset == pytest.approx((0, 0, 0), abs=1e-6)


def test_other_numbers_keep_what_was_travelled() -> None:
    rig = navigating(0.03)
    there = travelled(rig)
    rig.navigate(Bubble(max_speed=0.1))
    assert rig.shown(1).offset[0] >= there


def test_each_session_travels_by_itself() -> None:
    rig = navigating(0.03)
    other = rig.other("2")
    rig.navigate(Bubble(max_speed=0.1, collides=False), other)
    first, second = rig.shown(rig.ticks(SETTLED_S)), rig.reader.navigated(other)
    assert second is not None
    assert second.offset[0] == pytest.approx(first.offset[0] / 5, rel=1e-9)
    assert force_of(rig.reader.snapshot()) == pytest.approx(-2 * 2.4 * X, rel=1e-6, abs=1e-9)


def test_a_session_that_ends_takes_its_bubble_along() -> None:
    rig = navigating(0.03)
    rig.step(rig.ticks(SETTLED_S))
    rig.writer.revoke()
    assert force_of(rig.step(1)) == (0, 0, 0)


def test_the_next_session_in_the_same_place_starts_at_nought() -> None:
    rig = navigating(0.03)
    travelled(rig)
    rig.writer.revoke()
    rig.runtime.release_session(rig.session)
    rig.step(1)
    session = rig.runtime.lease_session("next")
    assert session.slot == rig.session.slot
    rig.writer = rig.runtime.writer(session, rig.device)
    rig.navigate(Bubble())
    assert rig.shown(1).offset == pytest.approx((0, 0, 0), abs=1e-6)


def test_a_stopped_device_neither_pushes_nor_travels() -> None:
    rig = navigating(0.03)
    travelled(rig)
    rig.runtime.stop_device(rig.device, True)
    assert force_of(rig.step(1)) == (0, 0, 0)
    there = rig.shown(rig.ticks(1)).offset
    assert rig.shown(rig.ticks(1)).offset == pytest.approx(there, abs=1e-9)

    rig.runtime.stop_device(rig.device, False)
    assert np.linalg.norm(force_of(rig.step(10))) < 0.1
    assert force_of(rig.step(rig.ticks(SETTLED_S))) == pytest.approx(-2.4 * X, rel=1e-6, abs=1e-9)


def test_without_the_timekeepers_beat_it_comes_to_rest() -> None:
    rig = navigating(0.03)
    travelled(rig)
    rig.step(rig.ticks(1), beat=False)
    assert force_of(rig.reader.snapshot()) == (0, 0, 0)
    assert rig.shown().rate == pytest.approx((0, 0, 0), abs=1e-4)


def test_a_ducked_session_has_no_springs() -> None:
    rig = navigating(0.03)
    rig.writer.set_duck(0)
    rig.writer.publish(refresh=False)
    assert force_of(rig.step(rig.ticks(SETTLED_S))) == pytest.approx((0, 0, 0), abs=1e-9)


def test_a_held_position_is_taken_back_through_navigation() -> None:
    rig = navigating(0.03)
    there = np.array(rig.shown(rig.ticks(SETTLED_S)).offset)
    wanted = there + CENTRE
    rig.writer.begin()
    rig.writer.position(*(float(part) for part in wanted))
    rig.writer.publish()
    assert rig.step(1)["target"] == pytest.approx(CENTRE, abs=1e-12)
    moved = np.array(rig.shown().offset) - there
    assert rig.step(1)["target"] == pytest.approx(CENTRE - moved, abs=1e-12)
    assert moved[0] > 0


def test_by_default_the_bubble_stands_about_the_reach_centre_wherever_the_mount_puts_that() -> None:
    rig = DrivenRig()
    rig.navigate(Bubble())
    assert rig.shown(1).centre == pytest.approx(CENTRE)
    rig.writer.set_basis((1, 2, 0), (1, 1, 1))
    rig.writer.set_mount((1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (2.0, 2.0, 2.0))
    rig.writer.publish(refresh=False)
    assert rig.shown(1).centre == pytest.approx((1 + 2 * CENTRE[1], 2 * CENTRE[2], 2 * CENTRE[0]))
    assert rig.shown().zone == 0


def test_forces_come_back_from_local_space_turned_and_not_scaled() -> None:
    rig = DrivenRig(list(outside(0.0)))
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
def test_a_bubble_that_the_loop_cannot_work_with_is_refused_and_the_last_one_stays(bubble: Bubble) -> None:
    rig = navigating(0.03)
    there = travelled(rig)
    with pytest.raises(ValueError, match=r"\w"):
        rig.writer.set_navigation(bubble)
    assert rig.writer.publish(refresh=False)
    assert rig.shown(1).offset[0] >= there


def test_every_shape_runs_in_the_loop() -> None:
    rig = navigating(0.03)
    for shape in (
        BubbleShape("ellipsoid", (("a", (0.02, 0.03, 0.04)),)),
        BubbleShape("torus", (("r1", 0.03), ("r2", 0.01))),
        BubbleShape("plane", (("n", (1.0, 0.0, 0.0)), ("h", -0.01))),
        BubbleShape("capped_cone", (("a", (0.0, 0.0, 0.0)), ("b", (0.0, 0.0, 0.05)), ("r1", 0.03), ("r2", 0.01))),
    ):
        rig.navigate(replace(Bubble(), shape=shape))
        rig.step(rig.ticks(SETTLED_S))
        assert rig.shown().rate[0] > 0.4
        assert force_of(rig.reader.snapshot())[0] < -1
