"""Registry of drivers: every driver of the service is one row, in the order in which the scanner asks them.

A port that two drivers list belongs to the first of them. A new driver is a folder in `transport/link/protocols` and a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from transport.link.protocols.falcon.spec import FALCON
from transport.link.protocols.hapi.spec import HAPI
from transport.link.protocols.openlink.spec import OPENLINK
from transport.link.protocols.spacemouse.spec import SPACEMOUSE
from transport.link.protocols.unsupported.spec import UNSUPPORTED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actors.settings.api import Setting
    from transport.link.driver_spec import DriverSpec

DRIVERS: Final[tuple[DriverSpec, ...]] = (HAPI, OPENLINK, FALCON, SPACEMOUSE, UNSUPPORTED)


def driver_settings(drivers: Iterable[DriverSpec] = DRIVERS) -> tuple[Setting, ...]:
    """Return the settings rows of all drivers, sorted by the driver's name."""
    return tuple(row for driver in sorted(drivers, key=lambda driver: driver.name) for row in driver.settings)
