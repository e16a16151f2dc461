"""The USB bus over pyusb: list devices as candidates, find one again, and convert errors to port errors."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterable
from typing import Any, Final

import usb.backend.libusb1
import usb.core
import usb.util

from actors.port.api import PortUnusable
from actors.values.hardware import Candidate, PortFault, Transport

NOT_PLUGGED_IN: Final = "it is not plugged in any more"
RULES: Final = "ops/udev/70-hapticd.rules"

logger = logging.getLogger(__name__)


class UsbBus:
    """Devices of one pyusb backend, `libusb_backend` by default; without a backend there are none."""

    def __init__(self, backend: Any = None) -> None:
        self._backend = backend
        self._asked = backend is not None

    def devices(self) -> list[Any]:
        """Return every plugged-in device; USBError if the bus cannot be listed."""
        if not self._asked:
            self._asked = True
            self._backend = libusb_backend()
            if self._backend is None:
                logger.warning(
                    "no USB devices: libusb 1.0 is not installed; install libusb-1.0-0 (Debian, Ubuntu) or libusb1 "
                    "(Fedora), or the wheel libusb-package beside hapticd, or switch communication/usb/enabled off"
                )
        if self._backend is None:
            return []
        return list(usb.core.find(find_all=True, backend=self._backend) or ())

    def find(self, candidate: Candidate) -> Any:
        """Return the device at a candidate's path; None if it is gone or replaced."""
        for device in self.devices():
            here = candidate_of(device)
            if (here.path, here.vendor_id, here.product_id) == (
                candidate.path,
                candidate.vendor_id,
                candidate.product_id,
            ):
                return device
        return None


def libusb_backend() -> Any:
    """Return pyusb's backend over the libusb 1.0 of the system, else over that of the wheel libusb-package; None without both."""
    found = usb.backend.libusb1.get_backend()
    if found is not None:
        return found
    try:
        from libusb_package import find_library
    except ImportError:
        return None
    return usb.backend.libusb1.get_backend(find_library=find_library)


def candidate_of(device: Any, name: str = "") -> Candidate:
    """Return the candidate of a device, named by its socket so that it keeps its port when replugged; opens nothing."""
    numbers = ".".join(str(number) for number in device.port_numbers or (device.address,))
    return Candidate(
        port=f"usb-{device.bus}-{numbers}",
        path=f"/dev/bus/usb/{device.bus:03d}/{device.address:03d}",
        transport=Transport.USB,
        vendor_id=int(device.idVendor),
        product_id=int(device.idProduct),
        name=name,
    )


def serial_number(device: Any) -> str:
    """Return the device's serial number, "" if it is not readable."""
    try:
        return str(usb.util.get_string(device, device.iSerialNumber) or "") if device.iSerialNumber else ""
    except (usb.core.USBError, ValueError, NotImplementedError):
        return ""


def unusable(error: usb.core.USBError, what: str) -> PortUnusable | None:
    """Return the port error with a sentence that says what to do; None if a later try may succeed."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return PortUnusable(
            PortFault.PERMISSION,
            f"this user may not open {what}: copy the udev rule file {RULES} to /etc/udev/rules.d, run "
            "`udevadm control --reload` and plug the device in again",
        )
    if error.errno == errno.EBUSY:
        return PortUnusable(PortFault.IN_USE, f"another program holds {what}: end that program")
    return None


def matches(device: Any, ids: Iterable[tuple[int, int]]) -> bool:
    """Whether the device is one of these (vendor id, product id)."""
    return (int(device.idVendor), int(device.idProduct)) in ids
