"""Client of the promise tests: opens one session, finds its devices by group, and waits for values in frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tests.support.clients.raw_websocket import RawWebSocket
from tests.support.service.polling import eventually

FULL: Final[Mapping[str, object]] = {"session": {"force_render_full_state": {}}}
Vector = NDArray[np.float64]


class PromiseSession:
    """A connected client that has read its first frame; `group` means the first device of that group."""

    def __init__(self, peer: RawWebSocket) -> None:
        self.peer = peer
        self.first: Any = peer.frame()
        self.id: int = self.first["session_id"]

    def device_id(self, group: str = "arm") -> str:
        return str(self._entries(self.first, group)[0][0])

    def ask(self, message: Mapping[str, object]) -> Any:
        """The frame that answers a message, without faults."""
        frame = self.peer.ask(message)
        assert "errors" not in frame, frame["errors"]
        return frame

    def message(self, group: str = "arm", **entry: object) -> dict[str, Any]:
        return {group: [{"device_id": self.device_id(group), **entry}]}

    def shown(self, group: str = "arm", **entry: object) -> Any:
        """The device's entry in the frame that answers `entry` for it."""
        return self._of(self.ask(self.message(group, **entry)), group)

    def config(self, group: str = "arm") -> Any:
        """`config` of the device, in a full frame."""
        return self._of(self.ask(FULL), group)["config"]

    def configure(self, group: str = "arm", **keys: object) -> Any:
        """`config` of the device, after that configuration."""
        return self.configured(keys, group)

    def configured(self, keys: Mapping[str, object], group: str = "arm") -> Any:
        """The same, with keys as a map."""
        return self._of(self.ask({**FULL, **self.message(group, configure=keys)}), group)["config"]

    def faults(self, message: Mapping[str, object]) -> dict[str, str]:
        """Return the reasons of the errors by path."""
        return {error["path"]: error["reason"] for error in self.peer.ask(message).get("errors", [])}

    def wait_entry(self, look: Callable[[Any], bool], what: str, group: str = "arm", **entry: object) -> Any:
        """Send `entry` again and again; the device's first entry in a frame that `look` accepts."""

        def once() -> Any:
            shown = self._of(self.peer.ask(self.message(group, **entry)), group)
            return shown if look(shown) else None

        return eventually(once, what, pause_s=0.002)

    def _of(self, frame: Any, group: str) -> Any:
        wanted = self.device_id(group)
        return next(entry for device_id, entry in self._entries(frame, group) if device_id == wanted)

    def _entries(self, frame: Any, group: str) -> list[tuple[str, Any]]:
        entries = frame[group]
        if isinstance(entries, dict):
            return list(entries.items())
        return [(entry["device_id"], entry) for entry in entries]


def vector(fields: Mapping[str, float]) -> Vector:
    """Return x, y, z; 0 for missing ones."""
    return np.array([fields.get(axis, 0) for axis in "xyz"], dtype=float)


def force(x: float = 0, y: float = 0, z: float = 0) -> dict[str, Any]:
    """`commands` with a force, N."""
    return {"set_cursor_force": {"vector": {"x": x, "y": y, "z": z}}}
