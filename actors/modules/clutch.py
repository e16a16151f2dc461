"""Module `clutch`: scale or freeze the motion of the scene cursor while the device moves on.

x_e = a + r (x - a), with a the device's position when the ratio r was set, in the device frame. On release (r - 1)(x - a),
rotated and scaled by the view, is added to the workspace's position, so that the application's cursor does not jump.
Forces are unchanged at every ratio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from actors.kit.errors import InvalidInput
from actors.modules.module import Part, Place, WordTable
from actors.values.kinds.nouns import all_of

if TYPE_CHECKING:
    from actors.modules.module import Device, ModuleInput, Session

RELEASED: Final = 1.0


class _Clutches(Part):
    """One session's clutch ratios, of the devices that are not released."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._ratios: dict[str, float] = {}

    def take(self, place: Place, word: str, value: object, device: Device | None) -> None:
        """Set the ratio; first add the offset of the last one to the workspace. The same ratio changes nothing."""
        del place, word
        if device is not None:
            self._set(device, cast("float", value))

    def state(self, device: Device) -> Mapping[str, object]:
        """Return the ratio, and the cursor's offset from that of a released clutch (m, application space)."""
        if not device.has_cursor:
            return {}
        offset = device.writer.clutch_offset(device.reader)
        return {"clutch": {"ratio": device.writer.clutch, "offset": dict(zip("xyz", offset, strict=True))}}

    def close(self) -> None:
        """Release every device."""
        for device_id in tuple(self._ratios):
            device = self._session.devices.get(device_id)
            if device is not None:
                self._set(device, RELEASED)
        self._ratios.clear()

    def _set(self, device: Device, ratio: float) -> None:
        if device.writer.clutch == ratio:
            return
        x, y, z = device.writer.set_clutch(ratio, device.reader)
        px, py, pz = device.workspace.position
        device.place(replace(device.workspace, position=(px + x, py + y, pz + z)))
        if ratio == RELEASED:
            self._ratios.pop(device.device_id, None)
        else:
            self._ratios[device.device_id] = ratio


class Clutch:
    """`configure.clutch` `{"ratio"}`: 1 released, 0.5 half the motion, 0 frozen; `state.clutch` shows it."""

    name = "clutch"
    setting = "features/clutch/enabled"
    words = WordTable(configure=("clutch",), state=("clutch",))

    def read(self, sent: ModuleInput) -> float:
        """Return the ratio, 0 to 1."""
        if sent.kind is None or not sent.kind.has_cursor:
            raise InvalidInput(f"only {all_of(lambda spec: spec.has_cursor)} have a clutch", sent.path)
        sent.fields("ratio")
        return sent.number("ratio", 0, 1)

    def open(self, session: Session) -> Part:
        """Start with every device released."""
        return _Clutches(session)
