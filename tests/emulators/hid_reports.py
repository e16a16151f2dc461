"""Emulated HID device: reports that a test queues and the driver reads."""

from __future__ import annotations

import struct
from collections import deque
from dataclasses import dataclass, field

from transport.link.polled_device import Unplugged


@dataclass
class FakeReports:
    """An open node; `written` are the reports that came out of the service."""

    waiting: deque[bytes] = field(default_factory=deque[bytes])
    written: list[bytes] = field(default_factory=list[bytes])
    here: bool = True
    closed: int = 0

    def read(self) -> bytes:
        if not self.here:
            raise Unplugged("it was unplugged")
        return self.waiting.popleft() if self.waiting else b""

    def write(self, report: bytes) -> None:
        self.written.append(report)

    def close(self) -> None:
        self.closed += 1


def moved(x: int, y: int, z: int) -> bytes:
    """Return report 1 (translation) of an older model."""
    return b"\x01" + struct.pack("<3h", x, y, z)


def turned(x: int, y: int, z: int) -> bytes:
    """Return report 2 (rotation) of an older model."""
    return b"\x02" + struct.pack("<3h", x, y, z)


def both(move: tuple[int, int, int], turn: tuple[int, int, int]) -> bytes:
    """Return report 1 (translation and rotation) of a newer model."""
    return b"\x01" + struct.pack("<6h", *move, *turn)


def pressed(buttons: int) -> bytes:
    """Return report 3 (buttons)."""
    return b"\x03" + buttons.to_bytes(2, "little")
