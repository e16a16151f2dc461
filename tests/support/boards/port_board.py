"""Stand-in for a board with three joints at the far end of a pseudo-terminal, for tests of a port's thread."""

from __future__ import annotations

import os
import select
import struct
import threading
import time
import tty
from typing import Final

BOARD: Final = 5
ZERO: Final = bytes([2, BOARD]) + bytes(12)
# id, motors, encoders, sensors, PWM pins, joint of each motor port and of each encoder port
CONFIG: Final = bytes([BOARD, 3, 3, 0, 0, 0, 1, 2, 0, 0, 1, 2, 0])
POSE: Final = (0.0, 60.0, -100.0)


class Board:
    """The far end: it answers each order with its joint angles, and keeps the torques that it was sent."""

    def __init__(self) -> None:
        """A new pseudo-terminal; nobody answers before `start`."""
        self.master, self.port = os.openpty()
        tty.setraw(self.port)
        self.torques: list[tuple[float, ...]] = []
        self.stamps: list[float] = []
        self.joint = POSE
        self.answers = True
        self.end, self._end = os.pipe()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()

    def close(self) -> None:
        """End; the port's other end is its user's."""
        os.close(self._end)
        if self._thread.is_alive():
            self._thread.join()
        for descriptor in (self.end, self.master):
            os.close(descriptor)

    def _run(self) -> None:
        data = b""
        try:
            while self.end not in select.select([self.master, self.end], [], [])[0]:
                data += os.read(self.master, 4096)
                while len(data) >= len(ZERO):
                    packet, data = data[: len(ZERO)], data[len(ZERO) :]
                    self.stamps.append(time.monotonic())
                    self.torques.append(struct.unpack("<3f", packet[2:]))
                    if self.answers:
                        os.write(self.master, bytes([BOARD]) + struct.pack("<3f", *self.joint))
        except OSError:
            return
