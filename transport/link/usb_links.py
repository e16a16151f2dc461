"""The families of USB devices that the service drives: which are plugged in, and how one is opened. The rest of the bus is left alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from actors.port.link_interface import NobodyAnswers
from actors.values.hardware import Candidate, Transport
from fastpath.port.port_cell import PortCell
from transport.link import hid
from transport.link.protocols import spacemouse
from transport.link.protocols.falcon.boot import IMAGE_SETTING
from transport.link.protocols.falcon.driver import IDS, NAME, open_falcon
from transport.link.usb_bus import UsbBus, candidate_of, matches
from transport.link.usb_link import UsbLink

if TYPE_CHECKING:
    from actors.kit.published import Published
    from actors.port.link_interface import Link, Patience
    from actors.settings.messages import SettingsView
    from fastpath.arena.runtime import Lease, Runtime

COUNTS: Final = "devices/falcon/counts_per_Nm"
GONE: Final = "it is not plugged in any more"


class Falcons:
    """Novint Falcons over pyusb; `backend`: another than libusb 1.0."""

    transport = Transport.USB

    def __init__(self, runtime: Runtime, settings: Published[SettingsView], backend: Any = None) -> None:
        self._runtime = runtime
        self._settings = settings
        self.bus = UsbBus(backend)

    def candidates(self) -> tuple[Candidate, ...]:
        """Those that are plugged in; nothing is opened for that."""
        return tuple(candidate_of(one, NAME) for one in self.bus.devices() if matches(one, IDS))

    def open(self, candidate: Candidate, patience: Patience, stop: threading.Event) -> Link:
        """With its firmware loaded, exchanging: PortUnusable, NobodyAnswers. An upload takes a second or two whatever patience says."""
        del patience
        device = self.bus.find(candidate)
        if device is None:
            raise NobodyAnswers(GONE)
        image = self._settings.value.value(IMAGE_SETTING)
        path = image if isinstance(image, str) else None
        driver = open_falcon(device, candidate, path, self._counts_per_nm, stop)
        return UsbLink(driver, self._cell, self._runtime.now_ns)

    def _cell(self, lease: Lease) -> PortCell:
        return PortCell(self._runtime, lease)

    def _counts_per_nm(self) -> float:
        return self._settings.value.number(COUNTS)


class SpaceMouses:
    """SpaceMouses over HID; `listed` and `opened`: in place of those of the machine."""

    transport = Transport.USB

    def __init__(
        self,
        runtime: Runtime,
        listed: Callable[[], tuple[hid.HidDevice, ...]] = hid.hid_devices,
        opened: Callable[[str], hid.Reports] = hid.HidRaw,
    ) -> None:
        self._runtime = runtime
        self._listed = listed
        self._opened = opened

    def candidates(self) -> tuple[Candidate, ...]:
        """Those that are plugged in; nothing is opened for that."""
        return tuple(one.candidate for one in self._listed() if (one.vendor_id, one.product_id) in spacemouse.IDS)

    def open(self, candidate: Candidate, patience: Patience, stop: threading.Event) -> Link:
        """Listening: PortUnusable, NobodyAnswers."""
        del patience, stop
        for device in self._listed():
            if device.path == candidate.path and (device.vendor_id, device.product_id) in spacemouse.IDS:
                driver = spacemouse.SpaceMouse(self._opened(device.path), spacemouse.found_spacemouse(device))
                return UsbLink(driver, self._cell, self._runtime.now_ns, rate_hz=spacemouse.RATE_HZ)
        raise NobodyAnswers(GONE)

    def _cell(self, lease: Lease) -> PortCell:
        return PortCell(self._runtime, lease)
