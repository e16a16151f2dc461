"""Parse simulation bodies: accepted and refused ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from actors.device.messages import SimulatedSpec
from actors.kit.errors import InvalidInput
from actors.values.identity import Connection, Firmware, Kind
from actors.values.simulation import Fault, HandPath, SimulationChange
from tests.support.actors.doubles import inventory_of
from transport.wire.simulation import change, shown, spec

ARM, GRIP = inventory_of("arm", "grip").devices


def ignored(_path: str, _reason: str) -> None:
    """Unknown keys are another test's matter."""


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"type": "arm"}, SimulatedSpec(Kind.ARM, Connection.SIMULATED)),
        ({"type": "arm", "connection": "simulated"}, SimulatedSpec(Kind.ARM, Connection.SIMULATED)),
        ({"type": "grip"}, SimulatedSpec(Kind.GRIP, Connection.WIRELESS)),
        ({"type": "grip", "connection": "wired"}, SimulatedSpec(Kind.GRIP, Connection.WIRED)),
        ({"type": "verse_grip"}, SimulatedSpec(Kind.GRIP, Connection.WIRED)),
        ({"type": "wireless_verse_grip"}, SimulatedSpec(Kind.GRIP, Connection.WIRELESS)),
        ({"type": "custom_verse_grip"}, SimulatedSpec(Kind.PEN, Connection.SIMULATED)),
        ({"type": "inverse3"}, SimulatedSpec(Kind.ARM, Connection.SIMULATED)),
        (
            {"type": "compact", "firmware": "7.10", "device_id": "04EA"},
            SimulatedSpec(Kind.COMPACT, Connection.SIMULATED, "04EA", Firmware(7, 10)),
        ),
    ],
)
def test_simulated_device_is_parsed(body: Mapping[str, Any], wanted: SimulatedSpec) -> None:
    assert spec(body) == wanted


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"type": "robot"},
        {"type": "arm*"},
        {"type": 3},
        {"type": "arm", "connection": "usb"},
        {"type": "grip", "connection": "serial"},
        {"type": "arm", "firmware": 7.5},
        {"type": "arm", "firmware": "new"},
        {"type": "arm", "device_id": "123456789"},
        {"type": "arm", "device_id": "a/b"},
        {"type": "arm", "device_id": ""},
        {"type": "verse_grip", "connection": "wireless"},
    ],
)
def test_invalid_simulated_device_is_refused(body: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        spec(body)

    assert len(caught.value.sentence) > 10


def test_change_is_parsed_completely() -> None:
    read = change(
        {
            "hand": {"path": "hold", "position": {"x": 0, "y": -0.1, "z": 0.2}, "stiffness": 300},
            "buttons": {"c": True, "a": False},
            "orientation": {"w": 1, "x": 0, "y": 0, "z": 0},
            "attached": False,
            "battery_level": 0.5,
            "awake": True,
            "fault": "throw",
        },
        ignored,
    )

    assert read == SimulationChange(
        path=HandPath.HOLD,
        position=(0, -0.1, 0.2),
        stiffness=300,
        buttons=(("a", False), ("c", True)),
        orientation=(1, 0, 0, 0),
        attached=False,
        battery_level=0.5,
        awake=True,
        fault=Fault.THROW,
    )


def test_null_returns_position_and_orientation_to_the_hand() -> None:
    assert change({"hand": {"position": None}, "orientation": None}, ignored) == SimulationChange(
        centred=True, free=True
    )


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"hand": {}},
        {"hand": 3},
        {"hand": {"path": "square"}},
        {"hand": {"position": {"x": 0, "y": 0}}},
        {"buttons": {}},
        {"buttons": {"a": 1}},
        {"buttons": [True]},
        {"orientation": {"w": 2, "x": 0, "y": 0, "z": 0}},
        {"attached": None},
        {"battery_level": "full"},
        {"awake": "yes"},
        {"fault": "fire"},
        {"fault": None},
        {"unknown": 1},
        {"hand": {"unknown": 1}},
        {"fault": ["none"]},
        {"awake": None},
        {"battery_level": None},
    ],
)
def test_invalid_change_is_refused(body: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        change(body, ignored)

    assert len(caught.value.sentence) > 10


def test_unknown_keys_are_named() -> None:
    named: list[str] = []

    change(
        {"hand": {"path": "rest", "speed": 1}, "buttons": {"a": True, "d": True}}, lambda path, _: named.append(path)
    )

    assert named == ["hand.speed", "buttons.d"]


def test_each_kind_shows_its_simulation_values() -> None:
    arm, grip = shown(ARM, 0.0), shown(GRIP, 0.9)

    assert arm == {
        "device_id": ARM.device_id,
        "hand": {"path": "circle", "position": {"x": 0, "y": -0.12, "z": 0.135}, "stiffness": 150},
        "orientation": None,
        "awake": True,
        "fault": "none",
    }
    assert grip == {
        "device_id": GRIP.device_id,
        "hand": {"path": "circle"},
        "orientation": None,
        "awake": True,
        "fault": "none",
        "buttons": {"a": False, "b": False, "c": False},
        "attached": True,
        "battery_level": 0.9,
    }
