"""Registry row of the SpaceMouse driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from transport.link.driver_spec import DriverSpec

if TYPE_CHECKING:
    from transport.link.driver_spec import Driver, DriverContext


def make(context: DriverContext) -> Driver:
    """Return the driver of all SpaceMouses among the HID devices."""
    from transport.link.protocols.spacemouse.driver import SpaceMouseDriver

    return SpaceMouseDriver(context.runtime)


SPACEMOUSE: Final = DriverSpec("spacemouse", make)
