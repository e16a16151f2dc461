"""Interface between the service and its drivers: DriverSpec (registry row), DriverContext (input), Driver.

A spec is imported at every start, before the service's own modules: it imports its driver only inside `make`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.port.api import Link, OpenLimits
    from actors.settings.api import Setting, SettingsView
    from actors.values.hardware import Candidate, Transport
    from fastpath.arena.runtime import Runtime
    from fastpath.port.port_thread import Failsafe
    from transport.link.usb_bus import UsbBus

CLOSED: Final = "no open protocol; the vendor's service drives it"


class Driver(Protocol):
    """Lists the candidate ports of one protocol and opens them."""

    @property
    def transport(self) -> Transport:
        """Its bus; `communication/serial/enabled` or `communication/usb/enabled` disables the driver."""
        ...

    def candidates(self) -> Iterable[Candidate]:
        """List the ports to open or to show as recognised; opens none."""
        ...

    def named_paths(self) -> Iterable[str]:
        """Return the paths that settings name for this driver, whether they exist or not."""
        ...

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Link:
        """Open a candidate: PortUnusable, NoDeviceAnswers, or an OSError that the scanner converts."""
        ...


@dataclass(frozen=True, slots=True)
class DriverContext:
    """Objects that the service gives to every driver."""

    runtime: Runtime
    settings: Published[SettingsView]
    failsafe: Failsafe | None  # None: no second process writes zero packets
    usb_bus: UsbBus
    unsupported: UnsupportedIds


@dataclass(frozen=True, slots=True)
class UnsupportedId:
    """USB numbers of a device that is recognised but not supported."""

    vendor_id: int
    product_id: int | None  # None: every product of the vendor
    transport: Transport  # as what the operating system lists it
    reason: str  # the sentence that `GET /ports` and the log show


@dataclass(frozen=True, slots=True)
class DriverSpec:
    """One row of the driver registry."""

    name: str  # of its folder in transport/link/protocols
    make: Callable[[DriverContext], Driver]
    settings: tuple[Setting, ...] = ()  # in the catalogue behind the service's own rows of the same section
    unsupported: tuple[UnsupportedId, ...] = ()


class UnsupportedIds:
    """Look-up of the USB numbers that are recognised but not supported."""

    def __init__(self, drivers: Iterable[DriverSpec]) -> None:
        self._rows = {(row.vendor_id, row.product_id): row for driver in drivers for row in driver.unsupported}

    def find(self, vendor_id: int | None, product_id: int | None) -> UnsupportedId | None:
        """Return the row of these numbers, an exact product first; None for other devices."""
        if vendor_id is None:
            return None
        return self._rows.get((vendor_id, product_id)) or self._rows.get((vendor_id, None))
