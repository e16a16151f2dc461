"""Open a serial port exclusively in raw mode, and convert a port thread's counters; every failure is an OSError."""

from __future__ import annotations

import os
import termios
from typing import TYPE_CHECKING

import serial

from actors.port.api import LinkCounters

if TYPE_CHECKING:
    from fastpath.port.port_thread import Counters


def open_port(path: str, baud: int, *, read_s: float, write_s: float | None = None) -> serial.Serial:
    """Open the port with an empty input buffer; a read waits at most `read_s` seconds, a write `write_s`."""
    try:
        return serial.Serial(path, baud, timeout=read_s, write_timeout=write_s, exclusive=True)
    except termios.error as error:
        # Not an OSError although it is one by nature: the port disappeared between two calls.
        raise OSError(*error.args) from error


def unplugged(number: int) -> str:
    """Return the words for a port that is gone with this errno."""
    return f"it was unplugged ({os.strerror(number)})"


def link_counters(counters: Counters) -> LinkCounters:
    """Convert a port thread's counters since the port was opened; `late` counts orders that were too old to be sent."""
    return LinkCounters(
        frames_in=counters.frames_in,
        frames_bad=counters.frames_bad,
        frames_out=counters.orders,
        bytes_in=counters.bytes_in,
        bytes_out=counters.bytes_out,
        late=counters.zeros,
        errors=counters.errors,
    )
