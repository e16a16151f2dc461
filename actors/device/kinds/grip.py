"""The hand grip, wired or wireless."""

from __future__ import annotations

from typing import Final

from actors.device.kinds.base import KindData
from actors.values.identity import Connection, Firmware, Kind
from fastpath.layout.constants import DeviceKind

GRIP: Final = KindData(
    kind=Kind.GRIP,
    number=DeviceKind.KIND_GRIP,
    connection=Connection.WIRELESS,
    firmware=Firmware(1, 4),
    hardware_version=1,
    settles=False,
)
