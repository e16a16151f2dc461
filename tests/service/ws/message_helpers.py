"""Builders of session messages and readers of frames, for the tests of the session channel."""

from __future__ import annotations

from typing import Any

from tests.support.service.in_process_service import InProcessService

ARM, GRIP = "A001", "B001"
NEUTRAL = ["arm", "compact", "grip", "pen"]
INVERSE = ["inverse3", "verse_grip", "wireless_verse_grip", "custom_verse_grip"]
XZY = {"axes": (0, 2, 1), "signs": (1, 1, -1)}
EMPTY: dict[str, Any] = {}
UP: dict[str, Any] = {"set_cursor_force": {"vector": {"x": 0, "y": 0, "z": 1}}}


def arm(**parts: Any) -> dict[str, Any]:
    """A message about the arm."""
    return {"arm": [{"device_id": ARM, **parts}]}


def xyz(x: float, y: float, z: float) -> dict[str, float]:
    return {"x": x, "y": y, "z": z}


def numbers(value: dict[str, float]) -> list[float]:
    return [value[key] for key in "xyz"]


def state(frame: Any) -> Any:
    return frame["arm"][0]["state"]


def force(frame: Any) -> list[float]:
    return numbers(state(frame)["current_cursor_force"])


def paths(frame: Any) -> list[str]:
    return [error["path"] for error in frame.get("errors", [])]


def metric(service: InProcessService, name: str, **labels: str) -> float:
    return service.system.metrics.registry.get_sample_value(name, labels) or 0.0
