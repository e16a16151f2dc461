"""Choose the id of a real device and build its DeviceIdentity. Pure functions."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from actors.device.messages import DeviceIdentity

if TYPE_CHECKING:
    from collections.abc import Container

    from actors.values.hardware import FoundDevice

# Needs no escaping in a path segment, a settings key or a frame.
GOOD_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,8}")


def own_id(found: FoundDevice, taken: Container[str]) -> str:
    """Return the device's reported id, or four hex digits of its uuid if that id is invalid or taken."""
    if GOOD_ID.fullmatch(found.device_id) and found.device_id not in taken:
        return found.device_id
    said = f"{found.kind} {found.uuid} {found.device_id}"
    digits = hashlib.blake2b(said.encode(), digest_size=32).hexdigest().upper()
    made = (digits[at : at + 4] for at in range(0, len(digits), 4))
    return next(one for one in made if one not in taken)


def identity_of(found: FoundDevice, port: str, device_id: str, number: int) -> DeviceIdentity:
    """Return the identity of the device on that port; without a reported reach it has its kind's."""
    return DeviceIdentity(
        device_id=device_id,
        kind=found.kind,
        connection=found.connection,
        port=port,
        simulated=False,
        firmware=found.firmware,
        hardware_version=found.hardware_version,
        uuid=found.uuid,
        number=number,
        reach=found.reach or found.kind.spec.reach,
        found=found,
    )
