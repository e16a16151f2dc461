"""Access to an FTDI serial chip over pyusb: control requests, writing, and reading without the modem status."""

from __future__ import annotations

import contextlib
import errno
from typing import Any, Final

import usb.core
import usb.util

from transport.link.polled_device import Unplugged

VENDOR_OUT: Final = 0x40
RESET, MODEM, FLOW, BAUD, LINE, LATENCY = 0, 1, 2, 3, 4, 9
PURGE_IN, PURGE_OUT = 1, 2
DTR_LOW, DTR_HIGH, RTS_LOW = 0x0100, 0x0101, 0x0200
EIGHT_DATA_BITS: Final = 8

INTERFACE: Final = 0
ENDPOINT_IN, ENDPOINT_OUT = 0x81, 0x02
PACKET: Final = 64
STATUS: Final = 2
READ: Final = 8 * PACKET
TIMEOUT_MS: Final = 50


class Ftdi:
    """One claimed chip; USBError if it cannot be opened. Later errors raise Unplugged, a time-out returns b""."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self.bytes_in = 0
        self.bytes_out = 0
        try:
            with contextlib.suppress(NotImplementedError):
                if device.is_kernel_driver_active(INTERFACE):
                    device.detach_kernel_driver(INTERFACE)
            usb.util.claim_interface(device, INTERFACE)
        except usb.core.USBError:
            self.close()
            raise

    def control(self, request: int, value: int) -> None:
        """Send one vendor request."""
        try:
            self._device.ctrl_transfer(VENDOR_OUT, request, value, INTERFACE, None, TIMEOUT_MS)
        except usb.core.USBError as error:
            raise Unplugged(_why(error)) from error

    def purge(self) -> None:
        """Clear the buffers of both directions."""
        self.control(RESET, PURGE_IN)
        self.control(RESET, PURGE_OUT)

    def write(self, data: bytes) -> None:
        """Write all bytes."""
        try:
            self.bytes_out += int(self._device.write(ENDPOINT_OUT, data, TIMEOUT_MS))
        except usb.core.USBTimeoutError:
            return
        except usb.core.USBError as error:
            raise Unplugged(_why(error)) from error

    def read(self) -> bytes:
        """Return the bytes that arrived, after the chip's latency timer at the latest."""
        try:
            raw = bytes(self._device.read(ENDPOINT_IN, READ, TIMEOUT_MS))
        except usb.core.USBTimeoutError:
            return b""
        except usb.core.USBError as error:
            raise Unplugged(_why(error)) from error
        data = b"".join(raw[at + STATUS : at + PACKET] for at in range(0, len(raw), PACKET))
        self.bytes_in += len(data)
        return data

    def close(self) -> None:
        """Release the chip; never raises."""
        with contextlib.suppress(usb.core.USBError, NotImplementedError):
            usb.util.release_interface(self._device, INTERFACE)
        with contextlib.suppress(usb.core.USBError, NotImplementedError):
            usb.util.dispose_resources(self._device)


def _why(error: usb.core.USBError) -> str:
    if error.errno == errno.ENODEV:
        return "it was unplugged"
    return f"a USB transfer failed ({error})"
