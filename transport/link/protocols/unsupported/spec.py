"""Ids of USB devices that are recognised and not supported. Names as in the USB id lists."""

from __future__ import annotations

from typing import Final

from actors.values.hardware import Transport
from transport.link.driver_spec import CLOSED, UnsupportedId

UNSUPPORTED: Final = (
    UnsupportedId(0x1451, None, Transport.USB, f"recognised as a Force Dimension device, {CLOSED}"),
    UnsupportedId(0x2988, None, Transport.USB, f"recognised as a 3D Systems device, {CLOSED}"),
)
