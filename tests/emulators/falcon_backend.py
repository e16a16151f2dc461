"""Emulated USB bus as a pyusb backend, with Falcons that a test plugs, unplugs and breaks.

The driver under test runs over the real pyusb: `usb.core.find(backend=FalconBus(board))`.
"""
# Methods and their parameters are those of pyusb's IBackend, which has no annotations.
# ruff: noqa: ARG002, N803
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

import errno
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final

import usb.backend
import usb.core

from tests.emulators.falcon_board import LATENCY, FalconBoard

VENDOR, PRODUCT = 0x0403, 0xCB48
IN, OUT = 0x81, 0x02
PACKET: Final = 64
MODEM_STATUS: Final = b"\x01\x60"
STRINGS: Final = {1: "Novint", 2: "FALCON HAPTIC"}


@dataclass(eq=False)
class Socket:
    """One socket of the bus and the board in it."""

    board: FalconBoard
    number: int
    bus: int = 1
    address: int = 0
    vendor: int = VENDOR
    product: int = PRODUCT
    opened: int = 0
    claimed: int = 0
    latency_s: float = 0.016


@dataclass(eq=False)
class Handle:
    """One opening of a socket; it is of no use once the board was pulled out."""

    socket: Socket
    address: int
    claimed: bool = field(default=False)


