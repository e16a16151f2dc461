"""Registry row and ids of USB devices that are recognised and not supported. Names as in the USB id lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from actors.values.hardware import Transport
from transport.link.driver_spec import CLOSED, DriverSpec, UnsupportedId

if TYPE_CHECKING:
    from transport.link.driver_spec import Driver, DriverContext


def make(context: DriverContext) -> Driver:
    """Return the driver that lists the unsupported USB devices of all drivers."""
    from transport.link.protocols.unsupported.driver import UnsupportedDriver

    return UnsupportedDriver(context.usb_bus, context.unsupported)


UNSUPPORTED: Final = DriverSpec(
    "unsupported",
    make,
    unsupported=(
        UnsupportedId(0x1451, None, Transport.USB, f"recognised as a Force Dimension device, {CLOSED}"),
        UnsupportedId(0x2988, None, Transport.USB, f"recognised as a 3D Systems device, {CLOSED}"),
    ),
)
