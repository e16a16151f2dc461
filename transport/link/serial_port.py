"""A serial port, opened in raw mode and for this service alone; whatever goes wrong meanwhile is an OSError."""

from __future__ import annotations

import termios

import serial


def open_port(path: str, baud: int, *, read_s: float, write_s: float | None = None) -> serial.Serial:
    """The port with nothing left to read; a read waits `read_s` at most, a write `write_s`."""
    try:
        return serial.Serial(path, baud, timeout=read_s, write_timeout=write_s, exclusive=True)
    except termios.error as error:
        # No OSError, though it is one: the port went away between two calls.
        raise OSError(*error.args) from error
