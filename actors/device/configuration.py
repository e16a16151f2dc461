"""Apply a request to a device-wide configuration. Pure; the DeviceActor stores and publishes it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from actors.kit.errors import InvalidInput
from actors.values.coefficients import kept
from actors.values.kinds.nouns import takers_of

if TYPE_CHECKING:
    from actors.device.messages import ConfigureDevice, DeviceRecord, DeviceWide

HANDS: Final = ("left", "right")
# Fields of ConfigureDevice whose area of `config` has another name.
AREA_OF: Final = {"gravity_scale": "gravity_compensation"}
MOST_GRAVITY: Final = 1.5


def changed(record: DeviceRecord, change: ConfigureDevice) -> DeviceWide:
    """Return the configuration after the change, all of it or none; InvalidInput, FirmwareTooOld."""
    sent = change.sent()
    for name in sent:
        area = AREA_OF.get(name, name)
        if not record.kind.spec.has(area):
            raise InvalidInput(f"{record.kind.with_article} has no {name}: send it to {takers_of(area)}.")
    if change.handedness is not None and change.handedness not in HANDS:
        raise InvalidInput("handedness is left or right")
    if change.gravity_scale is not None and not 0 <= change.gravity_scale <= MOST_GRAVITY:
        raise InvalidInput(f"the scaling factor of the gravity compensation is 0 to {MOST_GRAVITY:g}")
    if change.home_return is not None:
        record.require("home_return")
    wide = replace(record.wide, **sent)
    return replace(wide, gravity_scale=kept(wide.gravity_scale))
