"""Devices that are known by their USB numbers and not driven, with the sentence that says why; nothing here ever opens one."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

CLOSED: Final = "no open protocol; the vendor's service drives it"
# A board that somebody built around the same parts has the same numbers.
ASSIGN: Final = "if it is a board that speaks the open link protocol, name its port in devices/detection/serial_ports"

# By vendor and product id; product None: every product of that vendor. Names as the USB id lists have them.
NOT_DRIVEN: Final[Mapping[tuple[int, int | None], str]] = MappingProxyType(
    {
        (0x16C0, 0x0483): f"recognised as a force-feedback arm by the numbers of its Teensy, {CLOSED}; {ASSIGN}",
        (
            0x2FE3,
            0x0100,
        ): f"recognised as the receiver of a wireless grip by the numbers of its Zephyr, {CLOSED}; {ASSIGN}",
        (0x1451, None): f"recognised as a Force Dimension device, {CLOSED}",
        (0x2988, None): f"recognised as a 3D Systems device, {CLOSED}",
    }
)
# Of those, what the operating system shows as a serial port.
SERIAL_IDS: Final = frozenset({(0x16C0, 0x0483), (0x2FE3, 0x0100)})


def not_driven(vendor_id: int | None, product_id: int | None) -> str | None:
    """Why a device with these numbers is not driven; None for every other one."""
    if vendor_id is None:
        return None
    return NOT_DRIVEN.get((vendor_id, product_id)) or NOT_DRIVEN.get((vendor_id, None))
