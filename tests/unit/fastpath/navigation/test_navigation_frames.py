"""Frames of a navigating session are in application space; frames of other sessions do not change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fastpath.navigation.values import Bubble
from fastpath.text.encoder import FrameEncoder, FrameEntry
from tests.support.loop.devices import CURSOR_STATE
from tests.support.loop.driven_arm import CENTRE, SETTLED_S, DrivenArm, X, navigating_arm


def entry(rig: DrivenArm, *, mine: bool = True, **options: bool) -> Any:
    """The arm in a frame of its own, as the session sees it or in device space."""
    one = FrameEntry("049D", CURSOR_STATE, rig.reader, rig.writer if mine else None)
    return json.loads(FrameEncoder(None, [("arm", [one])], version=31, **options).encode())["arm"][0]


def vector(of: dict[str, float]) -> tuple[float, float, float]:
    return of["x"], of["y"], of["z"]


def test_cursor_is_shown_with_the_navigation_offset() -> None:
    rig = navigating_arm(0.03)
    rig.step(rig.ticks(SETTLED_S))
    mine, device = entry(rig)["state"], entry(rig, mine=False)["state"]
    offset = vector(mine["navigation"]["transform"]["position"])

    assert offset == pytest.approx(rig.navigation_after().offset, rel=1e-6)
    assert vector(mine["cursor_position"]) == pytest.approx(
        [cursor + way for cursor, way in zip(vector(device["cursor_position"]), offset, strict=True)], rel=1e-6
    )
    assert vector(mine["transform_velocity"]["position"]) == pytest.approx((0.5, 0, 0), rel=1e-3, abs=1e-9)
    assert mine["navigation"]["bubble"]["zone"] in {"velocity", "wall"}
    assert mine["transform"] == {}
    assert "navigation" not in device


def test_held_position_is_shown_as_commanded() -> None:
    rig = navigating_arm(0.02)
    rig.step(rig.ticks(SETTLED_S))
    wanted = CENTRE + 0.1 * X
    rig.writer.begin()
    rig.writer.position(*(float(part) for part in wanted))
    rig.writer.publish()
    rig.step(1)
    assert vector(entry(rig)["state"]["current_cursor_position"]) == pytest.approx(wanted, abs=5e-5)


def test_frame_shows_the_bubble_before_the_loop_applies_it() -> None:
    rig = DrivenArm()
    rig.writer.set_navigation(Bubble(), (0.0, -0.12, 0.135))
    rig.writer.set_mount((1.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    shown = entry(rig)
    assert shown["status"]["navigation"] == {"mode": "bubble"}
    assert shown["state"]["navigation"] == {
        "bubble": {
            "center": {"x": 1, "y": -0.12, "z": 0.135},
            "velocity_zone_width": 0.03,
            "collision_extra_inflate": 0,
            "zone": "dead",
        },
        "transform": {},
    }


def test_velocity_is_empty_at_rest() -> None:
    rig = navigating_arm(0.03)
    rig.step(rig.ticks(SETTLED_S))
    rig.move_to(CENTRE)
    rig.move_to(CENTRE)
    rig.step(rig.ticks(2))
    assert entry(rig)["state"]["transform_velocity"] == {}
    explicit = entry(rig, explicit_fields=True)["state"]
    assert explicit["transform_velocity"]["position"] == {"x": 0, "y": 0, "z": 0}
    assert set(explicit["navigation"]["transform"]) == {"position", "rotation", "scale"}


def test_disabled_navigation_restores_the_frame_byte_for_byte() -> None:
    rig = DrivenArm()
    before = entry(rig)
    rig.navigate(Bubble())
    rig.navigate(None)
    assert entry(rig) == before
