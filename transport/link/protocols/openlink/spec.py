"""Ids of boards that the open link driver recognises and leaves alone. Its settings are those of the detection of serial ports."""

from __future__ import annotations

from typing import Final

from actors.values.hardware import Transport
from transport.link.driver_spec import CLOSED, UnsupportedId

# A home-made board with the same parts has the same USB numbers.
ASSIGN: Final = "if it is a board that speaks the open link protocol, name its port in devices/detection/serial_ports"
TEENSY: Final = f"recognised as a force-feedback arm by the numbers of its Teensy, {CLOSED}; {ASSIGN}"
ZEPHYR: Final = f"recognised as the receiver of a wireless grip by the numbers of its Zephyr, {CLOSED}; {ASSIGN}"

UNSUPPORTED: Final = (
    UnsupportedId(0x16C0, 0x0483, Transport.SERIAL, TEENSY),
    UnsupportedId(0x2FE3, 0x0100, Transport.SERIAL, ZEPHYR),
)
