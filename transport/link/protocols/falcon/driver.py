"""Driver of Novint Falcons: lists them on the USB bus and opens one, with its firmware loaded, as a polled link."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from actors.port.api import NoDeviceAnswers
from actors.values.hardware import Transport
from fastpath.port.port_cell import PortCell
from transport.link.polled_link import PolledLink
from transport.link.protocols.falcon.device import IDS, NAME, open_falcon
from transport.link.protocols.falcon.spec import COUNTS_PER_NM, FIRMWARE_IMAGE
from transport.link.usb_bus import NOT_PLUGGED_IN, UsbBus, candidate_of, matches

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.port.api import OpenLimits
    from actors.settings.api import SettingsView
    from actors.values.hardware import Candidate
    from fastpath.arena.runtime import Lease, Runtime


class FalconDriver:
    """Novint Falcons over pyusb; see `transport.link.driver_spec.Driver`."""

    transport = Transport.USB

    def __init__(self, runtime: Runtime, settings: Published[SettingsView], bus: UsbBus) -> None:
        self._runtime = runtime
        self._settings = settings
        self._bus = bus

    def candidates(self) -> tuple[Candidate, ...]:
        """List the Falcons that are plugged in; opens none."""
        return tuple(candidate_of(one, NAME) for one in self._bus.devices() if matches(one, IDS))

    def named_paths(self) -> tuple[str, ...]:
        """Return no path: no setting names a Falcon."""
        return ()

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> PolledLink:
        """Open a Falcon and upload its firmware if it has none: PortUnusable, NoDeviceAnswers.

        An upload takes 1 to 2 s, whatever the limits.
        """
        del limits
        device = self._bus.find(candidate)
        if device is None:
            raise NoDeviceAnswers(NOT_PLUGGED_IN)
        image = self._settings.value.value(FIRMWARE_IMAGE)
        path = image if isinstance(image, str) else None
        falcon = open_falcon(device, candidate, path, self._counts_per_nm, stop)
        return PolledLink(falcon, self._cell, self._runtime.now_ns)

    def _cell(self, lease: Lease) -> PortCell:
        return PortCell(self._runtime, lease)

    def _counts_per_nm(self) -> float:
        return self._settings.value.number(COUNTS_PER_NM)
