"""Immutable states of a device: what a turn sees of it, whatever transport brought it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from hapticd_client.core.vectors import JOINTS, WXYZ, XYZ, Vector, array
from hapticd_client.errors import ProtocolBroken

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
NO_BUTTONS: Final[Mapping[str, bool]] = MappingProxyType({})


class DeviceState:
    """One device at one moment; keep it for as long as you like, it never changes. Arrays are read-only float64."""

    __slots__ = ()

    @property
    def position(self) -> Vector:
        """Cursor, m, shape (3,): x, y, z."""
        raise NotImplementedError

    @property
    def velocity(self) -> Vector:
        """Velocity of the cursor, m/s, shape (3,)."""
        raise NotImplementedError

    @property
    def force(self) -> Vector:
        """Force that the service's loop applied at the cursor, N, shape (3,)."""
        raise NotImplementedError

    @property
    def angles(self) -> Vector:
        """Joint angles, degrees, shape (3,)."""
        raise NotImplementedError

    @property
    def angular_velocity(self) -> Vector:
        """Joint velocities, degrees/s, shape (3,)."""
        raise NotImplementedError

    @property
    def torques(self) -> Vector:
        """Torques that the loop applied, N·mm, shape (3,)."""
        raise NotImplementedError

    @property
    def orientation(self) -> Vector:
        """Orientation of the body, of a grip or of a pen: a unit quaternion, shape (4,): w, x, y, z."""
        raise NotImplementedError

    @property
    def mode(self) -> str:
        """`idle`, `force` or `position`: of the device, whoever commands it."""
        raise NotImplementedError

    @property
    def hall(self) -> float:
        """Reading of the hall sensor of a grip or pen, raw; 0 where there is none."""
        raise NotImplementedError

    @property
    def buttons(self) -> Mapping[str, bool]:
        """Buttons of a grip or pen by name; empty for an arm."""
        raise NotImplementedError

    @property
    def button(self) -> bool:
        """Whether any button is pressed."""
        return any(self.buttons.values())

    @property
    def ready(self) -> bool:
        """Whether the device has settled and takes commands."""
        raise NotImplementedError

    @property
    def calibrated(self) -> bool:
        """Whether an arm or compact is calibrated."""
        raise NotImplementedError

    @property
    def attached(self) -> bool:
        """Whether a grip or pen is attached to its arm."""
        raise NotImplementedError

    @property
    def raw(self) -> Mapping[str, Any]:
        """`state` of the device's entry in the frame, as docs/wire.md describes it; empty over shared memory."""
        return NOTHING

    @property
    def status(self) -> Mapping[str, Any]:
        """`status` of the device's entry in the frame; empty over shared memory."""
        return NOTHING


class WireState(DeviceState):
    """A device's entry of a frame. Arrays are made when they are first asked for."""

    __slots__ = ("_made", "_state", "_status")

    def __init__(self, entry: Mapping[str, Any]) -> None:
        """`entry` has `state` and `status`; KeyError, TypeError for what is none."""
        state, status = entry["state"], entry["status"]
        if not (isinstance(state, dict) and isinstance(status, dict)):
            raise TypeError("state and status are objects")
        self._state: Mapping[str, Any] = state
        self._status: Mapping[str, Any] = status
        self._made: dict[str, Vector] = {}

    def _vector(self, name: str, labels: tuple[str, ...]) -> Vector:
        made = self._made.get(name)
        if made is None:
            try:
                made = self._made[name] = array(self._state.get(name), labels)
            except (AttributeError, TypeError, ValueError):
                raise ProtocolBroken(
                    f"{name} of a frame has another shape than docs/wire.md says: is this hapticd?"
                ) from None
        return made

    @property
    def position(self) -> Vector:
        """Cursor, m, application space."""
        return self._vector("cursor_position", XYZ)

    @property
    def velocity(self) -> Vector:
        """Velocity of the cursor, m/s."""
        return self._vector("cursor_velocity", XYZ)

    @property
    def force(self) -> Vector:
        """Force that the loop applied, N."""
        return self._vector("current_cursor_force", XYZ)

    @property
    def angles(self) -> Vector:
        """Joint angles, degrees."""
        return self._vector("angular_position", JOINTS)

    @property
    def angular_velocity(self) -> Vector:
        """Joint velocities, degrees/s."""
        return self._vector("angular_velocity", JOINTS)

    @property
    def torques(self) -> Vector:
        """Torques that the loop applied, N·mm."""
        return self._vector("current_angular_torques", JOINTS)

    @property
    def orientation(self) -> Vector:
        """Quaternion w, x, y, z."""
        return self._vector("orientation" if "orientation" in self._state else "body_orientation", WXYZ)

    @property
    def mode(self) -> str:
        """`idle`, `force` or `position`."""
        return str(self._state.get("control_mode", "idle"))

    @property
    def hall(self) -> float:
        """Reading of the hall sensor."""
        found = self._state.get("hall") or 0
        if not isinstance(found, int | float):
            raise ProtocolBroken("hall of a frame is no number: is this hapticd?")
        return float(found)

    @property
    def buttons(self) -> Mapping[str, bool]:
        """Buttons by name."""
        found = self._state.get("buttons")
        return MappingProxyType(found) if isinstance(found, dict) else NO_BUTTONS

    @property
    def ready(self) -> bool:
        """Whether the device takes commands."""
        return self._status.get("ready") is True

    @property
    def calibrated(self) -> bool:
        """Whether it is calibrated."""
        return self._status.get("calibrated") is True

    @property
    def attached(self) -> bool:
        """Whether a grip or pen is attached."""
        return self._status.get("attached") is True

    @property
    def raw(self) -> Mapping[str, Any]:
        """`state` of the entry."""
        return MappingProxyType(dict(self._state))

    @property
    def status(self) -> Mapping[str, Any]:
        """`status` of the entry."""
        return MappingProxyType(dict(self._status))
