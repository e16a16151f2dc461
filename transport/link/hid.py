"""HID devices of Linux (`/dev/hidraw*`): list them, read and write reports without blocking."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from actors.port.api import NoDeviceAnswers, PortUnusable
from actors.values.hardware import Candidate, PortFault, Transport
from transport.link.polled_device import Unplugged
from transport.link.usb_bus import RULES

CLASS: Final = Path("/sys/class/hidraw")
LONGEST_REPORT: Final = 64
# `…/1-2.4:1.0/…` in the path of a device below sysfs.
USB_INTERFACE: Final = re.compile(r"/(\d+-[\d.]+):\d+\.(\d+)/")
# Usage page Generic Desktop, usage Multi-axis Controller (HID usage tables, 4.1).
MULTI_AXIS: Final = bytes((0x05, 0x01, 0x09, 0x08))


class Reports(Protocol):
    """An open HID device."""

    def read(self) -> bytes:
        """Return one waiting report, its number first; b"" without one. Unplugged."""
        ...

    def write(self, report: bytes) -> None:
        """Write one report; it is lost if not accepted. Never raises."""
        ...

    def close(self) -> None:
        """Close the device; never raises."""
        ...


@dataclass(frozen=True, slots=True)
class HidDevice:
    """One HID node by its sysfs description; `port` names the USB socket, not the node."""

    port: str
    path: str
    vendor_id: int
    product_id: int
    name: str
    serial: str
    has_axes: bool = True  # its report descriptor is that of a multi-axis controller, or cannot be read

    @property
    def candidate(self) -> Candidate:
        """The candidate of this node."""
        return Candidate(
            self.port, self.path, Transport.USB, self.vendor_id, self.product_id, name=self.name, serial=self.serial
        )


def hid_devices(root: Path = CLASS) -> tuple[HidDevice, ...]:
    """Return every HID device of the machine; none without hidraw."""
    return tuple(sorted(_described(root), key=lambda device: device.port))


class HidRaw:
    """A node open for reading and writing; PortUnusable, NoDeviceAnswers."""

    def __init__(self, path: str) -> None:
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise _cannot_open(error, path) from error

    def read(self) -> bytes:
        """Return one waiting report, b"" without one. Unplugged."""
        try:
            report = os.read(self._descriptor, LONGEST_REPORT)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise Unplugged("it was unplugged") from error
        if not report:
            raise Unplugged("it was unplugged")
        return report

    def write(self, report: bytes) -> None:
        """Write one report; it is lost if not accepted."""
        with contextlib.suppress(OSError):
            os.write(self._descriptor, report)

    def close(self) -> None:
        """Close the node; a second call does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _described(root: Path) -> Iterator[HidDevice]:
    """Yield the nodes whose description is readable; a device may be unplugged meanwhile."""
    for node in root.glob("hidraw*"):
        try:
            text = (node / "device" / "uevent").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        lines = (line.partition("=") for line in text.splitlines())
        values = {key: value for key, _, value in lines}
        try:
            _bus, vendor, product = (int(part, 16) for part in values.get("HID_ID", "").split(":"))
        except ValueError:
            continue
        name, serial = values.get("HID_NAME", ""), values.get("HID_UNIQ", "")
        yield HidDevice(_port(node), f"/dev/{node.name}", vendor, product, name, serial, _has_axes(node))


def _port(node: Path) -> str:
    """Return `hid-` and the USB socket and interface, which a device keeps when it is replugged; without USB the node's name."""
    found = USB_INTERFACE.search(str((node / "device").resolve()))
    return node.name if found is None else f"hid-{found[1]}-{found[2]}"


def _has_axes(node: Path) -> bool:
    try:
        return MULTI_AXIS in (node / "device" / "report_descriptor").read_bytes()
    except OSError:
        return True


def _cannot_open(error: OSError, path: str) -> Exception:
    if error.errno in (errno.EACCES, errno.EPERM):
        return PortUnusable(
            PortFault.PERMISSION,
            f"this user may not open {path}: copy the udev rule file {RULES} to /etc/udev/rules.d, run "
            "`udevadm control --reload` and plug the device in again",
        )
    if error.errno == errno.EBUSY:
        return PortUnusable(PortFault.IN_USE, f"another program holds {path}: end that program")
    return NoDeviceAnswers(f"{path} cannot be opened ({error.strerror})")
