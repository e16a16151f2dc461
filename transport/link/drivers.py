"""Registry of drivers: every driver of the service is one row, in the order in which the scanner asks them.

A port that two drivers list belongs to the first of them. A new driver is a folder in `transport/link/protocols`, a factory and a row.
The catalogue of settings reads this at every start, before a driver is wanted: a factory imports its driver when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from transport.link.driver_spec import DriverSpec
from transport.link.protocols.falcon import spec as falcon
from transport.link.protocols.hapi import spec as hapi
from transport.link.protocols.openlink import spec as openlink
from transport.link.protocols.unsupported import spec as unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actors.settings.api import Setting
    from transport.link.driver_spec import Driver, DriverContext


def make_hapi(context: DriverContext) -> Driver:
    """Return the driver of the ports that `devices/hapi/ports` names."""
    from transport.link.protocols.hapi.driver import HapiDriver

    return HapiDriver(context.runtime, context.settings, context.failsafe)


def make_openlink(context: DriverContext) -> Driver:
    """Return the driver of boards that speak the open link protocol."""
    from transport.link.protocols.openlink.driver import OpenlinkDriver
    from transport.link.serial_ports import SerialPorts

    return OpenlinkDriver(context.runtime, SerialPorts(context.settings, context.unsupported), context.failsafe)


def make_falcon(context: DriverContext) -> Driver:
    """Return the driver of all Falcons on the USB bus."""
    from transport.link.protocols.falcon.driver import FalconDriver

    return FalconDriver(context.runtime, context.settings, context.usb_bus)


def make_spacemouse(context: DriverContext) -> Driver:
    """Return the driver of all SpaceMouses among the HID devices."""
    from transport.link.protocols.spacemouse.driver import SpaceMouseDriver

    return SpaceMouseDriver(context.runtime)


def make_unsupported(context: DriverContext) -> Driver:
    """Return the driver that lists the unsupported USB devices of all drivers."""
    from transport.link.protocols.unsupported.driver import UnsupportedDriver

    return UnsupportedDriver(context.usb_bus, context.unsupported)


DRIVERS: Final[tuple[DriverSpec, ...]] = (
    DriverSpec("hapi", make_hapi, settings=hapi.SETTINGS),
    DriverSpec("openlink", make_openlink, unsupported=openlink.UNSUPPORTED),
    DriverSpec("falcon", make_falcon, settings=falcon.SETTINGS),
    DriverSpec("spacemouse", make_spacemouse),
    DriverSpec("unsupported", make_unsupported, unsupported=unsupported.UNSUPPORTED),
)


def driver_settings(drivers: Iterable[DriverSpec] = DRIVERS) -> tuple[Setting, ...]:
    """Return the settings rows of all drivers, sorted by the driver's name."""
    return tuple(row for driver in sorted(drivers, key=lambda driver: driver.name) for row in driver.settings)
