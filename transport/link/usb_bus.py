"""The USB bus over pyusb: list devices as candidates, find one again, and turn its errors into port errors."""

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
    """Devices over one backend of pyusb, libusb 1.0 unless another is given; without any there are no devices."""

    def __init__(self, backend: Any = None) -> None:
        self._backend = backend
        self._asked = backend is not None

    def devices(self) -> list[Any]:
        """Every device that is plugged in; USBError when the bus cannot be listed."""
        if not self._asked:
            self._asked = True
            self._backend = usb.backend.libusb1.get_backend()
            if self._backend is None:
                logger.warning(
                    "no USB devices: libusb 1.0 is not installed; install libusb-1.0-0 (Debian, Ubuntu) or libusb1 "
                    "(Fedora), or switch communication/usb/enabled off"
                )
        if self._backend is None:
            return []
        return list(usb.core.find(find_all=True, backend=self._backend) or ())

    def find(self, candidate: Candidate) -> Any:
        """The device at a candidate's path; None when it is gone or another one is there now."""
        for device in self.devices():
            here = candidate_of(device)
            if (here.path, here.vendor_id, here.product_id) == (
                candidate.path,
                candidate.vendor_id,
                candidate.product_id,
            ):
                return device
        return None


def candidate_of(device: Any, name: str = "") -> Candidate:
    """A device by the socket it is in, so that it is the same port again when it comes back; nothing is opened for that."""
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
    """What the device says, "" when it says nothing that can be read."""
    try:
        return str(usb.util.get_string(device, device.iSerialNumber) or "") if device.iSerialNumber else ""
    except (usb.core.USBError, ValueError, NotImplementedError):
        return ""


def unusable(error: usb.core.USBError, what: str) -> PortUnusable | None:
    """What keeps a port from being used, in a sentence that says what to do; None for what a new try may mend."""
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
    """Whether a device is one of these (vendor id, product id)."""
    return (int(device.idVendor), int(device.idProduct)) in ids
