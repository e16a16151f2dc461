"""Registry row of the example tilt sensor driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from actors.settings.api import texts
from actors.values.hardware import Transport
from transport.link.driver_spec import DriverSpec, UnsupportedId

if TYPE_CHECKING:
    from transport.link.driver_spec import Driver, DriverContext

PORTS: Final = "devices/tilt/ports"


def make(context: DriverContext) -> Driver:
    """Return the driver of the ports that `devices/tilt/ports` names."""
    from tests.toy_driver.driver import TiltDriver

    return TiltDriver(context.runtime, context.settings)


TILT: Final = DriverSpec(
    "tilt",
    make,
    settings=(texts(PORTS, (), "Ports with a tilt sensor, by base name or path."),),
    unsupported=(UnsupportedId(0x1209, 0xFFFE, Transport.SERIAL, "recognised as a tilt sensor of the closed series"),),
)
