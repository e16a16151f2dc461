"""Registry row of the hAPI driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from actors.settings.api import pattern, texts
from transport.link.driver_spec import DriverSpec

if TYPE_CHECKING:
    from transport.link.driver_spec import Driver, DriverContext

PORTS: Final = "devices/hapi/ports"
BOARD_AT: Final = pattern(
    r"[^\s=]+=(pantograph|2diy-metal|2diy-plastic)",
    "PORT=MECHANISM such as ttyACM0=2diy-plastic, with a mechanism of pantograph, 2diy-metal, 2diy-plastic",
)


def make(context: DriverContext) -> Driver:
    """Return the driver of the ports that `devices/hapi/ports` names."""
    from transport.link.protocols.hapi.driver import HapiDriver

    return HapiDriver(context.runtime, context.settings, context.failsafe)


HAPI: Final = DriverSpec(
    "hapi",
    make,
    settings=(
        texts(
            PORTS,
            (),
            "Ports with a hAPI board and what is wired to it; such a board says nothing of itself. Port by base name or path.",
            rule=BOARD_AT,
        ),
    ),
)
