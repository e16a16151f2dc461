"""Promises about workspace presets: which exist, where each puts the origin, which is the default."""

from __future__ import annotations

from typing import Final

import pytest

from actors.values.identity import Kind
from actors.values.spatial import Reach
from tests.promises.conftest import ClientOf
from tests.support.clients.http_client import HttpClient
from tests.support.clients.promise_session import PromiseSession, vector

CENTRES: Final = {"arm": (0, -0.12, 0.135), "compact": (0, -0.085, 0.1)}
MOUNT: Final = {"position": {"x": 0, "y": 0, "z": 0.5}}


def origin(session: PromiseSession, group: str, preset: str) -> tuple[float, ...]:
    """Where the preset puts the origin, m in the device's frame."""
    mount = session.configure(group, preset=preset)["mount"]
    assert set(mount) <= {"position"}
    return tuple((-vector(mount.get("position", {}))).tolist())


def reach(group: str) -> Reach:
    found = Kind(group).spec.reach
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("preset", "group"),
    [
        pytest.param("defaults", "arm", marks=pytest.mark.promise(80)),
        pytest.param("arm_front", "arm", marks=pytest.mark.promise(81)),
        pytest.param("arm_front_centered", "arm", marks=pytest.mark.promise(82)),
        pytest.param("led_front", "arm", marks=pytest.mark.promise(83)),
        pytest.param("led_front_centered", "arm", marks=pytest.mark.promise(84)),
        pytest.param("device_defaults", "arm", marks=pytest.mark.promise(85)),
        pytest.param("compact_zup", "compact", marks=pytest.mark.promise(86)),
        pytest.param("compact_centered", "compact", marks=pytest.mark.promise(87)),
        pytest.param("custom", "arm", marks=pytest.mark.promise(88)),
    ],
)
def test_a_preset_is_taken_by_its_name(session: PromiseSession, http: HttpClient, preset: str, group: str) -> None:
    """A preset is taken by its name, over WebSocket and HTTP"""
    path = f"/{group}/0/config/preset?session={session.id}"

    # `defaults` and `device_defaults` are the same.
    shown = "defaults" if preset == "device_defaults" else preset
    assert session.configure(group, preset=preset)["preset"] in {preset, shown}
    http.delete(path)
    assert http.post(path, {"preset": preset}).data["preset"] in {preset, shown}


@pytest.mark.promise(89)
@pytest.mark.parametrize("preset", ["defaults", "arm_front", "led_front", "device_defaults"])
def test_an_identity_preset_has_an_identity_mount(session: PromiseSession, preset: str) -> None:
    """Identity presets have the identity as their mount."""
    session.configure(mount=MOUNT)

    assert session.configure(preset=preset)["mount"] == {}


@pytest.mark.promise(90)
@pytest.mark.parametrize(
    ("group", "preset"),
    [
        ("arm", "arm_front_centered"),
        ("arm", "led_front_centered"),
        ("compact", "arm_front_centered"),
        ("compact", "compact_centered"),
    ],
)
def test_a_centred_preset_puts_the_origin_at_the_centre(session: PromiseSession, group: str, preset: str) -> None:
    """Centred presets put the origin at the centre of the reach."""
    assert origin(session, group, preset) == pytest.approx(CENTRES[group], abs=1e-7)


@pytest.mark.promise(91)
@pytest.mark.parametrize(("group", "preset"), [("arm", "arm_front_centered"), ("compact", "compact_centered")])
def test_the_centre_is_half_the_reach_without_the_spring_zones(
    session: PromiseSession, group: str, preset: str
) -> None:
    """The centre is half the reachable range of each axis, without the zones of the safety springs."""
    data = reach(group)
    sides = zip(data.low, data.zone_low, data.high, data.zone_high, strict=True)
    half = [((low + low_zone) + (high - high_zone)) / 2 for low, low_zone, high, high_zone in sides]
    assert any(data.zone_low)

    assert origin(session, group, preset) == pytest.approx(half, abs=1e-6)


@pytest.mark.promise(92)
@pytest.mark.parametrize("by_http", [False, True], ids=["WebSocket", "HTTP"])
@pytest.mark.parametrize("version", ["3.0", "3.1"])
def test_freeform_sessions_get_compact_zup(
    session: PromiseSession, client_of: ClientOf, http: HttpClient, version: str, *, by_http: bool
) -> None:
    """`compact_zup` comes by itself for Freeform sessions that have chosen nothing."""
    one, chooser = client_of(version=version), client_of(version=version)
    chooser.configure("compact", preset="compact_centered")
    for each in (one, chooser):
        if by_http:
            assert http.post(f"/sessions/{each.id}/profile", {"name": "My Freeform"}).status == 200
        else:
            each.ask({"session": {"configure": {"profile": {"name": "My Freeform"}}}})

    assert one.config("compact")["preset"] == "compact_zup"
    assert chooser.config("compact")["preset"] == "compact_centered"
    assert one.config("arm")["preset"] == session.config("compact")["preset"] == "defaults"


@pytest.mark.promise(93)
@pytest.mark.parametrize(
    ("group", "preset", "shift_mm"),
    [
        ("arm", "arm_front_centered", (0, 25, 0)),
        ("arm", "led_front_centered", (0, 25, 0)),
        ("compact", "compact_centered", (10, 20, 20)),
    ],
)
def test_the_centred_origins_moved(
    session: PromiseSession, group: str, preset: str, shift_mm: tuple[int, int, int]
) -> None:
    """The origins of the centred presets moved by whole millimetres against 3.5.2, whose centre had the zones in it."""
    before = reach(group).centre_with_zones
    moved = [now - then for now, then in zip(origin(session, group, preset), before, strict=True)]

    assert moved == pytest.approx([part / 1000 for part in shift_mm], abs=1e-6)


@pytest.mark.promise(93)
def test_the_z_up_origin_moved(session: PromiseSession) -> None:
    """The origins of the centred presets moved by whole millimetres against 3.5.2, whose centre had the zones in it."""
    x, y, z = origin(session, "compact", "compact_zup")

    assert (x, y, z) == pytest.approx((0 + 0.02, -0.105 + 0.03, 0.08), abs=1e-6)
