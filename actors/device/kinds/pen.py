"""The pen."""

from __future__ import annotations

from typing import Final

from actors.device.kinds.base import KindData
from actors.values.identity import Connection, Firmware, Kind
from fastpath.layout.constants import DeviceKind

PEN: Final = KindData(
    kind=Kind.PEN,
    number=DeviceKind.KIND_PEN,
    connection=Connection.SIMULATED,
    firmware=Firmware(1, 4),
    hardware_version=1,
    settles=False,
)
