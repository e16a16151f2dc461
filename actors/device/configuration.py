"""What one request makes of a device's configuration for all sessions, as a rule; the DeviceActor remembers and publishes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from actors.kit.errors import InvalidInput
from actors.values.coefficients import kept

if TYPE_CHECKING:
    from actors.device.messages import ConfigureDevice, DeviceRecord, DeviceWide

HANDS: Final = ("left", "right")
MOST_GRAVITY: Final = 1.5


def changed(record: DeviceRecord, change: ConfigureDevice) -> DeviceWide:
    """The configuration after the change, which is made whole or not at all; InvalidInput, FirmwareTooOld."""
    sent = change.sent()
    if sent and not record.kind.moves:
        raise InvalidInput(f"a {record.kind} has no {next(iter(sent))}: send it to an arm or a compact.")
    if change.handedness is not None and change.handedness not in HANDS:
        raise InvalidInput("handedness is left or right")
    if change.gravity_scale is not None and not 0 <= change.gravity_scale <= MOST_GRAVITY:
        raise InvalidInput(f"the scaling factor of the gravity compensation is 0 to {MOST_GRAVITY:g}")
    if change.home_return is not None:
        record.require("home_return")
    wide = replace(record.wide, **sent)
    return replace(wide, gravity_scale=kept(wide.gravity_scale))
