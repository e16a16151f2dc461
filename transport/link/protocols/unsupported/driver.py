"""Driver that only lists USB devices which are recognised and not supported; it opens none."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from actors.port.api import NoDeviceAnswers
from actors.values.hardware import Transport
from transport.link.usb_bus import candidate_of

if TYPE_CHECKING:
    from actors.port.api import Link, OpenLimits
    from actors.values.hardware import Candidate
    from transport.link.driver_spec import UnsupportedIds
    from transport.link.usb_bus import UsbBus


class UnsupportedDriver:
    """Recognised USB devices; see `transport.link.driver_spec.Driver`."""

    transport = Transport.USB

    def __init__(self, bus: UsbBus, unsupported: UnsupportedIds) -> None:
        self._bus = bus
        self._unsupported = unsupported

    def candidates(self) -> list[Candidate]:
        """List the devices of unsupported ids that the operating system does not list as serial ports."""
        return [one for one in map(candidate_of, self._bus.devices()) if self._is_listed_here(one)]

    def named_paths(self) -> tuple[str, ...]:
        """Return no path: no setting names a USB device."""
        return ()

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> Link:
        """Raise NoDeviceAnswers."""
        del limits, stop
        raise NoDeviceAnswers(f"{candidate.path} is not driven")

    def _is_listed_here(self, candidate: Candidate) -> bool:
        row = self._unsupported.find(candidate.vendor_id, candidate.product_id)
        return row is not None and row.transport is Transport.USB
