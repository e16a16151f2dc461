"""Frames of a session as a service sends them, for tests without one."""

from __future__ import annotations

import json
from typing import Any

from hapticd_client.core.address import Address
from hapticd_client.core.session import Session
from hapticd_client.core.wire import Wire
from hapticd_client.core.words import Words
from hapticd_client.device import Device
from hapticd_client.transports.blocking_http import BlockingHttp

HTTP = BlockingHttp(Address("localhost", 1), None, 1.0)


def arm(device_id: str = "049D", *, config: bool = True, kind: str = "arm", z: float | None = 0.1) -> dict[str, Any]:
    """An entry of an arm."""
    state = {
        "cursor_position": {"x": 0, "y": -0.12, "z": z},
        "cursor_velocity": {"x": 0, "y": 0, "z": 0},
        "current_cursor_force": {"x": 0, "y": 0, "z": 0.5},
        "angular_position": {"a0": 1, "a1": 2, "a2": 3},
        "body_orientation": {"w": 1, "x": 0, "y": 0, "z": 0},
        "control_mode": "force",
        "transform": {},
    }
    entry: dict[str, Any] = {"device_id": device_id, "state": state, "status": {"ready": True, "calibrated": True}}
    return {**entry, "config": {"type": kind, "preset": "defaults", "damping": {"scalar": 2}}} if config else entry


def frame(*arms: dict[str, Any], group: str = "arm", **more: Any) -> bytes:
    """A frame v3.1."""
    groups: dict[str, Any] = {"arm": [], "compact": [], "grip": [], "pen": []} if group == "arm" else {}
    return json.dumps({"session_id": 7, **groups, group: list(arms), **more}).encode()


def opened(*payloads: bytes, words: Words = "auto", strict: bool = True) -> tuple[Session[Device], Wire[Device]]:
    """A session that has taken its first frame."""
    session = Session(lambda kind, name: Device(kind, name, HTTP), strict=strict)
    wire = Wire(session, words)
    for payload in payloads or (frame(arm()),):
        wire.take(payload)
    session.opened(session.session_id, "cafe")
    return session, wire
