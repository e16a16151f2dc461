"""Test devices and message builders for the tests of the message parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from actors.device.messages import DeviceWide
from actors.values.identity import Kind
from actors.values.spatial import Transform
from transport.wire import commands
from transport.wire.parsed_message import ParsedMessage
from transport.wire.vocabulary import NEUTRAL, Vocabulary


@dataclass(frozen=True, slots=True)
class Device:
    """A device that is read about."""

    device_id: str
    kind: Kind = Kind.ARM
    accepts: bool = True
    refusal: str = "settling or calibrating: commands are taken once the device is ready"
    preset: str = "defaults"
    mount: Transform = field(default_factory=Transform)
    wide: DeviceWide = field(default_factory=DeviceWide)
    name: str = ""
    paired_with: str | None = None

    @property
    def has_motors(self) -> bool:
        return self.kind.has_motors

    @property
    def has_cursor(self) -> bool:
        return self.kind.has_cursor


EMPTY: dict[str, Any] = {}

DEVICES = {
    device.device_id: device
    for device in (
        Device("049D"),
        Device("04EA", Kind.COMPACT),
        Device("05E7", accepts=False),
        Device("1605", Kind.GRIP, accepts=False),
        Device("1700", Kind.PEN, accepts=False),
    )
}


def read(message: object, vocabulary: Vocabulary = NEUTRAL) -> ParsedMessage:
    """A message, read; text and bytes are taken as they are."""
    data = message if isinstance(message, (str, bytes)) else orjson.dumps(message)
    return commands.read(data, DEVICES, vocabulary)


def arm(*, device_id: object = "049D", **parts: Any) -> dict[str, Any]:
    """A message with one entry in group `arm`."""
    return {"arm": [{"device_id": device_id, **parts}]}


def commanded(**bodies: Any) -> dict[str, Any]:
    """A message with commands for the arm."""
    return arm(commands=bodies)


def xyz(x: object, y: object, z: object) -> dict[str, object]:
    """A vector."""
    return {"x": x, "y": y, "z": z}


def joints(a0: object, a1: object, a2: object) -> dict[str, object]:
    """Numbers of joints."""
    return {"a0": a0, "a1": a1, "a2": a2}
