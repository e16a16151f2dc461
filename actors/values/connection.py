"""Connection: the enumeration of how a device is connected."""

from __future__ import annotations

from enum import StrEnum


class Connection(StrEnum):
    """How a device is connected; simulated grips also use WIRED or WIRELESS."""

    SERIAL = "serial"
    USB = "usb"
    SIMULATED = "simulated"
    WIRED = "wired"
    WIRELESS = "wireless"
