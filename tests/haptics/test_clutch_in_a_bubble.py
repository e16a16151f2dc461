"""Clutch and bubble together on the real loop: the scene cursor never jumps, whatever is changed meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from fastpath.navigation.values import Bubble
from tests.support.loop.driven_arm import CENTRE, Array, DrivenArm, X, point_outside

RATIOS = (0.5, 0.0, 0.25, 1.0)


def cursor(rig: DrivenArm) -> Array:
    """Where the scene has it (m): workspace, what the clutch has come to, what was travelled, and the device."""
    shown = rig.reader.navigated(rig.writer)
    assert shown is not None
    place: Array = (
        np.array(rig.writer.workspace[0]) + rig.writer.clutch_offset(rig.reader) + shown.offset + shown.position
    )
    return place


def clutch(rig: DrivenArm, ratio: float) -> None:
    """As the edge does it: what the ratio before has come to is folded into the workspace, in the same publish."""
    shift = rig.writer.set_clutch(ratio, rig.reader)
    position, rotation, scale = rig.writer.workspace
    rig.writer.set_workspace(tuple(np.array(position) + shift), rotation, scale)
    assert rig.writer.publish(refresh=False)


def worst_jump(rig: DrivenArm, way: Array, change_every: int) -> tuple[float, float, set[int]]:
    """Largest step of the cursor that hand times ratio and the scene's speed do not explain; largest where the ratio changes; zones."""
    unexplained, folded, ratio = 0.0, 0.0, 1.0
    zones: set[int] = set()
    last = rig.navigation_after(1)
    for tick, place in enumerate(way):
        before = cursor(rig)
        if tick % change_every == 0:
            ratio = RATIOS[tick // change_every % len(RATIOS)]
            clutch(rig, ratio)
            folded = max(folded, float(np.linalg.norm(cursor(rig) - before)))
        shown = rig.move_to(place)
        assert shown is not None
        hand = ratio * (np.array(shown.position) - last.position)
        explained = hand + np.array(shown.rate) / rig.frequency
        unexplained = max(unexplained, float(np.linalg.norm(cursor(rig) - before - explained)))
        zones.add(shown.zone)
        last = shown
    return unexplained, folded, zones


@pytest.mark.parametrize("change_every", [37, 250])
def test_the_cursor_does_not_jump_where_the_bubble_is_left_and_entered_with_a_clutch_on(change_every: int) -> None:
    rig = DrivenArm(list(point_outside(-0.02)))
    rig.navigate(Bubble())
    way = np.array([point_outside(0.04 * np.sin(angle)) for angle in np.linspace(-0.5, 13, 2000)])

    unexplained, folded, zones = worst_jump(rig, way, change_every)

    assert zones == {0, 1, 2}
    assert np.linalg.norm(rig.navigation_after().offset) > 1e-3
    assert unexplained <= 1e-9
    assert folded <= 1e-9


def test_the_cursor_does_not_jump_while_the_centre_drifts_with_a_clutch_on() -> None:
    rig = DrivenArm(list(CENTRE + 0.03 * X))
    rig.navigate(Bubble(drifts=True))
    way = np.array([CENTRE + 0.03 * np.array((np.cos(a), np.sin(a), 0)) for a in np.linspace(0, 5, 1000)])

    unexplained, folded, zones = worst_jump(rig, way, 90)

    assert zones == {0}
    assert rig.navigation_after().centre != pytest.approx(CENTRE, abs=1e-4)
    assert unexplained <= 1e-9
    assert folded <= 1e-9
