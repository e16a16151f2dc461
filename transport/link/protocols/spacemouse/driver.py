"""Driver of SpaceMouses: lists them among the HID devices and opens one as a polled link."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from actors.port.api import NoDeviceAnswers
from actors.values.hardware import Transport
from fastpath.port.port_cell import PortCell
from transport.link import hid
from transport.link.polled_link import PolledLink
from transport.link.protocols.spacemouse.device import IDS, RATE_HZ, RECEIVERS, SpaceMouse, found_spacemouse
from transport.link.usb_bus import NOT_PLUGGED_IN

if TYPE_CHECKING:
    from actors.port.api import OpenLimits
    from actors.values.hardware import Candidate
    from fastpath.arena.runtime import Lease, Runtime


class SpaceMouseDriver:
    """SpaceMouses over HID; see `transport.link.driver_spec.Driver`."""

    transport = Transport.USB

    def __init__(
        self,
        runtime: Runtime,
        hid_devices: Callable[[], tuple[hid.HidDevice, ...]] = hid.hid_devices,
        open_hid: Callable[[str], hid.Reports] = hid.HidRaw,
    ) -> None:
        """`hid_devices` and `open_hid` replace those of the machine in tests."""
        self._runtime = runtime
        self._hid_devices = hid_devices
        self._open_hid = open_hid

    def candidates(self) -> tuple[Candidate, ...]:
        """List the SpaceMouses that are plugged in; opens none."""
        return tuple(one.candidate for one in self._spacemice())

    def named_paths(self) -> tuple[str, ...]:
        """Return no path: no setting names a SpaceMouse."""
        return ()

    def open(self, candidate: Candidate, limits: OpenLimits, stop: threading.Event) -> PolledLink:
        """Open the device and read its reports: PortUnusable, NoDeviceAnswers. A receiver needs a report of a mouse first."""
        for device in self._spacemice():
            if device.path == candidate.path:
                opened = SpaceMouse(self._open_hid(device.path), found_spacemouse(device))
                if (device.vendor_id, device.product_id) in RECEIVERS and not opened.heard(limits.timeout_s, stop):
                    opened.close()
                    raise NoDeviceAnswers(
                        "no SpaceMouse is paired with this receiver, or it is switched off: move its cap"
                    )
                return PolledLink(opened, self._cell, self._runtime.now_ns, rate_hz=RATE_HZ)
        raise NoDeviceAnswers(NOT_PLUGGED_IN)

    def _spacemice(self) -> list[hid.HidDevice]:
        """Return the nodes of SpaceMouses that report six axes: a receiver has others, for keys and mice."""
        return [one for one in self._hid_devices() if (one.vendor_id, one.product_id) in IDS and one.has_axes]

    def _cell(self, lease: Lease) -> PortCell:
        return PortCell(self._runtime, lease)