class FalconBus(usb.backend.IBackend):  # type: ignore[misc]
    """A backend of pyusb; `refused` and `taken`: errno that opening and claiming fail with."""

    def __init__(self, *boards: FalconBoard) -> None:
        self.refused = 0
        self.taken = 0
        self.open_handles = 0
        self.idle = threading.Event()
        self._sockets: list[Socket] = []
        self._next = 1
        for board in boards:
            self.plug(board)

    # ------------------------------------------------------------ what a hand does

    def plug(self, board: FalconBoard, number: int | None = None, product: int = PRODUCT) -> Socket:
        """A board into a socket, by number; it gets the next address."""
        taken = {socket.number for socket in self._sockets}
        free = next(n for n in range(1, 100) if n not in taken) if number is None else number
        socket = Socket(board, free, address=self._next, product=product)
        self._next += 1
        self._sockets = [*self._sockets, socket]
        return socket

    def unplug(self, board: FalconBoard) -> None:
        """Out, with whatever was going on; without power the firmware is gone."""
        self._sockets = [socket for socket in self._sockets if socket.board is not board]
        board.loaded = False
        board.homed = 0

    # ------------------------------------------------------------ descriptors

    def enumerate_devices(self) -> list[Socket]:
        return list(self._sockets)

    def get_parent(self, dev: Socket) -> None:
        return None

    def get_device_descriptor(self, dev: Socket) -> SimpleNamespace:
        return SimpleNamespace(
            bLength=18, bDescriptorType=1, bcdUSB=0x0200, bDeviceClass=0, bDeviceSubClass=0, bDeviceProtocol=0,
            bMaxPacketSize0=8, idVendor=dev.vendor, idProduct=dev.product, bcdDevice=0x0400, iManufacturer=1,
            iProduct=2, iSerialNumber=3, bNumConfigurations=1, address=dev.address, bus=dev.bus,
            port_number=dev.number, port_numbers=(dev.number,), speed=2,
        )  # fmt: skip

    def get_configuration_descriptor(self, dev: Socket, config: int) -> SimpleNamespace:
        if config:
            raise IndexError(config)
        return SimpleNamespace(
            bLength=9, bDescriptorType=2, wTotalLength=32, bNumInterfaces=1, bConfigurationValue=1, iConfiguration=0,
            bmAttributes=0x80, bMaxPower=45, extra_descriptors=(),
        )  # fmt: skip

    def get_interface_descriptor(self, dev: Socket, intf: int, alt: int, config: int) -> SimpleNamespace:
        if intf or alt or config:
            raise IndexError(intf)
        return SimpleNamespace(
            bLength=9, bDescriptorType=4, bInterfaceNumber=0, bAlternateSetting=0, bNumEndpoints=2, bInterfaceClass=255,
            bInterfaceSubClass=255, bInterfaceProtocol=255, iInterface=2, extra_descriptors=(),
        )  # fmt: skip

    def get_endpoint_descriptor(self, dev: Socket, ep: int, intf: int, alt: int, config: int) -> SimpleNamespace:
        return SimpleNamespace(
            bLength=7, bDescriptorType=5, bEndpointAddress=(IN, OUT)[ep], bmAttributes=2, wMaxPacketSize=PACKET,
            bInterval=0, bRefresh=0, bSynchAddress=0, extra_descriptors=(),
        )  # fmt: skip

    # ------------------------------------------------------------ handles

    def open_device(self, dev: Socket) -> Handle:
        self._here(dev.address)
        if self.refused:
            raise _failed(self.refused)
        self.open_handles += 1
        return Handle(dev, dev.address)

    def close_device(self, dev_handle: Handle) -> None:
        self.open_handles -= 1
        if dev_handle.claimed:
            dev_handle.socket.claimed -= 1

    def set_configuration(self, dev_handle: Handle, config_value: int) -> None:
        self._here(dev_handle.address)

    def get_configuration(self, dev_handle: Handle) -> int:
        self._here(dev_handle.address)
        return 1

    def claim_interface(self, dev_handle: Handle, intf: int) -> None:
        self._here(dev_handle.address)
        if self.taken or dev_handle.socket.claimed:
            raise _failed(self.taken or errno.EBUSY)
        dev_handle.claimed = True
        dev_handle.socket.claimed += 1

    def release_interface(self, dev_handle: Handle, intf: int) -> None:
        if dev_handle.claimed:
            dev_handle.claimed = False
            dev_handle.socket.claimed -= 1

    def is_kernel_driver_active(self, dev_handle: Handle, intf: int) -> bool:
        return False

    # ------------------------------------------------------------ transfers

    def ctrl_transfer(
        self, dev_handle: Handle, bmRequestType: int, bRequest: int, wValue: int, wIndex: int, data: Any, timeout: int
    ) -> int:
        socket = self._here(dev_handle.address)
        if bmRequestType == 0x80 and bRequest == 6 and wValue >> 8 == 3:
            return _fill(data, _string(wValue & 0xFF, socket.board))
        if bmRequestType != 0x40:
            raise _failed(errno.EPIPE)
        if bRequest == LATENCY:
            socket.latency_s = wValue / 1000
        socket.board.control(bRequest, wValue)
        return 0

    def bulk_write(self, dev_handle: Handle, ep: int, intf: int, data: Any, timeout: int) -> int:
        socket = self._here(dev_handle.address)
        if ep != OUT or not dev_handle.claimed:
            raise _failed(errno.EINVAL)
        if not socket.board.hung:
            socket.board.write(bytes(data))
        return len(data)

    def bulk_read(self, dev_handle: Handle, ep: int, intf: int, buff: Any, timeout: int) -> int:
        """Fill `buff` with packets of up to 64 bytes, each led by two of modem status; that alone when the latency timer ends."""
        socket = self._here(dev_handle.address)
        if ep != IN or not dev_handle.claimed:
            raise _failed(errno.EINVAL)
        waiting = socket.board.outgoing
        if not waiting:
            self.idle.wait(socket.latency_s)
            self._here(dev_handle.address)
        sent = bytearray()
        while len(sent) + len(MODEM_STATUS) <= len(buff):
            room = min(PACKET, len(buff) - len(sent)) - len(MODEM_STATUS)
            part, waiting[:] = waiting[:room], waiting[room:]
            sent += MODEM_STATUS + part
            if len(part) < PACKET - len(MODEM_STATUS):
                break
        return _fill(buff, bytes(sent))

    def _here(self, address: int) -> Socket:
        for socket in self._sockets:
            if socket.address == address:
                return socket
        raise _failed(errno.ENODEV)


def _string(index: int, board: FalconBoard) -> bytes:
    """Return a string descriptor; index 0 lists the languages."""
    text = b"\x09\x04" if index == 0 else (STRINGS.get(index) or board.serial).encode("utf-16-le")
    return bytes([len(text) + 2, 3]) + text


def _fill(target: Any, data: bytes) -> int:
    count = min(len(target), len(data))
    memoryview(target)[:count] = data[:count]
    return count


def _failed(number: int) -> usb.core.USBError:
    return usb.core.USBError(errno.errorcode.get(number, "failed"), None, number)
