"""Open a serial port: raw and exclusive on a real pty, and a port that disappears while it is opened."""

from __future__ import annotations

import errno
import os
import termios
from pathlib import Path

import pytest

from transport.link.serial_port import open_port


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_port_is_opened_raw_and_exclusive() -> None:
    far, near = os.openpty()
    try:
        with open_port(os.ttyname(near), 921_600, read_s=0.01) as port:
            assert not termios.tcgetattr(port.fileno())[3] & (termios.ICANON | termios.ECHO)
            with pytest.raises(OSError, match="lock"):
                open_port(os.ttyname(near), 921_600, read_s=0.01)
    finally:
        os.close(far)
        os.close(near)


@pytest.mark.parametrize("call", ["tcgetattr", "tcsetattr", "tcflush"])
def test_port_lost_while_opening_is_an_os_error_without_a_leak(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def gone(*_arguments: object) -> None:
        raise termios.error(errno.EIO, "Input/output error")

    far, near = os.openpty()
    try:
        before = descriptors()
        monkeypatch.setattr(f"serial.serialposix.termios.{call}", gone)

        with pytest.raises(OSError, match="Input/output"):
            open_port(os.ttyname(near), 921_600, read_s=0.01)

        assert descriptors() == before
    finally:
        os.close(far)
        os.close(near)
